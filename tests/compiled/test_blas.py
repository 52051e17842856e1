"""BLAS's threads: held by whoever is at work, restored by the last of them."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import scipy.linalg  # noqa: F401  loads both BLAS libraries, numpy's and scipy's
from threadpoolctl import threadpool_info, threadpool_limits

from stepless.compiled import blas
from stepless.compiled.blas import single_threaded_blas


def counts():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_whoever_ends_last_restores(two_threads):
    """The first to come is the first to go: it knew the number, the other one saw 1 already."""
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    seen = []

    def first():
        with single_threaded_blas():
            first_is_in.set()
            second_is_in.wait()
        seen.append(counts())
        first_is_out.set()

    def second():
        first_is_in.wait()
        with single_threaded_blas():
            second_is_in.set()
            first_is_out.wait()
            seen.append(counts())

    both = [threading.Thread(target=work) for work in (first, second)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert seen == [{1}, {1}]
    assert counts() == {2}


def test_one_thread_may_hold_it_twice_and_break_off(two_threads):
    def broken_off():
        with single_threaded_blas():
            with single_threaded_blas():
                assert counts() == {1}
            assert counts() == {1}
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken_off()
    assert counts() == {2}


def test_a_library_that_counts_for_each_thread_is_held_in_each(monkeypatch):
    """As OpenBLAS does that was built on OpenMP."""

    class Library(threading.local):
        threading_layer = "openmp"
        num_threads = 4

        def set_num_threads(self, threads):
            self.num_threads = threads

    library = Library()
    libraries = SimpleNamespace(lib_controllers=[library])
    known = SimpleNamespace(select=lambda user_api: libraries)
    monkeypatch.setattr(blas, "ThreadpoolController", lambda: known)
    monkeypatch.setattr(blas, "_libraries", blas._libraries.__wrapped__)

    def held():
        with single_threaded_blas():
            within = library.num_threads
        return within, library.num_threads

    with single_threaded_blas(), ThreadPoolExecutor(1) as pool:
        assert pool.submit(held).result() == (1, 4)
        assert library.num_threads == 1
    assert library.num_threads == 4
