"""Work for which there is too little memory, refused before it begins."""

from __future__ import annotations

import os
import resource

# MiB that numpy, scipy, scikit-learn and numba take at least, for themselves and for each thread of
# theirs: with less, LLVM aborts the process and OpenBLAS waits for ever, neither with a word.
_LIBRARIES, _A_THREAD = 680, 80
_VECTORS = 4  # of a number a feature: the weights, what a solver keeps beside them, a copy to save


def refuse_small_memory(features: int = 0) -> None:
    """Raise where there is less memory than the program, or weights of so many features, need.

    The system lets a process ask for more than there is, and kills one when it is used.
    """
    need = 8 * _VECTORS * features
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if need > there:
        raise MemoryError(f"{features:,} features take {_mib(need)}, there are {_mib(there)}")
    need += (_LIBRARIES + _A_THREAD * (os.cpu_count() or 1)) << 20
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and need > limit:
        raise ValueError(
            f"memory is limited to {_mib(limit)} (ulimit -v), but at least {_mib(need)} are needed"
        )


def _mib(size: int) -> str:
    return f"{size >> 20:,} MiB"
