"""A hundred thousand small, nasty problems: is any interval false?

    PYTHONPATH=tests python -m proof.soak [--problems N] [--seed S] [--exact-every K] [--seconds N]

A problem is made from its number alone. Those of a group have the kinds of all terms, a layout
and two solvers in common, for these are compiled; data, weights, strengths, gaps and starts are
their own. Two runs or more are made of each, also from other points and from results at other
strengths, which are problems too: intervals of one problem must meet, and an optimum rises with the strength. Of every
K-th problem J(w) and D(witness) are evaluated in fractions and 600 bits, and must lie within.
"""

import argparse
import math
import sys
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from time import perf_counter, process_time
from unittest import mock

import numpy as np

from proof.arithmetic import exact, mp
from proof.exact import kernel_dual, kernel_objective, penalty
from proof.judged import Judgement, admitted, judge
from proof.oracles import METRICS, ORACLES, RANKINGS, oracle
from proof.problems import LOSSES, pair, problem
from stepless import minimization as loop, under_way
from stepless.certificates import Certifier
from stepless.data import Source
from stepless.data.gram import Gram
from stepless.kernels import Gaussian, LinearKernel, Polynomial
from stepless.objective import Objective, SquaredL2
from stepless.risks.joint_risk import risk_of
from stepless.risks.kernel_risk import KernelRisk
from stepless.solvers import SOLVERS
from stepless.solvers.auto import choose
from stepless.solvers.batch.kernel_newton import KernelNewton
from stepless.solvers.lacking import lack_of
from stepless.solvers.online.kernel_pgs import KernelPGS
from stepless.stopping import Stopping

GROUP = 500
SLOW = 4.0  # seconds that a group has, once compiled: some solve a linear programme a step …
LENGTH = 40  # of a sentence that refuses: what Python says of a wrong number is shorter
FAST = 50.0  # … unless it is done with so many problems a second
LAYOUTS = [(np.float64, False), (np.float64, True), (np.float32, False), (np.float32, True)]
FAMILIES = ("sums", "sums", "sums", "ridges", "ridges", "ridges", "kernels", "oracles", "oracles")
WAYS = {**SOLVERS, "kernel-pgs": KernelPGS, "kernel-newton": KernelNewton}


# -- problems --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sum:
    """A sum of a loss over rows."""

    given: object

    def risk(self):
        given = self.given
        return risk_of(given.objective, Source(given.X, given.y, given.s, threads=1))

    def at(self, times):
        """The same with another strength."""
        return Sum(replace(self.given, regularizer=_stronger(self.given.regularizer, times)))

    def judge(self, risk, result):
        return judge(self.given, risk, result)


@dataclass(frozen=True)
class Expansion:
    """A sum of a loss over predictions of kernels."""

    given: object
    kernel: object

    def risk(self):
        given = self.given
        objective = Objective(given.loss, given.regularizer, intercept=given.intercept)
        return KernelRisk(objective, Gram(self.kernel, given.X), given.y, given.s)

    def at(self, times):
        stronger = replace(self.given, regularizer=_stronger(self.given.regularizer, times))
        return Expansion(stronger, self.kernel)

    def judge(self, risk, result):
        given, s = self.given, [exact(si) for si in risk.s]
        data = given.loss, given.regularizer.alpha, self.kernel, given.X, given.y, s
        J, height = kernel_objective(*data, result.w, result.b), mp.zero
        if result.witness is not None:
            source = Source(np.zeros((risk.m, 1)), given.y, given.s)
            slopes = admitted(given.loss, source, result.witness.slopes, given.intercept)
            height = max(kernel_dual(*data, slopes, given.intercept), height)
        return Judgement(self, result.solver, (result.lower_bound, result.objective), J, height)


@dataclass(frozen=True)
class Oracle:
    """A risk that is known by an oracle: D has no formula, so that J alone is held against it."""

    known: object

    def risk(self):
        return self.known.risk

    def at(self, times):
        risk = self.known.risk
        return Oracle(
            replace(self.known, risk=risk.under(_stronger(risk.objective.regularizer, times)))
        )

    def judge(self, risk, result):
        omega = risk.objective.regularizer
        J = penalty(omega, result.w) + self.known.value(result.w, result.b)
        return Judgement(self, result.solver, (result.lower_bound, result.objective), J, None)


def _stronger(regularizer, times):
    fields = dict(zip(regularizer._fields, regularizer, strict=True))
    if "alpha" in fields:
        fields["alpha"] = float(np.clip(fields["alpha"] * times, 1e-49, 1e100))
    return type(regularizer)(**fields)


@dataclass(frozen=True)
class Group:
    """The settings that the problems of a group share."""

    kind: str  # of the risk, for the table
    make: object  # the problem of a number
    ways: tuple  # names of solvers

    @classmethod
    def of(cls, number):
        rng, able = np.random.default_rng([number, 20262]), []
        while not able:
            kind, make = cls._drawn(rng)
            risk = make(number * GROUP).risk()
            able = [name for name in WAYS if lack_of(WAYS[name](), risk) is None]
        first = able[number % len(able)]
        return cls(kind, make, (first, str(rng.choice(["auto", "auto", *able]))))

    @staticmethod
    def _drawn(rng):
        """A kind of risk, and what makes one of a number."""
        layout = LAYOUTS[rng.integers(4)]
        family = str(rng.choice(FAMILIES))
        if family in ("sums", "ridges"):  # some solvers know nothing but a ridge
            loss = str(rng.choice(LOSSES))
            terms = pair(rng, None, None) if family == "sums" else ("l2", "free")
            terms = (loss, *terms, layout)
            return loss, lambda seed: Sum(problem(seed, *terms))
        if family == "kernels":
            loss = str(rng.choice(LOSSES[:10]))
            name = str(rng.choice(["gaussian", "polynomial", "linear"]))
            layout = (np.float64, layout[1])
            return "kernels", lambda seed: _expansion(seed, loss, name, layout)
        name = str(rng.choice(ORACLES))
        omega = str(rng.choice(["l2", "l2", "l2", "l1", "elastic_net"]))
        kind = "ranking" if name in RANKINGS else "metric" if name in METRICS else name
        return kind, lambda seed: Oracle(oracle(name, seed, omega, layout))


def _expansion(seed, loss, name, layout):
    rng = np.random.default_rng([seed, 20263])
    given = problem(seed, loss, "l2", "free", layout)
    few = slice(int(rng.integers(3, 15)))
    kept = {"X": given.X[few], "y": given.y[few], "s": None if given.s is None else given.s[few]}
    if kept["s"] is not None:
        kept["s"][0] = 1.0
    size = float(abs(given.X).max()) or 1.0
    gamma = float(np.clip(10.0 ** rng.uniform(-3, 1) / size**2, 1e-80, 1e80))
    kernels = {
        "gaussian": lambda: Gaussian(gamma),
        "polynomial": lambda: Polynomial(int(rng.integers(1, 6)), gamma, float(rng.integers(3))),
        "linear": LinearKernel,
    }
    square = size**2 if name == "linear" else 1.0
    alpha = float(np.clip(10.0 ** rng.uniform(-6, 2) * square, 1e-49, 1e100))
    return Expansion(replace(given, regularizer=SquaredL2(alpha), **kept), kernels[name]())


# -- runs ------------------------------------------------------------------------------------------


class Heard(Certifier):
    """A certifier that tells the highest bound that a solver has claimed."""

    highest = 0.0

    def accept(self, bound, claim):
        super().accept(bound, claim)
        Heard.highest = max(Heard.highest, self.lower_bound)


@dataclass(frozen=True)
class Said:
    """The claims of a run on a problem, whose penalty is `times` as strong as that in question."""

    problem: object
    risk: object
    result: object
    claim: float
    times: float
    gap: float


def runs(group, number):
    """Minimise the problem of a number in two ways or more."""
    rng, asked = np.random.default_rng([number, 20264]), group.make(number)
    first, second = group.ways
    begun = str(rng.choice(["cold", "cold", "point", "result", "path"]))
    if begun == "cold":
        return [_run(rng, asked, first), _run(rng, asked, second)]
    if begun == "point":
        said = _run(rng, asked, first)
        near = 10.0 ** rng.uniform(-9, 1)
        w = said.result.w * (1.0 + near * rng.normal(size=said.result.w.size))
        b = said.result.b * (1.0 + near * rng.normal())
        return [said, _run(rng, asked, second, (w, b))]
    before = []
    for _ in range(1 if begun == "result" else 3):
        start = before[-1].result if before else None
        before.append(_run(rng, asked, first, start, 10.0 ** rng.uniform(-3, 3)))
    start = before[-1].result
    return [*before, _run(rng, asked, first, start), _run(rng, asked, second, start)]


def _run(rng, asked, name, start=None, times=1.0):
    given = asked if times == 1.0 else asked.at(times)
    risk = given.risk()
    gap, passes = float(10.0 ** -rng.integers(1, 12)), int(rng.choice([1, 5, 20, 60]))
    solver = choose(risk, gap) if name == "auto" else WAYS[name]()
    Heard.highest = 0.0
    with np.errstate(all="ignore"), mock.patch.object(under_way, "Certifier", Heard):
        result = loop.minimize(risk, solver, Stopping(gap, passes=passes), start=start, rng=rng)
    return Said(given, risk, result, Heard.highest, times, gap)


# -- verdicts --------------------------------------------------------------------------------------


class Tally:
    """Counts of every kind of risk, and a line for whatever is wrong."""

    def __init__(self):
        self.counts = defaultdict(Counter)
        self.refused, self.solvers = Counter(), Counter()
        self.problems = self.faults = 0

    def hold(self, group, number, exactly):
        """Run a problem, and hold what is said of it against each other and against the truth."""
        count = self.counts[group.kind]
        try:
            said = runs(group, number)
        except Exception as error:  # a crash is a finding too
            if type(error) is ValueError and len(str(error)) > LENGTH:
                count["refused"] += 1
                self.refused[str(error)[:90]] += 1
                return
            faults = [f"{group.ways} crashed: {type(error).__name__}: {error}"]
            count["crashes"] += 1
        else:
            faults = self._compared(count, said) + (self._judged(count, said) if exactly else [])
        self.faults += len(faults)
        count["faults"] += len(faults)
        if faults:
            again = f"PYTHONPATH=tests python -m proof.soak --problems 1 --seed {number}"
            print(*faults, group.make(number), f"[{again}]", sep="\n    ", flush=True)

    def _compared(self, count, said):
        faults = []
        strengths = len({one.times for one in said})
        self.problems += strengths
        count["problems"] += strengths
        least = min(one.result.objective for one in said if one.times == 1.0)
        for one in said:
            result = one.result
            low, high, who = result.lower_bound, result.objective, f"{result.solver}: "
            count["runs"] += 1
            self.solvers.update(result.solver.split(", "))
            if math.isnan(high) or not low <= high:
                faults.append(f"{who}[{low!r}, {high!r}] is no interval")
            if (result.rel_gap <= one.gap) != (result.stopped_by == "gap"):
                faults.append(f"{who}stopped by {result.stopped_by} at {result.rel_gap:g}")
            for other in said:
                # an optimum rises with the strength
                if one.times <= other.times and low > other.result.objective:
                    over = low - other.result.objective
                    faults.append(f"{who}{low!r} is {over:.3g} above {other.result.solver}'s")
            if one.times == 1.0:
                count["false claims"] += one.claim > least
                count["by 1e-9 or more"] += one.claim > least * (1.0 + 1e-9)
        return faults

    def _judged(self, count, said):
        faults, judged = [], []
        count["judged problems"] += len({one.times for one in said})
        for one in said:
            if not np.isfinite([*one.result.w, *np.ravel(one.result.b)]).all():
                continue
            found = one.problem.judge(one.risk, one.result)
            judged.append((one, found))
            count["J"] += 1
            count["D"] += found.height is not None
            faults += [f"{one.result.solver}: {fault}" for fault in found.faults]
        for one, _ in judged:
            for other, found in judged:
                low, inside = one.result.lower_bound, other.result.objective < math.inf
                if one.times <= other.times and inside and exact(low) > found.value:
                    over = float(exact(low) - found.value)
                    faults.append(f"{one.result.solver}: {low!r} is {over:.3g} above a J(w)")
            values = [
                f.value for o, f in judged if o.times == 1.0 and o.result.objective < math.inf
            ]
            if one.times == 1.0 and values and math.isfinite(one.claim):
                count["false claims, exactly"] += exact(one.claim) > min(values)
        return faults

    def show(self):
        columns = ["problems", "runs", "judged problems", "J", "D", "faults", "crashes"]
        columns += ["false claims", "by 1e-9 or more", "false claims, exactly", "refused"]
        total = sum(self.counts.values(), Counter())
        print("\n| risk | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|")
        for kind, count in [*sorted(self.counts.items()), ("all", total)]:
            print(f"| {kind} | " + " | ".join(str(count[c]) for c in columns) + " |")
        print("\nruns of solvers:", dict(self.solvers.most_common()))
        print("refused:", dict(self.refused.most_common()), flush=True)


def main():
    parser = argparse.ArgumentParser(description="Search for false intervals.")
    parser.add_argument("--problems", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="the first problem's number")
    parser.add_argument("--exact-every", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=math.inf)
    given = parser.parse_args()
    tally, began, number = Tally(), perf_counter(), given.seed
    group, arrived, before = Group.of(number // GROUP), process_time(), 0
    while tally.problems < given.problems and perf_counter() - began < given.seconds:
        tally.hold(group, number, given.problems == 1 or number % given.exact_every == 0)
        if number % GROUP == 0:
            arrived, before = process_time(), tally.problems
        number += 1
        spent = process_time() - arrived
        if spent > SLOW and tally.problems - before < FAST * spent:
            number += -number % GROUP
        if number % GROUP == 0:
            group = Group.of(number // GROUP)
            if number // GROUP % 10 == 0:
                print(f"\n{number // GROUP} groups after {perf_counter() - began:.0f} s")
                tally.show()
    tally.show()
    return int(tally.faults > 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
