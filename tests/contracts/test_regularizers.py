"""Every regularizer keeps its contract, and one that does not is told so in one line."""

import math

import numpy as np
import pytest

from stepless import ContractError, Regularizer, check_regularizer
from stepless.objective import (
    REGULARIZERS,
    ElasticNet,
    Entropy,
    GroupsL2,
    GroupsLInf,
    HyperbolicEntropy,
    RowsL2,
    RowsLInf,
    SquaredL2,
    SquaredLp,
    Zero,
    penalty_of,
)

STRENGTHS = [1e-8, 1e-3, 1.0, 50.0]
FURTHER = {
    "elasticnet": [(0.0,), (0.3,), (1.0 - 1e-9,), (1.0,)],
    "lp": [(1.01,), (1.2,), (1.8,), (2.0,)],
    "entropy": [(1e-3,), (1e3,)],
    "hyperbolic": [(1e-3,), (1e3,)],
}


@pytest.mark.parametrize("alpha", STRENGTHS)
@pytest.mark.parametrize("name", REGULARIZERS)
def test_contract(name, alpha):
    check_regularizer(REGULARIZERS[name](alpha))


@pytest.mark.parametrize(
    ("name", "numbers"), [(name, numbers) for name in FURTHER for numbers in FURTHER[name]]
)
def test_contract_with_further_numbers(name, numbers):
    for alpha in STRENGTHS:
        check_regularizer(REGULARIZERS[name](alpha, *numbers))


@pytest.mark.parametrize("alpha", STRENGTHS)
@pytest.mark.parametrize("groups", ["abaca", "aaaaa", "abcde", "ab"])
@pytest.mark.parametrize("kind", [GroupsL2, GroupsLInf])
def test_contract_of_groups(kind, groups, alpha):
    check_regularizer(kind.of(alpha, list(groups)), features=len(groups))


def test_known_values():
    assert SquaredL2(0.5).value(-2.0) == 1.0
    assert SquaredL2(0.5).prox(3.0, 4.0) == 1.0
    assert SquaredL2(0.5).conjugate(2.0) == 4.0
    assert SquaredL2(0.5).conjugate_gradient(2.0) == 4.0
    assert SquaredL2(0.5).strong_convexity() == 0.5
    assert Zero().value(-2.0) == 0.0
    assert Zero().prox(3.0, 4.0) == 3.0
    assert Zero().conjugate(0.0) == 0.0
    assert Zero().conjugate(1e-300) == math.inf
    assert Zero().strong_convexity() == 0.0
    assert ElasticNet(2.0, 0.25).strong_convexity() == 1.5
    assert ElasticNet(2.0, 0.25).conjugate(-3.5) == 3.0
    assert ElasticNet(2.0, 1.0).conjugate(2.0) == 0.0
    assert ElasticNet(2.0, 1.0).conjugate(2.0 + 1e-15) == math.inf


def test_known_values_of_curved_penalties():
    w = np.array([[3.0], [-4.0]])
    assert SquaredLp(0.5, 2.0).total(w) == 0.25 * 25.0
    assert SquaredLp(0.5, 1.5).total(w) == pytest.approx(0.5 * (3.0**1.5 + 4.0**1.5) ** (4 / 3))
    assert SquaredLp(0.5, 1.5).strong_convexity() == 0.5
    assert SquaredLp(0.5, 1.5).conjugate_total(w) == pytest.approx(0.5 * (27.0 + 64.0) ** (2 / 3))
    assert Entropy(2.0, 0.5).value(0.5) == 0.0
    assert Entropy(2.0, 0.5).value(0.0) == 1.0
    assert Entropy(2.0, 0.5).value(-1e-300) == math.inf
    assert Entropy(2.0, 0.5).conjugate(-math.inf) == -1.0
    assert Entropy(2.0, 0.5).conjugate(2.0) == pytest.approx(math.e - 1.0)
    assert Entropy(2.0).strong_convexity() == 0.0
    assert HyperbolicEntropy(2.0, 0.5).value(0.0) == 0.0
    assert HyperbolicEntropy(2.0, 0.5).conjugate(2.0) == pytest.approx(math.cosh(1.0) - 1.0)
    assert HyperbolicEntropy(2.0, 0.5).conjugate_gradient(-2.0) == -0.5 * math.sinh(1.0)


def test_names_with_further_numbers():
    assert penalty_of("lp(1.8)", 0.1) == SquaredLp(0.1, 1.8)
    assert penalty_of("entropy", 0.1) == Entropy(0.1, 1.0)
    assert penalty_of("hyperbolic(0.2)", 0.1) == HyperbolicEntropy(0.1, 0.2)


@pytest.mark.parametrize("p", [1.0, 0.5, 2.1, math.nan])
def test_impossible_exponents_get_one_clear_sentence(p):
    with pytest.raises(ValueError, match=f"above 1 and not above 2, not be {p:g}; for") as caught:
        SquaredLp(1.0, p)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("kind", [Entropy, HyperbolicEntropy])
def test_impossible_sizes_of_weights_get_one_clear_sentence(kind, size):
    with pytest.raises(ValueError, match=f"must be positive, not {size:g}$") as caught:
        kind(1.0, size)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("name", [name for name in REGULARIZERS if name != "none"])
def test_impossible_strengths_get_one_clear_sentence(name, alpha):
    kind = "finite" if alpha == math.inf else "positive"
    with pytest.raises(ValueError, match=f"alpha must be {kind}, not {alpha:g}") as caught:
        REGULARIZERS[name](alpha)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ratio", [-0.1, 1.1, math.nan])
def test_impossible_shares_get_one_clear_sentence(ratio):
    with pytest.raises(ValueError, match=f"between 0 and 1, not be {ratio:g}") as caught:
        ElasticNet(1.0, ratio)
    assert "\n" not in str(caught.value)


# -- regularizers that break their contract ----------------------------------------------------


class L1(Regularizer):
    alpha: float = 0.5

    def value(self, wj):
        return self.alpha * abs(wj)

    def prox(self, wj, step):
        return math.copysign(max(abs(wj) - step * self.alpha, 0.0), wj)

    def conjugate(self, uj):
        return 0.0 if abs(uj) <= self.alpha else math.inf

    def conjugate_gradient(self, uj):
        return 0.0


class Both(Regularizer):
    alpha: float = 0.5
    ridge: float = 2.0

    def value(self, wj):
        return self.alpha * abs(wj) + 0.5 * self.ridge * wj * wj

    def prox(self, wj, step):
        shrunk = max(abs(wj) - step * self.alpha, 0.0)
        return math.copysign(shrunk / (1.0 + step * self.ridge), wj)

    def conjugate(self, uj):
        return 0.5 * max(abs(uj) - self.alpha, 0.0) ** 2 / self.ridge

    def conjugate_gradient(self, uj):
        return math.copysign(max(abs(uj) - self.alpha, 0.0) / self.ridge, uj)

    def strong_convexity(self):
        return self.ridge


@pytest.mark.parametrize("regularizer", [L1(), L1(1e-4), Both(), Both(3.0, 1e-3)])
def test_regularizers_of_ones_own_are_accepted(regularizer):
    check_regularizer(regularizer)


class ShrinksTooLittle(Both):
    def prox(self, wj, step):
        return math.copysign(max(abs(wj) - step * self.alpha, 0.0), wj)


class ForgetsTheStep(SquaredL2):
    def prox(self, wj, step):
        return wj / (1.0 + self.alpha)


class Overstated(Both):
    def strong_convexity(self):
        return 1.1 * self.ridge


class NotConvex(L1):
    def value(self, wj):
        return math.sqrt(abs(wj))


class Shifted(SquaredL2):
    def value(self, wj):
        return 0.5 * self.alpha * wj * wj + 1.0


class Below(SquaredL2):
    def value(self, wj):
        return 0.5 * self.alpha * wj * wj - abs(wj)


class WithoutStrength(SquaredL2):
    def conjugate(self, uj):
        return 0.5 * uj * uj


class FlatConjugate(SquaredL2):
    def conjugate(self, uj):
        return 0.0


class WrongGradient(SquaredL2):
    def conjugate_gradient(self, uj):
        return uj


class FalseShares(L1):
    elastic_shares = (0.3, 0.0)


class FalseGroups(GroupsL2):
    group_lasso = (0.3, np.arange(5), np.array([0, 5]))


class FalseRidge(SquaredL2):
    def strong_convexity(self):
        return 0.5 * self.alpha


class FalseExponent(SquaredL2):
    norm_exponent = 1.5


class OneSidedFloor(Regularizer):
    """Ω(w) = Σ max(w_j, −30w_j), whose floor is right for slopes of the signs that it is given."""

    def value(self, wj):
        return max(wj, -30.0 * wj)

    def prox(self, wj, step):
        return wj - step if wj > step else min(wj + 30.0 * step, 0.0)

    def conjugate(self, uj):
        return 0.0 if -30.0 <= uj <= 1.0 else math.inf

    def conjugate_gradient(self, uj):
        return 0.0

    def floor(self, a, ceiling=math.inf):
        return 0.0 if ((a >= -1.0) & (a <= 30.0)).all() else -math.inf


class NoProx(SquaredL2):
    def prox(self, wj, step):
        raise NotImplementedError


class Uncompilable(SquaredL2):
    def conjugate_gradient(self, uj):
        return float(f"{uj / self.alpha:.17g}")


class OnceIsEnough(SquaredL2):
    def prox_times(self, wj, step, times):
        return self.prox(wj, step)


class CountsHalf(SquaredL2):
    def total(self, w):
        return 0.25 * self.alpha * np.sum(w * w)


class RowsOfOneStep(RowsL2):  # as if all steps were the first
    def shrink_row(self, v, steps):
        size = math.sqrt(np.sum(v * v))
        v *= max(1.0 - self.alpha * steps[0] / size, 0.0) if size > 0.0 else 0.0


class RowsTooShort(RowsL2):
    def shrink(self, w, steps):
        for j in range(w.shape[0]):
            self.shrink_row(w[j], 1.01 * steps[j])


class RowsOfTheirOwn(RowsLInf):
    def shrink(self, w, steps):
        RowsL2(self.alpha).shrink(w, steps)


class RowsApart(RowsL2):
    def shrink(self, w, steps):
        RowsL2(self.alpha).shrink(w, steps)

    def shrink_row(self, v, steps):
        v[:] = 0.0


class RootedRows(RowsL2):
    def total(self, w):
        return self.alpha * np.sum(np.sqrt(np.abs(w)))


class BelowZero(RowsL2):
    def total(self, w):
        return -self.alpha * np.sum(np.abs(w))


class LiftedRows(RowsL2):
    def total(self, w):
        return 1.0 + self.alpha * np.sum(np.abs(w))


class HighFloor(RowsLInf):  # the norm in place of its dual
    def floor(self, a, ceiling=math.inf):
        return RowsL2(self.alpha).floor(a, ceiling)


class NoFloor(RowsL2):
    def floor(self, a, ceiling=math.inf):
        return math.nan


class HighDual(SquaredLp):  # the norm itself in place of its dual
    def conjugate_total(self, u):
        return 0.5 * (self.p - 1.0) / self.alpha * np.sum(np.abs(u) ** self.p) ** (2.0 / self.p)


class WrongWay(SquaredLp):
    def conjugate_weights(self, u):
        return u / self.alpha


class FlatDual(Entropy):
    def conjugate_curvature(self, u):
        return self.conjugate_weights(u), 0.0, np.zeros(u.shape)


class BothSigns(Entropy):
    def value(self, wj):
        return self.alpha * self.prior if wj < 0.0 else Entropy(self.alpha, self.prior).value(wj)


class NotInPlace(RowsL2):
    def shrink_row(self, v, steps):
        return v / 2.0

    def shrink(self, w, steps):
        return w / 2.0


class UncompilableRows(RowsL2):
    def total(self, w):
        return float(f"{RowsL2.total(self, w):.17g}")


BROKEN = [
    (FalseShares(), r"^FalseShares\.elastic_shares is \(0\.3, 0\.0\), of which total would be"),
    (FalseGroups.of(0.2, [0] * 5), r"^FalseGroups\.group_lasso has alpha=0\.3, of which total"),
    (FalseRidge(), r"^FalseRidge\.elastic_shares is \(0\.0, 1\.0\), .*strong_convexity\(\) 0\.5$"),
    (FalseExponent(), r"^FalseExponent\.norm_exponent is 1\.5, of which total would be"),
    (OneSidedFloor(), r"^OneSidedFloor\.floor\(.*\) is 0, but total \+ ⟨±a, w⟩ can be -"),
    (OnceIsEnough(), r"^OnceIsEnough\.prox_times\(.*, 0\) is .*, but prox repeated as often is"),
    (CountsHalf(), r"^CountsHalf\.total\(.*\) is .*, but the values of its weights add up to"),
    (RowsOfOneStep(), r"^RowsOfOneStep\.shrink takes \(.*\) to \(.*\), but .* falls from there"),
    (RowsTooShort(), r"^RowsTooShort\.shrink takes \(.*\) to \(.*\), but .* falls from there"),
    (RowsOfTheirOwn(), r"^RowsOfTheirOwn\.shrink takes \(.*\) to \(.*\), but .* falls from there"),
    (RowsApart(), r"^RowsApart\.shrink_row takes \(.*\) to \(0, 0, 0\), but shrink to"),
    (RootedRows(), r"^RootedRows\.total is not convex between"),
    (BelowZero(), r"^BelowZero\.total\(.*\) is -.*, below 0"),
    (LiftedRows(), r"^LiftedRows\.total\(.*\) is 1, but must be 0"),
    (HighFloor(), r"^HighFloor\.floor\(.*\) is .*, but total \+ ⟨±a, w⟩ can be .* at"),
    (HighDual(), r"^HighDual\.conjugate_total\(.*\) is .*, but ⟨u, w⟩ − total is .* at"),
    (WrongWay(), r"^WrongWay\.conjugate_weights takes \(.*\) to \(.*\), where ⟨u, w⟩ − total"),
    (FlatDual(0.5), r"^FlatDual\.conjugate_curvature is .* along .*, but conjugate_weights ch"),
    (BothSigns(), r"^BothSigns is for weights that are not negative, but BothSigns\.value\(-"),
    (NoFloor(), r"^NoFloor\.floor\(.*\) is nan$"),
    (NotInPlace(), r"^NotInPlace\.shrink returns something, but must write into w instead"),
    (UncompilableRows(), r"^UncompilableRows\.total cannot be compiled: "),
    (GroupsL2.of(1.0, [0, 1]), r"total\(.*\) raises ValueError: the groups name another number of"),
    (ShrinksTooLittle(), r"^ShrinksTooLittle\.prox\(.*\) is .*, but at .* is lower"),
    (ForgetsTheStep(2.0), r"^ForgetsTheStep\.prox\(.*, 0\.01\) is .*, but at .* is lower"),
    (Overstated(), r"^Overstated\.strong_convexity\(\) is 2\.2, but the value is less curved"),
    (NotConvex(), r"^NotConvex is not convex between"),
    (Shifted(), r"^Shifted\.value\(0\) is 1, but must be 0"),
    (Below(), r"^Below\.value\(.*\) is -.*, below 0"),
    (WithoutStrength(2.0), r"^WithoutStrength\.conjugate"),
    (FlatConjugate(), r"^FlatConjugate\.conjugate\(.*\) is 0, below uw − value"),
    (WrongGradient(0.1), r"conjugate_gradient\(.*\) is .*, where uw − value is .*, but the conj"),
    (NoProx(), r"^NoProx\.prox\(.*\) raises NotImplementedError$"),
    (Uncompilable(), r"^Uncompilable\.conjugate_gradient cannot be compiled: "),
    (SquaredL2, r"needs a Regularizer, such as SquaredL2\(0\.1\), not the class SquaredL2"),
]


@pytest.mark.parametrize(("regularizer", "message"), BROKEN, ids=[str(r) for r, _ in BROKEN])
def test_broken_regularizers_are_caught_in_one_line(regularizer, message):
    with pytest.raises(ContractError, match=message) as caught:
        check_regularizer(regularizer)
    assert "\n" not in str(caught.value)


def test_moreaus_identity_sees_what_heights_do_not():
    class SlightlyOff(SquaredL2):  # so near the minimum that nothing sampled is lower
        def prox(self, wj, step):
            return wj / (1.0 + step * self.alpha) * (1.0 + 1e-6)

    with pytest.raises(ContractError, match=r"prox\(.*\) is .*, by Moreau's identity dual to"):
        check_regularizer(SlightlyOff(1.0))


@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize("K", [1, 3])
def test_the_critical_strength_is_where_a_prox_leaves_nothing(name, K):
    a = np.random.default_rng(5).normal(size=(6, K))
    penalty = REGULARIZERS[name](1.0)
    alpha = penalty.critical_strength(a)

    def left(strength):
        """argmin Ω(v) + ⟨a, v⟩ + ‖v‖²/2, which is 0 if and only if −a is a subgradient at 0."""
        v = -a
        penalty.with_strength(strength).shrink(v, np.ones(a.shape))
        return v

    if np.isinf(alpha):
        assert penalty.zero or left(1e3).any()
        return
    assert not left(alpha * (1 + 1e-12)).any()
    assert left(alpha * (1 - 1e-9)).any()
