"""Every estimator after calls that succeed, are refused or are broken off, in any order.

STEPLESS_WALKS=100 walks so many sequences of each (by default 6).
"""

import os
from collections import Counter

import pytest

from contracts.estimators import ESTIMATORS
from contracts.states import walk

WALKS = int(os.environ.get("STEPLESS_WALKS", "6"))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_is_refused_leaves_no_trace(name):
    counts = Counter()
    for seed in range(WALKS):
        try:
            counts += walk(name, seed)
        except BaseException as error:
            error.add_note(f"walk({name!r}, seed={seed})")
            raise
    assert counts["done"] >= 5
    assert counts["refused"] >= 5
    assert counts["interrupted"] >= 1 or name == "GaussianExpansion"
