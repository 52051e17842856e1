"""Every domain keeps its contract, and one that does not is told so in one line."""

import math

import numpy as np
import pytest

from stepless import ContractError, Domain, check_domain
from stepless.objective import DOMAINS, Box as TrueBox, Free, L1Ball, L2Ball, Nonnegative, Simplex

SIZES = [(1e-6,), (0.3,), (1.0,), (1e5,)]
PARAMETERS = {
    "ball": SIZES,
    "l1_ball": SIZES,
    "simplex": SIZES,
    "box": [(-1.0, 1.0), (-1e-6, 0.0), (0.0, 3.0), (-0.1, 1e5)],
}
MEMBERS = [kind(*values) for name, kind in DOMAINS.items() for values in PARAMETERS.get(name, [()])]


@pytest.mark.parametrize("domain", MEMBERS, ids=repr)
def test_contract(domain):
    check_domain(domain)


def test_ball_projects_along_the_radius():
    w = np.array([3.0, 0.0, -4.0])
    L2Ball(1.0).project(w)
    np.testing.assert_allclose(w, [0.6, 0.0, -0.8])
    inside = np.array([0.1, 0.2, 0.0])
    before = inside.copy()
    L2Ball(1.0).project(inside)
    np.testing.assert_array_equal(inside, before)


def test_ball_has_a_vertex_everywhere():
    w = np.full(3, np.nan)
    L2Ball(2.0).vertex(np.array([0.0, 3.0, 0.0]), w)
    np.testing.assert_allclose(w, [0.0, -2.0, 0.0])
    L2Ball(2.0).vertex(np.zeros(3), w)
    assert np.isfinite(w).all()
    assert np.linalg.norm(w) <= 2.0


def test_free_moves_nothing_and_has_no_vertex():
    w = np.array([1e300, -1.0])
    Free().project(w)
    np.testing.assert_array_equal(w, [1e300, -1.0])
    assert Free().radius() == math.inf
    with pytest.raises(ValueError, match="no minimum"):
        Free().vertex(w, w)


@pytest.mark.parametrize("bound", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("kind", [L1Ball, L2Ball, Simplex])
def test_impossible_radii_get_one_clear_sentence(kind, bound):
    with pytest.raises(ValueError, match=f"positive (radius|sum), not {bound:g}") as caught:
        kind(bound)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "ends", [(0.1, 1.0), (-1.0, -0.1), (0.0, 0.0), (-math.inf, 1.0), (0.0, math.nan)]
)
def test_impossible_boxes_get_one_clear_sentence(ends):
    with pytest.raises(ValueError, match="finite low ≤ 0 ≤ high") as caught:
        TrueBox(*ends)
    assert "\n" not in str(caught.value)


# -- domains of one's own, and such as break their contract --------------------------------------


class Box(Domain):
    side: float = 1.0

    def project(self, w):
        for j in range(w.size):
            w[j] = min(max(w[j], -self.side), self.side)

    def vertex(self, g, w):
        for j in range(w.size):
            w[j] = -self.side if g[j] > 0.0 else self.side

    def radius(self):
        return 2.0 * self.side  # in four dimensions, where the checks live


class Orthant(Domain):
    def project(self, w):
        for j in range(w.size):
            w[j] = max(w[j], 0.0)


@pytest.mark.parametrize("domain", [Box(), Box(30.0), Orthant()], ids=repr)
def test_domains_of_ones_own_are_accepted(domain):
    check_domain(domain)


class ReturnsACopy(L2Ball):
    def project(self, w):
        return w / max(np.linalg.norm(w) / self.bound, 1.0)


class Scales(Box):  # into the box, but not to the nearest point
    def project(self, w):
        w /= max(np.abs(w).max() / self.side, 1.0)


class Shell(L2Ball):
    def project(self, w):
        w *= self.bound / max(math.sqrt(np.sum(w * w)), 1e-300)


class Drifts(L2Ball):
    def project(self, w):
        w *= 0.9


class Elsewhere(Box):
    def project(self, w):
        for j in range(w.size):
            w[j] = min(max(w[j], 0.5 * self.side), self.side)


class UnderstatedRadius(Box):
    def radius(self):
        return 1.5 * self.side


class UphillVertex(L2Ball):
    def vertex(self, g, w):
        w[:] = g * (self.bound / math.sqrt(np.sum(g * g)))


class LowVertex(L2Ball):
    def vertex(self, g, w):
        w[:] = g * (-0.5 * self.bound / math.sqrt(np.sum(g * g)))


class OutsideVertex(Box):
    def vertex(self, g, w):
        w[:] = g * (-2.0 * self.side / math.sqrt(np.sum(g * g)))


class HalfVertex(Box):
    def vertex(self, g, w):
        w[0] = -self.side


class FalseDiamond(L2Ball):
    ball_exponent = 1.0


class FalseBall(TrueBox):
    ball_exponent = 1.5

    def radius(self):
        return 2.0


class FalseSigns(L1Ball):
    nonnegative = True


class FalseSimplex(L1Ball):
    simplex = True


class NoVertex(L2Ball):
    def vertex(self, g, w):
        raise NotImplementedError


class Uncompilable(L2Ball):
    def project(self, w):
        L2Ball(self.bound).project(w)


class IgnoresTheMetric(L2Ball):
    def project_in(self, w, h):
        self.project(w)


class IgnoresTheBall(L2Ball):
    def project_in(self, w, h):
        w *= 1.0


class AnotherBall(L2Ball):
    def project_in(self, w, h):
        for j in range(w.size):
            w[j] = 0.0


class UnderstatedReach(L1Ball):
    def reach(self):
        return 0.9 * self.bound


class UnderstatedWidth(TrueBox):
    def width(self):
        return self.high


class ClipsToo(TrueBox):
    def project(self, w):
        for j in range(w.size):
            w[j] = min(max(w[j], 0.5 * self.low), self.high)

    def vertex(self, g, w):
        w[:] = 0.0


class Away(TrueBox):
    def clip(self, wj):
        return min(max(wj, 0.5 * self.high), self.high)


class HighFloor(L1Ball):
    def floor(self, a):
        return -self.bound * np.abs(a).mean()


class NoFloor(Nonnegative):
    def floor(self, a):
        return math.nan


class UncompilableMetric(L2Ball):
    def project_in(self, w, h):
        L2Ball(self.bound).project_in(w, h)


BROKEN = [
    (FalseDiamond(), r"^FalseDiamond\.l1_radius\(\) is 1, but .*, has an ℓ₁ norm of"),
    (FalseBall(), r"^FalseBall\.ball_exponent is 1\.5, and radius\(\) is 2, but project leads to"),
    (FalseSigns(), r"^FalseSigns\.nonnegative is True, and radius\(\) is 1, but project leads to"),
    (FalseSimplex(), r"^FalseSimplex\.(simplex|nonnegative) is (True|False), and radius"),
    (
        IgnoresTheMetric(),
        r"^IgnoresTheMetric\.project_in takes .* in the metric .*, but nearer ones",
    ),
    (
        IgnoresTheBall(),
        r"^IgnoresTheBall\.project_in takes .* to .* in the metric \(1, 1, 1, 1\), but",
    ),
    (AnotherBall(), r"^AnotherBall\.project_in takes .*, but project to"),
    (UnderstatedReach(), r"^UnderstatedReach\.reach\(\) is 0\.9, but .* has a weight of"),
    (UnderstatedWidth(), r"^UnderstatedWidth\.width\(\) is 1, but .* and .* are 2 apart"),
    (ClipsToo(), r"^ClipsToo\.clip takes .* to .*, but project to"),
    (Away(), r"^Away\.project moves the origin"),
    (HighFloor(), r"^HighFloor\.floor at .* is .*, but ⟨a, ·⟩ is .* at"),
    (NoFloor(), r"^NoFloor\.floor\(.*\) is nan$"),
    (UncompilableMetric(), r"^UncompilableMetric\.project_in cannot be compiled: "),
    (ReturnsACopy(), r"^ReturnsACopy\.project returns something, but must write into w instead"),
    (Scales(1e-6), r"^Scales\.project takes \(.*\) to \(.*\), but nearer ones lie towards"),
    (Scales(), r"^Scales\.project takes \(.*\) to \(.*\), but nearer ones lie towards"),
    (Shell(), r"^Shell\.project takes"),
    (Drifts(), r"^Drifts\.radius\(\) is 1, but"),
    (Elsewhere(), r"^Elsewhere\.vertex at .*, outside of the domain"),
    (UnderstatedRadius(), r"^UnderstatedRadius\.radius\(\) is 1\.5, but .* has length"),
    (UphillVertex(), r"^UphillVertex\.vertex at .*, but ⟨g, ·⟩ is lower at"),
    (LowVertex(), r"^LowVertex\.vertex at .*, but ⟨g, ·⟩ is lower at"),
    (OutsideVertex(), r"^OutsideVertex\.vertex at .*, outside of the domain"),
    (HalfVertex(), r"^HalfVertex\.vertex writes \(-1, nan"),
    (NoVertex(), r"^NoVertex\.vertex raises NotImplementedError"),
    (Uncompilable(), r"^Uncompilable\.project cannot be compiled: "),
    (L2Ball, r"needs a Domain, such as L2Ball\(1\.0\), not the class L2Ball"),
]


@pytest.mark.parametrize(("domain", "message"), BROKEN, ids=[str(d) for d, _ in BROKEN])
def test_broken_domains_are_caught_in_one_line(domain, message):
    with pytest.raises(ContractError, match=message) as caught:
        check_domain(domain)
    assert "\n" not in str(caught.value)
