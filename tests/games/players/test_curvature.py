import math

import numpy as np
import pytest

from stepless.games.players.curvature import exp_concave_curvature


@pytest.mark.parametrize("alpha", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("drop", [1e-7, 9.99e-4, 1.01e-3, 0.1, 2.0])
def test_it_is_the_largest(alpha, drop):
    """The steepest α-exp-concave cost has f(u) − f(w) = −log(1 − αz)/α; they touch at z = −drop."""
    beta = exp_concave_curvature(alpha, drop)
    z = np.linspace(-drop, 0.9 / alpha, 1001)
    room = -np.log1p(-alpha * z) / alpha - z - 0.5 * beta * z * z
    assert (room >= -1e-15 * (1.0 + np.abs(z))).all()
    a = alpha * drop
    terms = math.fsum((-a) ** k / (k + 2) for k in range(200)) if a < 0.9 else None
    if terms is not None:
        assert beta == pytest.approx(2.0 * alpha * terms, rel=1e-9)
    assert abs(room[0]) <= 1e-12 * drop


def test_without_exp_concavity_there_is_none():
    assert exp_concave_curvature(0.0, 5.0) == 0.0
