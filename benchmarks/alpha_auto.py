"""alpha="auto" beside the best of a grid, which looks at the test set to be so."""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from benchmarks import datasets
from benchmarks.alpha_sets import ASIDE, TUNING
from benchmarks.tables import table, timed
from stepless import LinearClassifier, LinearRegressor
from stepless.objective import LOSSES
from stepless.problem import loss_of
from stepless.strength import choose_strength
from stepless.strength.scale import unit

STEPS, WEAKEST = 13, 6.0  # of the grid: 10^0 to 10^-6 times the unit of strengths
PATIENCE = 20.0
HEAD = (
    *("set", "loss", "m", "d", "classes", "chosen", "its score", "best score", "its strength"),
    *("points lost", "fits' time"),
)


def score(model, X, y):
    """Accuracy, or the share of a constant's loss that is avoided, both in per cent."""
    if isinstance(model, LinearClassifier):
        return 100.0 * model.score(X, y)
    loss = np.vectorize(model.loss_.value)
    constant = type(model)(model.loss, alpha=1e12).fit(np.zeros((len(y), 1)), y).intercept_
    return 100.0 * (1.0 - loss(model.predict(X), y).mean() / loss(constant, y).mean())


def one(case, loss, seed):
    """Return sizes, and the chosen strength, its score, the best one, its strength, the time."""
    train, test = case.make(seed)
    kind = LinearClassifier if loss_of(loss).targets == "signs" else LinearRegressor
    choosing, chosen = timed(lambda: kind(loss, alpha="auto").fit(*train))
    choosing, chosen = min((choosing, chosen), timed(lambda: kind(loss, alpha="auto").fit(*train)), key=lambda t: t[0])
    fitting = min(timed(lambda: kind(loss, alpha=chosen.alpha_).fit(*train))[0] for _ in range(3))
    found = score(chosen, *test)
    scores = {chosen.alpha_: found}
    for power in np.linspace(-5, 5, STEPS):
        alpha = chosen.alpha_ * 10.0**(power * 0.6)
        scores[alpha] = score(kind(loss, alpha=alpha, seconds=PATIENCE).fit(*train), *test)
    best = max(scores, key=scores.__getitem__)
    classes = len(np.unique(train[1])) if kind is LinearClassifier else 0
    sizes = *train[0].shape, classes or "–"
    return sizes, (chosen.alpha_, found, scores[best], best, choosing / fitting)


def main(sets, which):
    warnings.simplefilter("ignore")
    for name, case in sets.items():
        if which and name not in which:
            continue
        if case.needs and not datasets.path(*case.needs).exists():
            continue
        for loss in case.losses:
            found = [one(case, loss, seed) for seed in range(case.draws)]
            alpha, score_, best, at, time = np.mean([row for _, row in found], axis=0)
            row = name, loss, *found[0][0], f"{alpha:.1e}", f"{score_:.2f}", f"{best:.2f}", f"{at:.1e}"
            print("| " + " | ".join(map(str, (*row, f"{best - score_:.2f}", f"{time:.1f}"))) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default="")
    parser.add_argument("--part", default="both", choices=("tuning", "aside", "both"))
    given = parser.parse_args()
    which = [name for name in given.sets.split(";") if name]
    if given.part != "aside":
        print("Tuning\n")
        main(TUNING, which)
    if given.part != "tuning":
        print("\nAside\n")
        main(ASIDE, which)
