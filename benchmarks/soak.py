"""Thousands of small, nasty problems: look for a false certificate.

    python -m benchmarks.soak [--problems 10000] [--seed 0] [--solvers auto,bundle] [--seconds N]
                              [--wide]

A problem is made from its seed alone: of the ridge, or, with --wide, of any penalty and domain, of
several classes jointly or not. Every solver that can runs on it; the best point that any of
them found, evaluated anew in extended precision, is an upper bound on the optimum. A lower bound
above it is false, by however little. Exit code 1 if anything is false.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.tables import table
from stepless import LinearClassifier, LinearRegressor
from stepless.certificates import Certifier
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import (
    L1,
    LOSSES,
    Box,
    Domain,
    ElasticNet,
    Free,
    GroupsL2,
    GroupsLInf,
    JointLoss,
    L1Ball,
    L2Ball,
    Loss,
    MulticlassHinge,
    Nonnegative,
    Objective,
    Regularizer,
    RowsL2,
    RowsLInf,
    Simplex,
    Softmax,
    SquaredL2,
    Zero,
)
from stepless.risks.joint_risk import risk_of
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import SOLVERS, Finding
from stepless.solvers.auto import choose
from stepless.solvers.online.adagrad import AdaGrad
from stepless.stopping import Stopping

EXACT = np.longdouble
PASSES = {"auto": 300, "batch": 100, "online": 30}
WAYS: dict[str, Callable[[], Any]] = {**SOLVERS, "adagrad-cmd": lambda: AdaGrad("cmd")}
GAPS = (1e-6, 1e-6, 1e-6, 1e-12)  # the last drives bounds to where only rounding is left
ONLINE_EVERY = 10  # problems: online solvers seldom come near enough to err
FALSE = 1e-12  # of the best objective: less is the rounding of the sample weights
STRAY = 1e-13  # of the weights' length: farther outside the domain is outside
WRONG = 1e-9  # of the objective: an evaluation that differs by more is wrong


# -- problems, each from its seed ------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """A problem: data, weights, loss, λ, and how near its solvers shall come."""

    seed: int
    kind: str
    X: Any
    y: NDArray
    s: NDArray | None
    loss: Loss
    strength: float
    intercept: bool
    gap: float
    penalty: Regularizer | None = None  # the ridge, if nothing is said
    domain: Domain = Free()

    @property
    def wide(self) -> bool:
        return self.penalty is not None

    @property
    def objective(self) -> Objective:
        penalty = SquaredL2(self.strength) if self.penalty is None else self.penalty
        return Objective(self.loss, penalty, self.domain, self.intercept)

    def __str__(self) -> str:
        layout = "sparse" if sparse.issparse(self.X) else "dense"
        weights = "" if self.s is None else (" zeros" if (self.s == 0).any() else " weighted")
        m, d = self.X.shape
        return (
            f"{self.loss} {self.kind} {m}×{d} {layout} {self.X.dtype} λ={self.strength:.3g}"
            f"{weights}{' intercept' if self.intercept else ''} gap={self.gap:g}"
            f"{f' {self.penalty} {self.domain}' if self.wide else ''}"
        )


def setting(seed: int) -> Setting:
    """The problem that belongs to a seed."""
    rng = np.random.default_rng([seed, 20])
    loss = _loss(rng)
    kind = str(rng.choice(list(KINDS)))
    m, d = int(rng.integers(5, 81)), int(rng.integers(1, 31))
    if kind == "single":
        d = 1
    elif kind == "wide":
        d = max(d, 6)
        m = int(rng.integers(5, d))
    X = np.round(rng.normal(size=(m, d)) * (rng.random((m, d)) < rng.uniform(0.3, 1.0)), 12)
    X, z = KINDS[kind](rng, X, rng.normal(size=d) / math.sqrt(d) * 10.0 ** rng.uniform(-1, 1))
    X = X.astype(rng.choice(["float32", "float64"]))
    y = _targets(rng, loss.targets, kind, z)
    weighing = str(rng.choice(["none", "random", "zeros"]))
    s = None
    if weighing != "none":
        s = rng.exponential(size=m) if weighing == "random" else rng.choice([0.0, 0.5, 1, 3], m)
        s[:2] = 1.0  # no class, and no count, may lose all its weight
    if rng.integers(2):
        X = sparse.csr_matrix(X)
    strength = 10.0 ** rng.uniform(-9, 1)
    gap = float(rng.choice(GAPS))
    return Setting(seed, kind, X, y, s, loss, strength, bool(rng.integers(2)), gap)


def wide(seed: int) -> Setting:
    """The same data, with another penalty or domain, or with several classes.

    Dense, and of few kinds: each costs the compilation of all solvers.
    """
    rng, narrow = np.random.default_rng([seed, 21]), setting(seed)
    X = narrow.X.toarray() if sparse.issparse(narrow.X) else narrow.X
    narrow = replace(narrow, X=X.astype(float), strength=10.0 ** rng.uniform(-6, 0.5))
    joint = bool(rng.integers(2))
    narrow = (_several if joint else _one)(rng, narrow)
    strength, size = narrow.strength, 10.0 ** rng.uniform(-1, 1.5)
    groups = rng.integers(0, max(1, X.shape[1] // 2), X.shape[1])
    pairs: list[tuple[Regularizer, Domain]] = [
        (L1(strength), Free()),
        (L1(strength), Box(-size * rng.integers(2), size)),
        (GroupsL2.of(strength, groups), Free()),
        (SquaredL2(strength), Free()),
    ]
    if joint:
        pairs += [(RowsL2(strength), Free()), (RowsLInf(strength), Free())]
    else:
        pairs += [
            (ElasticNet(strength, float(rng.uniform())), Free()),
            (GroupsLInf.of(strength, groups), Free()),
            (L1(strength), Nonnegative()),
            (L1(strength), L2Ball(size)),
            (SquaredL2(strength), L1Ball(size)),
            (Zero(), Simplex(size)),
        ]
    penalty, domain = pairs[rng.integers(len(pairs))]
    return replace(narrow, penalty=penalty, domain=domain)


def _one(rng: np.random.Generator, narrow: Setting) -> Setting:
    loss = LOSSES[str(rng.choice(["hinge", "logistic", "absolute", "squared"]))]()
    _, z = KINDS["plain"](rng, narrow.X, _unit(rng, narrow.X, 1)[:, 0])
    return replace(narrow, loss=loss, y=_targets(rng, loss.targets, narrow.kind, z))


def _several(rng: np.random.Generator, narrow: Setting) -> Setting:
    m, K = len(narrow.X), int(rng.choice([2, 3, 5]))
    z = narrow.X @ _unit(rng, narrow.X, K)
    z += rng.choice([0.0, 1.0, 3.0]) * rng.normal(size=(m, K))
    y = (z - z.mean(axis=0)).argmax(axis=1)
    if rng.integers(3) == 0:  # the last class is rare
        y[y == K - 1] = 0
    y[:K] = np.arange(K)
    s = None if narrow.s is None else narrow.s.copy()
    if s is not None:
        s[:K] = 1.0  # no class may lose all its weight
    loss = (MulticlassHinge if rng.integers(2) else Softmax)(K)
    return replace(narrow, y=y.astype(float), s=s, loss=loss)


def _unit(rng: np.random.Generator, X: NDArray, K: int) -> NDArray:
    """Weights (d × K) that make predictions of size 1 or so, whatever the features' sizes."""
    sizes = np.sqrt((X * X).mean(axis=0))
    scales = np.where(sizes > 0.0, 1.0 / np.maximum(sizes, 1e-300), 0.0)
    return rng.normal(size=(X.shape[1], K)) * scales[:, None] / math.sqrt(X.shape[1])


def _loss(rng: np.random.Generator) -> Loss:
    name = str(rng.choice(list(LOSSES)))
    parameters = {
        "smoothed_hinge": 10.0 ** rng.uniform(-1, 3),
        "huber": 10.0 ** rng.uniform(-2, 2),
        "epsilon_insensitive": 10.0 ** rng.uniform(-3, 0),
        "quantile": rng.uniform(0.02, 0.98),
    }
    return LOSSES[name](float(parameters[name])) if name in parameters else LOSSES[name]()


def _plain(rng, X, w):
    return X, X @ w + rng.normal() + 0.5 * rng.normal(size=len(X))


def _ties(rng, X, w):
    X = X[rng.integers(0, max(2, len(X) // 3), len(X))]
    return X, np.round(X @ w + rng.normal(size=len(X)))


def _whole(rng, X, w):
    X = np.round(3 * X)
    return X, np.round(X @ w + rng.normal(size=len(X)))


def _empty_feature(rng, X, w):
    X[:, rng.integers(X.shape[1])] = 0.0
    return _plain(rng, X, w)


def _empty_row(rng, X, w):
    X[rng.integers(len(X), size=2)] = 0.0
    return _plain(rng, X, w)


def _interpolable(rng, X, w):
    return X, X @ w


def _scaled(rng, X, w):
    scales = 10.0 ** rng.uniform(-4, 4, X.shape[1])
    return X * scales, X @ w + 0.5 * rng.normal(size=len(X))


def _off_centre(rng, X, w):
    X = X + 10.0 ** rng.uniform(0, 4, X.shape[1]) * rng.choice([-1, 1], X.shape[1])
    return X, X @ w + 0.5 * rng.normal(size=len(X))


def _constant(rng, X, w):
    z = np.full(len(X), np.round(rng.normal(), 3))
    z[rng.integers(len(X))] += rng.choice([1.0, 1e-3, -1e-6])
    return X, z


def _huge(rng, X, w):
    return X, 1e6 * (X @ w + rng.normal() + 0.5 * rng.normal(size=len(X)))


KINDS: dict[str, Callable[[np.random.Generator, NDArray, NDArray], tuple[NDArray, NDArray]]] = {
    "plain": _plain,
    "ties": _ties,
    "whole": _whole,
    "empty feature": _empty_feature,
    "empty row": _empty_row,
    "interpolable": _interpolable,
    "scaled": _scaled,
    "off-centre": _off_centre,
    "single": _plain,
    "wide": _plain,
    "constant": _constant,
    "huge": _huge,
}


def _targets(rng: np.random.Generator, targets: str, kind: str, z: NDArray) -> NDArray:
    if targets == "signs":
        y = np.where(z > np.median(z), 1.0, -1.0)
        if kind != "interpolable":
            y[rng.random(y.size) < 0.1] *= -1.0
        if (y[:2] == y[0]).all():
            y[0] *= -1.0
        return y
    if targets == "counts":
        if kind == "huge":
            return np.round(np.abs(z))
        y = np.exp(np.clip(z, -5, 8))
        y = y if kind in ("interpolable", "constant") else rng.poisson(y).astype(float)
        y[0] = max(y[0], 1.0)
        return y
    return z


# -- the referee: losses and objective anew, in extended precision ---------------------------------


def _softplus(u):
    return np.maximum(u, 0) + np.log1p(np.exp(-np.abs(u)))


def _poisson(z, y):
    e = np.exp(np.minimum(z, EXACT(80)))
    none = e + e * np.maximum(z - 80, 0) - y * z
    some = np.where(y > 0, y, EXACT(1))
    # y(eᵘ − 1 − u): y log y is not there to cancel, and a series is where eᵘ − 1 and u would
    u = z - np.log(some)
    series, term = u * u / 2, u * u / 2
    for k in range(3, 12):
        term = term * u / k
        series = series + term
    near = np.where(np.abs(u) < 0.02, series, np.expm1(np.minimum(u, EXACT(200))) - u)
    beyond = np.maximum(none + some * np.log(some) - some, 0)
    return np.where(y > 0, np.where(z > 80, beyond, y * near), none)


def _huber(z, y, delta):
    r = np.abs(z - y)
    return np.where(r <= delta, r * r / 2, delta * (r - delta / 2))


REFEREES: dict[str, Callable[..., NDArray]] = {
    "hinge": lambda z, y: np.maximum(0, 1 - y * z),
    "squared_hinge": lambda z, y: np.maximum(0, 1 - y * z) ** 2,
    "smoothed_hinge": lambda z, y, gamma: _softplus(gamma * (1 - y * z)) / gamma,
    "logistic": lambda z, y: _softplus(-y * z),
    "squared": lambda z, y: (z - y) ** 2 / 2,
    "absolute": lambda z, y: np.abs(z - y),
    "huber": _huber,
    "epsilon_insensitive": lambda z, y, epsilon: np.maximum(0, np.abs(z - y) - epsilon),
    "quantile": lambda z, y, tau: np.maximum(tau * (y - z), (tau - 1) * (y - z)),
    "poisson": _poisson,
}
NAMES = {kind: name for name, kind in LOSSES.items()}


def _multiclass_hinge(z, y):
    z, others = _apart(z, y)
    return np.maximum(np.where(others, z + 1, z).max(axis=1), 0)


def _softmax(z, y):
    z, others = _apart(z, y)
    top = np.maximum(z.max(axis=1), 0)
    far = top + np.log(np.exp(z - top[:, None]).sum(axis=1))
    return np.where(top > 1, far, np.log1p((others * np.exp(np.minimum(z, 1))).sum(axis=1)))


def _apart(z, y):
    """z_c − z_y, and whether c ≠ y."""
    own = y.astype(int)[:, None]
    return z - np.take_along_axis(z, own, axis=1), np.arange(z.shape[1]) != own


REFEREES |= {"multiclass_hinge": _multiclass_hinge, "softmax": _softmax}
NAMES |= {MulticlassHinge: "multiclass_hinge", Softmax: "softmax"}


def _penalty(penalty: Regularizer, w: NDArray) -> Any:
    """Ω of w (d × K), from its formula."""
    size, share = EXACT(getattr(penalty, "alpha", 0.0)), EXACT(getattr(penalty, "ratio", 0.0))
    if isinstance(penalty, GroupsL2 | GroupsLInf):
        groups = [w[part] for part in np.split(penalty.order, penalty.starts[1:-1])]
    else:
        groups = list(w)
    match penalty:
        case RowsL2() | GroupsL2():
            return size * sum(np.sqrt((v * v).sum()) for v in groups)
        case RowsLInf() | GroupsLInf():
            return size * sum(np.abs(v).max() for v in groups)
        case L1():
            share = EXACT(1)
    return size * (share * np.abs(w).sum() + (1 - share) * (w * w).sum() / 2)


class Referee:
    """J of a setting, from the formulas, in extended precision."""

    def __init__(self, setting: Setting) -> None:
        X = setting.X.toarray() if sparse.issparse(setting.X) else setting.X
        self.X, self.y = X.astype(EXACT), setting.y.astype(EXACT)
        s = np.ones(self.y.size) if setting.s is None else setting.s
        self.s = s.astype(EXACT) / s.astype(EXACT).sum()
        self.name = NAMES[type(setting.loss)]
        self.loss = REFEREES[self.name]
        self.parameters = [EXACT(getattr(setting.loss, f)) for f in setting.loss._fields]
        if isinstance(setting.loss, JointLoss):
            self.parameters = []
        self.objective = setting.objective
        self.outputs = self.objective.loss.outputs()

    def origin(self) -> NDArray:
        """The weights nearest 0."""
        w = np.zeros(self.X.shape[1] * self.outputs)
        self.objective.domain.project(w)
        return w

    def strays(self, w: NDArray) -> float:
        """How far w lies outside the domain, in units of its length."""
        inside = w.copy()
        self.objective.domain.project(inside)
        return float(np.linalg.norm(w - inside) / max(np.linalg.norm(w), 1e-300))

    def __call__(self, w: NDArray, b: Any) -> Any:
        """J(w, b)."""
        w = w.astype(EXACT).reshape(-1, self.outputs)
        z = self.X @ w + np.asarray(b, dtype=EXACT)
        losses = self.loss(z if self.outputs > 1 else z[:, 0], self.y, *self.parameters)
        return _penalty(self.objective.regularizer, w) + (self.s * losses).sum()

    def cancels(self, w: NDArray, b: Any) -> float:
        """Size of what cancels in the losses at (w, b)."""
        w = np.abs(w).reshape(-1, self.outputs)
        reach = (np.abs(self.X) @ w).sum(axis=1) + np.abs(b).sum() + np.abs(self.y) + 1
        slope = reach if self.name in ("squared", "squared_hinge", "poisson") else 1.0
        return float((self.s * reach * slope).sum())


# -- runs and verdicts -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """What a solver said."""

    w: NDArray
    b: Any
    objective: float
    lower_bound: float
    rel_gap: float
    stopped_by: str
    claim: float  # the highest lower bound that the solver claimed
    solver: str


class Witness:
    """A solver that remembers the highest bound it has claimed."""

    def __init__(self, solver: Any, risk: LinearRisk) -> None:
        self.solver = solver
        self.claim = 0.0
        self._lowest = math.inf
        self._certifier = Certifier(risk.objective, risk.d)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.solver, name)

    def step(self, risk: LinearRisk, state: Any, rng: np.random.Generator) -> Finding:
        """Step as the solver does."""
        finding = self.solver.step(risk, state, rng)
        objective = finding.objective
        if objective is None:
            objective = risk.objective.penalty(finding.w) + risk.value(finding.w, finding.b)
        self._lowest = min(self._lowest, objective)
        if finding.plane is not None:
            self._certifier.learn(finding.plane, self._lowest)
        self.claim = max(self.claim, finding.lower_bound, self._certifier.lower_bound)
        return finding


def runs(problem: Setting, chosen: list[str]) -> Iterator[tuple[str, Run | Exception, float]]:
    """What every solver that can said of a problem, with its name and seconds."""
    for name in chosen:
        if name != "auto":
            solver = WAYS[name]()
            if solver.online and problem.seed % ONLINE_EVERY and not problem.wide:
                continue
            if solver.lacks(problem.objective) is not None:
                continue
        began = perf_counter()
        try:
            run = _by_estimator(problem) if name == "auto" else _by_name(problem, name)
        except Exception as error:  # a crash is a finding too
            yield name, error, perf_counter() - began
        else:
            yield name, run, perf_counter() - began


def _by_choice(problem: Setting) -> Run:
    """The solver of `auto` without the estimator, which has no joint loss for two classes."""
    risk = risk_of(problem.objective, Source(problem.X, problem.y, problem.s, threads=1))
    solver = choose(risk, problem.gap)
    r = minimize(risk, solver, Stopping(problem.gap, passes=PASSES["auto"]))
    said = r.objective, r.lower_bound, r.rel_gap, r.stopped_by, r.lower_bound
    return Run(r.w, r.b, *said, solver.name)


def _by_estimator(problem: Setting) -> Run:
    if problem.loss.outputs() == 2:
        return _by_choice(problem)
    kind = LinearClassifier if problem.loss.targets in ("signs", "classes") else LinearRegressor
    model = kind(
        problem.loss,
        penalty="l2" if problem.penalty is None else problem.penalty,
        domain=problem.domain,
        alpha=problem.strength,
        gap=problem.gap,
        passes=PASSES["auto"],
        fit_intercept=problem.intercept,
        n_jobs=1,
    ).fit(problem.X, problem.y, sample_weight=problem.s)
    w, b = np.ravel(model.coef_.T), np.ravel(model.intercept_)
    said = model.objective_, model.lower_bound_, model.rel_gap_, model.stopped_by_
    return Run(w, b, *said, model.lower_bound_, model.solver_)


def _by_name(problem: Setting, name: str) -> Run:
    risk = risk_of(problem.objective, Source(problem.X, problem.y, problem.s, threads=1))
    solver = Witness(WAYS[name](), risk)
    passes = PASSES["online" if solver.online else "batch"]
    r = minimize(risk, solver, Stopping(problem.gap, passes=passes))
    return Run(r.w, r.b, r.objective, r.lower_bound, r.rel_gap, r.stopped_by, solver.claim, name)


class Tally:
    """Counts of every solver, and a line for whatever is wrong."""

    def __init__(self) -> None:
        self.counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.seconds: Counter[str] = Counter()
        self.problems = 0
        self.faults = 0

    def judge(self, problem: Setting, said: list[tuple[str, Run | Exception, float]]) -> None:
        """Compare what the solvers said of a problem with each other and with the referee."""
        self.problems += 1
        referee = Referee(problem)
        best = zero = referee(referee.origin(), 0.0)
        values = {}
        for name, run, _ in said:
            if isinstance(run, Run) and np.isfinite(run.w).all() and np.isfinite(run.b).all():
                values[name] = referee(run.w, run.b)
                if (strays := referee.strays(run.w)) > STRAY:
                    self._fault(problem, name, "outside", f"by {strays:.2g} of its length")
                else:
                    best = min(best, values[name])
        for name, run, seconds in said:
            count = self.counts[name]
            count["runs"] += 1
            self.seconds[name] += seconds
            if isinstance(run, Exception):
                self._fault(problem, name, "crashed", f"{type(run).__name__}: {run}")
                continue
            if name not in values or not math.isfinite(run.lower_bound):
                self._fault(problem, name, "not finite", f"b={run.b}, bound={run.lower_bound:g}")
                continue
            count["false claim, mended"] += float(EXACT(run.claim) - best) > FALSE * float(best)
            over = float(EXACT(run.lower_bound) - best)
            if over > FALSE * float(best) + 1e-300:
                sizes = f"{run.solver} says {run.lower_bound:.17g}, over by {over:.2g}"
                sizes += f" = {over / float(best):.2g} best" if best else ""
                sizes += f" = {over / float(zero):.2g} R(0)" if zero else ""
                self._fault(problem, name, "false", sizes)
            off = abs(float(EXACT(run.objective) - values[name]))
            if off > WRONG * float(values[name]) + 1e-300:
                # what is reported is lifted by what rounding may hide
                rounding = off <= 1e-12 * referee.cancels(run.w, run.b)
                sizes = f"{run.objective:.17g} is {float(values[name]):.17g}"
                if rounding:
                    count["rounded objective"] += 1
                else:
                    self._fault(problem, name, "wrong objective", sizes)
            met = run.rel_gap <= problem.gap
            if met != (run.stopped_by == "gap") or run.lower_bound > run.objective:
                self._fault(problem, name, "contradiction", f"{run.stopped_by} {run.rel_gap:g}")
            goal = f"{problem.gap:g}"
            count[f"{goal} met" if met else f"{goal} unmet: {run.stopped_by}"] += 1

    def _fault(self, problem: Setting, name: str, what: str, more: str) -> None:
        self.faults += 1
        self.counts[name][what] += 1
        again = f"python -m benchmarks.soak --problems 1 --seed {problem.seed}"
        again += " --wide" if problem.wide else ""
        print(f"{what}: {name}, {problem}: {more}  [{again}]", flush=True)

    def show(self) -> None:
        """Print the table."""
        first = ["runs", "false", "not finite", "crashed", "wrong objective", "contradiction"]
        first += ["outside", "rounded objective", "false claim, mended"]
        rest = sorted({key for count in self.counts.values() for key in count} - set(first))
        print(f"\n## {self.problems} problems\n")
        table(
            ["solver", *first, *rest, "ms a run"],
            [
                (name, *(count[key] for key in first + rest), self._pace(name))
                for name, count in self.counts.items()
            ],
        )

    def _pace(self, name: str) -> float:
        return 1e3 * self.seconds[name] / self.counts[name]["runs"]


def main() -> int:
    parser = argparse.ArgumentParser(description="Search for false certificates.")
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first problem")
    parser.add_argument("--solvers", help="such as auto,bundle; all, if none is named")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--wide", action="store_true", help="any penalty, domain, joint losses")
    given = parser.parse_args()
    chosen = given.solvers.split(",") if given.solvers else ["auto", *WAYS]
    if unknown := set(chosen) - {"auto", *WAYS}:
        parser.error(f"no solver {unknown.pop()}: choose of auto, {', '.join(WAYS)}")
    tally, began = Tally(), perf_counter()
    for seed in range(given.seed, given.seed + given.problems):
        problem = (wide if given.wide else setting)(seed)
        if given.problems == 1:
            print(problem)
        tally.judge(problem, list(runs(problem, chosen)))
        if perf_counter() - began > given.seconds:
            break
    tally.show()
    return int(tally.faults > 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    raise SystemExit(main())
