"""The threads of numpy's linear algebra."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def single_threaded_blas() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread for a while.

    A solver's products are short, and its own threads have the cores: BLAS's idle threads spin on
    them (imdb, 60 passes beside other work: 10.2 s; with one BLAS thread 1.6 s).
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
