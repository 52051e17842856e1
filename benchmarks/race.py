"""Ours beside the peers, each swept over its own settings: seconds to the same objective.

    python -m benchmarks.race [--tasks small,hinge,logistic,quantile,path] [--sets a9a,w8a]
                              [--lambdas 1e-4,1e-5] [--repeats 3] [--json out.json]
    python -m benchmarks.race --penalty l1 [--tasks squared_hinge,logistic,squared,path]
                              [--shares .1,.01] …: see sparse_race.py; or elasticnet, groups, l1/l2

Everybody minimises J(w) = λ/2 ‖w‖² + mean loss without intercept, and numpy evaluates J at the
weights returned. A peer's "seconds to 1e-3" is the least time of any of its settings whose J is
within 1e-3, relatively, of the best J that anybody found: the peer itself could not know that it
is there. Ours is the time of the whole `fit` to a *certified* gap of 1e-3. The conversion of data
to a peer's format is not timed, nor is compilation. In the tables "–" is never reached, and "…" is
not reached before a setting outlasted the patience, so that tighter ones were not tried.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from benchmarks import datasets, paths, quantiles, sparse_race
from benchmarks.peers import CONTENDERS, Problem, field
from benchmarks.peers.ours import CAP
from benchmarks.sweep import Point, Sweep, check_certificates, measure, sweep
from benchmarks.tables import NEVER, ratio_cell, table, time_cell

TARGETS = (1e-2, 1e-3, 1e-6)
SETS = ("a9a", "w8a", "covtype", "connect-4", "imdb", "20news", "mnist")
LAMBDAS = (1e-4, 1e-5, 1e-6)
SMALL = {"covtype": 1e-8, "connect-4": 1e-7, "w8a": 1e-8, "mnist": 1e-5, "a9a": 1e-4}
TASKS = {"l2": ("small", "hinge", "logistic", "quantile", "path"), **sparse_race.TASKS}


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    warnings.simplefilter("ignore")  # who stops early is seen in the table
    _name_the_absent()
    records: list[dict[str, Any]] = []
    for task in options.tasks:
        for record in _run(task, options):
            records.append(record)
            if options.json:  # each time: a run that is ended leaves what it has
                options.json.write_text(json.dumps(records, indent=1))


def _run(task: str, options: argparse.Namespace) -> Iterable[dict[str, Any]]:
    if task == "small":
        return small(options)
    if task == "quantile":
        return quantiles.main(options.sets, options.patience)
    if options.penalty != "l2":
        return sparse_race.race(task, options)
    if task == "path":
        return paths.main()
    return race(task, options)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    def names(text: str) -> list[str]:
        return [name for name in text.split(",") if name]

    def numbers(text: str) -> list[float]:
        return [float(number) for number in names(text)]

    parser = argparse.ArgumentParser(prog="python -m benchmarks.race", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--penalty", choices=TASKS, default="l2")
    parser.add_argument("--tasks", type=names, default=None, help="all that a penalty has")
    parser.add_argument("--sets", type=names, default=None, help="all that a task has")
    parser.add_argument("--lambdas", type=numbers, default=list(LAMBDAS))
    parser.add_argument("--shares", type=numbers, default=None, help="of α_max")
    parser.add_argument("--only", type=names, default=None, help="families of contenders")
    parser.add_argument("--repeats", type=int, default=None, help="3; 5 if sparse")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds, see sweep.py")
    parser.add_argument("--json", type=Path, default=None, help="where to write all points")
    options = parser.parse_args(arguments)
    options.repeats = options.repeats or (3 if options.penalty == "l2" else 5)
    known = TASKS[options.penalty]
    options.tasks = options.tasks or known
    if unknown := set(options.tasks) - set(known):
        parser.error(f"no task {', '.join(sorted(unknown))}: choose of {', '.join(known)}")
    return options


def _name_the_absent() -> None:
    for module in sorted({c.needs for c in CONTENDERS if not c.installed}):
        print(f"{module}: left out, not installed\n")
    if not any(c.family == "prototype" for c in CONTENDERS):
        print("prototype: left out, ../shared/prototype is not there\n")


# -- hinge, logistic ------------------------------------------------------------------------------


def race(loss: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Print a table for each set and λ, then the summary; yield all points."""
    results = []
    for name, X, y, test in _sets(options.sets or SETS):
        contenders = field(loss, X.shape[1], options.only)
        ready = {c.prepare: c.prepare(X, y) for c in contenders}  # once, whoever shares a format
        for strength in options.lambdas:
            problem = Problem(name, X, y, loss, strength)
            sweeps: list[Sweep] = []
            for contender in contenders:
                floor = max((p.lower_bound for s in sweeps for p in s.points), default=-math.inf)
                print(f"{name} {loss} {strength:g}: {contender.name}", file=sys.stderr, flush=True)
                # ours ends itself at its cap, so that no gap goes untried before
                patience = max(options.patience, CAP if contender.family == "ours" else 0)
                limits = {"repeats": options.repeats, "patience": patience, "floor": floor}
                points = sweep(contender, ready[contender.prepare], problem, test, **limits)
                sweeps.append(Sweep.of(contender, points, patience))
            _report(problem, sweeps)
            results.append((problem, sweeps))
            yield _record(loss, problem, [s.as_dict() for s in sweeps])
    _summarise(loss, results)


def _sets(names: Sequence[str]) -> Iterator[tuple[str, Any, Any, Any]]:
    for name in names:
        if datasets.present(name):
            X, y = datasets.load(name)
            test = datasets.load(name, "t") if datasets.present(name, "t") else None
            yield name, X, y, test


def _report(problem: Problem, sweeps: list[Sweep]) -> None:
    known, floor = _bounds(sweeps)
    print(f"### {problem.name}, {problem.loss}, λ = {problem.strength:g}\n")
    print(f"Best objective known {known:.9g}, certified lower bound {floor:.9g}.\n")
    for sentence in check_certificates(sweeps):
        print(f"**{sentence}**\n")
    ours = [sweeps[0].seconds_to(target, known) for target in TARGETS]
    rows = []
    for s in sweeps:
        times = [s.seconds_to(target, known) for target in TARGETS]
        ratios = [ratio_cell(time, mine) for time, mine in zip(times, ours, strict=True)]
        best = s.best
        error = NEVER if best.test_error is None else f"{100 * best.test_error:.2f} %"
        excess = f"{best.objective / known - 1:.1e}"
        rows.append(
            (s.contender.name, *(time_cell(t, s.cut) for t in times), *ratios, excess, error)
        )
    head = ["contender", *(f"s to {target:g}" for target in TARGETS)]
    head += [f"÷ ours, {target:g}" for target in TARGETS]
    table([*head, "least excess", "test error there"], rows)


def _bounds(sweeps: list[Sweep]) -> tuple[float, float]:
    """The least objective that anybody reached, and our best lower bound."""
    points = [point for s in sweeps for point in s.points]
    return min(p.objective for p in points), max(p.lower_bound for p in sweeps[0].points)


def _summarise(loss: str, results: list[tuple[Problem, list[Sweep]]]) -> None:
    for target in TARGETS[1:]:
        rows, to_best, to_liblinear, alone = [], [], [], 0
        for problem, sweeps in results:
            known, _ = _bounds(sweeps)
            ours = sweeps[0].seconds_to(target, known)
            times = {
                s.contender: s.seconds_to(target, known)
                for s in sweeps
                if s.contender.family not in ("ours", "prototype")
            }
            liblinear = min(
                (t for c, t in times.items() if c.family == "LIBLINEAR"), default=math.inf
            )
            first = min(times, key=times.get, default=None)
            best = times.get(first, math.inf)
            who = first.name if math.isfinite(best) else NEVER
            cut = any(s.cut for s in sweeps if s.contender.family == "LIBLINEAR")
            any_cut = any(s.cut for s in sweeps if s.contender in times)
            rows.append(
                (
                    problem.name,
                    f"{problem.strength:g}",
                    time_cell(ours),
                    time_cell(best, any_cut),
                    who,
                    ratio_cell(best, ours),
                    time_cell(liblinear, cut),
                    ratio_cell(liblinear, ours),
                )
            )
            if math.isfinite(liblinear) and math.isfinite(ours):
                to_best.append(best / ours)
                to_liblinear.append(liblinear / ours)
            alone += math.isfinite(liblinear) and not math.isfinite(ours)
        print(f"## {loss}, to {target:g}: ours beside the best peer and LIBLINEAR\n")
        head = ("set", "λ", "ours, s", "best peer, s", "who", "÷ ours", "LIBLINEAR, s", "÷ ours")
        table(head, rows)
        if to_liblinear:
            print(
                f"Geometric means over the {len(to_liblinear)} of {len(rows)} rows that LIBLINEAR "
                f"and ours reached: best peer ÷ ours {geometric_mean(to_best):.3g}, "
                f"LIBLINEAR ÷ ours {geometric_mean(to_liblinear):.3g}. "
                f"LIBLINEAR alone reached {alone}.\n"
            )
        else:
            print(
                f"No row that both LIBLINEAR and ours reached; LIBLINEAR alone reached {alone}.\n"
            )


# -- small λ --------------------------------------------------------------------------------------


def small(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Where the peers do not converge: hinge, small λ, certified 1e-3, LIBLINEAR as it comes."""
    rows = []
    settings = {"Stepless": {"gap": 1e-3}, "LIBLINEAR -s 3": {"e": 0.1}, "prototype": {"tol": 1e-3}}
    names = [name for name in SMALL if options.sets is None or name in options.sets]
    for name, X, y, test in _sets(names):
        problem = Problem(name, X, y, "hinge", SMALL[name])
        points: dict[str, Point] = {}
        for contender in field("hinge", X.shape[1], options.only):
            if contender.name in settings:
                print(f"{name} small: {contender.name}", file=sys.stderr, flush=True)
                setting = settings[contender.name]
                ready = contender.prepare(X, y)
                points[contender.name] = measure(
                    contender, ready, problem, setting, test, options.repeats
                )
        ours, liblinear, prototype = (points.get(contender) for contender in settings)
        known = min(point.objective for point in points.values())
        mine = ours.seconds if ours.rel_gap <= 1e-3 + 1e-12 else math.inf
        rows.append(
            (
                name,
                f"{problem.strength:g}",
                time_cell(mine),
                f"{ours.rel_gap:.1e}",
                f"{ours.objective:.6f}",
                f"{ours.lower_bound:.6f}",
                *_stop(liblinear, mine, known),
                *_stop(prototype, mine, known),
            )
        )
        found = [{"contender": c, **point.as_dict()} for c, point in points.items()]
        yield _record("small", problem, found)
    print("## Small λ, hinge: a certified gap of 1e-3, beside LIBLINEAR's own stop (-e 0.1)\n")
    head = (
        "set",
        "λ",
        "ours, s",
        "gap",
        "objective",
        "lower bound",
        "LIBLINEAR stops, s",
        "÷ ours",
    )
    table((*head, "its excess", "prototype to 1e-3, s", "÷ ours", "its excess"), rows)


def _stop(point: Point | None, ours: float, known: float) -> tuple[str, str, str]:
    if point is None or math.isinf(point.objective):
        return NEVER, NEVER, NEVER
    excess = f"{100 * (point.objective / known - 1):.2g} %"
    return time_cell(point.seconds), ratio_cell(point.seconds, ours), excess


def _record(task: str, problem: Problem, contenders: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "task": task,
        "set": problem.name,
        "lambda": problem.strength,
        "contenders": contenders,
    }


if __name__ == "__main__":
    main()
