"""Estimators with scikit-learn's interface."""

from stepless.estimators.classifier import LinearClassifier
from stepless.estimators.path import PathPoint, alpha_path
from stepless.estimators.regressor import LinearRegressor

__all__ = ["LinearClassifier", "LinearRegressor", "PathPoint", "alpha_path"]
