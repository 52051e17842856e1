"""Combinations of things that are compiled together: some in every run, all of them in a soak."""

from itertools import product

import pytest

SOAK = pytest.mark.soak


def grid(*axes, every=2, ids=None):
    """All combinations; one of `every` is always run, and each value meets some of each axis.

    A combination whose places on the axes do not add up to a multiple of `every` is marked `soak`.
    """
    named = ids or str
    return [
        pytest.param(
            *(value for _, value in chosen),
            marks=[] if sum(place for place, _ in chosen) % every == 0 else [SOAK],
            id="-".join(named(value) for _, value in chosen),
        )
        for chosen in product(*map(list, map(enumerate, axes)))
    ]
