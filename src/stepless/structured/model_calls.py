"""Calls of a model's methods, example by example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from stepless.arrays import Array
from stepless.data.threads import available_cores, for_each
from stepless.structured.model import StructuredModel

T = TypeVar("T")


def call_model(i: int, method: Callable[..., T], *arguments: object) -> T:
    """Call a model's method for example i; errors name that number.

    Examples
    --------
    >>> call_model(7, int, "many")
    Traceback (most recent call last):
    ValueError: example 7: invalid literal for int() with base 10: 'many'
    """
    try:
        return method(*arguments)
    except ValueError as error:
        raise ValueError(f"example {i}: {error}") from error
    except Exception as error:
        error.add_note(f"(in the model's {getattr(method, '__name__', 'method')} of example {i})")
        raise


def for_each_example(
    model: StructuredModel, m: int, work: Callable[[int], T], threads: int | None
) -> list[T]:
    """Call work(i) for m examples, on several threads if the model releases the GIL.

    Examples
    --------
    >>> from stepless.structured.rna import Folding
    >>> for_each_example(Folding(), 3, lambda i: i * i, threads=2)
    [0, 1, 4]
    """
    return for_each(m, work, (threads or available_cores()) if model.releases_gil else 1)


def predictions(
    model: StructuredModel, w: Array, X: Sequence[Any], threads: int | None
) -> list[Any]:
    """Return the best output of each input.

    Examples
    --------
    >>> import numpy as np
    >>> from stepless.structured import Multiclass
    >>> predictions(Multiclass.of(np.eye(2), ["a", "b"]), np.array([0, 1, 1, 0]), np.eye(2), 1)
    ['b', 'a']
    """
    return for_each_example(model, len(X), lambda i: call_model(i, model.predict, w, X[i]), threads)
