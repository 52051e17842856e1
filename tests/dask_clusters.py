"""A small cluster of Dask, for the tests of a module."""

from contextlib import contextmanager

from distributed import Client, LocalCluster


@contextmanager
def small_cluster(workers):
    """A cluster and its client, which is no default: a test without it has threads."""
    with (
        LocalCluster(
            processes=True,
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs="CRITICAL",  # of killed workers
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield cluster, client
