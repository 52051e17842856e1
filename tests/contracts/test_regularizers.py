"""Every regularizer keeps its contract, and one that does not is told so in one line."""

import math

import pytest

from stepless import ContractError, Regularizer, check_regularizer
from stepless.objective import REGULARIZERS, SquaredL2, Zero


@pytest.mark.parametrize("alpha", [1e-8, 1e-3, 1.0, 50.0])
@pytest.mark.parametrize("name", REGULARIZERS)
def test_contract(name, alpha):
    check_regularizer(REGULARIZERS[name](alpha))


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


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.nan, math.inf])
def test_impossible_strengths_get_one_clear_sentence(alpha):
    with pytest.raises(ValueError, match=f"alpha must be positive, not {alpha:g}") as caught:
        SquaredL2(alpha)
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


class ElasticNet(Regularizer):
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


@pytest.mark.parametrize("regularizer", [L1(), L1(1e-4), ElasticNet(), ElasticNet(3.0, 1e-3)])
def test_regularizers_of_ones_own_are_accepted(regularizer):
    check_regularizer(regularizer)


class ShrinksTooLittle(ElasticNet):
    def prox(self, wj, step):
        return math.copysign(max(abs(wj) - step * self.alpha, 0.0), wj)


class ForgetsTheStep(SquaredL2):
    def prox(self, wj, step):
        return wj / (1.0 + self.alpha)


class Overstated(ElasticNet):
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


class NoProx(SquaredL2):
    def prox(self, wj, step):
        raise NotImplementedError


class Uncompilable(SquaredL2):
    def conjugate_gradient(self, uj):
        return float(f"{uj / self.alpha:.17g}")


BROKEN = [
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
