"""alpha="auto" beside the best of a grid, which looks at the test set to be so."""

from __future__ import annotations

import warnings
from time import process_time

import numpy as np

from benchmarks.alpha_sets import ASIDE, TUNING, asked, at_hand
from benchmarks.tables import table
from stepless import LinearClassifier, LinearRegressor
from stepless.problem import loss_of

STEPS = 9  # of the grid: 10^-2 to 10^2 times the chosen strength
PATIENCE = 1.0  # seconds of a fit of the grid, per class
HEAD = (
    *("set", "loss", "m", "d", "classes", "alpha", "score", "best score", "its alpha"),
    *("points lost", "fits' time"),
)


def score(model, X, y):
    """Accuracy, or the share of a constant's loss that is avoided, both in per cent."""
    if isinstance(model, LinearClassifier):
        return 100.0 * model.score(X, y)
    loss, none = np.vectorize(model.loss_.value), np.zeros((len(y), 1))
    constant = LinearRegressor(model.loss, alpha=1.0).fit(none, y).intercept_
    return 100.0 * (1.0 - loss(model.predict(X), y).mean() / loss(constant, y).mean())


def _work(model, train):
    """Return the processor's seconds of a fit: the least of three."""
    spent = []
    for _ in range(3):
        began = process_time()
        model.fit(*train)
        spent.append(process_time() - began)
    return min(spent)


def compared(case, loss, seed):
    """Return the examples' sizes, and the last numbers of a row of the table."""
    train, test = case.make(seed)
    kind = LinearClassifier if loss_of(loss).targets == "signs" else LinearRegressor
    auto = kind(loss, alpha="auto")
    choosing = _work(auto, train)
    given = kind(loss, alpha=auto.alpha_)
    fitting = _work(given, train)
    scores, most = (
        {auto.alpha_: score(auto, *test)},
        PATIENCE * (auto.coef_.size // train[0].shape[1]),
    )
    for power in np.linspace(-2.0, 2.0, STEPS):
        model = kind(loss, alpha=auto.alpha_ * 10.0**power, seconds=most).fit(*train)
        scores[model.alpha] = score(model, *test)
    best, chosen = max(scores, key=scores.__getitem__), scores[auto.alpha_]
    classes = len(np.unique(train[1])) if kind is LinearClassifier else 0
    numbers = auto.alpha_, chosen, scores[best], best, scores[best] - chosen, choosing / fitting
    return (*train[0].shape, classes), numbers


def main(sets, which):
    rows = []
    for name, case in at_hand(sets, which):
        for loss in case.losses:
            found = [compared(case, loss, seed) for seed in range(case.draws)]
            alpha, chosen, best, at, lost, time = np.mean([row for _, row in found], axis=0)
            shown = f"{alpha:.1e}", f"{chosen:.2f}", f"{best:.2f}", f"{at:.1e}", f"{lost:.2f}"
            rows.append((name, loss, *found[0][0], *shown, f"{time:.1f}"))
            print(*rows[-1], flush=True)
    print()
    table(HEAD, rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    named = asked(__doc__)
    for title, sets in (("sets that the rule was made on", TUNING), ("sets left aside", ASIDE)):
        print(f"## alpha='auto' and the best of a grid on the test set: {title}\n")
        main(sets, named)
