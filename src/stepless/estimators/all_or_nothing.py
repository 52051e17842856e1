"""Calls that change an estimator as a whole or, if they raise, not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from stepless.compile_errors import in_one_sentence
from stepless.interrupts import interruptible, uninterrupted
from stepless.settings import refuse_settings

E = TypeVar("E")
P = ParamSpec("P")
R = TypeVar("R")
Method = Callable[Concatenate[E, P], R]


def all_or_nothing(method: Method[E, P, R]) -> Method[E, P, R]:
    """Let a fit that raises leave the estimator as it was.

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
    def fit(self: E, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with _undone_if_it_fails(self), interruptible():
            return method(self, *args, **kwargs)

    return fit


def whole_chunks(method: Method[E, P, R]) -> Method[E, P, R]:
    """Let a call learn a whole chunk of a stream, or leave the estimator as it was.

    The state of a stream is changed in place: a copy per chunk would cost too much. So signals wait
    until the chunk is learned, and raise then.
    """

    @wraps(method)
    def learn(self: E, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with uninterrupted(), _undone_if_it_fails(self):
            return method(self, *args, **kwargs)

    return learn


@contextmanager
def _undone_if_it_fails(estimator: object) -> Iterator[None]:
    before = vars(estimator).copy()
    try:
        refuse_settings(estimator)
        with in_one_sentence():
            yield
    except BaseException:
        estimator.__dict__ = before
        raise
