"""A small cluster of Dask, for the tests of a module."""

from contextlib import contextmanager

from distributed import Client, LocalCluster
from distributed.core import Status


@contextmanager
def small_cluster(workers):
    """A cluster and its client, which is no default: a test without it has threads."""
    cluster = LocalCluster(
        processes=True,
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs="CRITICAL",  # of killed workers
    )
    try:
        with Client(cluster, set_as_default=False) as client:
            yield cluster, client
    finally:
        try:
            cluster.close()
        except KeyError:  # by now all is closed but a list, of which a killed worker is not a part
            cluster.status = Status.closed
