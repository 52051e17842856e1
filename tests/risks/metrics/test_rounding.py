"""Features far from 0: scores that are large and alike cancel, and certificates must know it."""

import warnings

import numpy as np
import pytest

from stepless import MetricClassifier

FAR = 2.0**36


@pytest.mark.parametrize("metric", ["roc_auc", "f1", "prbep"])
@pytest.mark.parametrize("seed", range(6))
def test_objectives_stay_above_the_optimum(metric, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(12, 3)) * 2**12) / 2**12  # so that X + FAR is exact
    y = np.where(X[:, 0] + rng.normal(size=12) > 0.0, 1, 0)
    y[:2] = 0, 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # far away a gap may not be met
        near = MetricClassifier(metric, alpha=0.1, gap=1e-9, passes=400).fit(X, y)
        far = MetricClassifier(metric, alpha=0.1, gap=1e-9, passes=400).fit(X + FAR, y)
    # weights of X are weights of X + FAR: an offset is free, or no one sees it
    assert far.objective_ >= near.lower_bound_ - 1e-12
    assert far.lower_bound_ <= near.objective_ + 1e-12
