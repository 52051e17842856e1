"""The protocol of a solver: a way to start and a way to step, on an explicit state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from stepless.arrays import Array, Indices
from stepless.objective import Loss, Objective, Penalized
from stepless.plane import Plane, Tangent
from stepless.proof.witness import Claim
from stepless.risks.risk import Risk


@dataclass(frozen=True)
class Finding:
    """The result of a step: a point, and what the step learned about the optimum."""

    w: Array
    b: Any  # a number, or an array for a joint loss
    objective: float | None = None  # J(w, b), if the step computed it
    plane: Plane | None = None  # a plane under the risk, for the certificate
    lower_bound: float = -math.inf  # on J*, if the solver claims one itself
    claim: Claim | None = None  # has the witness of it
    finished: bool = False  # the solver's own theorem says that it is done
    spent: bool = False  # nothing but rounding is left to gain


class Solver(Protocol):
    """An algorithm. It has no tolerance, no iteration limit and no output: the loop has.

    `start` makes a state at given weights; `step` passes once over the data, changes the state and
    returns a finding. A state is plain data: pickled and restored, it goes on identically. Each
    solver has its own type of state, and takes the kind of risk that it `needs`.

    A solver that asks a source for nothing but rounds may say so by a class attribute, ``anywhere:
    ClassVar[bool] = True``: the rows need not be in this process then.
    """

    @property
    def name(self) -> str:
        """The name that users give."""

    @property
    def needs(self) -> type:
        """The kind of risk that it can minimise."""

    @property
    def online(self) -> bool:
        """True if it takes one example at a time, and so can learn from a stream."""

    def lacks(self, objective: Any) -> str | None:
        """Return what of this objective the solver cannot handle, with a remedy, or None."""

    def start(self, risk: Any, w: Array, b: Any) -> Any:
        """Return a state at these weights."""

    def step(self, risk: Any, state: Any, rng: np.random.Generator) -> Finding:
        """Pass once over the data."""


class OnlineSolver(Solver, Protocol):
    """A solver that learns from a stream, chunk by chunk.

    No label, and no later row, counts before its example is predicted; and the state after n
    examples does not depend on how they were cut into chunks, unless the solver's docstring says
    otherwise.
    """

    def begin_stream(self, objective: Any, w: Array, b: Any) -> Any:
        """Return a state at these weights, before the first example of a stream."""

    def walk(self, risk: Any, state: Any, order: Indices, rng: np.random.Generator) -> Finding:
        """Pass over the examples in a given order."""

    def learn(self, risk: Any, state: Any, order: Indices, rng: np.random.Generator) -> Array:
        """Learn a chunk in order; return the predictions before each example (m × K)."""

    def weights(self, objective: Any, state: Any) -> tuple[Array, Array]:
        """Return the current weights (d × K) and intercepts (K)."""


def finding_at(risk: Risk, w: Array, tangent: Tangent, finished: bool = False) -> Finding:
    """Return the finding of a tangent at w."""
    objective = risk.objective.penalty(w) + tangent.value
    return Finding(w, tangent.b, objective, tangent.plane, finished=finished)


def needs_euclidean(objective: Penalized) -> str | None:
    """Return what is lacking if more than the Euclidean length of the weights matters."""
    if objective.euclidean:
        return None
    return (
        "knows the penalties l2 and none, and the domains free and ball; "
        "use solver='auto', or penalty='l2' and domain='free'"
    )


def needs_euclidean_sum(objective: Objective) -> str | None:
    """Return what is lacking if the objective is not Euclidean, or the loss is joint."""
    remedy = "; use solver='proximal-bundle' or 'adagrad', or multi_class='ovr'"
    return needs_euclidean(objective) or needs_one_output(objective.loss, remedy)


def needs_one_output(loss: Loss, remedy: str) -> str | None:
    """Return what is lacking if a loss has several predictions per example."""
    if loss.outputs() == 1:
        return None
    if loss.targets == "rows":
        return "does not know several outputs at once; use solver='auto', or fit each by itself"
    return f"does not know {type(loss).__name__}, a loss of several classes at once{remedy}"


def needs_steps(loss: Loss, remedy: str) -> str | None:
    """Return what is lacking if a loss is neither Lipschitz nor smooth."""
    if math.isfinite(loss.lipschitz()) or math.isfinite(loss.smoothness()):
        return None
    return f"needs a Lipschitz or a smooth loss, and {type(loss).__name__} is neither{remedy}"


def needs_free(objective: Penalized) -> str | None:
    """Return what a Euclidean objective lacks if it has a domain."""
    return None if math.isinf(objective.radius) else "does not know domains; use solver='bundle'"


def needs_ridge(objective: Penalized) -> str | None:
    """Return what a Euclidean objective lacks if it has no ridge, or a domain."""
    if lack := needs_free(objective):
        return lack
    if objective.strength == 0.0:
        return "needs a penalty; use solver='proximal-bundle', or penalty='l2'"
    return None


def needs_strong_convexity(objective: Penalized) -> str | None:
    """Return what is lacking if no penalty makes the objective strongly convex."""
    if objective.strength > 0.0:
        return None
    return "needs a strongly convex penalty; use solver='proximal', or penalty='l2'"


@runtime_checkable
class Remarking(Protocol):
    """A solver whose parameters a run may prove to be badly chosen."""

    def remark(self, lower_bound: float) -> str | None:
        """Say so in one sentence, with a remedy, at the end of a run that proved this bound."""


@runtime_checkable
class Resumable(Protocol):
    """A solver that can go on from its own last state at another strength of the penalty."""

    def resume(self, risk: Any, state: Any) -> Any:
        """Return a state for this risk, of the same examples: planes and dual points stay true."""
