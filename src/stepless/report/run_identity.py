"""What a run is of: its problem, solver and examples, spelled alike in every process."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from stepless.arguments import brief
from stepless.data.fingerprint import fingerprint
from stepless.report.plain_values import NotPlain, encode
from stepless.risks.risk import Risk
from stepless.solvers.solver_sequence import SolverSequence
from stepless.stopping import Stopping
from stepless.term import Term

Identity = dict[str, list[str]]  # for each part how messages call it, and its digest


def identity_of(
    risk: Risk, sequence: SolverSequence, stopping: Stopping, rng: np.random.Generator
) -> Identity:
    """Return the identity of a run; ValueError if it has none in another process."""
    objective = risk.objective
    parts: dict[str, Any] = {
        "loss": getattr(objective, "loss", None),
        "domain": objective.domain,
        "intercept": objective.intercept,
        "solver": sequence.name,
        "gap": stopping.gap,
        "random generator": rng.bit_generator.state["bit_generator"],
    }
    found = {name: [brief(part), _digest(_spelled(part))] for name, part in parts.items()}
    found["solver's parameters"] = [sequence.name, _digest(_parameters(sequence))]
    found["examples"] = ["others", _digest(_spelled(risk.identity))]
    # last, for a strength in units of the data differs with all of the above
    found["penalty"] = [brief(objective.regularizer), _digest(_spelled(objective.regularizer))]
    return found


def first_difference(begun: Identity, given: Identity) -> str | None:
    """Return what a run was begun with, and what it is given now, if that differs."""
    for name, (said, digest) in given.items():
        before, known = begun[name]
        if digest != known:
            if name == "examples":
                return "on other examples, or for another measure of them"
            return f"with another {name}" + (f": {before}, not {said}" if before != said else "")
    return None


def _parameters(sequence: SolverSequence) -> tuple[Any, ...]:
    try:
        text, arrays = encode(sequence, {})
    except NotPlain as error:
        raise ValueError(
            f"a checkpoint cannot hold the solver {sequence.name!r}, which has a {error}: it holds "
            "Stepless's own solvers with plain parameters; fit without a checkpoint"
        ) from None
    return json.dumps(text), *arrays.values()


def _digest(spelled: tuple[Any, ...]) -> str:
    return fingerprint(*spelled).hex()


def _spelled(part: Any) -> tuple[Any, ...]:
    """Return strings and arrays that are equal in another process if the part is."""
    if isinstance(part, Term):
        kind = f"{type(part).__module__}.{type(part).__qualname__}@{type(part)._digest()}"
        return (kind, *map(_spelled, part))
    if isinstance(part, tuple):
        return ("tuple", *map(_spelled, part))
    if isinstance(part, np.ndarray):
        return ("array", part)
    if isinstance(part, type):
        return ("type", f"{part.__module__}.{part.__qualname__}")
    if part is None or isinstance(part, bool | int | float | str | bytes | np.generic):
        return (type(part).__name__, repr(part))
    raise ValueError(
        f"a checkpoint must recognise the examples in another process, but a {type(part).__name__} "
        "means nothing there: set the risk's `origin` to what it was made from, such as a digest"
    )
