"""The certifier of online solvers: planes with a tilt in the intercept."""

import numpy as np
import pytest

from stepless.certificates import Certifier
from stepless.objective import Hinge, Objective, SquaredL2
from stepless.plane import Plane


def test_a_tilted_plane_waits_for_its_partner():
    certifier = Certifier(Objective(Hinge(), SquaredL2(1.0)), 1)
    assert certifier.learn(Plane(np.zeros(1), 0.5, tilt=0.25)) is None
    assert certifier.lower_bound == 0.0
    certifier.learn(Plane(np.zeros(1), 0.1, tilt=-0.75))
    assert certifier.lower_bound == pytest.approx(0.75 * 0.5 + 0.25 * 0.1, rel=1e-11)


def test_without_an_intercept_a_tilt_does_not_count():
    certifier = Certifier(Objective(Hinge(), SquaredL2(1.0), intercept=False), 1)
    certifier.learn(Plane(np.zeros(1), 0.5, tilt=0.25))
    assert certifier.lower_bound == pytest.approx(0.5, rel=1e-11)


@pytest.mark.parametrize("steep", [1e5, 1e12, 1e20])
def test_planes_of_very_different_tilts_are_levelled(steep):
    rng = np.random.default_rng(0)
    flat, wall = Plane(rng.normal(size=2), 0.3, 0.5), Plane(rng.normal(size=2), -steep, -steep)
    for level in (flat.levelled(wall), wall.levelled(flat)):
        mine = steep / (steep + 0.5)
        # at any intercept the blend lies between the two planes' values there
        for b in (-1e3, 0.0, 1e3):
            values = [p.offset + p.tilt * b for p in (flat, wall)]
            assert level.offset <= max(values) + 1e-9 * abs(max(values))
        np.testing.assert_allclose(level.a, mine * flat.a + (1 - mine) * wall.a, atol=1e-12)
        assert level.tilt == 0.0


def test_a_bound_never_falls():
    certifier = Certifier(Objective(Hinge(), SquaredL2(1e-2), intercept=False), 3)
    rng, last = np.random.default_rng(1), 0.0
    for _ in range(300):  # more planes than a bundle holds
        certifier.learn(Plane(0.1 * rng.normal(size=3), float(rng.uniform(0, 1))))
        assert certifier.lower_bound >= last
        last = certifier.lower_bound
    assert last > 0.5
