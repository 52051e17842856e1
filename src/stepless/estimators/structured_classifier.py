"""Prediction of structured outputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stepless.arrays import Array, Weights
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.certificate import store_certificate
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.parameters import PenaltyParameters, RunParameters, ordered_signature
from stepless.estimators.proof import Data, Obligation, describe_problem, store_proof
from stepless.estimators.validation import refuse_store, sample_weights
from stepless.estimators.warm_start import continues_last_fit, minimize_oracle_risk
from stepless.problem import Problem
from stepless.run import Run, Watchers, threads_of
from stepless.structured import StructuredModel, StructuredRisk, structured_risk
from stepless.structured.model_calls import call_model, predictions

Items: TypeAlias = "Iterable[Any]"  # inputs, or outputs


@ordered_signature
@dataclass(eq=False, repr=False)
class StructuredClassifier(PenaltyParameters, RunParameters, CertifiedEstimator):
    """A structured support vector machine with a certificate.

    Minimises Ω(w) + Σ s_i max_y' [⟨φ(x_i, y') − φ(x_i, y_i), w⟩ + Δ(y_i, y')]/Σ s_i, until the
    answer is provably within the relative `gap` of the optimum. There is no step size to choose.
    A model provides the features φ, the cost Δ and the search for the worst y': a user-defined
    `StructuredModel`, or `Multiclass`, `LabelTree`, `rna.Folding` of `stepless.structured`.

    Parameters
    ----------
    model
        A `StructuredModel`.
    solver
        ``"auto"``, ``"bundle"``, ``"proximal-bundle"``, ``"bundle-linesearch"``, or a solver
        object.
    n_jobs
        Number of threads, if the model releases the GIL; None or −1 for all cores.
    warm_start
        True to start `fit` where the last fit ended: on the same data with another α, which then
        takes few passes; on other data with the same number of features, from its weights. The
        model's class must not change meanwhile: its attributes are not compared.
    penalty, alpha, gap, passes, seconds, random_state, verbose
        As in `LinearClassifier`, but alpha is a number; these solvers use no random numbers.

    Attributes
    ----------
    coef_
        Weights, one per feature of the model.
    objective_, lower_bound_, gap_, rel_gap_, trace_, alpha_, solver_, n_passes_, stopped_by_
        As in `LinearClassifier`; so is `proof_`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from stepless.structured import LabelTree
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = LabelTree.of(X, {0: "small", 1: "large", 2: "large"})
    >>> clf = StructuredClassifier(tree, alpha=1e-2).fit(X, y)
    >>> clf.stopped_by_, clf.score(X, y) > -0.1
    ('gap', True)
    """

    model: StructuredModel
    _sparse: ClassVar[bool] = False

    @all_or_nothing
    def fit(
        self, X: Items, Y: Items, sample_weight: Weights = None, *, watchers: Watchers = ()
    ) -> Self:
        """Fit to inputs X and their true outputs Y, sequences of whatever the model understands.

        Watchers are called with every event and the best (w, 0) so far; True ends the run.
        """
        refuse_store(self, X)
        run = Run.of(self, watchers)
        problem, risk, data = self._risk(X, Y, sample_weight)
        weights = (self.coef_, 0.0) if continues_last_fit(self, risk.d) else None
        result = minimize_oracle_risk(self, run, risk, weights, (self.model, *data.values()))
        self.coef_, self.alpha_ = result.w, problem.strength
        store_certificate(self, run, [result], constants=[risk.at_constant])
        store_proof(self, [result], describe_problem(risk.objective, self.model), data)
        return self

    def _proof_obligation(self, X: Items, Y: Items, sample_weight: Weights) -> Obligation:
        _, risk, data = self._risk(X, Y, sample_weight)
        described = describe_problem(risk.objective, self.model)
        return Obligation(described, data, [(risk, self._weights(), 0.0)])

    def _risk(
        self, X: Items, Y: Items, sample_weight: Weights
    ) -> tuple[Problem, StructuredRisk, Data]:
        """Return the problem, its risk, and the data that the risk depends on."""
        if not isinstance(self.model, StructuredModel):
            raise TypeError(f"model must be a StructuredModel, not {type(self.model).__name__}")
        inputs, outputs = _listed(X), _listed(Y)
        if len(inputs) != len(outputs):
            raise ValueError(f"there are {len(inputs)} inputs, but {len(outputs)} outputs")
        if not inputs:
            raise ValueError("there is no example: give one or more inputs with their outputs")
        s, problem = sample_weights(sample_weight, len(inputs)), Problem.of(self, loss=self.model)
        given, threads = (inputs, outputs, problem.regularizer), threads_of(self.n_jobs)
        risk = structured_risk(self.model, *given, s=s, threads=threads)
        return problem, risk, {"inputs": inputs, "outputs": outputs, "weights": s}

    def predict(self, X: Items) -> list[Any]:
        """Return the best output of each input."""
        return predictions(self.model, self._weights(), _listed(X), threads_of(self.n_jobs))

    def _weights(self) -> Array:
        check_is_fitted(self)
        if np.shape(self.coef_) != (self.model.d,):
            raise ValueError(
                f"coef_ has shape {np.shape(self.coef_)}, but the model has {self.model.d} "
                "weights: fit again, or put the weights back"
            )
        return self.coef_

    def score(self, X: Items, Y: Items) -> float:
        """Return minus the mean cost of the predictions: the larger the better."""
        truths, predicted = _listed(Y), self.predict(X)
        if len(truths) != len(predicted):
            raise ValueError(f"there are {len(predicted)} inputs, but {len(truths)} outputs")
        if not truths:
            raise ValueError("there is no example to score")
        pairs = enumerate(zip(truths, predicted, strict=True))
        costs = [call_model(i, self.model.cost, y, other) for i, (y, other) in pairs]
        return -float(np.mean(costs))


def _listed(values: Any) -> Sequence[Any]:
    """Return a list of examples: rows of an array or sparse matrix, or items of a sequence."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise TypeError(f"examples must be a sequence of inputs or outputs, not {values!r}")
    if hasattr(values, "to_numpy"):  # the rows of a table, which iterates over its columns
        values = values.to_numpy()
    if hasattr(values, "tocsr"):
        rows = values.tocsr()
        return [rows[[i]] for i in range(rows.shape[0])]
    return values.tolist() if getattr(values, "ndim", 0) == 1 else list(values)
