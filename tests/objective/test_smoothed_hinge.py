"""The smoothing parameter that is chosen for a number of examples."""

import numpy as np
import pytest

from stepless import LinearClassifier, excess_risk_bound
from stepless.objective import Hinge, SmoothedHinge


def test_gamma_grows_with_the_root_of_the_examples():
    for m in (1, 4, 10_000, 10**12):
        assert SmoothedHinge.for_examples(m).gamma == pytest.approx(m**0.5)
    with pytest.raises(ValueError, match="at least one example, not 0"):
        SmoothedHinge.for_examples(0)


def test_what_smoothing_adds_fades_as_fast_as_what_sampling_adds():
    rng = np.random.default_rng(0)
    for m in (100, 10_000, 1_000_000):
        loss = SmoothedHinge.for_examples(m)
        z, y = 5.0 * rng.normal(size=1000), rng.choice([-1.0, 1.0], size=1000)
        rise = [loss.value(*at) - Hinge().value(*at) for at in zip(z, y, strict=True)]
        assert min(rise) >= -1e-14
        assert max(rise) <= np.log(2.0) / m**0.5
        excess = m**-0.5
        assert excess_risk_bound(excess, loss) <= (1.0 + np.log(2.0)) * excess


def test_it_serves_a_classifier():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=400) > 0
    smoothed = LinearClassifier(SmoothedHinge.for_examples(400), alpha=1e-2, gap=1e-4).fit(X, y)
    hinge = LinearClassifier("hinge", alpha=1e-2, gap=1e-4).fit(X, y)
    assert 0.0 <= smoothed.objective_ - hinge.lower_bound_ <= np.log(2.0) / 20.0 + 1e-4
