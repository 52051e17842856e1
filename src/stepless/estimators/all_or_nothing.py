"""Calls that change an estimator as a whole, or not at all, and say in one sentence why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

from stepless.compile_errors import in_one_sentence
from stepless.interrupts import interruptible, uninterrupted
from stepless.settings import refuse_settings

F = TypeVar("F", bound=Callable[..., Any])


def all_or_nothing(method: F) -> F:
    """Let a fit that raises anything leave the estimator as it was.

    The method may set attributes as it goes, but must not change what they held before. Ctrl-C or
    SIGTERM ends the runs within, which keep the best weights so far; a second one raises.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Model(BaseEstimator):
    ...     @all_or_nothing
    ...     def fit(self, X):
    ...         self.n_features_in_ = len(X[0])
    ...         self.coef_ = [1 / x for x in X[0]]
    >>> model = Model()
    >>> model.fit([[1.0, 2.0]])
    >>> model.fit([[1.0, 2.0, 0.0]])
    Traceback (most recent call last):
    ZeroDivisionError: float division by zero
    >>> model.n_features_in_, model.coef_
    (2, [1.0, 0.5])
    """

    @wraps(method)
    def fit(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        with _undone_if_it_fails(self), interruptible():
            return method(self, *args, **kwargs)

    return cast(F, fit)


def whole_chunks(method: F) -> F:
    """Let a call that learns from a stream learn its chunk whole, or leave the estimator as it was.

    What is learned from a stream is changed in place: a copy for each chunk would cost too much. So
    signals wait until the chunk is learned, and raise then.
    """

    @wraps(method)
    def learn(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        with uninterrupted(), _undone_if_it_fails(self):
            return method(self, *args, **kwargs)

    return cast(F, learn)


@contextmanager
def _undone_if_it_fails(estimator: Any) -> Iterator[None]:
    before = vars(estimator).copy()
    try:
        refuse_settings(estimator)
        with in_one_sentence():
            yield
    except BaseException:
        estimator.__dict__ = before
        raise
