"""Reads that leave the system's cache alone."""

from __future__ import annotations

import errno
import mmap
import os

import numpy as np

from stepless.arrays import AnyArray

_PAGE = 1 << 12  # what direct reads begin and end at multiples of, in the file and in memory


class Pages:
    """Whole pages of memory, through which one thread reads files opened by `opened`.

    What is read once per pass of more bytes than there is memory is never in the cache when it is
    wanted again; to keep it there costs eight times the processor time of reading it.
    """

    def __init__(self, size: int) -> None:
        self._memory = mmap.mmap(-1, size + 2 * _PAGE)
        self._bytes = np.frombuffer(self._memory, np.uint8)

    def read(self, handle: int, into: AnyArray, at: int) -> int:
        """Read some of a file's bytes from `at` on; return how many, 0 at its end."""
        before = at % _PAGE
        whole = min(-(-(before + into.size) // _PAGE) * _PAGE, self._bytes.size)
        count = min(os.preadv(handle, [self._bytes[:whole].data], at - before) - before, into.size)
        if count > 0:
            into[:count] = self._bytes[before : before + count]
        return max(count, 0)


def opened(paths: list[str]) -> list[int]:
    """Open files for direct reads; return none of them where the system or its disk has none."""
    found: list[int] = []
    try:
        for path in paths if hasattr(os, "O_DIRECT") else ():
            found.append(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except OSError as error:
        for handle in found:
            os.close(handle)
        if error.errno != errno.EINVAL:  # that of disks in memory, and of some on a network
            raise
        return []
    return found
