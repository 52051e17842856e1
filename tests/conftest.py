"""What makes the tests faster, and changes nothing that they see."""

import gc
import os

# A worker of a cluster is forked from a process that has imported Dask.
os.environ.setdefault("DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD", "forkserver")


def pytest_collection_finish():
    """Collect garbage seldom: to compile makes much that lives, and few cycles."""
    gc.freeze()  # thousands of tests, which it would walk over again and again
    gc.set_threshold(20_000, 20, 20)
