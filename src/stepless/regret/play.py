"""From examples to a ledger."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepless.compile_errors import in_one_sentence
from stepless.compiled.blas import single_threaded_blas
from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.estimators.examples import labelled, measured
from stepless.estimators.several_classes import coded
from stepless.objective import JOINT, LOSSES, Loss
from stepless.problem import Problem, loss_of
from stepless.regret.ledger import RegretLedger
from stepless.regret.replay import Replay
from stepless.risks.joint_risk import risk_of
from stepless.risks.linear_risk import LinearRisk
from stepless.run import Run


def regret_ledger(
    X: Any,
    y: Any,
    *,
    loss: str | Loss = "hinge",
    penalty: Any = "l1",
    alpha: float = 1e-4,
    domain: Any = "free",
    solver: Any = "adagrad",
    fit_intercept: bool = False,
    sample_weight: Any = None,
    gap: float = 1e-6,
    passes: int = 200,
    seconds: float | None = None,
) -> RegretLedger:
    """Play the examples in their order, once, and keep the regret and what a theorem says of it.

    First x*, the best fixed point of the whole stream, is sought by `minimize`. Then an ordinary
    pass finds the solver's η (or δ), unless it is given or the domain tells it; and the stream is
    played from the start with this one value, because the theorems are of an algorithm that never
    changes it. Regret and bound are thus of a run whose η was known beforehand. Averaging AdaGrad
    gets a δ no smaller than any gradient of the stream can be, unless one is given. Rounds are
    played one by one, in O(dK) each: thousands of rounds and features are no trouble.

    Parameters
    ----------
    X, y
        Examples in the order in which they come, and targets: classes for a classifier's loss
        (more than two are learned jointly, by hinge or logistic), numbers otherwise.
    loss, penalty, alpha, domain, sample_weight
        As of `LinearClassifier` or `LinearRegressor`.
    solver
        ``"adagrad"``, ``"rda"``, ``"fobos"``, or one of these with parameters of its own.
    fit_intercept
        Whether there is an intercept. It is one more coordinate, the weight of a constant feature
        as long as the examples, in regret and bound alike.
    gap, passes, seconds
        When the search for x* ends: at this relative gap, or after so many passes or seconds.
        Where only AdaGrad knows the penalty or the domain (l1, groups, box, …), expect
        the passes to end it, and a `certified_regret` that is loose or even infinite.

    Returns
    -------
    RegretLedger

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from stepless import regret_ledger
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> ledger = regret_ledger(X, y, penalty="l2", alpha=0.01)
    >>> ledger.theorem, len(ledger), ledger.holds
    ('Theorem 6', 569, True)
    """
    found = loss_of(loss)
    kind = LinearClassifier if found.targets in ("signs", "classes") else LinearRegressor
    model = kind(
        found,
        penalty=penalty,
        alpha=alpha,
        domain=domain,
        solver=solver,
        fit_intercept=fit_intercept,
    )
    problem, run = Problem.of(model, (found.targets,)), Run.of(model)
    search = Run(gap=gap, passes=passes, seconds=seconds)
    risk = _risk(model, X, y, sample_weight, problem, run)
    K = risk.objective.outputs
    with in_one_sentence(), single_threaded_blas():
        replay = Replay(risk, run.online_solver())
        hindsight = search.minimize(risk)
        if hindsight.stopped_by == "interrupt":  # nothing is left that would be worth the rounds
            raise KeyboardInterrupt
        w, b = hindsight.w.reshape(-1, K), np.array(np.broadcast_to(hindsight.b, K), dtype=float)
        lost, best, bound = np.array(list(replay.rounds(w, b))).T
    lost, best = np.cumsum(lost), np.cumsum(best)
    return RegretLedger(
        player=replay.solver.name,
        loss=lost,
        regret=lost - best,
        bound=bound,
        theorem=replay.theorem,
        coef=w[:, 0] if K == 1 else w.T,
        intercept=float(b[0]) if K == 1 else b,
        gap=risk.m * hindsight.gap,
        eta=replay.eta,
        delta=replay.delta,
    )


def _risk(model: Any, X: Any, y: Any, sample_weight: Any, problem: Problem, run: Run) -> LinearRisk:
    """Return the risk of the examples, in their order; of more than two classes, a joint one."""
    if isinstance(model, LinearRegressor):
        return risk_of(problem.objective, measured(model, X, y, sample_weight, problem, run))
    source, y, classes = labelled(model, X, y, sample_weight, problem, run)
    loss = problem.loss
    if len(classes) > 2 and loss.targets == "signs" and type(loss) not in JOINT:
        known = ", ".join(name for name, sort in LOSSES.items() if sort in JOINT)
        raise ValueError(
            f"y holds {len(classes)} classes, and {type(loss).__name__} is a loss of two: "
            f"choose one of {known}"
        )
    problem = problem.of_classes(len(classes), "joint")
    [(_, targets)] = coded(y, classes, problem.loss)
    return risk_of(problem.objective, source.relabelled(targets))
