"""Rows in memory that come in turns, as those of a disk do; passes over them are counted."""

import numpy as np

from stepless.data.block import Block
from stepless.data.memory import Memory


class Turning(Memory):
    """Turns of `together` spans of `size` rows each, drawn from all over in a new order each walk."""

    slow = True
    size = 10
    together = 3
    walks = 0  # so far, in turns

    @classmethod
    def cut(cls, design, size, count):
        home = cls.of(design)
        home.size, home.together = size, count
        return home

    def spans(self, rng):
        m = self.shape[0]
        starts = rng.permutation(np.arange(0, m, self.size)).tolist()
        ranges = [(lo, min(lo + self.size, m)) for lo in starts]
        return [ranges[k : k + self.together] for k in range(0, len(ranges), self.together)]

    def turns(self, y, s, rng):
        self.walks += 1
        self.passes += 1
        for spans in self.spans(rng):
            rows = np.concatenate([np.arange(*span) for span in spans])
            yield spans, Block(self.design.take(rows), y.whole[rows], s.whole[rows])
