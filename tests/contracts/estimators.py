"""Every estimator with examples to learn from; add those of a new one here."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator

import stepless
from stepless.structured import LabelTree

ESTIMATORS = {
    name: kind
    for name in stepless.__all__
    if isinstance(kind := getattr(stepless, name), type) and issubclass(kind, BaseEstimator)
}


@dataclass
class Examples:
    """Arguments of `fit` and `predict`, and those of the first call of `partial_fit`."""

    X: object
    y: object = None
    more: dict = field(default_factory=dict)
    first: dict = field(default_factory=dict)

    @property
    def rows(self):
        return self.X


def examples(name, rng, width=4, rows=24, classes=2):
    """Draw examples with `width` features; sequences have named ones only."""
    X = rng.normal(size=(rows, width))
    z = X[:, 0] + 0.5 * rng.normal(size=rows)
    labels = np.digitize(z, [0.0] if classes == 2 else [-0.5, 0.5])
    labels[:classes] = range(classes)
    if name == "LinearRegressor":
        return Examples(X, z)
    if name == "LinearRanker":
        return Examples(X, labels, {"qid": np.arange(rows) // 8})
    if name in ("OneClass", "GaussianExpansion"):
        return Examples(X + 3.0)
    if name == "ChainClassifier":
        cut = np.array_split(np.arange(rows), 6)
        names = [[[f"at{j}"] for j in np.abs(X[part]).argmax(axis=1)] for part in cut]
        tags = [["ab"[labels[i] % 2] for i in part] for part in cut]
        tags[0] = list("ab" * 6)[: len(tags[0])]
        return Examples(names, tags, first={"classes": ["a", "b"]})
    if name == "LinearClassifier":
        return Examples(X, labels, first={"classes": range(classes)})
    return Examples(X, labels)


# Parameters that make a fit quick, and what may be changed between two fits.
QUICK = {"passes": 3, "alpha": 1e-2, "n_support": 5}
CHANGES = {
    "LinearClassifier": {"loss": ["hinge", "logistic"], "multi_class": ["ovr", "joint"]},
    "LinearRegressor": {"loss": ["squared", "absolute"]},
    "MetricClassifier": {"metric": ["f1", "roc_auc"]},
    "LinearRanker": {"loss": ["pairwise", "ndcg"]},
    "ChainClassifier": {"loss": ["crf", "hinge"]},
    "KernelClassifier": {"budget": [5, None]},
    "GaussianProcessClassifier": {"variance": [1.0, 2.0]},
    "GaussianExpansion": {"sigma": [None, 2.0], "n_support": [3, 5]},
    "NuClassifier": {"nu": [0.1, 0.2]},
    "OneClass": {"nu": [0.1, 0.3]},
    "StructuredClassifier": {},
}
EVERYWHERE = {
    "alpha": [1e-1, 1e-3],
    "gap": [1e-1, 1e-6],
    "passes": [1, 4],
    "warm_start": [False, True],
}


def changes(name):
    """Return valid values of parameters."""
    known = ESTIMATORS[name]._get_param_names()
    return CHANGES[name] | {key: values for key, values in EVERYWHERE.items() if key in known}


def quick(name):
    """Return an estimator whose fits take a few steps."""
    more = {"nu": 0.1} if name == "NuClassifier" else {}
    if name == "StructuredClassifier":
        given = examples(name, np.random.default_rng(0), classes=3)
        more["model"] = LabelTree.of(given.X, {0: "low", 1: "high", 2: "high"})
    known = ESTIMATORS[name]._get_param_names()
    return ESTIMATORS[name](**more, **{key: v for key, v in QUICK.items() if key in known})


def said(estimator, X):
    """Return the predictions or features of examples, as arrays."""
    method = estimator.predict if hasattr(estimator, "predict") else estimator.transform
    found = method(X)
    chains = isinstance(found, list) and found and np.ndim(found[0]) > 0
    return np.concatenate(found) if chains else np.asarray(found)
