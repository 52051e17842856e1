"""scikit-learn's checks that weights mean repetitions: they ask for a gap of their own."""

import pytest

# They want predictions equal to 1e-7, which a gap of 1e-3 does not promise.
REPETITIONS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


def skip_repetitions(check):
    """Leave them to `test_sklearn_checks`, where gaps are as tight as they ask for."""
    if getattr(check, "func", check).__name__ in REPETITIONS:
        pytest.skip("test_sklearn_checks runs it with a tighter gap")
