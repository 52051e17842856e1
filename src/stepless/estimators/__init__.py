"""Estimators with scikit-learn's interface."""

from stepless.estimators.chain_classifier import ChainClassifier as ChainClassifier
from stepless.estimators.classifier import LinearClassifier as LinearClassifier
from stepless.estimators.gaussian_expansion import GaussianExpansion as GaussianExpansion
from stepless.estimators.gaussian_process_classifier import (
    GaussianProcessClassifier as GaussianProcessClassifier,
)
from stepless.estimators.kernel_classifier import KernelClassifier as KernelClassifier
from stepless.estimators.linear_ranker import LinearRanker as LinearRanker
from stepless.estimators.metric_classifier import MetricClassifier as MetricClassifier
from stepless.estimators.nu_classifier import NuClassifier as NuClassifier
from stepless.estimators.one_class import OneClass as OneClass
from stepless.estimators.path import PathPoint as PathPoint, alpha_path as alpha_path
from stepless.estimators.regressor import LinearRegressor as LinearRegressor
from stepless.estimators.structured_classifier import StructuredClassifier as StructuredClassifier
