"""Estimators with scikit-learn's interface."""

from stepless.estimators.chain_classifier import ChainClassifier
from stepless.estimators.classifier import LinearClassifier
from stepless.estimators.gaussian_expansion import GaussianExpansion
from stepless.estimators.gaussian_process_classifier import GaussianProcessClassifier
from stepless.estimators.kernel_classifier import KernelClassifier
from stepless.estimators.linear_ranker import LinearRanker
from stepless.estimators.metric_classifier import MetricClassifier
from stepless.estimators.nu_classifier import NuClassifier
from stepless.estimators.one_class import OneClass
from stepless.estimators.path import PathPoint, alpha_path
from stepless.estimators.regressor import LinearRegressor
from stepless.estimators.structured_classifier import StructuredClassifier

__all__ = [
    "ChainClassifier",
    "GaussianExpansion",
    "GaussianProcessClassifier",
    "KernelClassifier",
    "LinearClassifier",
    "LinearRanker",
    "LinearRegressor",
    "MetricClassifier",
    "NuClassifier",
    "OneClass",
    "PathPoint",
    "StructuredClassifier",
    "alpha_path",
]
