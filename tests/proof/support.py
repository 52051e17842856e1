"""Ten thousand small, nasty problems: is a weight that is said to be 0 ever not?

    PYTHONPATH=tests python -m proof.support [--problems N] [--seed S]

A problem with the penalty ℓ₁ and a smooth loss is made from its number and fitted to a gap of
1e-6. Its optimum is then found in 320 bits (`proof.lasso`): each weight that `certain_zeros_`
names must be 0 in all optima, |g_j| < α at their common slopes, and the optimum be in the interval.
"""

import argparse
import sys
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from time import process_time

import numpy as np
from scipy import sparse

from proof.arithmetic import exact
from proof.lasso import CLOSE, minimum
from proof.losses import kind
from proof.problems import problem
from stepless import LinearClassifier, LinearRegressor
from stepless.data import Source
from stepless.objective import L1

GAP = 1e-6
LOSSES = ("squared", "huber", "logistic", "squared_hinge", "smoothed_hinge", "poisson")
SOLVERS = ("auto",) * 7 + ("emgd", "accelerated", "lbfgs")
LAYOUTS = [(np.float64, False)] * 7 + [(np.float32, False)] * 2 + [(np.float64, True)]
SIGNS = ("logistic", "squared_hinge", "smoothed_hinge")
COLUMNS = ("a copy", "a scaled copy", "almost a copy", "a correlated one", "zeros", "a sum")


# -- problems --------------------------------------------------------------------------------------


def posed(number, losses=LOSSES, layouts=LAYOUTS):
    """Return the problem of a number, whose optimum is attained."""
    rng = np.random.default_rng([number, 20265])
    loss = str(rng.choice(losses))
    layout = layouts[rng.integers(len(layouts))]
    while True:
        given = problem(int(rng.integers(2**40)), loss, "l1", "free", layout)
        shown = given.y if given.s is None else given.y[given.s > 0.0]
        if len(given.y) > 2 and (len(set(shown)) == 2 if loss in SIGNS else shown.any()):
            break
    X, traits = given.X, list(given.traits)
    for _ in range(rng.integers(5)):
        X = _with_column(rng, X, traits)
    given = replace(given, seed=number, X=X)
    share = 10.0 ** rng.uniform(-3, -0.05)
    if rng.random() < 0.3:
        share = float(rng.choice([0.5, 0.25, 1.0 - 1e-9, 1.0]))  # ties, or next to one
    alpha = float(np.clip(share * critical_strength(given), 1e-49, 1e100))
    traits.append(f"α = {share:g} of the critical one")
    return replace(given, regularizer=L1(alpha), traits=tuple(traits))


def _with_column(rng, X, traits):
    """Put one more column at a place of chance."""
    thin, how = sparse.issparse(X), str(rng.choice(COLUMNS))
    A = X.toarray() if thin else X
    x, other = A[:, rng.integers(A.shape[1])].astype(float), A[:, rng.integers(A.shape[1])]
    match how:
        case "a copy":
            x = x * rng.choice([-1.0, 1.0])
        case "a scaled copy":
            x = x * rng.choice([-2.0, -0.5, 0.25, 0.9])
        case "almost a copy":
            x = x * (1.0 - 10.0 ** -rng.uniform(4, 12))
        case "a correlated one":
            x = x + 10.0 ** -rng.uniform(1, 6) * np.abs(x).max() * rng.normal(size=x.size)
        case "zeros":
            x = np.zeros(x.size)
        case "a sum":
            x = 0.5 * x + 0.5 * other
    traits.append(how)
    A = np.insert(A, rng.integers(A.shape[1] + 1), x, axis=1)
    A = np.clip(A, -3e38, 3e38).astype(X.dtype)
    return sparse.csr_array(A) if thin else A


def critical_strength(given):
    """Return the strength above which all weights are 0; 1 if it is 0."""
    b, s = 0.0, scaled_weights(given)
    if given.intercept:
        real = min(given.y) - 1.0, max(given.y) + 1.0
        low, high = real if kind(given.loss) in ("Squared", "Huber") else (-1e3, 1e3)
        for _ in range(200):
            b = 0.5 * (low + high)
            low, high = (low, b) if s @ _slopes(given, b) > 0.0 else (b, high)
    steepest = np.abs(given.X.T @ (s * _slopes(given, b))).max() / len(given.y)
    return float(steepest) or 1.0


def scaled_weights(given):
    """Return the weights of mean 1 that the library rounds those of a problem to."""
    return Source(given.X, given.y, given.s).s


def _slopes(given, b):
    return np.array([given.loss.slope(b, yi) for yi in given.y.tolist()])


# -- verdicts --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What a fit says, and what is true."""

    given: object
    fit: object
    optimum: object

    @property
    def claimed(self):
        """The weights that are said to be 0 in every optimum; None without a claim."""
        claims = getattr(self.fit, "certain_zeros_", None)
        return None if claims is None else claims.ravel()

    @property
    def true(self):
        return np.array(self.optimum.certain(self.given.regularizer.alpha))

    @property
    def faults(self):
        optimum, told = self.optimum, []
        low, high = self.fit.lower_bound_, self.fit.objective_
        if exact(low) > optimum.highest:
            told.append(f"the bound {low!r} is {float(low - optimum.highest):.3g} above an optimum")
        if exact(high) < optimum.lowest:
            told.append(f"the objective {high!r} is below the optimum")
        for j in np.flatnonzero(self.claimed & ~self.true) if self.claimed is not None else []:
            share = float(abs(optimum.g[j]) / self.given.regularizer.alpha)
            told.append(f"w_{j} = {float(optimum.w[j])!r} is said to be 0: |g_{j}| = {share!r}·α")
        return told


def fitted(given, solver):
    """Fit a problem by a solver."""
    settings = {"penalty": given.regularizer, "gap": GAP, "solver": solver, "n_jobs": 1}
    settings |= {"fit_intercept": given.intercept, "random_state": 0}
    signs = kind(given.loss) in ("Logistic", "SquaredHinge", "SmoothedHinge")
    estimator = (LinearClassifier if signs else LinearRegressor)(given.loss, **settings)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(given.X, given.y, given.s)


def judged(given, solver):
    fit = fitted(given, solver)
    known = replace(given, s=scaled_weights(given))
    return Verdict(
        known, fit, minimum(known, fit.coef_.ravel(), float(np.ravel(fit.intercept_)[0]))
    )


class Tally:
    """Counts of every loss, and a line for whatever is wrong."""

    def __init__(self):
        self.counts, self.stops = defaultdict(Counter), Counter()
        self.faults = 0

    def hold(self, number, **named):
        """Judge the problem of a number."""
        given = posed(number, **named)
        able = SOLVERS if np.isfinite(given.loss.smoothness()) else ("auto", "auto", "lbfgs")
        solver = able[number % len(able)]
        count = self.counts[kind(given.loss)]
        count["problems"] += 1
        try:
            faults = self._counted(count, solver, judged(given, solver))
        except Exception as error:  # a crash is a finding too
            faults = [f"{type(error).__name__}: {error}"]
        count["faults"] += len(faults)
        self.faults += len(faults)
        if faults:
            again = f"PYTHONPATH=tests python -m proof.support --problems 1 --seed {number}"
            print(*faults, given, solver, f"[{again}]", sep="\n    ", flush=True)

    def _counted(self, count, solver, verdict):
        optimum, claimed, faults = verdict.optimum, verdict.claimed, verdict.faults
        self.stops[f"{solver} by {verdict.fit.stopped_by_}"] += 1
        if not optimum.violation <= CLOSE:
            count["without an optimum"] += 1
            faults.append(f"no optimum is known: off by {float(optimum.violation):.3g}")
        if claimed is not None:
            true = verdict.true
            count["weights"] += true.size
            count["0 in truth"] += int(true.sum())
            count["claims"] += int(claimed.sum())
            count["wrong claims"] += int((claimed & ~true).sum())
            count["not claimed"] += int((true & ~claimed).sum())
            if verdict.fit.rel_gap_ <= GAP:
                count["… at the gap"] += int((true & ~claimed).sum())
        return faults

    def show(self):
        columns = ["problems", "weights", "0 in truth", "claims", "wrong claims", "not claimed"]
        columns += ["… at the gap", "without an optimum", "faults"]
        print("\n| loss | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|")
        for name, count in [
            *sorted(self.counts.items()),
            ("all", sum(self.counts.values(), Counter())),
        ]:
            print(f"| {name} | " + " | ".join(str(count[c]) for c in columns) + " |")
        print("\nended:", dict(self.stops.most_common()), flush=True)


def main():
    parser = argparse.ArgumentParser(
        description="Search for weights that are wrongly said to be 0."
    )
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="the first problem's number")
    given = parser.parse_args()
    tally, began = Tally(), process_time()
    for k in range(given.problems):
        if k and k % 100 == 0:
            print(f"\n{k} problems after {process_time() - began:.0f} s of the processor")
            tally.show()
        tally.hold(given.seed + k)
    tally.show()
    return int(tally.faults > 0)


if __name__ == "__main__":
    sys.exit(main())
