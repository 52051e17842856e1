"""Small random problems with an optimum from somebody else's solver."""

from copy import copy
from dataclasses import replace
from itertools import product

import numpy as np
from scipy import sparse

from stepless.data import Source
from stepless.objective import (
    LOSSES,
    Box,
    Free,
    L2Ball,
    Nonnegative,
    Objective,
    SquaredL2,
    Zero,
)
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import SOLVERS
from transcriptions.batch import optimum

PARAMETERS = {
    "smoothed_hinge": {"gamma": 5.0},
    "huber": {"delta": 1.0},
    "epsilon_insensitive": {"epsilon": 0.1},
    "quantile": {"tau": 0.3},
}
OF_SEVERAL = ["row-newton"]  # outputs: they have contracts of their own, in tests/solvers
OF_ONE_OUTPUT = [name for name in SOLVERS if name not in OF_SEVERAL]
STRENGTHS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8)


def examples(loss, seed, m, d):
    """A dense X and targets that fit the loss, both classes present."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.7)
    z = X @ rng.normal(size=d) + 0.5 * rng.normal(size=m) + rng.normal()
    targets = LOSSES[loss].targets
    if targets == "signs":
        y = np.where(z > np.median(z), 1.0, -1.0)
        y[:2] = 1.0, -1.0
        y[2:][rng.random(m - 2) < 0.1] *= -1.0
    elif targets == "counts":
        y = rng.poisson(np.exp(np.clip(0.5 * z, -3, 3))).astype(float)
        y[0] = max(y[0], 1.0)
    else:
        y = z
    return X, y


def by_weights(loss):
    """Data with fewer and with more features than examples, in each domain of single weights.

    Each is what a solver is given, X dense or sparse, the same with X dense, domain and intercept.
    """
    kinds = product([(40, 4), (30, 60)], [Free(), Box(-0.3, 0.5), Nonnegative()], [False, True])
    for n, (size, domain, intercept) in enumerate(kinds):
        X, y = examples(loss, n, *size)
        s = np.random.default_rng(n).choice([0.0, 0.5, 1.0, 3.0], len(y)) if n % 2 else None
        if s is not None:
            s[:2] = 1.0
        given = sparse.csr_matrix(X) if n % 3 else X
        yield (given, y, s), (X, y, s), domain, intercept


class Case:
    """A risk and its true minimum."""

    def __init__(self, loss, seed, *, m=25, d=3, strength=None, intercept=None, layout=None):
        rng = np.random.default_rng([seed, len(loss)])
        self.loss, self.seed = loss, seed
        self.strength = strength or float(rng.choice(STRENGTHS))
        self.intercept = bool(rng.integers(2)) if intercept is None else intercept
        self.layout = layout or str(rng.choice(["dense", "sparse"]))
        self.X, self.y = examples(loss, seed, m, d)
        weighted = rng.integers(2)
        self.s = rng.choice([0.0, 0.5, 1.0, 3.0], m) if weighted else np.ones(m)
        self.s[:2] = 1.0  # neither class, and no count, may lose all its weight
        parameters = PARAMETERS.get(loss, {})
        self.objective = Objective(
            LOSSES[loss](**parameters), SquaredL2(self.strength), intercept=self.intercept
        )
        self.risk = self._risk()
        self.best, self.w, self.b = optimum(
            self.X, self.y, loss, self.strength, s=self.s, intercept=self.intercept, **parameters
        )

    def _risk(self):
        X = sparse.csr_matrix(self.X) if self.layout == "sparse" else self.X
        return LinearRisk(self.objective, Source(X, self.y, self.s, threads=1))

    def laid(self, layout):
        """The same problem, dense or sparse."""
        other = copy(self)
        other.layout = layout
        other.risk = other._risk()
        return other

    def unpenalised(self):
        """The same risk without a penalty; its minimum is not known."""
        self.objective = replace(self.objective, regularizer=Zero())
        self.risk = LinearRisk(self.objective, self.risk.source)
        return self

    def bounded(self):
        """The same minimum, in a ball that holds it."""
        other = copy(self)
        ball = L2Ball(1e-3 + 1.5 * float(np.linalg.norm(self.w)))
        other.objective = replace(self.objective, domain=ball)
        other.risk = LinearRisk(other.objective, self.risk.source)
        return other

    def __repr__(self):
        return (
            f"{self.loss}-{self.seed}-{self.strength:g}-{self.layout}"
            f"{'-intercept' if self.intercept else ''}"
        )
