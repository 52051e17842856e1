"""Properties that are computed once per object."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:  # noqa: N801
        """`cached_property` of Python 3.12: two threads may both compute it, and neither waits.

        Python 3.11 holds one lock for all objects of a class while it computes; a fork meanwhile
        would leave it locked in the child for ever.
        """

        def __init__(self, function: Any) -> None:
            self.function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, owner: Any, kind: Any = None) -> Any:
            if owner is None:
                return self
            # not a data descriptor: from now on the instance's attribute is found first
            return vars(owner).setdefault(self.name, self.function(owner))


__all__ = ["cached_property"]
