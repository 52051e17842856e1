"""Estimators with scikit-learn's interface."""

from stepless.estimators.classifier import LinearClassifier
from stepless.estimators.regressor import LinearRegressor

__all__ = ["LinearClassifier", "LinearRegressor"]
