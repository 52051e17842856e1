"""Vowpal Wabbit, in this process, from its own binary cache (its text is parsed before the clock).

`--l2` is λ for the online updates, which add it to each example's loss, and λm for `--bfgs`, which
adds it to their sum. The online updates shrink all weights by one factor, but the default ones
(adaptive, normalised) have a rate for each feature: their fixed point is not J's minimiser, and
without `--l2` they come nearer to it. So both are swept; `--sgd` has the right fixed point.

`--predict_only_model`: else the weights lack the shrinkage that is still owed to them.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.peers.contender import Answer, Contender, sweep_of


@dataclass(frozen=True)
class _Cache:
    folder: tempfile.TemporaryDirectory
    data: str
    features: int


def _prepare(X, y):
    from vowpalwabbit import Workspace

    folder = tempfile.TemporaryDirectory(prefix="stepless-vw-")
    text = Path(folder.name) / "data.vw"
    with text.open("w") as file:
        for i, label in enumerate(y):
            row = slice(X.indptr[i], X.indptr[i + 1])
            entries = zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True)
            file.write(f"{label:g} | " + " ".join(f"{j}:{x:.9g}" for j, x in entries) + "\n")
    bits = max(1, int(np.ceil(np.log2(X.shape[1]))))
    data = f"-d {text} --cache_file {text}.cache -b {bits} --noconstant --holdout_off --quiet"
    Workspace(f"{data} --passes 1").finish()
    return _Cache(folder, data, X.shape[1])


def _fit(update, ready, problem, setting):
    from vowpalwabbit import Workspace

    strength = problem.strength_of_sum if "--bfgs" in update else problem.strength
    strength *= setting.get("l2", 1.0)
    model = Workspace(
        f"{ready.data} --loss_function {problem.loss} --predict_only_model --l2 {strength!r} "
        f"--passes {setting['passes']} {update}"
    )
    return model, ready.features


def _answer(fitted):
    model, features = fitted
    w = np.array([model.get_weight(j) for j in range(features)])
    model.finish()
    return Answer(w)


def _contender(name, losses, settings, update):
    return Contender(
        name,
        "Vowpal Wabbit",
        losses,
        settings,
        partial(_fit, update),
        _answer,
        _prepare,
        "vowpalwabbit",
    )


PASSES = (1, 3, 10, 30)
BOTH = ("hinge", "logistic")
CONTENDERS = [
    _contender("VW", BOTH, sweep_of("passes", *PASSES), ""),
    _contender("VW, no --l2", BOTH, sweep_of("passes", *PASSES, l2=0.0), ""),
    _contender("VW --sgd", BOTH, sweep_of("passes", *PASSES, 100), "--sgd --power_t 0.5"),
    _contender(
        "VW --bfgs",
        ("logistic",),
        sweep_of("passes", 10, 30, 100, 300),
        "--bfgs --termination 0",
    ),
]
