"""Refusal of work for which there is too little memory, before it begins."""

from __future__ import annotations

import os
import resource

# MiB that numpy, scipy, scikit-learn and numba need at least, in all and per thread of theirs: with
# less, LLVM aborts the process and OpenBLAS waits for ever, neither with a message.
_LIBRARIES, _PER_THREAD = 680, 80
_VECTORS = 4  # with one number per feature: weights, two of a solver's, a copy to save


def refuse_small_memory(features: int = 0) -> None:
    """Raise if there is less memory than the program, and weights of the features, need.

    The system lets a process allocate more than there is, and kills it when it uses that.
    """
    need = 8 * _VECTORS * features
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if need > there:
        raise MemoryError(f"{features:,} features take {_mib(need)}, there are {_mib(there)}")
    need += (_LIBRARIES + _PER_THREAD * (os.cpu_count() or 1)) << 20
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and need > limit:
        raise ValueError(
            f"memory is limited to {_mib(limit)} (ulimit -v), but at least {_mib(need)} are needed"
        )


def _mib(size: int) -> str:
    return f"{size >> 20:,} MiB"
