"""scikit-learn's own checks, of estimators as they are by default."""

from sklearn.utils.estimator_checks import estimator_checks_generator

# They want predictions equal to 1e-7, which a gap of 1e-3 does not promise: `test_sklearn_checks`
# runs them with gaps as tight as that.
EQUIVALENCE = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


def checks_of(*estimators, without=()):
    """Pairs of an estimator and a check; those that bear one of these words are left out."""
    for estimator in estimators:
        for one, check in estimator_checks_generator(estimator, mark="skip"):
            name = getattr(check, "func", check).__name__
            if name not in EQUIVALENCE and not any(word in name for word in without):
                yield one, check


def name_of(value):
    """For pytest: a check's name, or an estimator as scikit-learn prints it."""
    return getattr(getattr(value, "func", value), "__name__", None) or repr(value)
