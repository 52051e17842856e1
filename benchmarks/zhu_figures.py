"""ZHU Figures 5 to 9: what it takes to reach a test accuracy, as the training set grows.

For each size m of the training set, each penalty and loss: the rounds and the seconds of `pgs` to
fixed accuracies, medians over seeds, at that σ of a grid with which it is soonest (the paper's is
the one with the best accuracy). Accuracies are those that the smallest set can reach, less 2, 1 and
½ %. Time is the solver's alone, without that of testing. Beside it, L-BFGS (scipy's, on our own
gradients and threads) on the same objective with the same σ. Before these the paper's toy: examples
until the direction is within 0.05 of the best one, for Gaussian classes in 10, 20, 40 dimensions.

    python -m benchmarks.zhu_figures [--rows 1000000]
"""

from __future__ import annotations

import argparse
import math
from statistics import median
from time import perf_counter

import numpy as np
from scipy.optimize import minimize

from benchmarks import datasets
from benchmarks.rcv1_like import rows as rcv1_like
from benchmarks.tables import table
from stepless import LinearRisk, Objective, Source
from stepless.objective import Logistic, Squared, SquaredL2, SquaredLp
from stepless.solvers import PGS
from stepless.solvers.online.pgs import gradient_of

KINDS = {
    "ℓ₂ logistic": (Logistic(), SquaredL2),
    "ℓ₁.₈ logistic": (Logistic(), lambda alpha: SquaredLp(alpha, 1.8)),
    "ℓ₂ squared": (Squared(), SquaredL2),
}
GRID = 10.0 ** np.arange(-7.0, -1.9, 0.5)
BELOW = (0.02, 0.01, 0.005)
TESTS = 1.3  # factor between two tests
MOST = 1_500_000  # examples a run
PATIENCE = 20  # passes
SEEDS = 3
TOY = (200_000, 0.05)


class Run:
    """`pgs` on a training set, tested now and then; examples are drawn with replacement."""

    def __init__(self, risk, seed, iterate):
        self.risk, self.solver = risk, PGS(iterate)
        self.rng = np.random.default_rng(seed)
        self.state = self.solver.start(risk, np.zeros(risk.d), 0.0)

    def learn(self, count):
        """Learn so many more examples; return the seconds that took."""
        began = perf_counter()
        order = self.rng.integers(self.risk.m, size=count, dtype=np.uint32)
        self.solver.walk(self.risk, self.state, order, self.rng)
        return perf_counter() - began

    def weights(self):
        w, b = self.solver.weights(self.risk.objective, self.state)
        return w.ravel(), float(b[0])


def curve(risk, seed, score, iterate="last", most=MOST):
    """Examples, seconds and score at each test."""
    run, seen, spent, points = Run(risk, seed, iterate), 0, 0.0, []
    limit = min(most, PATIENCE * risk.m)
    at = 250.0
    while seen < limit:
        step = int(min(at, limit)) - seen
        spent += run.learn(step)
        seen += step
        points.append((seen, spent, score(*run.weights())))
        at *= TESTS
    return points


def first(points, target):
    """Examples and seconds at the first test that reaches the target."""
    return next(((seen, spent) for seen, spent, reached in points if reached >= target), None)


def lbfgs(risk, target, score):
    """Seconds until scipy's L-BFGS reaches the target, without those of testing."""
    spent, best = 0.0, None
    began = perf_counter()
    penalty = risk.objective.regularizer

    def function(w):
        tangent = risk.tangent(w, 0.0)
        return risk.objective.penalty(w) + tangent.value, tangent.plane.a + gradient_of(penalty, w)

    def watch(w):
        nonlocal spent, began, best
        spent += perf_counter() - began
        if score(w, risk.tangent(w, 0.0).b) >= target:
            best = spent
            raise StopIteration  # scipy's way to end a run
        began = perf_counter()

    options = {"maxiter": 300, "maxfun": 400, "ftol": 0.0, "gtol": 0.0}
    start = np.zeros(risk.d)
    minimize(function, start, jac=True, method="L-BFGS-B", callback=watch, options=options)
    return best


def text(name, X, y, Xt, yt, sizes):
    """The figures of one set."""

    def score(w, b):
        return float(np.mean((Xt @ w + b > 0) == (yt > 0)))

    for kind, (loss, penalty) in KINDS.items():
        runs = {}
        for m in sizes:
            source = Source(X[:m], y[:m])
            for alpha in GRID.tolist():
                risk = LinearRisk(Objective(loss, penalty(alpha)), source)
                runs[m, alpha] = risk, [curve(risk, seed, score) for seed in range(SEEDS)]
        tops = {m: max(top(runs[m, alpha][1]) for alpha in GRID.tolist()) for m in sizes}
        targets = [tops[sizes[0]] - less for less in BELOW]
        rows = []
        for m in sizes:
            cells = []
            for target in targets:
                reached = {a: typical(runs[m, a][1], target) for a in GRID.tolist()}
                alpha = min(reached, key=lambda a: reached[a])
                examples, spent = reached[alpha]
                batch = PGS()._batch(runs[m, alpha][0])
                missed = math.isinf(examples)
                cells += ["–", "–"] if missed else [math.ceil(examples / batch), spent]
            quasi = lbfgs(runs[m, alpha][0], targets[-1], score)
            rows.append((m, tops[m], *cells, alpha, quasi or "–"))
        print(f"## {name}, {kind}\n")
        head = ["m", "best accuracy"]
        for target in targets:
            head += [f"rounds to {target:.3f}", "s"]
        table([*head, "σ of the last", f"L-BFGS, s to {targets[-1]:.3f}"], rows)


def top(curves):
    """The best score of a typical run."""
    return median(max(score for _, _, score in points) for points in curves)


def typical(curves, target):
    """Median examples and seconds until the target is reached."""
    reached = [first(points, target) or (math.inf, math.inf) for points in curves]
    return median(n for n, _ in reached), median(s for _, s in reached)


def toys():
    """Examples until ‖w*/‖w*‖ − w/‖w‖‖ ≤ 0.05, w the mean of the iterates (ZHU Figure 9)."""
    most, close = TOY
    rows = []
    for d in (10, 20, 40):
        rng = np.random.default_rng(d)
        root = np.eye(d) + 0.3 * rng.normal(size=(d, d)) / np.sqrt(d)
        apart = rng.normal(size=d) * 2.0 / np.sqrt(d)
        y = np.where(rng.random(most) < 0.5, 1.0, -1.0)
        X = rng.normal(size=(most, d)) @ root.T + 0.5 * np.outer(y, apart)
        true = np.linalg.solve(root @ root.T, apart)
        true /= np.linalg.norm(true)

        def score(w, b, true=true):
            length = np.linalg.norm(w)
            return -float(np.linalg.norm(true - w / length)) if length else -2.0

        cells = []
        for m in (12_500, 25_000, 50_000, 100_000, 200_000):
            source = Source(X[:m], y[:m])
            counts = []
            for alpha in GRID[GRID >= 1e-4][::2]:
                risk = LinearRisk(Objective(Logistic(), SquaredL2(float(alpha))), source)
                runs = [curve(risk, seed, score, "average", most) for seed in range(SEEDS)]
                reached = [first(points, -close) for points in runs]
                if None not in reached:
                    counts.append(int(median(n for n, _ in reached)))
            cells.append(min(counts, default="–"))
        rows.append((d, *cells))
    print("## Gaussian classes: examples to a direction within 0.05, best σ\n")
    table(("d", "m = 12 500", "25 000", "50 000", "100 000", "200 000"), rows)


def main(arguments=()):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="of rcv1-like data, at most")
    most = parser.parse_args(arguments).rows
    toys()
    if datasets.present("imdb") and datasets.present("imdb", "t"):
        X, y = datasets.load("imdb")
        order = np.random.default_rng(0).permutation(len(y))
        parts = X[order], y[order], *datasets.load("imdb", "t")
        text("imdb", *parts, (3125, 6250, 12_500, 25_000))
    X, y = rcv1_like(most + 20_000)
    sizes = [m for m in (10_000, 30_000, 100_000, 300_000, 1_000_000) if m <= most]
    text("rcv1-like", X[:most], y[:most], X[most:], y[most:], sizes)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
