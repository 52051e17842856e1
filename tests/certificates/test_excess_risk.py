"""The bound on mistakes, beside random discrete distributions and closed forms."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from stepless import excess_risk_bound
from stepless.objective import Hinge, Logistic, Loss, SmoothedHinge, SquaredHinge

GAMMAS = (0.3, 1.0, 5.0, 20.0, 1000.0)
LOSSES = [Hinge(), Logistic(), SquaredHinge(), *map(SmoothedHinge, GAMMAS)]


class Lopsided(Loss):
    """A mistake on a positive example costs more."""

    targets = "signs"

    def value(self, z, y):
        return max(0.0, 1.0 - y * z) * (2.0 if y > 0 else 1.0)

    def slope(self, z, y):
        return (-y if y * z < 1.0 else 0.0) * (2.0 if y > 0 else 1.0)


class Backward(Loss):
    """It falls where the prediction is wrong."""

    targets = "signs"

    def value(self, z, y):
        return max(0.0, 1.0 + y * z)

    def slope(self, z, y):
        return y if y * z > -1.0 else 0.0


def values(loss, z):
    """ℓ(z) at y = +1, written out again."""
    if isinstance(loss, SmoothedHinge):
        return np.logaddexp(0.0, loss.gamma * (1.0 - z)) / loss.gamma
    if isinstance(loss, Logistic):
        return np.logaddexp(0.0, -z)
    short = np.maximum(0.0, 1.0 - z)
    return short if isinstance(loss, Hinge) else short**2


def best(loss, p):
    """Where p ℓ(z) + (1 − p) ℓ(−z) is least, for 0 < p < 1 (MAH §4.5.1), and its value."""
    eta, odds = 2.0 * p - 1.0, p / (1.0 - p)
    if isinstance(loss, Logistic):
        z = np.log(odds)
    elif isinstance(loss, Hinge):
        z = np.sign(eta)
    elif isinstance(loss, SquaredHinge):
        z = eta
    else:
        size, gamma = np.abs(eta), loss.gamma
        root = np.sqrt(size**2 + (1.0 - size**2) * np.exp(-2.0 * gamma))
        z = np.sign(eta) * (1.0 + np.log((size + root) / (1.0 - size)) / gamma)
    return p * values(loss, z) + (1.0 - p) * values(loss, -z)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_no_distribution_and_no_predictor_undercuts_it(loss):
    rng = np.random.default_rng(7)
    close = 0
    for _ in range(200):
        cells = rng.integers(1, 6)
        share = rng.dirichlet(np.ones(cells))
        p = np.clip(rng.beta(0.7, 0.7, size=cells), 1e-6, 1 - 1e-6)
        z = rng.normal(size=cells) * rng.choice([1e-3, 0.1, 1.0, 3.0])
        risk = share @ (p * values(loss, z) + (1 - p) * values(loss, -z))
        excess = risk - share @ best(loss, p)
        mistakes = share @ np.where(z > 0, 1 - p, p) - share @ np.minimum(p, 1 - p)
        bound = excess_risk_bound(max(excess, 0.0), loss)
        assert mistakes <= bound + 1e-12, (loss, p, z)
        close += mistakes >= 0.9 * bound > 0.0
    assert close >= 5  # it is no idle bound


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("eta", [1e-3, 0.03, 0.4, 0.9, 0.999])
def test_it_is_attained(loss, eta):
    """A predictor that is wrong by a hair, where P(y = 1) = (1 + η)/2, errs η more than the best."""
    p = 0.5 * (1.0 + eta)
    excess = float(values(loss, 0.0) - best(loss, p))
    bound = excess_risk_bound(excess, loss)
    assert eta <= bound * (1 + 1e-9)
    assert bound == pytest.approx(eta, rel=1e-6)


def test_closed_forms():
    for excess in (1e-4, 0.01, 0.3):
        assert excess_risk_bound(excess, "hinge") == pytest.approx(excess)
        assert excess_risk_bound(excess, "squared_hinge") == pytest.approx(math.sqrt(excess))
        entropy = brentq(
            lambda x: (1 + x) / 2 * math.log1p(x) + (1 - x) / 2 * math.log1p(-x) - excess, 0, 0.999
        )
        assert excess_risk_bound(excess, "logistic") == pytest.approx(entropy)


def test_what_is_mended_of_the_thesis():
    """As printed, MAH Th. 4.6 and 4.8 are not true; an excess of (log 2)/γ more is."""
    printed = 0.001 + 0.001 / 1.001 * math.log(1000.0)
    assert excess_risk_bound(0.001, SmoothedHinge(1.0)) > 3.0 * printed
    psi = float(values(SmoothedHinge(5.0), 0.0) - best(SmoothedHinge(5.0), 0.95))
    assert psi < 0.9 - math.log(1 / 0.9) / 5.0 - 0.01
    for gamma in GAMMAS:
        for excess in (1e-8, 1e-4, 0.01, 0.2):
            bound = excess_risk_bound(excess, SmoothedHinge(gamma))
            assert bound <= excess + math.log(2.0) / gamma + 1e-9


def test_it_never_falls_and_ends_at_1():
    for loss in LOSSES:
        bounds = [excess_risk_bound(e, loss) for e in (0.0, 1e-15, 1e-9, 1e-3, 0.1, 0.9, 2.0, 9.0)]
        assert bounds[0] == 0.0
        assert bounds[-1] == 1.0
        assert (np.diff(bounds) >= 0.0).all()
        assert bounds[1] >= 1e-15  # rounding counts against it


def test_what_it_refuses():
    with pytest.raises(ValueError, match=r"an excess is not negative, but this one is -0\.1"):
        excess_risk_bound(-0.1)
    with pytest.raises(ValueError, match="an excess is not negative, but this one is nan"):
        excess_risk_bound(math.nan)
    with pytest.raises(ValueError, match="losses of yz, such as hinge and logistic, not Squared"):
        excess_risk_bound(0.1, "squared")
    with pytest.raises(ValueError, match="not Lopsided"):
        excess_risk_bound(0.1, Lopsided())
    with pytest.raises(ValueError, match="Backward does not fall at 0"):
        excess_risk_bound(0.1, Backward())
    with pytest.raises(TypeError, match="must be a name or a Loss, not int"):
        excess_risk_bound(0.1, 3)
