"""Play examples in their order, and keep a ledger of the regret."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import MatrixLike, Weights
from stepless.compile_errors import in_one_sentence
from stepless.compiled.blas import single_threaded_blas
from stepless.data import Source
from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.estimators.multiclass import targets_per_run
from stepless.estimators.validation import validate_classification, validate_regression
from stepless.objective import JOINT, LOSSES, Domain, Loss, Regularizer
from stepless.problem import Problem, loss_of
from stepless.regret.ledger import RegretLedger
from stepless.regret.replay import Replay
from stepless.risks.joint_risk import risk_of
from stepless.risks.linear_risk import LinearRisk
from stepless.run import Run
from stepless.solvers.solver import OnlineSolver


def regret_ledger(
    X: MatrixLike,
    y: ArrayLike,
    *,
    loss: str | Loss = "hinge",
    penalty: str | Regularizer | None = "l1",
    alpha: float = 1e-4,
    domain: str | Domain = "free",
    solver: str | OnlineSolver = "adagrad",
    fit_intercept: bool = False,
    sample_weight: Weights = None,
    gap: float = 1e-6,
    passes: int = 200,
    seconds: float | None = None,
) -> RegretLedger:
    """Play the examples once, in their order; return the regret beside a theorem's bound on it.

    First `minimize` finds x*, the best fixed point of the whole stream. Then an ordinary pass finds
    the solver's η (or δ), unless it is given or follows from the domain; and the stream is played
    from the start with this one value, because the theorems assume that it never changes. Regret
    and bound are thus those of a run whose η was known beforehand. Averaging AdaGrad gets a δ no
    smaller than any gradient of the stream can be, unless one is given. A round costs O(dK), played
    one by one.

    Parameters
    ----------
    X, y
        Examples in the order in which they come, and targets: classes for a classifier's loss
        (more than two are learned jointly, by hinge or logistic), numbers otherwise.
    loss, penalty, alpha, domain, sample_weight
        As in `LinearClassifier` or `LinearRegressor`.
    solver
        ``"adagrad"``, ``"rda"``, ``"fobos"``, or a solver object of one of these.
    fit_intercept
        True for an intercept: one more coordinate, the weight of a constant feature as long as the
        examples, in regret and bound alike.
    gap, passes, seconds
        The search for x* ends at this relative gap, or after this number of passes or seconds. If
        AdaGrad is the only solver for the penalty or the domain (l1, groups, box, …), expect the
        passes to end it, and a `certified_regret` that is loose or even infinite.

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
    problem = Problem(loss_of(loss), penalty, alpha, domain, fit_intercept)
    risk = _risk(problem, X, y, sample_weight)
    search = Run(gap=gap, passes=passes, seconds=seconds)
    with in_one_sentence(), single_threaded_blas():
        return _played(Replay(risk, Run(solver).online_solver()), search)


def _played(replay: Replay, search: Run) -> RegretLedger:
    """Return the ledger of all rounds, against the minimiser that `search` finds."""
    risk, K = replay.risk, replay.risk.objective.outputs
    best = search.minimize(risk)
    if best.stopped_by == "interrupt":  # without x* the rounds are worth nothing
        raise KeyboardInterrupt
    w, b = best.w.reshape(-1, K), np.array(np.broadcast_to(best.b, K), dtype=float)
    losses, best_losses, bound = np.array(list(replay.rounds(w, b))).T
    losses, best_losses = np.cumsum(losses), np.cumsum(best_losses)
    return RegretLedger(
        player=replay.solver.name,
        loss=losses,
        regret=losses - best_losses,
        bound=bound,
        theorem=replay.theorem,
        coef=w[:, 0] if K == 1 else w.T,
        intercept=float(b[0]) if K == 1 else b,
        gap=risk.m * best.gap,
        eta=replay.eta,
        delta=replay.delta,
    )


def _risk(problem: Problem, X: MatrixLike, y: ArrayLike, sample_weight: Weights) -> LinearRisk:
    """Return the risk of the examples, in their order; of more than two classes, a joint one."""
    loss = problem.loss
    if loss.targets not in ("signs", "classes"):
        examples = validate_regression(LinearRegressor(), X, y, sample_weight, loss)
        return risk_of(problem.objective, Source(*examples))
    X, y, s, classes = validate_classification(LinearClassifier(), X, y, sample_weight)
    if len(classes) > 2 and loss.targets == "signs" and type(loss) not in JOINT:
        known = ", ".join(name for name, kind in LOSSES.items() if kind in JOINT)
        raise ValueError(
            f"y holds {len(classes)} classes, and {type(loss).__name__} is a loss of two: "
            f"choose one of {known}"
        )
    problem = problem.of_classes(len(classes), "joint")
    [(_, targets)] = targets_per_run(y, classes, problem.loss)
    return risk_of(problem.objective, Source(X, targets, s))
