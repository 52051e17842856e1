"""alpha="auto" beside the best of a grid, which looks at the test set to be so."""

from __future__ import annotations

import argparse

from benchmarks import datasets
from benchmarks.tables import table, timed
from stepless import LinearClassifier
from stepless.data import Source
from stepless.objective import LOSSES, Objective, SquaredL2
from stepless.strength import balanced

SETS = ("a9a", "w8a", "imdb", "covtype")
GRID = tuple(10.0 ** (-k / 2) for k in range(17))
PATIENCE = 20.0


def accuracy(loss, alpha, train, test):
    return LinearClassifier(loss, alpha=alpha, seconds=PATIENCE).fit(*train).score(*test)


def main(sets=SETS, losses=("logistic", "hinge")):
    rows = []
    for name in sets:
        if not (datasets.present(name) and datasets.present(name, "t")):
            continue
        train, test = datasets.load(name), datasets.load(name, "t")
        source = Source(*train)
        for loss in losses:
            scores = {alpha: accuracy(loss, alpha, train, test) for alpha in GRID}
            best = max(scores, key=scores.__getitem__)
            objective = Objective(LOSSES[loss](), SquaredL2())
            choosing, alpha = timed(lambda o=objective, s=source: balanced(o, [s]))
            model = LinearClassifier(loss, alpha=alpha)
            fitting, _ = timed(lambda m=model, t=train: m.fit(*t))
            chosen = model.score(*test)
            rows.append(
                (
                    name,
                    loss,
                    f"{alpha:.1e}",
                    f"{100 * chosen:.2f} %",
                    f"{100 * scores[best]:.2f} %",
                    f"{best:.1e}",
                    f"{100 * (chosen - scores[best]):+.2f}",
                    f"{choosing:.2f}",
                    f"{fitting:.2f}",
                )
            )
    print("## The strength chosen from the data, and the best of 17 on the test set\n")
    table(
        (
            "set",
            "loss",
            "alpha",
            "accuracy",
            "best accuracy",
            "its alpha",
            "points lost",
            "s to choose",
            "s to fit at 1e-3",
        ),
        rows,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--losses", default="logistic,hinge")
    given = parser.parse_args()
    main(given.sets.split(","), given.losses.split(","))
