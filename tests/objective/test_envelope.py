"""The Moreau envelope beside its definition, by a grid of points."""

from __future__ import annotations

import numpy as np
import pytest

from stepless import check_loss
from stepless.objective import Absolute, EpsilonInsensitive, Hinge, Quantile
from stepless.objective.losses.bisected import Bisected
from stepless.objective.losses.envelope import Envelope

LOSSES = Hinge(), Absolute(), Quantile(0.9), EpsilonInsensitive(0.3)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_it_is_the_least_of_loss_and_distance(loss):
    smooth, h, y = Envelope(loss, 0.4), 0.4, 1.0
    v = np.linspace(-4.0, 4.0, 80001)
    at = np.array([loss.value(point, y) for point in v.tolist()])
    for z in (-2.0, 0.3, 0.9, 1.1, 1.27, 2.5):
        assert smooth.value(z, y) == pytest.approx((at + (v - z) ** 2 / (2 * h)).min(), abs=1e-6)
        apart = (smooth.slope(z + 1e-6, y) - smooth.slope(z - 1e-6, y)) / 2e-6
        assert smooth.curvature(z, y) == pytest.approx(apart, abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_bisected_slope_is_the_implicit_one(loss):
    for z in (-2.0, 0.3, 0.9, 1.0, 1.27, 2.5):
        for step in (0.0, 0.01, 1.0):
            found = Bisected(loss).implicit_slope(z, 1.0, step)
            if step > 0.0:
                assert found == pytest.approx(loss.implicit_slope(z, 1.0, step), abs=1e-9)
            else:
                assert found == loss.slope(z, 1.0)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_they_keep_the_contract_of_losses(loss):
    check_loss(Envelope(loss, 0.25))
    check_loss(Bisected(loss))
    check_loss(Envelope(Bisected(loss), 0.25))


def test_what_it_offers():
    assert Envelope(Hinge(), 0.5).offers("curvature", "implicit_slope", "conjugate")
    assert not Envelope(Hinge(), 0.5).offers("corners")
    assert not Envelope(Bisected(Hinge()), 0.5).offers("conjugate")
    with pytest.raises(ValueError, match="needs a loss with implicit_slope, not 3"):
        Envelope(3, 0.5)
    with pytest.raises(ValueError, match="the width must be positive and finite, not 0"):
        Envelope(Hinge(), 0.0)
