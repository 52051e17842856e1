import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators.repetitions import skip_repetitions
from stepless import GaussianExpansion, OneClass


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(0).normal(size=(300, 10)) + 1.0


# of the checks' examples some surround the origin, which is told
@pytest.mark.filterwarnings("ignore:the examples but a share")
@parametrize_with_checks([OneClass()])
def test_scikit_learns_checks(estimator, check):
    skip_repetitions(check)
    check(estimator)


@pytest.mark.parametrize("solver", ["auto", "proximal-bundle"])
@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5])
def test_it_is_the_one_class_support_vector_machine(nu, solver, cloud):
    m = len(cloud)
    detector = OneClass(nu, gap=1e-7, solver=solver).fit(cloud)
    known = OneClassSVM(kernel="linear", nu=nu, tol=1e-7).fit(cloud)
    w = known.coef_[0] / (nu * m)  # LIBSVM's weights add up to νm
    np.testing.assert_allclose(detector.coef_, w, atol=2e-4)
    ends = np.sort(detector.score_samples(cloud))[int(nu * m) - 1 :][:2]  # νm is whole here
    for rho in (detector.offset_, known.offset_[0] / (nu * m)):  # anything between is as good
        assert ends[0] - 1e-3 <= rho <= ends[1] + 1e-3

    def objective(w):
        z = np.sort(cloud @ w)
        k = int(nu * m)
        return 0.5 * w @ w - z[:k].mean() + 0.5 * np.square(cloud.mean(axis=0)).sum()

    assert detector.objective_ == pytest.approx(objective(detector.coef_), rel=1e-10)
    assert detector.lower_bound_ <= objective(w) * (1 + 1e-12)
    assert detector.objective_ <= objective(w) * (1 + 1e-6)
    assert detector.stopped_by_ == "gap"


@pytest.mark.parametrize("nu", [0.1, 0.37, 1.0])
def test_nu_bounds_the_outliers(nu, cloud):
    detector = OneClass(nu, gap=1e-4).fit(cloud)
    z = detector.decision_function(cloud)
    assert np.mean(z < 0.0) <= nu <= np.mean(z <= 1e-9) + 1e-12  # ρ is below the edge by a hair
    np.testing.assert_array_equal(detector.predict(cloud), np.where(z < 0.0, -1, 1))
    np.testing.assert_allclose(detector.score_samples(cloud), z + detector.offset_)
    np.testing.assert_array_equal(
        OneClass(nu, gap=1e-4).fit_predict(cloud), detector.predict(cloud)
    )


def test_weights_mean_repetitions_and_sparse_is_dense(cloud):
    X = np.maximum(cloud, 0.0)
    s = np.random.default_rng(1).integers(4, size=len(X))
    weighted = OneClass(0.2, gap=1e-8).fit(X, sample_weight=s)
    repeated = OneClass(0.2, gap=1e-8).fit(X.repeat(s, axis=0))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-7)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)
    thin = OneClass(0.2, gap=1e-8).fit(sparse.csr_matrix(X), sample_weight=s)
    np.testing.assert_allclose(thin.coef_, weighted.coef_, atol=1e-3)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csc_matrix(X)), thin.decision_function(X), atol=1e-10
    )


def test_outliers_by_a_kernel():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) + np.where(rng.random(400) < 0.5, 4.0, -4.0)[:, None]
    model = make_pipeline(GaussianExpansion(200, sigma=1.5), OneClass(0.05)).fit(X)
    np.testing.assert_array_equal(model.predict([[4.0, 4.0], [-4.0, -4.0], [0.0, 0.0]]), [1, 1, -1])


def test_examples_around_the_origin_are_told():
    X = np.random.default_rng(0).normal(size=(300, 3))
    with pytest.warns(UserWarning, match=r"surround the origin, .* Raise nu, or transform them by"):
        OneClass(0.05).fit(X)
    OneClass(0.05).fit(X + 3.0)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("off", [0.0, 0.01])
def test_no_margin_is_certified_as_far_as_rounding_lets_it(gap, off):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.warns(UserWarning, match="surround the origin") as told:  # and nothing else
        detector = OneClass(0.3, gap=gap).fit(X - X.mean(axis=0) + off)
    assert len(told) == 1
    assert detector.n_passes_ < 100
    assert detector.stopped_by_ == ("gap" if detector.rel_gap_ <= gap else "rounding")
    assert detector.rel_gap_ <= max(gap, 1e-3) or off == 0.0  # then all of it is rounding
    assert detector.gap_ <= max(gap**2, 1e-7) * 0.5 * 2 * off**2 + 1e-25


def test_a_share_below_one_example_is_the_nearest_one(cloud):
    few, none = (OneClass(nu, gap=1e-6).fit(cloud + 3.0) for nu in (1 / 300, 1e-300))
    np.testing.assert_allclose(none.coef_, few.coef_, rtol=1e-3)
    assert none.stopped_by_ == "gap"


def test_pickles(cloud):
    detector = OneClass(0.1, gap=1e-6).fit(cloud)
    again = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(again.decision_function(cloud), detector.decision_function(cloud))


def test_what_makes_no_sense_is_refused(cloud):
    with pytest.raises(ValueError, match="nu must be positive and at most 1, not 0"):
        OneClass(0).fit(cloud)
    with pytest.raises(ValueError, match="nu must be a number, not True"):
        OneClass(True).fit(cloud)
    with pytest.raises(ValueError, match="'newton' needs a risk that is a sum over examples"):
        OneClass(solver="newton").fit(cloud)
    holed = cloud.copy()
    holed[3, 4] = np.nan
    with pytest.raises(ValueError, match="X holds NaN in row 3, feature 4"):
        OneClass().fit(holed)
