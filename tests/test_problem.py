"""A problem is a value: built once, refused at once."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from stepless import L1, LinearClassifier, LinearRegressor, MetricClassifier, Problem
from stepless.objective import Hinge, MulticlassHinge, Zero
from stepless.risks.metrics import FMeasure


def test_parameters_of_an_estimator_are_those_of_its_problem():
    clf = LinearClassifier(
        "logistic", penalty="l1", alpha=0.3, domain="ball(2)", class_weight={0: 2}
    )
    problem = Problem.of(clf.set_params(fit_intercept=False), ("signs",))
    assert problem == Problem("logistic", "l1", 0.3, "ball(2)", False, {0: 2})
    assert problem.regularizer == L1(0.3)
    assert (problem.strength, problem.objective.intercept) == (0.3, False)
    with pytest.raises(FrozenInstanceError):
        problem.alpha = 0.1


def test_another_strength_is_another_problem():
    problem = Problem("hinge", alpha="auto")
    assert problem.chooses
    settled = replace(problem, alpha=0.2)
    assert (settled.chooses, settled.strength, settled.loss) == (False, 0.2, Hinge())


def test_no_penalty_has_no_strength_and_ones_own_may_have_none():
    assert Problem("hinge", None, None).regularizer == Zero()
    assert Problem("hinge", "none").strength == 0.0


@pytest.mark.parametrize("alpha", ["auto", "cv"])
def test_a_choice_is_of_the_strength_of_ones_own_penalty(alpha):
    problem = Problem("hinge", L1(0.1), alpha)
    assert problem.at_strength(0.3) == Problem("hinge", L1(0.3), 0.3)
    assert Problem("hinge", L1(0.1)).strength == Problem("hinge", L1(0.1), 0.1).strength == 0.1
    with pytest.raises(ValueError, match=f"not '{alpha}': a MetricClassifier chooses none"):
        Problem.of(MetricClassifier(penalty=L1(0.1), alpha=alpha), loss=FMeasure(1.0))


def test_several_classes():
    assert Problem("hinge").of_classes(3, "joint").loss == MulticlassHinge(3)
    assert Problem("hinge").of_classes(3, "ovr").loss == Hinge()
    assert Problem("hinge").of_classes(2, "joint").loss == Hinge()


def test_a_risk_that_is_no_sum_has_a_penalty_but_no_strength_to_choose():
    assert Problem.of(MetricClassifier(alpha=0.1), loss=FMeasure(1.0)).strength == 0.1
    with pytest.raises(ValueError, match="not 'auto': a MetricClassifier chooses none"):
        Problem.of(MetricClassifier(alpha="auto"), loss=FMeasure(1.0))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "hnge"}, "there is no loss 'hnge': did you mean 'hinge'?"),
        ({"alpha": np.ones(2)}, "alpha must be one value, not an array"),
        ({"fit_intercept": 1}, "fit_intercept must be True or False, not 1"),
        ({"class_weight": {0: -1}}, "class_weight has -1 for class 0: weights must be numbers ≥ 0"),
        ({"alpha": 0.2, "penalty": L1(0.1)}, r"alpha=0.2 is not the strength of penalty=L1\(al"),
        ({"alpha": "large", "penalty": L1(0.1)}, "alpha must be a number, not 'large'"),
        ({"domain": "simplex", "penalty": "l1"}, "is the same all over a simplex"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(ValueError, match=message):
        Problem(**{"loss": "hinge"} | given)


def test_a_loss_of_other_targets():
    with pytest.raises(ValueError, match="Hinge is no loss for a LinearRegressor: choose one of"):
        Problem.of(LinearRegressor("hinge"), ("reals", "counts"))
