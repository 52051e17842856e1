"""The result of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepless.arrays import Array
from stepless.certificates import Aggregate, Planes
from stepless.intercept import Intercept
from stepless.proof.witness import Witness
from stepless.trace import Trace


@dataclass(frozen=True)
class Result:
    """The best point of a run, what is known of the optimum, and the run's trace."""

    w: Array
    b: Any  # a number, or an array for a joint loss
    objective: float
    risk: float  # the objective without the penalty
    lower_bound: float
    trace: Trace
    # "gap", "passes", "seconds", "watcher"; "interrupt", by Ctrl-C or SIGTERM; "solver", whose
    # theorem is satisfied; or "rounding", which is all that is left of the gap
    stopped_by: str
    state: Any  # the solver's, with which a later run can go on
    planes: Planes | Aggregate | None  # under the risk, that the run left
    runner: str  # the name of the last solver
    remark: str | None = None  # the solver's, on badly chosen parameters
    asked: tuple[Any, ...] | None = None  # the identity of the risk, except for the strength
    witness: Witness | None = None  # by which the lower bound can be proved again
    at_zero: float = 0.0  # as in Interval
    steepness: Array | None = None  # of the plane that proves the lower bound

    @property
    def solver(self) -> str:
        """The solver's name; several names for a sequence."""
        return ", ".join(dict.fromkeys(event.solver for event in self.trace))

    @property
    def gap(self) -> float:
        """An upper bound on the distance of the objective from the optimum."""
        return self.trace[-1].gap

    @property
    def rel_gap(self) -> float:
        """The gap relative to the objective."""
        return self.trace[-1].rel_gap


@dataclass(frozen=True)
class Onward:
    """A result to go on from, on the very examples that it was found on: none are compared."""

    result: Result


Start = tuple[Array, Intercept] | Result | Onward | None
