"""Holds what a run has proved against the same numbers in exact arithmetic."""

import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from proof.arithmetic import exact, mp
from proof.exact import dual, least, objective, violation
from proof.problems import Problem, problem
from stepless.data import Source
from stepless.minimization import minimize
from stepless.proof import distributions, losses
from stepless.proof.optimum_distance import unbounded
from stepless.risks.joint_risk import risk_of
from stepless.solvers import SOLVERS
from stepless.solvers.auto import choose
from stepless.solvers.lacking import lack_of
from stepless.stopping import Stopping


@dataclass(frozen=True)
class Judgement:
    """An interval, and what it must hold, exactly: J(w) and D(witness)."""

    problem: Problem
    solver: str
    interval: tuple
    value: object
    height: object

    @property
    def faults(self):
        lowest, highest = (exact(end) if np.isfinite(end) else end for end in self.interval)
        told = []
        if highest < np.inf and self.value > highest + mp.mpf("1e-300"):
            told.append(f"J(w) is {float(self.value - highest):.3g} above the objective")
        if self.height is not None and lowest > self.height and lowest > 0:
            told.append(f"D is {float(lowest - self.height):.3g} below the bound")
        if lowest > self.value:
            told.append(f"J(w) is {float(lowest - self.value):.3g} below the bound")
        return told


def run(seed, solvers=SOLVERS, **named):
    """Minimise the problem of a seed by a solver of chance, and not always to the end."""
    given = problem(seed, **named)
    rng = np.random.default_rng([seed, 17])
    risk = risk_of(given.objective, Source(given.X, given.y, given.s, threads=1))
    able = [name for name in sorted(solvers) if lack_of(SOLVERS[name](), risk) is None]
    gap = float(10.0 ** -rng.integers(1, 12))
    name = str(rng.choice([*able, "auto"] if solvers is SOLVERS else able))
    solver = choose(risk, gap) if name == "auto" else SOLVERS[name]()
    passes = int(rng.choice([1, 3, 10, 40, 150]))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = minimize(risk, solver, Stopping(gap=gap, passes=passes), rng=rng)
    return given, risk, result


def judge(given, risk, result):
    """Evaluate in exact arithmetic what the run says of its point and of its witness."""
    s = [exact(si) for si in risk.source.s]
    J = objective(given.loss, given.regularizer, given.X, given.y, s, result.w, result.b)
    if violation(given.domain, result.w) > 2e-12:
        assert result.objective == np.inf, f"outside of its domain: {given}"
    interval = (result.lower_bound, result.objective)
    return Judgement(given, result.solver, interval, J, _height(given, risk, s, result))


def _height(given, risk, s, result):
    """D(witness), or what is known without one, if that is more; None if there is no formula."""
    # without a penalty slopes prove something only by where an optimum is: tests of `reach`
    if unbounded(given.objective) or not np.isfinite(result.objective):
        return None
    terms = given.loss, given.regularizer, given.domain
    ceiling = exact(result.objective)
    none = [Fraction(0)] * result.w.size
    try:
        idle = least(given.regularizer, given.domain, none, ceiling, given.loss.outputs())
        if result.witness is None:
            return idle
        slopes = admitted(given.loss, risk.source, result.witness.slopes, given.intercept)
        height = dual(*terms, given.X, given.y, s, slopes, given.intercept, ceiling)
    except NotImplementedError:
        return None
    return max(idle, height)


def admitted(loss, source, column, intercept):
    """The slopes that the verifier takes for those that may have no conjugate: any prove something."""
    if loss.outputs() == 1:
        a = source.empty(before=(2,))
        source.update(a, losses.admissible_slopes, loss, column)
        return [exact(ai) for part in a.parts for ai in part[0]]
    shown = np.ones(loss.outputs(), dtype=bool)
    if intercept:
        shown = np.bincount(source.y.astype(int), source.s > 0.0, shown.size) > 0.0
    p = source.empty(after=(loss.outputs(),))
    source.update(p, distributions.admissible, loss, column, shown, 0.0)
    return [[exact(pic) for pic in pi] for part in p.parts for pi in part]
