"""ℓ₁ and its kin: ours beside the peers, each swept over its own tolerances.

    python -m benchmarks.race --penalty l1 [--tasks squared_hinge,logistic,squared,path]
                              [--sets a9a,cadata] [--shares .1,.01,.001] [--json out.json]

The strength is a share of the least one at which w = 0 is optimal. Each contender has a process of
its own for each problem, which is warmed up by a small one and ended when a run outlasts the
patience. Numpy evaluates the objective at the weights returned; its excess is relative to our lower
bound, where that is proved within 1e-7, else to the best objective known. A peer's "best" is the
fastest of its tolerances within a target, chosen in hindsight; ours is the whole `fit` to a
*certified* gap. A path, of a hundred strengths down to a share, counts as one problem, whose
objective is the mean over the strengths.
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean, median
from typing import Any

from numpy.typing import NDArray

from benchmarks import datasets, regressions
from benchmarks.apart import Apart, sweep_apart
from benchmarks.peers import Path, Problem, field
from benchmarks.peers.ours import CAP
from benchmarks.sweep import Point, Sweep, check_certificates
from benchmarks.tables import NEVER, ratio_cell, table, time_cell

TARGETS = (1e-3, 1e-6)
SETS = ("a9a", "w8a", "covtype", "connect-4", "imdb", "20news", "mnist")
SHARES = (0.1, 0.01, 0.001)
TASKS = {
    "l1": ("squared_hinge", "logistic", "squared", "path"),
    "elasticnet": ("squared", "logistic"),
    "groups": ("squared",),
    "l1/l2": ("squared",),
}
PROVED = 1e-7  # relative gap at which our lower bound stands for the optimum
LEAST = 1e-8  # excesses below it are equal


@dataclass(frozen=True)
class Outcome:
    """All sweeps of one problem."""

    problem: Problem
    share: float
    apart: tuple[Apart, ...]

    @property
    def sweeps(self) -> list[Sweep]:
        """Of those who returned anything."""
        return [a.sweep for a in self.apart if a.sweep.points]

    @property
    def ours(self) -> Sweep | None:
        """Our sweep, if the problem is one for us."""
        return next((s for s in self.sweeps if s.contender.family == "ours"), None)

    @property
    def peers(self) -> list[Sweep]:
        """The others' sweeps."""
        return [s for s in self.sweeps if s.contender.family != "ours"]

    @property
    def lower_bound(self) -> float:
        """The best that is proved."""
        return max((p.lower_bound for s in self.sweeps for p in s.points), default=-math.inf)

    @property
    def reference(self) -> float:
        """Our lower bound if it is close to the best objective that anybody reached, or that."""
        reached = min(p.objective for s in self.sweeps for p in s.points)
        return self.lower_bound if reached - self.lower_bound <= PROVED * reached else reached

    def excess(self, point: Point) -> float:
        return point.objective / self.reference - 1.0

    def seconds_to(self, target: float, sweep: Sweep | None) -> float:
        return math.inf if sweep is None else sweep.seconds_to(target, self.reference)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "task": f"{self.problem.kind} {self.problem.loss}",
            "set": self.problem.name,
            "share": self.share,
            "lambda": self.problem.strength,
            "reference": self.reference,
            "contenders": [a.as_dict() for a in self.apart],
        }


def race(task: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Print a table for each set and strength, then the summaries; yield all points."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the sweeps' processes end with us
    outcomes = []
    kind, shares = (Path, (0.01,)) if task == "path" else (Problem, SHARES)
    for name, loss, X, y in _data(task, options.penalty, options.sets):
        unit = kind(name, X, y, loss, 1.0, options.penalty)
        for share in options.shares or shares:
            problem = replace(unit, strength=share * float(unit.strongest))
            outcome = Outcome(problem, share, tuple(_sweeps(problem, share, options)))
            if not outcome.sweeps:
                print(f"**{name}, {loss}, {share:g}: nobody returned anything.**\n", flush=True)
                continue
            _report(outcome)
            outcomes.append(outcome)
            yield outcome.as_dict()
    if any(a.sweep.contender.family == "ours" for o in outcomes for a in o.apart):
        for target in TARGETS:
            _summarise(outcomes, target)
        _compare_defaults(outcomes)
    _first_fits(outcomes)


def _data(
    task: str, penalty: str, names: Sequence[str] | None
) -> Iterator[tuple[str, str, Any, NDArray]]:
    """Yield name, loss, examples and targets of the sets that a task has."""
    if penalty == "l1/l2":
        yield "500 × 3000, 20 targets", task, *regressions.many_targets()
        return
    if task == "path":
        if names is None or "imdb" in names:
            yield from _labelled("logistic", ("imdb",))
            yield from _labelled("squared", ("imdb",))
        generated = (next(iter(regressions.ONE_TARGET)),)
    elif task != "squared":
        yield from _labelled(task, [name for name in SETS if names is None or name in names])
        return
    else:
        generated = tuple(regressions.ONE_TARGET)
    for name in generated:
        asked = names is None or name.split()[0] in names
        whole = penalty != "groups" or name != "cadata"  # of eight features, no group
        if asked and whole and (name != "cadata" or datasets.present(name)):
            yield name, "squared", *regressions.ONE_TARGET[name]()


def _labelled(loss: str, names: Sequence[str]) -> Iterator[tuple[str, str, Any, NDArray]]:
    for name in names:
        if datasets.present(name):
            yield name, loss, *datasets.load(name)


def _sweeps(problem: Problem, share: float, options: argparse.Namespace) -> Iterator[Apart]:
    floor = -math.inf
    for contender in field(problem.loss, problem.X.shape[1], options.only, problem.kind):
        where = f"{problem.name}, {problem.loss}, {share:g}: {contender.name}"
        print(where, file=sys.stderr, flush=True)
        patience = max(options.patience, CAP if contender.family == "ours" else 0.0)
        apart = sweep_apart(
            contender, problem, repeats=options.repeats, patience=patience, floor=floor
        )
        if apart.failed:
            print(f"**{where} failed; stderr has the exception.**\n", flush=True)
        floor = max([floor, *(p.lower_bound for p in apart.sweep.points)])
        yield apart


def _report(outcome: Outcome) -> None:
    """Print each contender's best points in hindsight, its default and, if short, its closest."""
    problem = outcome.problem
    strength = f"{outcome.share:g} α_max = {problem.strength:.4g}"
    print(f"### {problem.name}, {problem.loss}, {problem.kind}, α = {strength}\n")
    print(f"Optimum {outcome.reference:.10g}, certified lower bound {outcome.lower_bound:.10g}.\n")
    for sentence in check_certificates(outcome.sweeps):
        print(f"**{sentence}**\n")
    rows = []
    for a in outcome.apart:
        s, cut = a.sweep, " (cut)" if a.sweep.cut else ""
        marks = {id(p): list[str]() for p in s.points}
        missed = []
        for target in TARGETS:
            least = outcome.seconds_to(target, s)
            best = next((p for p in s.points if p.seconds == least), None)
            if best is None:
                missed.append(f"{target:g}")
            else:
                marks[id(best)].append(f"best to {target:g}")
        if missed and s.best is not None:
            marks[id(s.best)].append(f"closest{cut}: {' and '.join(missed)} not reached")
        if s.at_default is not None:
            marks[id(s.at_default)].append("default")
        if not s.points:
            rows.append((s.contender.name, *[NEVER] * 5, "nothing" + cut))
        for p in s.points:
            if marks[id(p)]:
                rows.append((s.contender.name, *_cells(outcome, p), ", ".join(marks[id(p)])))
    table(("contender", "tolerance", "s", "runs", "objective", "excess", "mark"), rows)


def _cells(outcome: Outcome, point: Point) -> tuple[str, ...]:
    tolerance = next(iter(point.setting.values()))
    return (
        f"{tolerance:g}",
        f"{point.seconds:.3g}",
        str(point.runs),
        f"{point.objective:.9g}",
        f"{outcome.excess(point):.1e}",
    )


def _summarise(outcomes: list[Outcome], target: float) -> None:
    """Ours, certified, beside the best peer's best tolerance."""
    rows, ratios, alone, beaten = [], [], 0, 0
    for o in outcomes:
        ours = o.seconds_to(target, o.ours)
        times = {s.contender.name: o.seconds_to(target, s) for s in o.peers}
        who = min(times, key=times.__getitem__, default=NEVER)
        best = times.get(who, math.inf)
        cut = any(s.cut for s in o.peers)
        if math.isfinite(ours) and math.isfinite(best):
            ratios.append(best / ours)
        alone += math.isfinite(ours) and math.isinf(best)
        beaten += math.isinf(ours) and math.isfinite(best)
        cells = time_cell(ours), time_cell(best, cut), who if math.isfinite(best) else NEVER
        ahead = NEVER if ours == best else "ours" if ours < best else who
        rows.append((o.problem.name, f"{o.share:g}", *cells, ratio_cell(best, ours), ahead))
    kinds = " and ".join(sorted({f"{o.problem.loss}, {o.problem.kind}" for o in outcomes}))
    print(f"## {kinds}, to {target:g}\n\nOurs, certified, beside the best peer in hindsight.\n")
    table(("set", "share", "ours, s", "best peer, s", "who", "÷ ours", "ahead"), rows)
    ahead = sum(ratio > 1.0 for ratio in ratios)
    mean = f"; geometric mean of best peer ÷ ours {geometric_mean(ratios):.3g}" if ratios else ""
    print(
        f"Reached by both {len(ratios)}, ours ahead in {ahead}{mean}. "
        f"Reached by ours alone {alone}, by peers alone {beaten}.\n"
    )


def _compare_defaults(outcomes: list[Outcome]) -> None:
    """Ours beside each peer at its default tolerance."""
    rows, verdicts = [], dict[str, list[str]]()
    for o in outcomes:
        mine = None if o.ours is None else o.ours.at_default
        for s in o.peers:
            verdict, as_good = "unfinished", math.inf
            theirs = s.at_default
            if theirs is not None:
                excess = max(o.excess(theirs), LEAST)
                near = [p for p in (o.ours.points if o.ours else ()) if o.excess(p) <= excess]
                as_good = min((p.seconds for p in near), default=math.inf)
                tenth = mine is not None and max(o.excess(mine), LEAST) <= excess / 10
                verdict = "in excess" if tenth else "behind"
                verdict = "in time" if as_good < theirs.seconds else verdict
            verdicts.setdefault(s.contender.name, []).append(verdict)
            both = [(NEVER, NEVER) if p is None else _cells(o, p)[1::3] for p in (theirs, mine)]
            cells = *both[0], *both[1], time_cell(as_good), verdict
            rows.append((o.problem.name, f"{o.share:g}", s.contender.name, *cells))
    print("## Ours beside each peer at its default tolerance\n")
    print(
        "Ahead in time: one of our gaps has no larger excess in less time. Ahead in excess: at our "
        "default gap, 1e-3, it is less than a tenth. Unfinished: the patience was too short.\n"
    )
    head = ("set", "share", "peer", "its s", "excess", "ours, s", "excess", "as good, s", "ahead")
    table(head, rows)
    kinds = ("in time", "in excess", "behind", "unfinished")
    counts = [(name, *map(found.count, kinds)) for name, found in verdicts.items()]
    table(("peer", *kinds), counts)


def _first_fits(outcomes: list[Outcome]) -> None:
    """What compilation costs in each process: the first processes, which fill caches, left out."""
    found: dict[str, list[Apart]] = {}
    for apart in (a for o in outcomes for a in o.apart if a.first is not None):
        found.setdefault(apart.sweep.contender.name, []).append(apart)
    rows = []
    for name, processes in found.items():
        later = processes[1:] or processes
        first, again = (median(getattr(a, which) for a in later) for which in ("first", "again"))
        rows.append((name, f"{first:.3g}", f"{again:.3g}"))
    print("## The first fit of a later process, to at most 1000 rows, modules imported before\n")
    table(("contender", "first fit, s", "second, s"), rows)
