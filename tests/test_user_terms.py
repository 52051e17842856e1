"""Terms and risks of a user's own are checked before they are used, once."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from stepless import (
    Box,
    Constraint,
    ContractError,
    Domain,
    ElasticNet,
    Entropy,
    Free,
    GroupsL2,
    GroupsLInf,
    HyperbolicEntropy,
    Intersection,
    L1Ball,
    L2Ball,
    LinearClassifier,
    LinearRegressor,
    LinearRisk,
    Loss,
    LpBall,
    Nonnegative,
    Objective,
    OracleRisk,
    PSDCone,
    Regularizer,
    RowsL2,
    RowsLInf,
    Simplex,
    Source,
    Spectrahedron,
    SquaredL2,
    SquaredLp,
    Stopping,
    Zero,
)
from stepless.checks.constraint import check_constraint_quickly
from stepless.checks.domain import check_domain_quickly
from stepless.checks.loss import check_loss_quickly
from stepless.checks.regularizer import check_regularizer_quickly
from stepless.games import OGD, ExampleLoss, Game, GameError
from stepless.games.players import Constant
from stepless.minimization import minimize
from stepless.objective import L1, LOSSES, JointLoss, Softmax
from stepless.solvers import Bundle
from stepless.user_terms import check_user_penalty, check_user_terms


def regression():
    return load_diabetes(return_X_y=True)


def classes():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


class Halves(Loss):
    def value(self, z, y):
        return (z - y) ** 2 / 2

    def slope(self, z, y):
        return z - y

    def smoothness(self):
        return 1.0


class WrongSlope(Halves):
    def value(self, z, y):
        return (z - y) ** 2


class WrongFarOut(Halves):
    """Right for targets near 0, where a check that does not look at them would look."""

    def slope(self, z, y):
        return z - y if abs(y) < 100.0 else 2.0 * (z - y)


class NotConvex(Loss):
    def value(self, z, y):
        return 1.0 - math.exp(-((z - y) ** 2) / 2e4)

    def slope(self, z, y):
        return (z - y) / 1e4 * math.exp(-((z - y) ** 2) / 2e4)


class Negative(Halves):
    def value(self, z, y):
        return (z - y) ** 2 / 2 - 1.0


class WrongConjugate(Halves):
    def conjugate(self, a, y):
        return a * a / 2


class WrongImplicitSlope(Halves):
    def implicit_slope(self, z, y, step):
        return (z - y) / (1.0 + 2.0 * step)


class WrongCurvature(Halves):
    def curvature(self, z, y):
        return 2.0


class UnderstatedLipschitz(Halves):
    def lipschitz(self):
        return 1.0


WRONG_LOSSES = {
    WrongSlope: r"WrongSlope.slope\(.*\) is .*, but the value rises by",
    WrongFarOut: r"WrongFarOut.slope\(.*\) is",
    NotConvex: "the loss is not convex",
    Negative: "below 0",
    WrongConjugate: r"WrongConjugate.conjugate\(.*\) is .*, but az − value is",
    WrongImplicitSlope: r"WrongImplicitSlope.implicit_slope\(.*\) is",
    WrongCurvature: r"WrongCurvature.curvature\(.*\) is 2, but the slope rises by 1",
    UnderstatedLipschitz: r"UnderstatedLipschitz.lipschitz\(\) is 1",
}


@pytest.mark.parametrize(("kind", "sentence"), WRONG_LOSSES.items(), ids=lambda x: str(x)[:40])
def test_a_wrong_loss_is_refused_before_a_run(kind, sentence):
    X, y = regression()
    with pytest.raises(ContractError, match=sentence):
        LinearRegressor(kind()).fit(X, y)
    with pytest.raises(ContractError, match=sentence):
        LinearRegressor(kind(), solver="adagrad").partial_fit(X, y)
    risk = LinearRisk(Objective(kind(), SquaredL2(0.1)), Source(X, y))
    with pytest.raises(ContractError, match=sentence):
        minimize(risk, Bundle(), Stopping())


class Backwards(Loss):
    targets = "signs"

    def value(self, z, y):
        return max(0.0, 1.0 - y * z)

    def slope(self, z, y):
        return y if y * z < 1.0 else 0.0


def test_a_wrong_loss_of_signs_is_refused():
    with pytest.raises(ContractError, match=r"Backwards.slope\(.*\) is"):
        LinearClassifier(Backwards()).fit(*classes())


class Naive(Loss):
    """Right, but only as far as an exponential reaches."""

    targets = "signs"

    def value(self, z, y):
        return math.exp(-y * z)

    def slope(self, z, y):
        return -y * math.exp(-y * z)


class PositiveOnly(Loss):
    """Right for y > 0, which all targets are."""

    def value(self, z, y):
        return math.sqrt(y) * (z - y) ** 2

    def slope(self, z, y):
        return 2.0 * math.sqrt(y) * (z - y)


def test_a_right_loss_passes_where_its_targets_are():
    X, y = regression()
    check_user_terms(LinearRisk(Objective(Halves(), SquaredL2(0.1)), Source(X, y)))
    check_user_terms(LinearRisk(Objective(PositiveOnly(), SquaredL2(0.1)), Source(X, y)))
    for size in (1e-9, 1.0, 1e9):
        check_user_terms(
            LinearRisk(Objective(Halves(), SquaredL2(0.1)), Source(X, size * (y - 200.0)))
        )
        check_user_terms(LinearRisk(Objective(Halves(), SquaredL2(0.1)), Source(X, size + 0.0 * y)))
    X, y = classes()
    check_user_terms(LinearRisk(Objective(Naive(), SquaredL2(0.1)), Source(X, 2.0 * y - 1.0)))


class WrongJoint(Softmax):
    def slopes(self, z, y, a):
        value = Softmax.slopes(self, z, y, a)
        a *= 2.0
        return value


class RightJoint(Softmax):
    pass


def test_joint_losses_are_checked_too():
    X, y = np.eye(6), np.arange(6) % 3
    with pytest.raises(ContractError, match=r"WrongJoint.slopes at .* below the tangent's"):
        LinearClassifier(WrongJoint(3)).fit(X, y)
    assert issubclass(RightJoint, JointLoss)
    LinearClassifier(RightJoint(3), alpha=0.1, gap=0.1).fit(X, y)


class ProxOfAnother(L1):
    def prox(self, wj, step):
        return wj / (1.0 + self.alpha * step)


class BelowZero(SquaredL2):
    def value(self, wj):
        return self.alpha * (wj * wj / 2 - abs(wj))

    def total(self, w):
        return self.alpha * np.sum(w * w / 2 - np.abs(w))


class TotalOfAnother(SquaredL2):
    def total(self, w):
        return self.alpha * np.sum(w * w)


class OwnL1(Regularizer):
    alpha: float

    def value(self, wj):
        return self.alpha * abs(wj)

    def prox(self, wj, step):
        return math.copysign(max(abs(wj) - self.alpha * step, 0.0), wj)

    def conjugate(self, uj):
        return 0.0 if abs(uj) <= self.alpha else math.inf

    def conjugate_gradient(self, uj):
        return 0.0


class OwnLength(Regularizer):
    """α‖w‖, which is no sum over weights; its prox with unequal steps is not that of equal ones."""

    separable = False
    by_rows = False
    alpha: float

    def total(self, w):
        return self.alpha * math.sqrt(np.sum(w * w))

    def shrink(self, w, steps):
        length = math.sqrt(np.sum(w * w))
        w *= max(0.0, 1.0 - self.alpha * steps.min() / length) if length > 0.0 else 0.0

    def floor(self, a, ceiling=math.inf):
        return 0.0 if math.sqrt(np.sum(a * a)) <= self.alpha else -math.inf

    def smooth_conjugate(self):
        return False


@pytest.mark.parametrize(
    ("regularizer", "sentence"),
    [
        (ProxOfAnother(0.1), r"ProxOfAnother.prox\(.*\) is"),
        (BelowZero(0.1), r"BelowZero.value\(.*\) is .*, below 0"),
        (TotalOfAnother(0.1), r"TotalOfAnother.total\(.*\) is .*, but the values of its weights"),
        (OwnLength(0.1), r"OwnLength.shrink takes"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_wrong_regularizer_is_refused_before_a_run(regularizer, sentence):
    with pytest.raises(ContractError, match=sentence):
        LinearRegressor(penalty=regularizer).fit(*regression())


class Square(Domain):
    """[−1, 1]^d."""

    def project(self, w):
        for j in range(w.size):
            w[j] = min(max(w[j], -1.0), 1.0)

    def reach(self):
        return 1.0


class NotNearest(Square):
    def project(self, w):
        largest = np.abs(w).max()
        if largest > 1.0:
            w /= largest


class Leaves(Domain):
    def project(self, w):
        for j in range(w.size):
            w[j] = 0.5 * w[j]


class TooLarge(Square):
    def project(self, w):
        for j in range(w.size):
            w[j] = min(max(w[j], -2.0), 2.0)


class WrongWay(Constraint):
    def excess(self, w):
        return np.sum(w * w) - 1.0

    def outward(self, w, g):
        g[:] = w
        return self.excess(w)

    def radius(self):
        return 1.0


WRONG_DOMAINS = {
    NotNearest: "NotNearest.project takes .*, but nearer ones lie towards",
    Leaves: "it must leave points of the domain alone",
    TooLarge: r"TooLarge.reach\(\) is 1, but",
    WrongWay: "WrongWay.outward at .* which is no subgradient",
}


@pytest.mark.parametrize(("kind", "sentence"), WRONG_DOMAINS.items(), ids=lambda x: str(x)[:40])
def test_a_wrong_domain_is_refused_before_a_run(kind, sentence):
    X, y = regression()
    with pytest.raises(ContractError, match=sentence):
        LinearRegressor(domain=kind()).fit(X, y)
    with pytest.raises(ContractError, match=sentence):
        Game(OGD(), kind()).run(np.ones((3, 2)))
    if kind is not WrongWay:
        with pytest.raises(ContractError, match=sentence):
            check_user_penalty(3, None, Intersection(1.0, kind()))


def test_right_domains_and_regularizers_pass():
    check_user_penalty(3, OwnL1(0.1), Square(), Intersection(1.0, Square()))
    check_user_penalty(5000, OwnL1(0.1), Square())


class Largest(OracleRisk):
    """The largest of |w_j − j|; `scale` times a gradient of it."""

    scale = 1.0
    calls = 0

    def value_and_gradient(self, w):
        type(self).calls += 1
        away = w - np.arange(w.size)
        worst = int(np.argmax(np.abs(away)))
        return abs(away[worst]), self.scale * np.sign(away[worst]) * np.eye(w.size)[worst]


class Steeper(Largest):
    scale = 2.0


def test_a_risk_is_checked_once():
    with pytest.raises(ContractError, match=r"the gradient of Steeper at .* is no subgradient"):
        minimize(Steeper(3, SquaredL2(0.1)), Bundle(), Stopping(gap=1e-3))
    risk = Largest(3, SquaredL2(0.1))
    check_user_terms(risk)
    calls = Largest.calls
    check_user_terms(risk)
    check_user_terms(risk.under(SquaredL2(0.2)))
    assert Largest.calls == calls


class Counted(Halves):
    """(z − y)²/2 from above a level, which makes it wrong if it is below 0."""

    level: float = 0.0
    scale: float = 1.0

    def slope(self, z, y):
        calls.append(z)
        return self.scale * (z - y)


calls = []


def test_what_was_found_right_is_not_checked_again():
    X, y = regression()

    def look(loss, y=y):
        calls.clear()
        check_user_terms(LinearRisk(Objective(loss, SquaredL2(0.1)), Source(X, y)))
        return len(calls)

    assert look(Counted()) > 0
    assert look(Counted()) == 0
    assert look(Counted(level=1.0)) > 0  # other parameters
    assert look(Counted(), 1e4 * y) > 0  # other targets
    first = Counted

    class Counted_(first):
        def slope(self, z, y):
            calls.append(z)
            return 2.0 * (z - y)

    Counted_.__name__ = Counted_.__qualname__ = "Counted"
    with pytest.raises(ContractError, match=r"Counted.slope"):
        look(Counted_())
    with pytest.raises(ContractError, match=r"Counted.slope"):
        look(Counted(scale=2.0))
    with pytest.raises(ContractError, match=r"Counted.slope"):
        look(Counted(scale=2.0))


def test_what_comes_with_the_package_is_not_looked_at(monkeypatch):
    monkeypatch.setattr(Softmax, "slopes", None)
    monkeypatch.setattr(SquaredL2, "value", None)
    monkeypatch.setattr(L2Ball, "project", None)
    X = np.eye(6)
    objective = Objective(Softmax(3), SquaredL2(0.1), L2Ball(1.0))
    risk = LinearRisk.__new__(LinearRisk)
    risk.objective, risk.source, risk.d = objective, Source(X, np.arange(6.0) % 3), 18
    check_user_terms(risk)
    check_user_penalty(3, None, Simplex())


class Bowl:
    """‖w‖² with `scale` times its gradient."""

    def __init__(self, scale):
        self.d, self.scale = 2, scale

    def value(self, w):
        return float(w @ w)

    def gradient(self, w):
        return 2.0 * self.scale * w


def test_a_game_refuses_costs_whose_tangents_cross_them():
    Game(OGD(), Simplex(), d=2).run([Bowl(1.0)] * 20)
    for scale in (0.4, -1.0):  # steeper ones are still below
        with pytest.raises(GameError, match="not convex, or its gradient is none"):
            Game(Constant([0.9, 0.1]), Simplex(), d=2).run([Bowl(scale)] * 20)
    wrong = [ExampleLoss(WrongSlope(), [1.0, 2.0], 3.0)] * 5
    with pytest.raises(GameError, match="not convex, or its gradient is none"):
        Game(Constant([0.9, 0.1]), Simplex()).run(wrong)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e3, 1e6])
def test_a_quick_look_refuses_no_loss_of_ours(name, scale):
    loss, rng = LOSSES[name](), np.random.default_rng(0)
    for shift in (0.0, 5.0):
        y = scale * (shift + rng.normal(size=5))
        y = {"signs": np.array([-1.0, 1.0]), "counts": np.abs(y), "reals": y}[loss.targets]
        check_loss_quickly(loss, y)


REGULARIZERS = [
    L1(1e-6),
    SquaredL2(1e3),
    ElasticNet(0.1, 0.5),
    Entropy(0.1, 0.5),
    HyperbolicEntropy(0.1, 0.5),
    SquaredLp(0.3, 1.8),
    Zero(),
    RowsL2(0.1),
    RowsLInf(0.1),
    GroupsL2.of(0.1, [0, 1, 0, 1]),
    GroupsLInf.of(0.1, [0, 1, 0, 1]),
]
DOMAINS = [
    Free(),
    Nonnegative(),
    Box(-1.0, 2.0),
    L1Ball(2.0),
    L2Ball(1e-3),
    LpBall(2.0, 1.5),
    Simplex(3.0),
    PSDCone(),
    Spectrahedron(1.0),
    Intersection(1.0, Nonnegative()),
]


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=repr)
def test_a_quick_look_refuses_no_regularizer_of_ours(regularizer):
    for outputs in (1, 3):
        check_regularizer_quickly(regularizer, 4, outputs)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_a_quick_look_refuses_no_domain_of_ours(domain):
    for d in (4, 400):
        check_domain_quickly(domain, d)
        if not domain.free and domain.offers("excess", "outward"):
            check_constraint_quickly(domain, d)
