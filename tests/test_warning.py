"""Warnings name the line that called into the package, from however deep within it they come."""

import inspect
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from contracts.estimators import ESTIMATORS, examples, quick
from stepless import (
    KernelClassifier,
    LinearClassifier,
    LinearRanker,
    LinearRegressor,
    MetricClassifier,
    NuClassifier,
    OneClass,
)
from stepless.kernels import Kernel
from stepless.solvers import ClippedSGD

_rng = np.random.default_rng(0)
X = _rng.normal(size=(60, 3))
NOISE = _rng.integers(2, size=60)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "GaussianExpansion"])
def test_a_gap_missed(name, monkeypatch):
    given = examples(name, _rng, classes=3 if name == "StructuredClassifier" else 2)
    estimator = quick(name).set_params(passes=None, gap=1e-15)
    for module in ("run", "estimators.kernel_classifier", "estimators.gaussian_process_classifier"):
        monkeypatch.setattr(f"stepless.{module}.PATIENCE", 1)
    with catch_warnings(record=True) as told:
        simplefilter("always")
        before = inspect.currentframe().f_lineno
        estimator.fit(given.X, given.y, **given.more)
    assert told[0].category is ConvergenceWarning
    assert {(warning.filename, warning.lineno) for warning in told} == {(__file__, before + 1)}


class Unsaid(Kernel):
    """A kernel that does not say its steepness."""

    def value(self, product, x_square, s_square):
        return product


WARNED = {
    "rounding": lambda: LinearRegressor(gap=1e-15).fit(X + 1e9, X[:, 0] + 1.0),
    "a remark": lambda: LinearClassifier(
        "logistic", solver=ClippedSGD(target=1e-9), passes=3, gap=0.9
    ).fit(X, NOISE),
    "no certificate": lambda: KernelClassifier(kernel=Unsaid(), passes=1).fit(X, NOISE),
    "lonely documents": lambda: LinearRanker(gap=0.9).fit(X, NOISE, group=[59, 1]),
    "weights of 0": lambda: MetricClassifier("precision_at_k", k=2, alpha=10.0, gap=0.5).fit(
        X, NOISE
    ),
    "no half-space": lambda: OneClass(0.01).fit(X),
    "no margin": lambda: NuClassifier(0.05, gap=0.1).fit(X, NOISE),
}


@pytest.mark.parametrize("name", WARNED)
def test_all_others(name):
    with catch_warnings(record=True) as told:
        simplefilter("always")
        WARNED[name]()
    assert told
    assert {warning.filename for warning in told} == {__file__}
