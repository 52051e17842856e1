"""A contender's sweep over its settings on one problem, and what the points of sweeps say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter
from typing import Any, Self

import numpy as np

from benchmarks.peers import Contender, Problem

LONG = 10.0  # seconds: a run as long as this is not repeated
CLOSEST = 1e-6  # the least excess that is asked for


@dataclass(frozen=True)
class Point:
    """Medians over the runs of one setting."""

    setting: dict[str, Any]
    seconds: float
    runs: int
    objective: float
    lower_bound: float
    test_error: float | None

    @property
    def rel_gap(self) -> float:
        """What is proved: infinite for those who prove nothing."""
        return (self.objective - self.lower_bound) / self.objective

    def as_dict(self) -> dict[str, Any]:
        """For JSON, which has no infinity."""
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Sweep:
    """All points of a contender on a problem."""

    contender: Contender
    points: tuple[Point, ...]
    cut: bool  # patience ended it: tighter settings were not tried

    @classmethod
    def of(cls, contender: Contender, points: Iterable[Point], patience: float) -> Self:
        """Gather the points of `sweep`."""
        found = tuple(points)
        late = not found or found[-1].seconds > patience
        return cls(contender, found, late and len(found) < len(contender.settings))

    @property
    def certified(self) -> bool:
        """Whether its times are to a proved gap, not to a measured one."""
        return any(math.isfinite(point.rel_gap) for point in self.points)

    @property
    def at_default(self) -> Point | None:
        """The point of the default tolerance."""
        return next((p for p in self.points if self.contender.comes_with(p.setting)), None)

    @property
    def best(self) -> Point | None:
        """The point of least objective."""
        return min(self.points, key=lambda point: point.objective, default=None)

    def seconds_to(self, target: float, best_known: float) -> float:
        """Least time of a point within the target: of its proof, or of the best known objective."""
        rounding = 1e-12
        return min(
            (
                point.seconds
                for point in self.points
                if (point.rel_gap if self.certified else point.objective / best_known - 1)
                <= target + rounding
            ),
            default=math.inf,
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        points = [point.as_dict() for point in self.points]
        return {"contender": self.contender.name, "cut": self.cut, "points": points}


def measure(
    contender: Contender, ready: Any, problem: Problem, setting: dict[str, Any], test, repeats: int
) -> Point:
    """Run several times, fewer if they last; a first run that compiles does not count."""
    times, objectives, bounds = [], [], []

    def run():
        began = perf_counter()
        model = contender.fit(ready, problem, setting)
        times.append(perf_counter() - began)
        answer = contender.answer(model)
        told = answer.objective
        objectives.append(problem.objective(answer.w) if told is None else told)
        bounds.append(answer.lower_bound)
        return answer

    answer = run()
    if contender.compiles and times[0] <= 2 * LONG:
        times, objectives, bounds = [], [], []
        answer = run()
    for _ in range(min(repeats, int(LONG / max(times[0], 1e-9))) - 1):
        answer = run()
    error = None
    if test is not None and answer.w is not None:
        X, y = test
        error = float(np.mean(np.where(X @ answer.w > 0, 1.0, -1.0) != y))
    return Point(setting, median(times), len(times), median(objectives), median(bounds), error)


def sweep(
    contender: Contender,
    ready: Any,
    problem: Problem,
    test: Any,
    *,
    repeats: int,
    patience: float,
    floor: float,
) -> Iterator[Point]:
    """Measure setting after setting, from the loosest, and yield each point at once.

    It ends after a setting that took longer than the patience or, once the default was tried, whose
    answer is provably as close as is ever asked for (`floor` is a lower bound), or that was long
    and changed nothing.
    """
    last, came = math.nan, False
    for setting in contender.settings:
        point = measure(contender, ready, problem, setting, test, repeats)
        yield point
        stuck = abs(point.objective / last - 1) < 1e-9
        close = point.objective - floor <= CLOSEST * floor
        last, came = point.objective, came or contender.comes_with(setting)
        if point.seconds > patience or (came and (close or (stuck and point.seconds > LONG))):
            break


def check_certificates(sweeps: list[Sweep]) -> list[str]:
    """Name every lower bound that lies above an objective that somebody reached."""
    reached = min(s.best.objective for s in sweeps if s.best is not None)
    return [
        f"FALSE CERTIFICATE: {s.contender.name} {p.setting} claims {p.lower_bound!r}, "
        f"but {reached!r} was reached"
        for s in sweeps
        for p in s.points
        if p.lower_bound > reached * (1 + 1e-12)
    ]
