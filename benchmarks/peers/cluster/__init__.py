"""Who trains on a cluster of two workers: one file for each library.

`CONTENDERS` has for each name what it solves and imports, and a function that yields a `Fit` of a
`Task` for each of its settings, loosest first. Each contender runs in a process of its own.
"""

from benchmarks.peers.cluster import dask_ml, ours, spark
from benchmarks.peers.cluster.task import Contender, Fit, Task

__all__ = ["CONTENDERS", "Contender", "Fit", "Task"]

CONTENDERS: dict[str, Contender] = ours.CONTENDERS | dask_ml.CONTENDERS | spark.CONTENDERS
