"""Estimators with scikit-learn's interface."""

from stepless.estimators.classifier import LinearClassifier
from stepless.estimators.gaussian_expansion import GaussianExpansion
from stepless.estimators.kernel_classifier import KernelClassifier
from stepless.estimators.path import PathPoint, alpha_path
from stepless.estimators.regressor import LinearRegressor

__all__ = [
    "GaussianExpansion",
    "KernelClassifier",
    "LinearClassifier",
    "LinearRegressor",
    "PathPoint",
    "alpha_path",
]
