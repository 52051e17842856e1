"""What risks and solvers keep beside the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stepless.arrays import Array
from stepless.compiled.light import light


class Column:
    """Numbers for each row of a source: an array, or a tuple of some, for each block.

    Kernels make it (`Source.column`) and write it (`Source.update`), each block's part from that
    block, from the same block's parts of other columns, and from what all blocks share. `round`
    counts the writing: who keeps what was called in each round can make a lost part again.

    Examples
    --------
    >>> column = Column([np.zeros(2), np.ones(1)])
    >>> column.whole, column.round
    (array([0., 0., 1.]), 0)
    """

    __slots__ = ("parts", "round")

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts
        self.round = 0

    @property
    def whole(self) -> Array:
        """All of it, in memory; a copy if there are several blocks."""
        return self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts)


@light
def apply_numpy(block: Any, function: Any, *given: Any) -> Any:
    """Kernel: what numpy's function makes of columns, say `np.add`, or of one, say `np.sum`."""
    return function(*given)


def block_arguments(k: int, shared: tuple[Any, ...]) -> list[Any]:
    """What a kernel is called with beside block k: of columns, that block's parts."""
    return [given.parts[k] if type(given) is Column else given for given in shared]
