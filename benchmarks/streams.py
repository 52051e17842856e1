"""One pass of ours and of the peers: `python -m benchmarks.streams [SET ...]`, elec2 and imdb.

Each row is predicted before it is learned (SGDClassifier: each block of 100); error and logarithmic
loss are means over the whole pass. Everybody runs with the settings that it comes with. The form
that a peer wants (dicts, VW's binary cache) is made before the clock starts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import datasets
from benchmarks.peers.streams import Progress, ours, river, scikit_learn, vowpal_wabbit
from benchmarks.tables import table

SETS = ("elec2", "imdb")


def main(names: tuple[str, ...] = SETS) -> None:
    for name in names:
        if datasets.present(name):
            X, y = datasets.load(name)
            print(f"## One pass over {name}, {X.shape[0]} × {X.shape[1]}\n")
            naive = np.mean(y[1:] != y[:-1]), min(np.mean(y > 0), np.mean(y < 0))
            print("Error of the last label {:.4f}, of the commoner one {:.4f}.\n".format(*naive))
            table(("who", "s", "error", "log loss"), _rows(X, y))
            pegasos = ours.fit_pass(X, y, "pegasos", "l2")
            adagrad = ours.fit_pass(X, y, "adagrad", "l1")
            print(
                f"A fit of one pass, certified: pegasos {1000 * pegasos:.3g} ms, adagrad with l1 "
                f"{1000 * adagrad:.3g} ms, {adagrad / pegasos:.2f} times as long.\n"
            )


def _rows(X: Any, y: NDArray) -> Iterator[tuple[str, float, float, float]]:
    for who, one_pass in _peers(dense=isinstance(X, np.ndarray)):
        print(who, file=sys.stderr, flush=True)
        progress = one_pass(X, y)
        yield who, progress.seconds, progress.error, progress.loss


def _peers(dense: bool) -> Iterator[tuple[str, Callable[[Any, NDArray], Progress]]]:
    for solver in ours.SOLVERS:
        for loss in ("hinge", "logistic") if solver.startswith("adagrad") else ("hinge",):
            yield f"`{solver}`, {loss}", partial(ours.one_pass, solver=solver, loss=loss)
    if find_spec(vowpal_wabbit.NEEDS):
        for loss in ("squared", "logistic", "hinge"):
            yield f"VW, {loss}", partial(vowpal_wabbit.one_pass, loss=loss)
    for loss in ("hinge", "log_loss"):
        yield f"SGDClassifier l1, {loss}", partial(scikit_learn.one_pass, loss=loss)
    if find_spec(river.NEEDS):
        for model in river.MODELS:
            for scaled in (True, False) if dense else (False,):  # to centre would fill the zeros
                who = f"river {model}{', StandardScaler' if scaled else ''}"
                yield who, partial(river.one_pass, model=model, scaled=scaled)


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or SETS)
