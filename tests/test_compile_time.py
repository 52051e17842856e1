import numpy as np
from numba.core import config

from stepless.compile_time import COMPILED
from stepless.jit import compiled


def test_what_is_compiled_counts_once_with_its_parts(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))  # nothing is found there

    @compiled()
    def square(x):
        return x * x

    @compiled("")
    def twice(x):
        return square(x) + square(x)

    functions, seconds = COMPILED.functions, COMPILED.seconds
    assert twice(2.0) == 8.0
    assert COMPILED.functions == functions + 1
    assert COMPILED.seconds > seconds
    before = COMPILED.functions, COMPILED.seconds
    assert twice(3.0) == 18.0
    assert (COMPILED.functions, COMPILED.seconds) == before
    twice(np.float32(2.0))
    assert COMPILED.functions == functions + 2
