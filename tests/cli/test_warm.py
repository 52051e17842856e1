import os
import subprocess
import sys

import pytest

from cli.commands import refused, run
from grids import SOAK
from stepless.cli import fit_report, warm_tasks
from stepless.code_cache import CodeCache, NotKept
from stepless.compile_time import COMPILED
from stepless.warning import warn


@pytest.fixture
def few(monkeypatch):
    """Only a few of the tasks."""
    every = warm_tasks.warm_tasks()
    names = "LinearRegressor, squared, l2, dense", "OneClass"
    monkeypatch.setattr(warm_tasks, "warm_tasks", lambda: {name: every[name] for name in names})


def test_what_was_warmed_compiles_nothing_more(few):
    run("warm", "-q")
    before = COMPILED.functions
    assert run("warm", "-q").stdout == ""
    assert COMPILED.functions == before
    assert run("warm").stdout.endswith("fits of the common losses and models start at once\n")


_STREAMS = """
import sys
from stepless.cli import app, warm_tasks
from stepless.compile_time import COMPILED
from typer.testing import CliRunner

every = warm_tasks.warm_tasks()
for name in (
    "LinearClassifier, hinge, l1, sparse",
    "reading svmlight text",
    "streams of hashed svmlight text",
    "streams of hashed tables",
):
    warm_tasks.run_task(every[name])
warmed = COMPILED.functions
with open("d.svm", "w") as text, open("d.csv", "w") as table:
    table.write("word,number,y\\n")
    for k in range(4500):
        y, word = ("no", "yes")[k % 2], f"w{k % 7}"
        text.write(f"{k % 2} 1:{k % 3} 2:{k % 5}\\n")
        table.write(f"{word},{k % 5},{y}\\n")
for options in ("d.svm --stream", "d.csv --stream --target y", "d.svm"):
    command = f"fit {options} -o m --penalty l1 --quiet --passes 1".split()
    result = CliRunner().invoke(app, command)
    assert result.exit_code in (0, 3), result.output
    assert COMPILED.functions == warmed, options
"""


def test_streams_from_the_shell_and_sparse_l1_find_all_that_they_need(tmp_path):
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", _STREAMS],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def _linear(name):
    """A task of many solvers; one of them stands for all."""
    return name.endswith(("dense", "sparse")) and name != "LinearClassifier, hinge, l2, dense"


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[SOAK] if _linear(name) else []) for name in warm_tasks.warm_tasks()],
)
def test_every_task_is_done(name):
    warm_tasks.run_task(warm_tasks.warm_tasks()[name])


def test_code_that_cannot_be_kept_is_an_error(monkeypatch):
    def task():
        warn("compiled code cannot be kept in here", NotKept)

    monkeypatch.setattr(warm_tasks, "warm_tasks", lambda: {"nothing": task})
    assert refused("warm") == "compiled code cannot be kept in here"


def test_a_report_says_how_long_compiling_took(monkeypatch):
    monkeypatch.setattr(COMPILED, "seconds", 0.01)
    assert fit_report._compile_row() == {}
    monkeypatch.setattr(COMPILED, "seconds", 2.5)
    monkeypatch.setattr(CodeCache, "unkept", False)
    assert fit_report._compile_row()["compiled"].startswith("in 2.5 s, once on this machine")
    monkeypatch.setattr(CodeCache, "unkept", True)
    assert fit_report._compile_row() == {"compiled": "in 2.5 s"}


def test_a_signal_ends_it():
    class Fitted:
        stopped_by_ = "interrupt"

    with pytest.raises(KeyboardInterrupt):
        warm_tasks.run_task(Fitted)
