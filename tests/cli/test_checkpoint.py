"""`stepless fit` with a checkpoint: killed, interrupted, refused; it ends as if nothing had been."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from cli.commands import refused, run
from signals import sends
from stepless.report import checkpoint, load_model
from stepless.run import Run

M = 3000
FIT = ("fit", "train.svm", "-q", "--solver", "adaptive", "--gap", "0", "--passes", "150")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(M, 5)).round(3)
    y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0, 0.1] + 0.3 * rng.normal(size=M), [-0.5, 0.5])
    rows = zip(y.tolist(), X.tolist(), strict=True)
    text = [f"{c} " + " ".join(f"{j}:{v}" for j, v in enumerate(x, 1)) for c, x in rows]
    (tmp_path / "train.svm").write_text("\n".join(text) + "\n")
    return tmp_path


def alike(one, other):
    one, other = load_model(one), load_model(other)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)
    assert (one.objective_, one.lower_bound_) == (other.objective_, other.lower_bound_)
    assert one.n_passes_ == other.n_passes_
    assert one.stopped_by_ == other.stopped_by_


def killed(dice, *arguments):
    """Run the command, and kill it some writes later; return whether it still ran."""
    before = os.stat("run.ck").st_mtime_ns if os.path.exists("run.ck") else 0
    process = subprocess.Popen([sys.executable, "-m", "stepless", *arguments])
    seen, left = before, dice.randrange(1, 30)
    while process.poll() is None and left:
        now = os.stat("run.ck").st_mtime_ns if os.path.exists("run.ck") else 0
        left, seen = left - (now != seen), now
        time.sleep(0.001)  # the fit needs the processor
    time.sleep(dice.random() * 0.005)  # somewhere within a step or a write
    process.kill()
    return process.wait() == -signal.SIGKILL


def test_a_fit_that_is_killed_goes_on_from_the_old_file_or_the_new_one(folder):
    dice, kills = random.Random(19), 0
    run(*FIT, "-o", "whole.st", code=3)
    kills += killed(dice, *FIT, "-o", "m.st", "--checkpoint", "run.ck", "--every", "0s")
    for _ in range(3):
        checkpoint._FILE.read("run.ck")
        kills += killed(dice, *FIT, "-o", "m.st", "--resume", "run.ck", "--every", "0s")
    assert kills >= 3
    assert not os.path.exists("m.st")
    run(*FIT, "-o", "m.st", "--resume", "run.ck", code=3)
    alike("m.st", "whole.st")
    assert sorted(os.listdir()) == ["m.st", "run.ck", "train.svm", "whole.st"]


def test_an_interrupted_fit_goes_on(monkeypatch):
    run(*FIT, "-o", "whole.st", code=3)
    watched = Run.event_watchers
    with monkeypatch.context() as changed:
        changed.setattr(Run, "event_watchers", lambda *given: [*watched(*given), sends(7)])
        run(*FIT, "-o", "m.st", "--checkpoint", "run.ck", code=130)
    run(*FIT, "-o", "m.st", "--resume", "run.ck", code=3)
    alike("m.st", "whole.st")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (("--alpha", "0.5"), "run.ck: this run was begun with another penalty: SquaredL2(alpha=0"),
        (("--loss", "logistic"), "with another loss: Hinge(), not Logistic()"),
        (("--solver", "bundle"), "with another solver: 'adaptive', not 'bundle'"),
        (("--no-intercept",), "with another intercept: True, not False"),
        (("--weights", "weights"), "on other examples"),
        (("--checkpoint", "other.ck"), "--resume keeps run.ck up to date: leave --checkpoint out"),
        (("--stream",), "a stream has no checkpoints, for it is not kept: leave --resume out"),
    ],
)
def test_another_run_is_refused(folder, changes, words):
    run(*FIT[:-1], "2", "-o", "m.st", "--checkpoint", "run.ck", code=3)
    (folder / "weights").write_text("1\n" * (M - 1) + "2\n")
    before = (folder / "run.ck").read_bytes()
    assert words in refused(*FIT, "-o", "n.st", "--resume", "run.ck", *changes)
    assert (folder / "run.ck").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--resume", "none.ck"), "none.ck: there is no checkpoint to go on from"),
        (("--resume", "m.st"), "m.st: is a safetensors file, but holds no stepless checkpoint"),
        (("--resume", "train.svm"), "would overwrite an input"),
        (("--checkpoint", "n.st"), "--output and --checkpoint cannot both go there"),
        (("--checkpoint", "none/run.ck"), "none/run.ck: there is no directory 'none'"),
        (("--every", "5m"), "--every says how often a checkpoint is written: add --checkpoint"),
    ],
)
def test_a_file_that_cannot_serve_is_refused(arguments, words):
    run("fit", "train.svm", "-q", "-o", "m.st")
    assert words in refused("fit", "train.svm", "-o", "n.st", *arguments)


def test_a_time_has_a_unit():
    found = run("fit", "train.svm", "-o", "m", "--checkpoint", "c", "--every", "5 days", code=2)
    assert "such as 30s, 5m or 1h" in " ".join(found.output.replace("│", " ").split())


def test_a_checkpoint_on_a_full_disk_is_told_and_the_model_written(folder, monkeypatch):
    run(*FIT[:-1], "2", "-o", "m.st", "--checkpoint", "run.ck", code=3)
    before = (folder / "run.ck").read_bytes()
    monkeypatch.setattr(checkpoint, "write_atomically", _full)
    talking = [word for word in FIT if word != "-q"]
    found = run(*talking, "-o", "n.st", "--resume", "run.ck", "--every", "0", code=3)
    assert "note: run.ck: no checkpoint was written (No space left on device)" in found.stderr
    assert (folder / "run.ck").read_bytes() == before
    assert load_model("n.st").n_passes_ == 150


def _full(path, data):
    raise OSError(28, "No space left on device")
