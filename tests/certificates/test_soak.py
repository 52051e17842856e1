"""Problems of the soak: some that once had a false bound or a crash, and a few more."""

import warnings

import numpy as np
import pytest
from benchmarks.soak import Tally, runs, setting

from grids import SOAK
from stepless import LinearClassifier, LinearRegressor

NEWTONS = ["auto", "newton", "smoothed-newton", "interior-point"]
# 154 predictions that drifted, 5601 predictions that cancel, 3779 and 4087 nothing left to improve,
# 17, 27, 73 no curvature in the intercept, 3038, 3249 Poisson's cancellation, 3012 steep slopes
ONCE = [17, 27, 73, 154, 3012, 3038, 3249, 3779, 4087, 5601]


@pytest.mark.parametrize(
    "seed", [*ONCE, *range(5), *(pytest.param(k, marks=SOAK) for k in range(5, 20))]
)
def test_no_certificate_is_false(seed):
    tally, problem = Tally(), setting(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of gaps that are not met
        tally.judge(problem, list(runs(problem, [*NEWTONS, "proximal-bundle"])))
    assert tally.problems == 1
    assert tally.counts["auto"]["runs"] == 1
    assert tally.faults == 0


# features of very different sizes, and far from 0: the systems are scaled
@pytest.mark.parametrize("seed", [110, 117, 146, 175, 242, 265, 281, 289])
def test_badly_scaled_problems_are_solved(seed):
    problem = setting(seed)
    kind = LinearClassifier if problem.loss.targets == "signs" else LinearRegressor
    model = kind(
        problem.loss, alpha=problem.strength, gap=1e-6, passes=60, fit_intercept=problem.intercept
    ).fit(problem.X, problem.y, problem.s)
    assert model.stopped_by_ == "gap"
    assert np.isfinite(model.coef_).all()
