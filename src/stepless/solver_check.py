"""The contract of a solver."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
from typing import Any

import numpy as np

from stepless.checks.contract import SLACK, ContractError, described, point
from stepless.data import Source
from stepless.minimization import minimize
from stepless.objective import Hinge, L2Ball, Logistic, Objective, Squared, SquaredL2, Zero
from stepless.result import Result
from stepless.risks.linear_risk import LinearRisk
from stepless.solvers import Bundle, Finding, ProximalBundle, Solver
from stepless.stopping import Stopping

_STEPS = 6


def check_solver(solver: Solver) -> None:
    """Raise `ContractError` unless a solver keeps the protocol and its claims are true.

    On small problems, of those that it lacks nothing for: weights are finite and in the domain; an
    objective is that of the point; a plane lies under the risk, a lower bound under the optimum;
    findings are not changed later; and a pickled state goes on identically, bit for bit.

    Examples
    --------
    >>> from stepless import SOLVERS, check_solver
    >>> check_solver(SOLVERS["bundle"]())
    """
    if inspect.isclass(solver):
        raise ContractError(f"the check needs a solver, such as {solver.__name__}(), not a class")
    kind = type(solver).__name__
    for attribute, of in (("name", str), ("online", bool)):
        if not isinstance(getattr(solver, attribute, None), of):
            raise ContractError(f"{kind}.{attribute} must be a {of.__name__}")
    for method, count in (("lacks", 1), ("start", 3), ("step", 3)):
        function = getattr(solver, method, None)
        if not callable(function):
            raise ContractError(f"{kind} has no method {method}")
        try:
            inspect.signature(function).bind(*range(count))
        except TypeError as error:
            raise ContractError(f"{kind}.{method} must take {count} arguments: {error}") from error

    lacking = []
    for loss in (Hinge(), Logistic(), Squared()):
        objectives = [
            Objective(loss, SquaredL2(0.05)),
            Objective(loss, SquaredL2(0.05), intercept=False),
            Objective(loss, SquaredL2(0.05), L2Ball(0.4)),
            Objective(loss, Zero(), L2Ball(0.7), intercept=False),
            Objective(loss, Zero(), intercept=False),
        ]
        lacks = [_lack(solver, objective) for objective in objectives]
        for objective, lack in zip(objectives, lacks, strict=True):
            if lack is None:
                _check_run(solver, objective)
        if None in lacks:
            return
        lacking += lacks
    raise ContractError(f"{kind} lacks something for every objective it was tried on: {lacking[0]}")


def _lack(solver: Solver, objective: Objective) -> str | None:
    lack = solver.lacks(objective)
    if not (lack is None or (isinstance(lack, str) and lack)):  # users' solvers are not typed
        raise ContractError(
            f"{type(solver).__name__}.lacks must say what is lacking, or None, but is {lack!r}"
        )
    return lack


def _check_run(solver: Solver, objective: Objective) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + 0.5
    y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=60) > 0.3, 1.0, -1.0)
    risk = LinearRisk(objective, Source(X, y, rng.uniform(0.5, 1.5, size=60), threads=1))
    settled = objective.strength > 0.0 or not math.isinf(objective.radius)
    judge = Bundle() if settled else ProximalBundle()
    reference = minimize(risk, judge, Stopping(gap=1e-8, passes=300))
    if reference.stopped_by == "interrupt":
        raise KeyboardInterrupt

    name, unused, w = type(solver).__name__, copy.deepcopy(solver), np.zeros(3)
    returned, kept = w, w.copy()
    try:
        state = solver.start(risk, w, 0.0)
        for step in range(_STEPS):
            twin, other_rng = _restored(name, state), copy.deepcopy(rng)
            finding = solver.step(risk, state, rng)
            _check_finding(name, risk, finding, reference)
            # Another process does not have what a solver keeps in itself.
            other = copy.deepcopy(unused).step(risk, twin, other_rng)
            if not (np.array_equal(finding.w, other.w) and finding.b == other.b):
                raise ContractError(
                    f"{name} goes on differently from a state pickled after step {step}: "
                    f"w = {point(other.w)}, not {point(finding.w)}"
                )
            if not np.array_equal(returned, kept):
                raise ContractError(f"{name} changes weights that it was given, or has returned")
            returned, kept = finding.w, finding.w.copy()
    except ContractError:
        raise
    except Exception as error:
        raise ContractError(f"{name} raises {described(error)}") from error


def _restored(name: str, state: Any) -> Any:
    try:
        return pickle.loads(pickle.dumps(state))
    except Exception as error:
        raise ContractError(f"the state of {name} cannot be pickled: {described(error)}") from error


def _check_finding(name: str, risk: LinearRisk, finding: Finding, reference: Result) -> None:
    if not isinstance(finding, Finding):
        raise ContractError(f"{name}.step must return a Finding, not {finding!r}")
    objective, w, b = risk.objective, finding.w, finding.b
    if not (isinstance(w, np.ndarray) and w.shape == (risk.d,) and w.dtype == np.float64):
        raise ContractError(f"{name} finds weights {w!r}, which are not {risk.d} of float64")
    if not (np.isfinite(w).all() and math.isfinite(b)):
        raise ContractError(f"{name} finds what is not finite: w = {point(w)}, b = {b:.6g}")
    if not objective.intercept and b != 0.0:
        raise ContractError(f"{name} finds an intercept of {b:.6g}, but the objective has none")
    if (length := np.linalg.norm(w)) > objective.radius * (1 + SLACK):
        raise ContractError(
            f"{name} finds weights of length {length:.6g}, "
            f"but the domain's radius is {objective.radius:.6g}"
        )
    value = objective.penalty(w) + risk.value(w, b)
    claimed = finding.objective
    if claimed is not None and not abs(claimed - value) <= SLACK * (1 + value):
        raise ContractError(
            f"{name} says the objective is {claimed:.6g} at weights where it is {value:.6g}"
        )
    if not finding.lower_bound <= reference.objective * (1 + SLACK):
        raise ContractError(
            f"{name} claims a lower bound of {finding.lower_bound:.8g}, "
            f"but the objective falls to {reference.objective:.8g}"
        )
    if (plane := finding.plane) is not None:
        rng, free = np.random.default_rng(1), objective.intercept
        places = [(w, b), (reference.w, reference.b)]
        places += [(rng.normal(size=risk.d), 3.0 * rng.normal() * free) for _ in range(20)]
        for w, b in places:
            height, actual = float(plane.a @ w) + plane.tilt * b + plane.offset, risk.value(w, b)
            if not height <= actual + SLACK * (1 + actual):
                raise ContractError(
                    f"{name} finds a plane of height {height:.6g} at w = {point(w)}, b = {b:.6g}, "
                    f"where the risk is only {actual:.6g}"
                )
