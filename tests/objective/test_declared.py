"""A loss, a regularizer or a domain of one's own that lacks a method, or has one that is broken."""

import math

import numpy as np
import pytest
from numba.core.errors import NumbaError

from stepless import Constraint, ContractError, Domain, LinearRegressor, Loss, Regularizer
from stepless.objective.domains.l1_ball import project_l1
from stepless.objective.regularizers.regularizer import norm_floor

_rng = np.random.default_rng(0)
X = _rng.normal(size=(30, 3))
Y = X[:, 0] + 0.1 * _rng.normal(size=30)


def _value(self, z, y):
    return 0.5 * (z - y) ** 2


def _slope(self, z, y):
    return z - y


def _undefined(self, z, y):
    return nothing_of_the_kind  # noqa: F821


def _mixed(self, z, y):
    return [_slope(self, z, y), "a list of two kinds"][0]


def _nothing(self, z, y):
    pass


def _narrow(self):
    return 1.0


def _one(self, *_):
    return 1.0


def _clip(self, wj):
    return min(max(wj, -1.0), 1.0)


def own(kind, **methods):
    return type("Own", (kind,), methods)()


WEIGHT = {name: _one for name in ("value", "prox", "conjugate", "conjugate_gradient")}


def without(methods, name, new=None):
    rest = {key: method for key, method in methods.items() if key != name}
    return rest if new is None else rest | {new: methods[name]}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"loss": own(Loss, value=_value)}, r"slope; stepless\.check_loss"),
        ({"loss": own(Loss, slope=_slope)}, r"value; stepless\.check_loss"),
        ({"loss": own(Loss, value=_value, slop=_slope)}, r"slope \(is it slop, misspelt\?\); "),
        *(
            ({"penalty": own(Regularizer, **without(WEIGHT, name))}, f"{name}; stepless.check_reg")
            for name in WEIGHT
        ),
        (
            {"penalty": own(Regularizer, **without(WEIGHT, "prox", "proxy"))},
            r"prox \(is it proxy, misspelt\?\); stepless\.check_regularizer",
        ),
        ({"domain": own(Domain)}, r"project; stepless\.check_domain"),
        ({"domain": own(Domain, separable=True)}, r"clip; stepless\.check_domain"),
        ({"domain": own(Domain, separable=True, clips=_clip)}, r"clip \(is it clips, misspelt\?"),
        ({"domain": own(Constraint, excess=_one)}, r"outward; stepless\.check_constraint"),
    ],
)
def test_a_method_that_is_missing_or_misspelt_is_named(settings, sentence):
    for call in (LinearRegressor(**settings).fit, LinearRegressor(**settings).partial_fit):
        with pytest.raises(TypeError, match=f"^Own has no method {sentence}"):
            call(X, Y)


@pytest.mark.parametrize(
    ("slope", "sentence"),
    [
        (_undefined, r"Own\.slope\(.*\) raises NameError: name 'nothing_of_the_kind' is not def"),
        (_narrow, r"Own\.slope\(.*\) raises TypeError: .* takes 1 positional argument but 3 were"),
        (_nothing, r"Own\.slope\(.*\) is None, not a number"),
    ],
    ids=["undefined", "narrow", "nothing"],
)
def test_a_method_that_does_not_run_is_told_before_it_is_compiled(slope, sentence):
    with pytest.raises(ContractError, match=sentence):
        LinearRegressor(own(Loss, value=_value, slope=slope)).fit(X, Y)


@pytest.mark.parametrize("solver", ["auto", "bundle", "adagrad"])
def test_a_method_that_cannot_be_compiled_is_told_in_one_sentence(solver):
    model = LinearRegressor(own(Loss, value=_value, slope=_mixed), solver=solver, passes=2)
    with pytest.raises(
        TypeError, match=r"cannot compile .*loss\.slope\(|cannot compile Own\.slope"
    ) as told:
        model.fit(X, Y)
    assert "\n" not in str(told.value)
    assert "check_loss" in str(told.value)
    assert isinstance(told.value.__cause__, NumbaError)


class DeclaredLasso(Regularizer):
    """The lasso under another name: what it declares opens the lasso's solvers to it."""

    weight: float = 0.05

    @property
    def elastic_shares(self):
        return self.weight, 0.0

    def value(self, wj):
        return self.weight * abs(wj)

    def prox(self, wj, step):
        return math.copysign(max(abs(wj) - step * self.weight, 0.0), wj)

    def conjugate(self, uj):
        return 0.0 if abs(uj) <= self.weight else math.inf

    def conjugate_gradient(self, uj):
        return 0.0

    def floor(self, a, ceiling=math.inf):
        return norm_floor(self.weight, float(np.abs(a).max(initial=0.0)), ceiling)


class DeclaredBall(Domain):
    """The ℓ₁ ball under another name."""

    ball_exponent = 1.0

    def project(self, w):
        project_l1(w, np.ones(w.size), 0.5)

    def radius(self):
        return 0.5

    def reach(self):
        return 0.5


@pytest.mark.parametrize("solver", ["lbfgs", "emgd", "bundle", "fobos", "mirror-prox"])
def test_a_penalty_gets_the_solvers_of_what_it_declares(solver):
    given = {"solver": solver, "gap": 1e-2 if solver == "fobos" else 1e-4, "random_state": 0}
    ours = LinearRegressor("squared", penalty=DeclaredLasso(), **given).fit(X, Y)
    theirs = LinearRegressor("squared", penalty="l1", alpha=0.05, **given).fit(X, Y)
    assert ours.stopped_by_ == theirs.stopped_by_ == "gap"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", ["bundle", "mirror-prox"])
def test_a_domain_gets_the_solvers_of_what_it_declares(solver):
    given = {"penalty": "none", "solver": solver, "gap": 1e-4}
    ours = LinearRegressor("squared", domain=DeclaredBall(), **given).fit(X, Y)
    theirs = LinearRegressor("squared", domain="l1_ball(0.5)", **given).fit(X, Y)
    assert ours.stopped_by_ == theirs.stopped_by_ == "gap"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
