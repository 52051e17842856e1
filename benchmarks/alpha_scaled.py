"""The default strength beside the best of a grid and a fixed number, in several units.

The grid is chosen on the test set itself.
"""

from __future__ import annotations

import lzma
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from benchmarks import datasets
from benchmarks.alpha_auto import score
from benchmarks.alpha_sets import ASIDE, NUMBERS, TUNING, Set, asked, at_hand
from benchmarks.tables import table
from stepless import LinearClassifier, LinearRegressor
from stepless.problem import loss_of

NUMBER = 1e-4  # the default before
PENALTIES = "l2", "l1"
MANY = 3  # classes from which on l1 is left out
STEPS = 7  # of the grid: 10^-3 to 10^3 times the default
PATIENCE = 2.0  # seconds of a fit, per class
HEAD = (
    *("set", "loss", "penalty", "m", "d", "classes", "alpha", "score", "at 1e-4", "best"),
    *("its alpha", "passes", "at 1e-4", "gap"),
)


def _halves(load, most=6000):
    """A set whose rows are shuffled and cut: two thirds to learn, one to test."""

    def make(seed):
        X, y = load()
        order = np.random.default_rng(seed).permutation(len(y))[:most]
        learned, tested = np.split(order, [2 * len(order) // 3])
        return (X[learned], y[learned]), (X[tested], y[tested])

    return make


def _houses():
    """Cadata as it is published: values in dollars, counts of people and rooms, degrees."""
    table = np.loadtxt(datasets.path("cadata"), delimiter="\t", skiprows=1)
    return np.ascontiguousarray(table[:, :-1]), table[:, -1].copy()


def _adult(target):
    """Adult's numbers as they are, and an indicator for each category; hours or income."""

    def load():
        with lzma.open(datasets.path("adult"), "rt") as text:
            rows = [[word.strip() for word in line.split(",")] for line in text]
        rows = [row for row in rows if len(row) == 15]
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        hours = columns[12].astype(float)
        parts = [columns[j].astype(float)[:, None] for j in (0, 2, 4, 10, 11)]
        parts += [hours[:, None]] * (target == "income")
        parts += [
            (columns[j][:, None] == np.unique(columns[j])).astype(float)
            for j in (1, 3, 5, 6, 7, 8, 9, 13)
        ]
        income = np.where(np.char.startswith(columns[14], ">"), 1.0, -1.0)
        return np.hstack(parts), income if target == "income" else hours

    return load


def _in_units(case, x, y):
    def make(seed):
        return tuple((x * X, y * target) for X, target in case.make(seed))

    return case._replace(make=make)


_LOSSES = *NUMBERS, "huber(0.1)"
_KNOWN = {"return_X_y": True}
RAW = {
    "cadata, raw": Set(_halves(_houses), NUMBERS, needs=("cadata", "")),
    "adult, hours": Set(_halves(_adult("hours")), NUMBERS, needs=("adult", "")),
    "adult, income": Set(_halves(_adult("income")), needs=("adult", "")),
    "diabetes": Set(_halves(lambda: load_diabetes(**_KNOWN)), NUMBERS),
    "diabetes, raw": Set(_halves(lambda: load_diabetes(**_KNOWN, scaled=False)), NUMBERS),
    "breast cancer, raw": Set(_halves(lambda: load_breast_cancer(**_KNOWN))),
    "wine, raw": Set(_halves(lambda: load_wine(**_KNOWN))),
}
UNITS = {
    f"cadata, X × {x:g}, y × {y:g}": _in_units(TUNING["cadata"], x, y)
    for x, y in ((1.0, 1e-6), (1.0, 1e6), (1e-3, 1.0), (1e3, 1.0))
}


def compared(case, loss, penalty):
    """Return the sizes of a problem and the other numbers of a row of the table; None if large."""
    train, test = case.make(0)
    kind = LinearClassifier if loss_of(loss).targets == "signs" else LinearRegressor
    classes = len(np.unique(train[1])) if kind is LinearClassifier else 0
    if penalty == "l1" and classes >= MANY:
        return None
    most = PATIENCE * max(classes, 1)
    settings = {"penalty": penalty, "seconds": most}
    kind(loss, penalty=penalty, passes=3).fit(*train)  # compile
    scaled = kind(loss, **settings).fit(*train)
    number = kind(loss, alpha=NUMBER, **settings).fit(*train)
    scores = {scaled.alpha_: score(scaled, *test), NUMBER: score(number, *test)}
    for power in np.delete(np.linspace(-3.0, 3.0, STEPS), STEPS // 2):  # at 0 it is fitted
        model = kind(loss, alpha=scaled.alpha_ * 10.0**power, **settings).fit(*train)
        scores[model.alpha] = score(model, *test)
    best, chosen = max(scores, key=scores.__getitem__), scores[scaled.alpha_]
    return (
        *(*train[0].shape, classes, f"{scaled.alpha_:.1e}", f"{chosen:.2f}"),
        *(f"{scores[NUMBER]:.2f}", f"{scores[best]:.2f}", f"{best:.1e}"),
        *(scaled.n_passes_, number.n_passes_, f"{scaled.rel_gap_:.0e}"),
    )


def main(sets, which):
    rows = []
    for name, case in at_hand(sets, which):
        for loss in case.losses:
            for penalty in PENALTIES:
                if (found := compared(case, loss, penalty)) is None:
                    continue
                rows.append((name, loss, penalty, *found))
                print(*rows[-1], flush=True)
    print()
    table(HEAD, rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    named = asked(__doc__)
    looked_at = {"cadata": TUNING["cadata"]._replace(losses=_LOSSES)} | {
        name: case for name, case in TUNING.items() if name != "cadata"
    }
    for title, sets in (
        ("sets that the shares were chosen on", looked_at | RAW),
        ("the same houses in other units", UNITS),
        ("sets left aside", ASIDE),
    ):
        print(f"## alpha='scaled', 1e-4 and the best of a grid on the test set: {title}\n")
        main(sets, named)
