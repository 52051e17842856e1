"""Every loss keeps its contract, and a loss that does not is told so in one line."""

import math
import re

import numpy as np
import pytest
from numba import njit
from scipy.optimize import brentq

from stepless import ContractError, Loss, check_loss
from stepless.objective import (
    LOSSES,
    Absolute,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Quantile,
    SmoothedHinge,
    Squared,
    SquaredHinge,
)
from stepless.objective.losses.softplus import implicit_sigmoid

# A loss that is not named here is tested with its defaults.
PARAMETERS = {
    "smoothed_hinge": (0.05, 1.0, 10.0, 1000.0),
    "huber": (1e-3, 1.0, 7.5, 1e4),
    "epsilon_insensitive": (0.0, 0.1, 3.0),
    "quantile": (0.01, 0.5, 0.9, 0.999),
}
TARGETS = {"signs": (-1.0, 1.0), "reals": (-2.5, 0.0, 0.3, 40.0), "counts": (0.0, 0.5, 3.0, 40.0)}
MEMBERS = [
    kind(*values)
    for name, kind in LOSSES.items()
    for values in ([(p,) for p in PARAMETERS[name]] if name in PARAMETERS else [()])
]


@pytest.mark.parametrize("loss", MEMBERS, ids=repr)
def test_contract(loss):
    check_loss(loss)


def _one_sided(loss, z, y, h):
    return (loss.value(z + h, y) - loss.value(z, y)) / h


@pytest.mark.parametrize("loss", MEMBERS, ids=repr)
def test_slope_is_the_derivative_where_there_is_one(loss):
    seen = 0
    for y in TARGETS[loss.targets]:
        for z in (
            np.random.default_rng(0).normal(scale=2.0, size=40) + (loss.targets == "reals") * y
        ):
            h = 1e-6
            left, right = _one_sided(loss, z, y, -h), _one_sided(loss, z, y, h)
            if abs(left - right) < 1e-2:  # no kink in between
                central = 0.5 * (left + right)
                assert loss.slope(z, y) == pytest.approx(central, rel=1e-6, abs=1e-6)
                seen += 1
    assert seen > 40


@pytest.mark.parametrize("loss", MEMBERS, ids=repr)
def test_constants_are_the_least_that_hold(loss):
    z = np.linspace(-60.0, 60.0, 4001)
    slopes = [np.array([loss.slope(u + y, y) for u in z / 4]) for y in TARGETS[loss.targets]]
    if math.isfinite(loss.lipschitz()):
        wide = [abs(loss.slope(u, y)) for u in (-1e6, 1e6) for y in TARGETS[loss.targets]]
        assert max(wide) == pytest.approx(loss.lipschitz(), rel=1e-6)
    else:
        assert abs(loss.slope(1e6, 1.0)) > 1e5 or abs(loss.slope(-1e6, 1.0)) > 1e5
    if math.isfinite(loss.smoothness()):
        centre = 1.0 if loss.targets == "signs" else 0.3  # where each of ours is most curved
        centre = 0.0 if isinstance(loss, Logistic) else centre
        y = 1.0 if loss.targets == "signs" else 0.3
        h = 1e-6
        left = centre - 3 * h if isinstance(loss, SquaredHinge) else centre - h
        bend = (loss.slope(left + h, y) - loss.slope(left, y)) / h
        assert bend == pytest.approx(loss.smoothness(), rel=1e-4)
    else:
        jump = max(np.abs(np.diff(s)).max() for s in slopes)
        assert jump > 0.4 * min(loss.lipschitz(), 1.0)


KNOWN = [  # loss, z, y, value, slope
    (Hinge(), 0.25, 1.0, 0.75, -1.0),
    (Hinge(), 0.25, -1.0, 1.25, 1.0),
    (Hinge(), 2.0, 1.0, 0.0, 0.0),
    (SquaredHinge(), 0.0, -1.0, 1.0, 2.0),
    (SquaredHinge(), -1.0, 1.0, 4.0, -4.0),
    (SmoothedHinge(2.0), 1.0, 1.0, math.log(2) / 2, -0.5),
    (SmoothedHinge(1.0), -1000.0, 1.0, 1001.0, -1.0),
    (Logistic(), 0.0, -1.0, math.log(2), 0.5),
    (Logistic(), -800.0, 1.0, 800.0, -1.0),
    (Logistic(), 800.0, 1.0, 0.0, 0.0),
    (Squared(), 4.0, 1.0, 4.5, 3.0),
    (Absolute(), -1.0, 1.0, 2.0, -1.0),
    (Absolute(), 1.0, 1.0, 0.0, 0.0),
    (Huber(2.0), 1.0, 0.0, 0.5, 1.0),
    (Huber(2.0), -5.0, 0.0, 8.0, -2.0),
    (EpsilonInsensitive(0.5), 1.4, 1.0, 0.0, 0.0),
    (EpsilonInsensitive(0.5), 0.0, 1.0, 0.5, -1.0),
    (Quantile(0.9), 0.0, 1.0, 0.9, -0.9),
    (Quantile(0.9), 2.0, 1.0, 0.1, 0.1),
    (Poisson(), math.log(3.0), 3.0, 0.0, 0.0),
    (Poisson(), 0.0, 0.0, 1.0, 1.0),
    (Poisson(), 90.0, 0.0, 11 * math.exp(80.0), math.exp(80.0)),
]


@pytest.mark.parametrize(("loss", "z", "y", "value", "slope"), KNOWN)
def test_known_values(loss, z, y, value, slope):
    assert loss.value(z, y) == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert loss.slope(z, y) == pytest.approx(slope, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", LOSSES.values())
def test_every_loss_has_a_known_value(kind):
    """Here, or in its docstring, whose examples are run as well."""
    here = {type(loss) for loss, *_ in KNOWN}
    assert kind in here or re.search(rf">>> {kind.__name__}\(.*\)\.value\(", kind.__doc__)


def test_smoothed_hinge_lies_between_the_hinge_and_its_bound():
    for z in np.linspace(-3, 3, 61):
        excess = SmoothedHinge(4.0).value(z, 1.0) - Hinge().value(z, 1.0)
        assert 0.0 <= excess <= math.log(2) / 4 + 1e-15


def test_means_are_where_the_slope_is_zero_on_average():
    z = 0.7  # the mean of a prediction makes it the best one: E ℓ'(z, y) = 0
    p = Logistic().mean(z)
    assert p * Logistic().slope(z, 1.0) + (1 - p) * Logistic().slope(z, -1.0) == pytest.approx(0.0)
    assert Poisson().slope(z, Poisson().mean(z)) == pytest.approx(0.0)


# -- the optional methods ----------------------------------------------------------------------

STEPS = (1e-8, 1e-4, 0.03, 1.0, 17.0, 1e4, 1e8)
_SIZES = np.array([1e-12, 1e-6, 0.01, 0.3, 1.0, 1.7, 5.0, 40.0, 1e3, 1e6])
_GRID = np.concatenate([-_SIZES[::-1], [0.0], _SIZES])
CORNERS = [loss for loss in MEMBERS if loss.offers("corners")]
SMOOTH = [loss for loss in MEMBERS if loss.offers("curvature")]
IMPLICIT = [loss for loss in MEMBERS if loss.offers("implicit_slope")]


def _places(loss):
    """Every target with predictions around 0 and around itself, from tiny to 1e6."""
    for y in TARGETS[loss.targets]:
        yield from ((z, y) for z in np.unique(np.concatenate([_GRID, _GRID + y])).tolist())


@pytest.mark.parametrize("loss", MEMBERS, ids=repr)
def test_every_loss_offers_what_second_order_and_dual_solvers_ask(loss):
    assert loss.offers("value", "slope")
    if type(loss) in {type(known) for known, *_ in KNOWN}:
        assert loss.offers("conjugate", "implicit_slope")
        assert loss.offers("curvature") != loss.offers("corners")


def test_a_loss_of_ones_own_offers_what_it_defines():
    assert PseudoHuber.offers("value", "slope")
    assert not any(map(PseudoHuber.offers, ("conjugate", "curvature", "implicit_slope")))
    assert not WrongCurvature.offers("curvature", "corners")


def _secants(f, z, h):
    return (f(z) - f(z - h)) / h, (f(z + h) - f(z)) / h


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_curvature_is_the_derivative_of_the_slope_away_from_kinks(loss):
    seen = 0
    for z, y in _places(loss):
        left, right = _secants(lambda u: loss.slope(u, y), z, 1e-6 * max(abs(z), 1.0))
        if abs(left - right) <= 1e-2 * abs(left + right):
            assert loss.curvature(z, y) == pytest.approx(0.5 * (left + right), rel=1e-3, abs=1e-7)
            seen += 1
    assert seen > 30


def test_only_least_squares_are_quadratic():
    assert [loss for loss in MEMBERS if loss.quadratic] == [Squared()]
    assert {Squared().curvature(z, y) for z in (-2.0, 0.0, 3.0) for y in (0.0, 1.0)} == {1.0}


@pytest.mark.parametrize("loss", CORNERS, ids=repr)
def test_corners_make_up_the_loss(loss):
    y = np.array(TARGETS[loss.targets])
    first, places, rises = loss.corners(y)
    assert first.shape == y.shape
    assert places.shape == rises.shape
    assert (rises > 0.0).all()
    for i, target in enumerate(y.tolist()):
        start = places[0, i] - 1.0
        for z in np.linspace(start, places[-1, i] + 3.0, 30).tolist():
            up = (rises[:, i] * np.maximum(z - places[:, i], 0.0)).sum()
            value = loss.value(start, target) + first[i] * (z - start) + up
            assert loss.value(z, target) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("loss", IMPLICIT, ids=repr)
def test_implicit_slope_is_a_slope_where_it_leads(loss, step):
    for z, y in _places(loss):
        a = loss.implicit_slope(z, y, step)
        v = z - step * a
        value, conjugate = loss.value(v, y), loss.conjugate(a, y)
        assert math.isfinite(conjugate)
        sizes = abs(value) + abs(conjugate) + abs(a) * (abs(z) + abs(v) + abs(y))
        counts = y if loss.targets == "counts" else 0.0  # a = u − y has the rounding of u
        blur = 4e-16 * (abs(z) + abs(y) + step * (abs(a) + counts))  # of v
        slack = 1e-13 * (1.0 + sizes) + blur * (loss.slope(v + blur, y) - loss.slope(v - blur, y))
        assert value + conjugate == pytest.approx(a * v, rel=0, abs=slack), (z, y)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("loss", IMPLICIT, ids=repr)
def test_implicit_slope_against_a_root_finder(loss, step):
    for z, y in _places(loss):
        ends = sorted([z, z - step * loss.slope(z, y)])
        v = z
        if ends[0] < ends[1]:
            ends = [u + k * 1e-9 * max(1.0, abs(u)) for u, k in zip(ends, (-1, 1), strict=True)]
            v = brentq(lambda u: u + step * loss.slope(u, y) - z, *ends, xtol=1e-14, maxiter=2000)
        near = 1e-12 * (1.0 + abs(z) + abs(v))
        low, high = loss.slope(v - near, y), loss.slope(v + near, y)
        a = loss.implicit_slope(z, y, step)
        slack = 1e-13 * (1.0 + abs(y) + abs(a))
        assert low - slack <= a <= high + slack, (z, y)
        assert z - step * a == pytest.approx(v, rel=0, abs=near + 1e-13 * step * (1 + abs(y)))


@pytest.mark.parametrize("loss", IMPLICIT, ids=repr)
def test_implicit_slope_is_monotone_and_never_out_of_bounds(loss):
    rng = np.random.default_rng(0)
    for y in TARGETS[loss.targets]:
        for step in 10.0 ** rng.uniform(-8, 8, 30):
            near = np.linspace(-2.0, 2.0, 41)
            z = np.sort(
                np.concatenate([y + near * step, near, y + near, rng.normal(size=20), _GRID])
            )
            a = np.array([loss.implicit_slope(u, y, step) for u in z.tolist()])
            slack = 4e-16 * (abs(y) + np.abs(a[1:]))
            assert (np.diff(a) >= -slack).all()
            assert (
                np.diff(a) * step <= np.diff(z) + 4e-15 * (step * (1 + abs(y)) + abs(z[1:]))
            ).all()
            assert (np.abs(a) <= loss.lipschitz()).all()  # to the last bit
            assert all(math.isfinite(loss.conjugate(u, y)) for u in a.tolist())


@pytest.mark.parametrize("loss", [loss for loss in IMPLICIT if loss in SMOOTH], ids=repr)
def test_an_implicit_step_of_length_zero_is_explicit(loss):
    for z, y in [*_places(loss), (79.9, 1.0), (90.0, 1.0)]:
        slope = loss.slope(z, y)
        assert loss.implicit_slope(z, y, 0.0) == pytest.approx(slope, rel=1e-14, abs=1e-290)


@njit
def _compiled_slopes(loss, z, y, step, out):
    for i in range(z.size):
        out[i] = loss.implicit_slope(z[i], y[i], step)


@njit
def _compiled_curvatures(loss, z, y, out):
    for i in range(z.size):
        out[i] = loss.curvature(z[i], y[i])


@pytest.mark.parametrize("loss", IMPLICIT, ids=repr)
def test_optional_methods_are_the_same_when_compiled(loss):
    z, y = map(np.array, zip(*_places(loss), strict=True))
    out = np.empty(z.size)
    places = list(zip(z.tolist(), y.tolist(), strict=True))
    for step in STEPS:
        _compiled_slopes(loss, z, y, step, out)
        plain = [loss.implicit_slope(*place, step) for place in places]
        np.testing.assert_allclose(out, plain, rtol=1e-13, atol=1e-14)
    if loss.offers("curvature"):
        _compiled_curvatures(loss, z, y, out)
        np.testing.assert_allclose(out, [loss.curvature(*place) for place in places], rtol=1e-13)


def test_implicit_sigmoid_solves_its_equation_to_the_last_digits():
    rng = np.random.default_rng(0)
    step = np.concatenate([10.0 ** rng.uniform(-8, 10, 4000), [0.0] * 1000])
    c = rng.normal(size=5000) * 10.0 ** rng.uniform(-3, 6, 5000)
    c[:2000] = -step[:2000] * rng.uniform(size=2000)  # where p is anything between 0 and 1
    seen = 0
    for u, h in zip(c.tolist(), step.tolist(), strict=True):
        p = implicit_sigmoid(u, h)
        mirror = implicit_sigmoid(-u - h, h)
        assert 0.0 <= p <= 1.0
        assert p + mirror == pytest.approx(1.0, abs=1e-15 * (1.0 + (abs(u) + h) / (1.0 + h)))
        if 1e-300 < p < 1.0:
            logit = math.log1p(-p) - math.log(p)  # 1 − p has the rounding of p
            slack = 1e-15 * (1.0 + abs(u) + h * p + 1.0 / (1.0 - p))
            assert logit == pytest.approx(u + h * p, rel=0, abs=slack), (u, h)
            seen += 1
        else:
            assert u > 600.0 or u + h < -36.0
    assert seen > 2500


def test_an_implicit_step_may_end_on_the_tangent_of_the_exponential():
    steepest = Poisson().slope(90.0, 1.0)
    assert Poisson().implicit_slope(1e30, 1.0, 1e-8) == steepest
    assert Poisson().implicit_slope(81.0, 1.0, 1e-40) == steepest
    assert Poisson().implicit_slope(81.0, 1.0, 1e-30) < steepest


@pytest.mark.parametrize("kind", [Huber, SmoothedHinge, EpsilonInsensitive, Quantile])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, -math.inf])
def test_impossible_parameters_get_one_clear_sentence(kind, value):
    with pytest.raises(ValueError, match=kind._fields[0]) as caught:
        kind(value)
    assert "\n" not in str(caught.value)
    assert f"{value:g}" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "value"), [(Huber, 0.0), (SmoothedHinge, 0.0), (Quantile, 0.0), (Quantile, 1.0)]
)
def test_boundary_parameters_are_refused(kind, value):
    with pytest.raises(ValueError, match="must"):
        kind(value)


# -- losses that break their contract ----------------------------------------------------------


class PseudoHuber(Loss):
    delta: float = 1.0

    def value(self, z, y):
        return self.delta**2 * (math.sqrt(1 + ((z - y) / self.delta) ** 2) - 1)

    def slope(self, z, y):
        return (z - y) / math.sqrt(1 + ((z - y) / self.delta) ** 2)

    def lipschitz(self):
        return self.delta


class WrongSign(PseudoHuber):
    def slope(self, z, y):
        return (y - z) / math.sqrt(1 + ((z - y) / self.delta) ** 2)


class SlightlyWrong(PseudoHuber):
    def slope(self, z, y):
        return 1.001 * (z - y) / math.sqrt(1 + ((z - y) / self.delta) ** 2)


class UnderstatedLipschitz(PseudoHuber):
    def lipschitz(self):
        return 0.9 * self.delta


class NegativeLipschitz(PseudoHuber):
    def lipschitz(self):
        return -1.0


class UnderstatedSmoothness(SmoothedHinge):
    def smoothness(self):
        return 0.2 * self.gamma


class KinkThatClaimsToBeSmooth(Absolute):
    def smoothness(self):
        return 1e5


class Negative(Loss):
    def value(self, z, y):
        return abs(z - y) - 0.5

    def slope(self, z, y):
        return 1.0 if z > y else -1.0


class NotConvex(Loss):
    def value(self, z, y):
        return math.sqrt(abs(z - y))

    def slope(self, z, y):
        return 0.5 / math.sqrt(abs(z - y)) if z > y else 0.0


class NarrowlyNotConvex(PseudoHuber):  # a dent
    def value(self, z, y):
        r = abs(z - y)
        return math.sqrt(1 + r * r) - 1 - (0.05 if 0.9 < r < 1.1 else 0.0)


class Overflows(Loss):
    targets = "signs"

    def value(self, z, y):
        return math.log(1 + math.exp(-y * z))

    def slope(self, z, y):
        return -y / (1 + math.exp(y * z))


class NotANumber(PseudoHuber):
    def slope(self, z, y):
        return math.inf - math.inf if abs(z) > 1e6 else PseudoHuber.slope(self, z, y)


class Forgetful(PseudoHuber):
    def value(self, z, y):
        math.sqrt(1 + (z - y) ** 2)


class NoSlope(Loss):
    def value(self, z, y):
        return abs(z - y)


class TooFewParameters(PseudoHuber):
    def value(self, z):
        return abs(z)


def square(x):  # not compiled, so that numba does not know it
    return x * x


class PlainHelper(Loss):
    def value(self, z, y):
        return 0.5 * square(z - y)

    def slope(self, z, y):
        return z - y


class UnknownAttribute(Squared):
    breadth = 2.0  # no annotation: not a field

    def slope(self, z, y):
        return (z - y) * (self.breadth / 2.0)


class ConjugateOfAnother(Squared):
    def conjugate(self, a, y):
        return 0.25 * a * a + a * y


class ConjugateTooLow(Absolute):
    def conjugate(self, a, y):
        return a * y


class ConjugateInfinite(Hinge):
    def conjugate(self, a, y):
        return a * y if -1.0 < a * y <= 0.0 else math.inf


class WrongCurvature(Logistic):
    def curvature(self, z, y):
        return 0.25


class SlightlyWrongCurvature(SquaredHinge):
    def curvature(self, z, y):
        return 2.001 if y * z < 1.0 else 0.0


class CurvatureBeyondBothSides(SquaredHinge):
    def curvature(self, z, y):
        return 2.0 if y * z < 1.0 else (0.0 if y * z > 1.0 else -1.0)


class CurvatureNotCompiled(Squared):
    def curvature(self, z, y):
        return square(1.0)


class ExplicitSlope(Squared):
    def implicit_slope(self, z, y, step):
        return z - y


class ImplicitUnbounded(Absolute):
    def implicit_slope(self, z, y, step):
        return (z - y) / step


class ImplicitTooFar(Absolute):  # by a rounding
    def implicit_slope(self, z, y, step):
        return min(max((z - y) / step, -1.0), 1.0) * 1.0000000000000002


class ImplicitUnsolved(Logistic):
    def implicit_slope(self, z, y, step):
        return -y * (implicit_sigmoid(y * z, step) * 0.99999)


class OneCornerTooFew(EpsilonInsensitive):
    def corners(self, y):
        return np.full(y.size, -1.0), (y + self.epsilon)[None, :], np.full((1, y.size), 2.0)


class CornersOfOneTarget(Absolute):
    def corners(self, y):
        return np.full(y.size, -1.0), y, np.full(y.size, 2.0)


class CornersThatFail(Absolute):
    def corners(self, y):
        return -1.0 if y > 0 else 1.0


class StrangeTargets(PseudoHuber):
    targets = "colours"


BROKEN = [
    (WrongSign(), r"^WrongSign\.slope\(.*\) is .*, but the value rises by .* per unit there$"),
    (SlightlyWrong(), r"^SlightlyWrong\.slope\(.*\) is .*, but the value rises by"),
    (UnderstatedLipschitz(2.0), r"^UnderstatedLipschitz\.lipschitz\(\) is 1\.8, but .*slope"),
    (NegativeLipschitz(), r"^NegativeLipschitz\.lipschitz\(\) is -1, but must not be negative"),
    (UnderstatedSmoothness(1000.0), r"smoothness\(\) is 200, but the slope rises by 2[45]"),
    (KinkThatClaimsToBeSmooth(), r"smoothness\(\) is 100000, but the slope rises by"),
    (Negative(), r"^Negative\.value\(.*\) is -0\.0001, below 0"),
    (NotConvex(), r"^NotConvex\.value\(.*\) is .* above the chord .* not convex"),
    (NarrowlyNotConvex(), r"above the chord .* not convex"),
    (Overflows(), r"^Overflows\.value\(999\.9, -1\) raises OverflowError: math range error"),
    (NotANumber(), r"^NotANumber\.slope\(-1\.?\d*e\+08, 0\) is nan"),
    (Forgetful(), r"^Forgetful\.value\(.*\) is None, not a number"),
    (NoSlope(), r"^NoSlope\.slope\(.*\) raises NotImplementedError"),
    (TooFewParameters(), r"value\(.*\) raises TypeError: .*takes 2 positional arguments but 3"),
    (PlainHelper(), r"^PlainHelper\.value cannot be compiled: .*'square'"),
    (
        UnknownAttribute(),
        r"^UnknownAttribute\.slope cannot be compiled: Unknown attribute 'breadth'",
    ),
    (ConjugateOfAnother(), r"conjugate\(.*\) is .*, but az − value is .* where that is the slope"),
    (ConjugateTooLow(), r"conjugate\(.*\) is .*, below az − value, which is"),
    (ConjugateInfinite(), r"conjugate\(1, -1\) is inf, but az − value is"),
    (WrongCurvature(), r"curvature\(.*\) is 0\.25, but the slope rises by .* per unit there$"),
    (
        SlightlyWrongCurvature(),
        r"curvature\(.*\) is 2\.001, but the slope rises by 2 per unit there$",
    ),
    (CurvatureBeyondBothSides(), r"curvature\(-1, -1\) is -1, but the slope rises by 1 per unit"),
    (CurvatureNotCompiled(), r"^CurvatureNotCompiled\.curvature cannot be compiled: .*'square'"),
    (ExplicitSlope(), r"implicit_slope\(.*\) is .*, but the slope where that leads, at z = .*, is"),
    (
        ImplicitUnbounded(),
        r"implicit_slope\(.*\) is -1\.0001e\+11, but the slope where that leads, .* is -1$",
    ),
    (
        ImplicitTooFar(),
        r"conjugate\(-1, 0\) is inf, but .*implicit_slope.* is -1\.0000000000000002$",
    ),
    (ImplicitUnsolved(), r"implicit_slope\(.*, 0\.001\) is .*, but the slope where that leads"),
    (OneCornerTooFew(), r"^OneCornerTooFew\.corners make the slope -1 at \(.*, 0\), but .* is 0$"),
    (
        CornersOfOneTarget(),
        r"corners of two targets has shapes \(2,\), \(2,\), \(2,\), not \(2,\), \(k",
    ),
    (CornersThatFail(), r"^CornersThatFail\.corners of two targets raises ValueError: The truth"),
    (StrangeTargets(), r"targets is 'colours', but must be one of 'signs', 'reals', 'counts'"),
    (Hinge, r"needs a Loss, such as Hinge\(\), not the class Hinge"),
    ("hinge", r"needs a Loss, such as Hinge\(\), not 'hinge'"),
]


@pytest.mark.parametrize(("loss", "message"), BROKEN, ids=[str(loss) for loss, _ in BROKEN])
def test_broken_losses_are_caught_in_one_line(loss, message):
    with pytest.raises(ContractError, match=message) as caught:
        check_loss(loss)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_loss_of_ones_own_is_accepted():
    check_loss(PseudoHuber(2.0))


class Pinball(Loss):  # with everything that is optional, by other formulas than ours
    def value(self, z, y):
        return 2.0 * max(z - y, 0.0)

    def slope(self, z, y):
        return 2.0 if z > y else 0.0

    def conjugate(self, a, y):
        return a * y if 0.0 <= a <= 2.0 else math.inf

    def curvature(self, z, y):
        return 0.0

    def implicit_slope(self, z, y, step):
        return 0.0 if z <= y else (2.0 if z >= y + 2.0 * step else (z - y) / step)

    def corners(self, y):
        return np.zeros(y.size), y[None, :], np.full((1, y.size), 2.0)


def test_a_loss_of_ones_own_with_every_optional_method_is_accepted():
    check_loss(Pinball())


_scale = 1.0


class Drifting(Loss):
    def value(self, z, y):
        return _scale * abs(z - y)

    def slope(self, z, y):
        return _scale if z > y else -_scale


def test_a_loss_that_is_another_when_compiled(monkeypatch):
    check_loss(Drifting())
    monkeypatch.setattr(f"{__name__}._scale", 2.0)  # compiled code has the old one in it
    with pytest.raises(ContractError, match=r"Drifting\.value\(.* in Python, but .* when compiled"):
        check_loss(Drifting())
