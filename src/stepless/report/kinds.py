"""Kinds of estimators: from what they have learned to arrays and JSON of a model file, and back."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier

from stepless import estimators
from stepless.arrays import AnyArray
from stepless.data import Vocabulary
from stepless.estimators.chain_weights import ChainWeights
from stepless.objective import Loss
from stepless.problem import Problem
from stepless.report.encoding import (
    decode,
    decode_classes,
    decode_object,
    encode,
    encode_classes,
    encode_object,
)
from stepless.report.tensors import refuse_unless
from stepless.risks.chains import AllPairs, Pairs, SeenPairs
from stepless.structured import Labels, LabelTree, Multiclass
from stepless.structured.rna import Folding

Arrays = dict[str, AnyArray]
Facts = dict[str, Any]


class Kind(ABC):
    """A kind of estimator, all parameters of which but those in `separate` can be JSON."""

    separate: ClassVar[tuple[str, ...]] = ()

    def __init__(self, make: type) -> None:
        self.make = make

    @abstractmethod
    def facts(self, estimator: BaseEstimator) -> Facts:
        """Return what was learned as JSON."""

    @abstractmethod
    def arrays(self, estimator: BaseEstimator) -> Arrays:
        """Return what was learned as arrays."""

    def parameters(self, facts: Facts, arrays: Arrays) -> dict[str, Any]:
        """Return the parameters in `separate`."""
        return {}

    @abstractmethod
    def restore(self, estimator: BaseEstimator, facts: Facts, arrays: Arrays) -> None:
        """Set what was learned on a new estimator; refuse what does not fit together."""


class Linear(Kind):
    """Weights and intercepts, one row per class, or one row (of OneClass, ρ is the intercept)."""

    def facts(self, estimator: BaseEstimator) -> Facts:
        facts = _inputs(estimator)
        if hasattr(estimator, "classes_"):
            facts["classes"] = encode_classes(estimator.classes_)
        if self.make in _SUMS:
            facts["loss"] = encode_object("loss", estimator.loss_)
        if hasattr(estimator, "pos_label_"):
            facts["positive"] = estimator.classes_.tolist().index(estimator.pos_label_)
        if _fits(estimator, "intercept_range_", (*np.shape(estimator.coef_)[:-1], 2)):
            facts["optimum"] = {
                name: [encode(number, name) for number in np.ravel(getattr(estimator, f"{name}_"))]
                for name in _OPTIMUM
            }
        return facts

    def arrays(self, estimator: BaseEstimator) -> Arrays:
        arrays = {"coef": estimator.coef_, "intercept": getattr(estimator, self._constant)}
        if hasattr(estimator, "cv_scores_"):
            arrays |= {"alphas": estimator.alphas_, "cv_scores": estimator.cv_scores_}
        if _fits(estimator, "certain_zeros_", np.shape(estimator.coef_)):
            arrays["certain_zeros"] = estimator.certain_zeros_
        return arrays

    def restore(self, estimator: BaseEstimator, facts: Facts, arrays: Arrays) -> None:
        coef, intercept = arrays["coef"], arrays["intercept"]
        _restore_inputs(estimator, facts)
        rows: tuple[int, ...] = ()
        if self.make is estimators.LinearRegressor and coef.ndim == 2:
            rows = coef.shape[:1]
        if is_classifier(estimator):
            estimator.classes_ = decode_classes(facts["classes"])
            rows = (len(estimator.classes_) if len(estimator.classes_) > 2 else 1,)
        if self.make in _SUMS:
            _restore_loss(estimator, facts)
        if self.make is estimators.MetricClassifier:
            estimator.pos_label_ = estimator.classes_[[0, 1].index(facts["positive"])]
        refuse_unless(coef.shape == (*rows, estimator.n_features_in_), "coef", coef)
        refuse_unless(intercept.shape == rows, "intercept", intercept)
        estimator.coef_ = coef
        setattr(estimator, self._constant, intercept if rows else intercept.item())
        if "optimum" in facts:
            _restore_optimum(estimator, facts["optimum"], rows)
        if "cv_scores" in arrays:
            alphas, scores = arrays["alphas"], arrays["cv_scores"]
            fits = alphas.ndim == 1 and scores.ndim == 2 and len(scores) == alphas.size > 0
            refuse_unless(fits and scores.dtype == alphas.dtype == np.float64, "alphas", alphas)
            estimator.alphas_, estimator.cv_scores_ = alphas, scores
        if "certain_zeros" in arrays:
            zeros = arrays["certain_zeros"]
            refuse_unless(zeros.shape == coef.shape and zeros.dtype == bool, "zeros", zeros)
            estimator.certain_zeros_ = zeros

    @property
    def _constant(self) -> str:
        return "offset_" if self.make is estimators.OneClass else "intercept_"


class Expansion(Kind):
    """Coefficients of support vectors, one row per class or one row, and the kernel."""

    def facts(self, estimator: BaseEstimator) -> Facts:
        return _inputs(estimator) | {
            "classes": encode_classes(estimator.classes_),
            "kernel": encode_object("kernel", estimator.kernel_),
            "loss": encode_object("loss", estimator.loss_),
        }

    def arrays(self, estimator: BaseEstimator) -> Arrays:
        names = ("support_", "dual_coef_", "intercept_")
        arrays = {name.rstrip("_"): getattr(estimator, name) for name in names}
        vectors = estimator.support_vectors_
        if not sparse.issparse(vectors):
            return arrays | {"vectors": vectors}
        rows = vectors.tocsr()
        return arrays | {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}

    def restore(self, estimator: BaseEstimator, facts: Facts, arrays: Arrays) -> None:
        _restore_inputs(estimator, facts)
        estimator.classes_ = decode_classes(facts["classes"])
        estimator.kernel_ = decode_object("kernel", facts["kernel"])
        _restore_loss(estimator, facts)
        vectors = arrays.get("vectors")
        shape = arrays["support"].size, estimator.n_features_in_
        if vectors is None:
            parts = arrays["data"], arrays["indices"], arrays["indptr"]
            vectors = sparse.csr_matrix(parts, shape=shape)
            vectors.check_format(full_check=True)  # compiled loops trust it
        rows = len(estimator.classes_) if len(estimator.classes_) > 2 else 1
        refuse_unless(vectors.shape == shape, "vectors", vectors)
        for name, size in (("dual_coef", (rows, shape[0])), ("intercept", (rows,))):
            refuse_unless(arrays[name].shape == size, name, arrays[name])
        estimator.support_, estimator.support_vectors_ = arrays["support"], vectors
        estimator.dual_coef_, estimator.intercept_ = arrays["dual_coef"], arrays["intercept"]


class Chain(Kind):
    """Weights of features and of neighbours, the tags of each feature, and names of features."""

    separate = ("cost",)

    def facts(self, estimator: BaseEstimator) -> Facts:
        return {
            "classes": encode_classes(estimator.classes_),
            "n_features": int(estimator.weights_.vocabulary.width),
            "loss": estimator.loss_,
        }

    def arrays(self, estimator: BaseEstimator) -> Arrays:
        arrays, layout = {"weights": estimator.weights_.w}, estimator.weights_.layout
        if isinstance(layout, SeenPairs):
            arrays |= {"ends": layout.ends, "seen": layout.seen}
        if estimator.vocabulary_ is not None:
            arrays["names"] = _written(list(estimator.vocabulary_))
        if estimator.cost is not None:
            arrays["cost"] = np.asarray(estimator.cost, dtype=np.float64)
        return arrays

    def parameters(self, facts: Facts, arrays: Arrays) -> dict[str, Any]:
        return {"cost": arrays.get("cost")}

    def restore(self, estimator: BaseEstimator, facts: Facts, arrays: Arrays) -> None:
        vocabulary = Vocabulary()
        vocabulary.width = int(facts["n_features"])
        if "names" in arrays:
            names = json.loads(arrays["names"].tobytes())
            vocabulary.columns = {str(name): column for column, name in enumerate(names)}
            whole = len(vocabulary.columns) == len(names) == vocabulary.width
            refuse_unless(whole, "names", arrays["names"])
        estimator.classes_ = decode_classes(facts["classes"])
        K = len(estimator.classes_)
        layout = _layout(arrays, vocabulary.width, K)
        w = arrays["weights"]
        refuse_unless(w.shape == (layout.weights() + K * (K + 2),), "weights", w)
        estimator.weights_ = ChainWeights(vocabulary, layout, w, K)
        estimator.loss_ = str(facts.get("loss", estimator.loss))


class Structured(Kind):
    """Weights, and the structured model that they belong to."""

    separate = ("model",)

    def facts(self, estimator: BaseEstimator) -> Facts:
        model = estimator.model
        name = type(model).__name__
        if type(model) is Folding:
            return {"model": {"name": name, "missed": model.missed, "wrong": model.wrong}}
        if type(model) not in _LABELS.values():
            raise ValueError(
                f"{name} is a user-defined model, and a model file holds no code: "
                "pickle the estimator, or keep its coef_"
            )
        labels = [encode(label, "label") for label in model.labels]
        parts = [part.tolist() for part in model.parts]
        width = int(model.n_features)
        return {"model": {"name": name, "labels": labels, "parts": parts, "n_features": width}}

    def arrays(self, estimator: BaseEstimator) -> Arrays:
        model = estimator.model
        costs = {"costs": model.costs} if isinstance(model, Labels) else {}
        return {"coef": estimator.coef_} | costs

    def parameters(self, facts: Facts, arrays: Arrays) -> dict[str, Any]:
        of = facts["model"]
        if of["name"] == Folding.__name__:
            return {"model": Folding(float(of["missed"]), float(of["wrong"]))}
        parts, make = [np.array(part, dtype=np.intp) for part in of["parts"]], _LABELS[of["name"]]
        return {"model": make(of["labels"], parts, arrays["costs"], int(of["n_features"]))}

    def restore(self, estimator: BaseEstimator, facts: Facts, arrays: Arrays) -> None:
        coef = arrays["coef"]
        refuse_unless(coef.shape == (estimator.model.d,), "coef", coef)
        estimator.coef_ = coef


# Sums over examples, whose predictions may need the loss.
_SUMS = (estimators.LinearClassifier, estimators.LinearRegressor)
_OPTIMUM = ("coef_error", "intercept_range")
_LABELS: dict[str, type[Labels]] = {"Multiclass": Multiclass, "LabelTree": LabelTree}
KINDS: dict[str, Kind] = {
    kind.make.__name__: kind
    for kind in (
        Linear(estimators.LinearClassifier),
        Linear(estimators.LinearRegressor),
        Linear(estimators.MetricClassifier),
        Linear(estimators.LinearRanker),
        Linear(estimators.NuClassifier),
        Linear(estimators.OneClass),
        Expansion(estimators.KernelClassifier),
        Chain(estimators.ChainClassifier),
        Structured(estimators.StructuredClassifier),
    )
}


def kind_of(estimator: object) -> Kind | None:
    """Return the kind of an estimator, or None if a model file does not hold its class."""
    kind = KINDS.get(type(estimator).__name__)
    return kind if kind is not None and type(estimator) is kind.make else None


def _inputs(estimator: BaseEstimator) -> Facts:
    facts: Facts = {"n_features": int(estimator.n_features_in_)}
    if hasattr(estimator, "feature_names_in_"):
        facts["feature_names"] = [str(name) for name in estimator.feature_names_in_]
    return facts


def _restore_inputs(estimator: BaseEstimator, facts: Facts) -> None:
    estimator.n_features_in_ = int(facts["n_features"])
    if "feature_names" in facts:
        names = np.array([str(name) for name in facts["feature_names"]], dtype=object)
        refuse_unless(names.shape == (estimator.n_features_in_,), "feature_names", names)
        estimator.feature_names_in_ = names


def _fits(estimator: BaseEstimator, name: str, shape: tuple[int, ...]) -> bool:
    """Return whether numbers are known and fit the weights, which a user may have replaced."""
    return hasattr(estimator, name) and np.shape(getattr(estimator, name)) == shape


def _restore_optimum(estimator: BaseEstimator, facts: Facts, rows: tuple[int, ...]) -> None:
    errors, ends = (np.array([float(decode(x)) for x in facts[name]]) for name in _OPTIMUM)
    refuse_unless(errors.size in {1, *rows} and bool((errors >= 0.0).all()), "coef_error", errors)
    ranges = ends.reshape(*rows, 2)
    refuse_unless(bool((ranges[..., 0] <= ranges[..., 1]).all()), "intercept_range", ranges)
    estimator.coef_error_ = errors.item() if errors.size == 1 else errors
    estimator.intercept_range_ = ranges


def _restore_loss(estimator: BaseEstimator, facts: Facts) -> None:
    """Restore the loss of the fit; older files hold only that of the parameters."""
    classes = len(getattr(estimator, "classes_", ()))
    if "loss" in facts:
        loss = decode_object("loss", facts["loss"])
    else:
        multi_class = getattr(estimator, "multi_class", "ovr")
        loss = Problem(estimator.loss).of_classes(classes, multi_class).loss
    if not isinstance(loss, Loss) or loss.outputs() not in (1, classes):
        raise ValueError(f"the loss {loss}")
    estimator.loss_ = loss


def _written(names: list[str]) -> AnyArray:
    """Return names as the bytes of JSON: a header may not hold as many."""
    for name in names:
        if not isinstance(name, str):
            raise ValueError(
                f"the feature {name!r} is not a string, as names in a model file must be: fit with "
                "features named by strings"
            )
    return np.frombuffer(json.dumps(names).encode(), dtype=np.uint8)


def _layout(arrays: Arrays, features: int, tags: int) -> Pairs:
    if "ends" not in arrays:
        return AllPairs(features, tags)
    ends, seen = arrays["ends"].astype(np.uint64), arrays["seen"].astype(np.uint16)
    # compiled loops trust them
    rises = ends.shape == (features + 1,) and ends[0] == 0 and (ends[1:] >= ends[:-1]).all()
    refuse_unless(bool(rises) and ends[-1] == seen.size, "ends", ends)
    refuse_unless(seen.ndim == 1 and bool((seen < tags).all()), "seen", seen)
    return SeenPairs(ends, seen)
