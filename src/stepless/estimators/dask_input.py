"""Collections of Dask, recognised without importing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def is_dask(X: object) -> bool:
    """Return whether X is a collection of Dask, such as an array or a frame.

    Examples
    --------
    >>> is_dask([[1.0]])
    False
    """
    return hasattr(type(X), "__dask_graph__")


def dask_examples() -> ModuleType:
    """Return the module that reads Dask's collections; it needs Dask, which the caller has."""
    from stepless.estimators import dask_examples as module

    return module
