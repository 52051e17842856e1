"""What a solver is: a way to start and a way to step, on an explicit state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from stepless.arrays import Array, Indices
from stepless.objective import Loss, Penalized
from stepless.plane import Plane, Tangent
from stepless.proof.witness import Claim


@dataclass(frozen=True)
class Finding:
    """What a step found: a point, and what it learned of the optimum on the way."""

    w: Array
    b: Any  # a number, or an array for a joint loss
    objective: float | None = None  # J(w, b), if the step came by it
    plane: Plane | None = None  # a plane under the risk, for the certificate
    lower_bound: float = -math.inf  # on J*, if the solver claims one itself
    claim: Claim | None = None  # has the `witness` of it
    finished: bool = False  # the solver's own theorem says that it is done
    spent: bool = False  # nothing but rounding is left to gain


class Solver(Protocol):
    """An algorithm. It has no tolerance, no iteration limit and no output: the loop has.

    `start` makes a state at given weights; `step` passes once over the data, changes the state and
    says what it found. A state is plain data: pickled and restored, it goes on identically.
    """

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def needs(self) -> type:
        """The kind of risk that it can minimise."""
        ...

    @property
    def online(self) -> bool:
        """Whether it takes one example a time, and so can learn from a stream."""
        ...

    def lacks(self, objective: Any) -> str | None:
        """What of this objective the solver cannot handle, with a remedy; None if it can."""
        ...

    def start(self, risk: Any, w: Array, b: Any) -> Any:
        """A state at these weights."""
        ...

    def step(self, risk: Any, state: Any, rng: np.random.Generator) -> Finding:
        """Pass once over the data."""
        ...


class OnlineSolver(Solver, Protocol):
    """A solver that learns from a stream, chunk by chunk.

    No label, and no later row, counts before its example is predicted; and the state after n
    examples is the same however they were cut in chunks, unless the solver's docstring says that
    it is not.
    """

    def begin_stream(self, objective: Any, w: Array, b: Any) -> Any:
        """A state at these weights, of a stream of which nothing is known."""
        ...

    def learn(self, risk: Any, state: Any, order: Indices, rng: np.random.Generator) -> Array:
        """Learn a chunk in order; return the predictions before each example (m × K)."""
        ...

    def weights(self, objective: Any, state: Any) -> tuple[Array, Array]:
        """Return the weights (d × K) and intercepts (K) of now."""
        ...


def touched(risk: Any, w: Array, tangent: Tangent, finished: bool = False) -> Finding:
    """What a tangent at w says."""
    objective = risk.objective.penalty(w) + tangent.value
    return Finding(w, tangent.b, objective, tangent.plane, finished=finished)


def needs_euclidean(objective: Any, joint: bool = False) -> str | None:
    """What is lacking if more than the length of the weights matters, or, unless `joint`, K > 1."""
    if not objective.euclidean:
        return (
            "knows the penalties l2 and none, and the domains free and ball; "
            "use solver='auto', or penalty='l2' and domain='free'"
        )
    if joint:
        return None
    remedy = "; use solver='proximal-bundle' or 'adagrad', or multi_class='ovr'"
    return needs_one_output(objective.loss, remedy)


def needs_one_output(loss: Loss, remedy: str) -> str | None:
    """What is lacking if a loss is of several predictions, with a remedy."""
    if loss.outputs() == 1:
        return None
    return f"does not know {type(loss).__name__}, a loss of several classes at once{remedy}"


def needs_steps(loss: Loss, remedy: str) -> str | None:
    """What is lacking if nothing bounds the slopes of a loss, or how they change."""
    if math.isfinite(loss.lipschitz()) or math.isfinite(loss.smoothness()):
        return None
    return f"needs a Lipschitz or a smooth loss, and {type(loss).__name__} is neither{remedy}"


def needs_free(objective: Penalized) -> str | None:
    """What a Euclidean objective lacks if there is a domain."""
    return None if math.isinf(objective.radius) else "does not know domains; use solver='bundle'"


def needs_ridge(objective: Penalized) -> str | None:
    """What a Euclidean objective lacks if there is no ridge, or a domain."""
    if lack := needs_free(objective):
        return lack
    if objective.strength == 0.0:
        return "needs a penalty; use solver='proximal-bundle', or penalty='l2'"
    return None


@runtime_checkable
class Remarking(Protocol):
    """A solver with parameters of which a run may show that they were ill chosen."""

    def remark(self, lower_bound: float) -> str | None:
        """Say so in one sentence, with a remedy, at the end of a run that proved this bound."""
        ...


@runtime_checkable
class Resumable(Protocol):
    """A solver that can go on from its own last state at another strength of the penalty."""

    def resume(self, risk: Any, state: Any) -> Any:
        """A state for this risk, of the same examples: planes and dual points stay true."""
        ...
