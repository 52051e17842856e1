"""A short form of the fuzz: `python -m benchmarks.fuzz` is the long one."""

import pytest
from benchmarks.fuzzing.commands import Commands
from benchmarks.fuzzing.models import Models
from benchmarks.fuzzing.readers import Readers

KINDS = {
    "readers": (Readers, range(300)),
    "models": (lambda: Models(["linear", "stream"]), range(40)),
    "commands": (Commands, range(40)),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.filterwarnings("ignore")  # of gaps that are not met
def test_nothing_gives_way(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make, seeds = KINDS[name]
    kind, accepted = make(), 0
    for seed in seeds:
        try:
            accepted += kind.case(seed)
        except Exception as error:
            error.add_note(f"{name}, seed {seed}")
            raise
    assert 0 < accepted < len(seeds)
