"""The garbage collector is let loose seldom: to compile makes much that lives, and few cycles."""

import gc


def pytest_collection_finish():
    gc.freeze()  # thousands of tests, which it would walk over again and again
    gc.set_threshold(20_000, 20, 20)
