"""Spark MLlib: regParam = λ and standardization off make LogisticRegression's and LinearSVC's J.

The rows are read from parquet files that pyarrow writes, vectors as Spark itself stores them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.cluster.task import WORKERS, Contender, Fit, Task, spent

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-6, 1e-9)
MEMORY = "8g"


def _fits(loss: str, task: Task) -> Iterator[Fit]:
    from pyspark.ml.classification import LinearSVC, LogisticRegression
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DoubleType, StructField, StructType

    _to_parquet(task)
    builder = SparkSession.builder.master(f"local[{WORKERS}]").appName("stepless")
    builder = builder.config("spark.driver.memory", MEMORY).config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.files.maxPartitionBytes", "32m").getOrCreate()
    schema = StructType([StructField("label", DoubleType()), StructField("features", VectorUDT())])
    rows = spark.read.schema(schema).parquet(str(task.folder / "rows.parquet")).persist()
    _, loading = spent(rows.count)
    model = {"logistic": LogisticRegression, "hinge": LinearSVC}[loss]
    fixed = {"regParam": task.strength, "standardization": False, "maxIter": 1000}
    model(tol=1e-2, **fixed).fit(rows.limit(1000))  # the JVM warms up
    for tolerance in TOLERANCES:
        fitted, seconds = spent(partial(model(tol=tolerance, **fixed).fit, rows))
        w = fitted.coefficients.toArray()
        yield Fit(f"tol {tolerance:g}", loading, seconds, w, fitted.intercept)
    spark.stop()


def _to_parquet(task: Task) -> None:
    """Write each part to a file, unless it is there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = task.folder / "rows.parquet"
    folder.mkdir(exist_ok=True)
    for part in range(task.parts):
        path = folder / f"{part}.parquet"
        if not path.exists():
            label = pa.array((task.y(part) > 0).astype(float))
            features = _vectors(task.X(part), sparse=task.kind == "sparse")
            pq.write_table(pa.table({"label": label, "features": features}), path)


def _vectors(X: Any, sparse: bool) -> Any:
    """Spark's struct of a vector: type 0 has size, indices and values, type 1 values only."""
    import pyarrow as pa

    rows, width = X.shape
    none = pa.nulls(rows, pa.int32()), pa.nulls(rows, pa.list_(pa.int32()))
    if sparse:
        ends = pa.array(X.indptr.astype(np.int32))
        size = pa.array(np.full(rows, width, np.int32))
        indices = pa.ListArray.from_arrays(ends, pa.array(X.indices.astype(np.int32)))
        values = pa.ListArray.from_arrays(ends, pa.array(X.data.astype(np.float64)))
    else:
        size, indices = none
        ends = pa.array(np.arange(0, X.size + 1, width, dtype=np.int32))
        values = pa.ListArray.from_arrays(ends, pa.array(X.ravel()))
    kind = pa.array(np.full(rows, 0 if sparse else 1, np.int8))
    return pa.StructArray.from_arrays(
        [kind, size, indices, values], names=["type", "size", "indices", "values"]
    )


CONTENDERS = {
    f"Spark {name}": Contender(
        (loss,), ("dense", "sparse"), ("pyspark", "pyarrow"), partial(_fits, loss)
    )
    for loss, name in (("logistic", "LogisticRegression"), ("hinge", "LinearSVC"))
}
