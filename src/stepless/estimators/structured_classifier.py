"""Prediction of outputs with structure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stepless.arrays import Array
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.certificate import certify
from stepless.estimators.examples import sample_weights
from stepless.estimators.proof import Posed, ProvenEstimator, in_words, keep_proof
from stepless.estimators.warm_start import goes_on, minimize_whole
from stepless.problem import Problem
from stepless.run import Run, threads_of
from stepless.structured import StructuredModel, StructuredRisk, structured_risk
from stepless.structured.model_calls import call_model, predictions
from stepless.watchers import Watcher


@dataclass(eq=False, repr=False)
class StructuredClassifier(ProvenEstimator):
    """A structured support vector machine with a certificate.

    Minimises Ω(w) + Σ s_i max_y' [⟨φ(x_i, y') − φ(x_i, y_i), w⟩ + Δ(y_i, y')]/Σ s_i, until the
    answer is provably within the relative `gap` of the best one. There is no step size to choose.
    The features φ, the cost Δ and the search for the worst y' are a model's: one of your own (see
    `StructuredModel`), or `Multiclass`, `LabelTree`, `rna.Folding` of `stepless.structured`.

    Parameters
    ----------
    model
        A `StructuredModel`.
    solver
        ``"auto"``, ``"bundle"``, ``"proximal-bundle"``, ``"bundle-linesearch"``, or a solver with
        parameters of its own.
    n_jobs
        Threads, if the model releases the GIL; None or −1 for all cores.
    warm_start
        Whether `fit` begins where the last fit ended: on the same data with another α, which then
        takes few passes; on other data of as many features, from its weights. The model's class
        must not change meanwhile: its attributes are not compared.
    penalty, alpha, gap, passes, seconds, random_state, verbose
        As in `LinearClassifier`; no strength is chosen, and the solvers so far draw nothing.

    Attributes
    ----------
    coef_
        Weights, one for each feature of the model.
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
    _: KW_ONLY
    penalty: Any = "l2"
    alpha: float = 1e-4
    solver: Any = "auto"
    gap: float = 1e-3
    passes: int | None = None
    seconds: float | None = None
    random_state: Any = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0

    @all_or_nothing
    def fit(
        self, X: Any, Y: Any, sample_weight: Any = None, *, watchers: Iterable[Watcher] = ()
    ) -> Self:
        """Fit to inputs X and their true outputs Y, sequences of whatever the model understands.

        Watchers are called with every event and the best (w, 0) so far; True ends the run.
        """
        run = Run.of(self, watchers)
        problem, risk, data = self._asked(X, Y, sample_weight)
        weights = (self.coef_, 0.0) if goes_on(self, risk.d) else None
        result = minimize_whole(self, run, risk, weights, (self.model, *data.values()))
        self.coef_: Array = result.w
        self.alpha_ = problem.strength
        certify(self, run, [result], constants=[risk.at_constant])
        keep_proof(self, [result], in_words(risk.objective, self.model), data)
        return self

    def _posed(self, X: Any, Y: Any, sample_weight: Any) -> Posed:
        """The problem that `fit` would pose, and the answer of now."""
        _, risk, data = self._asked(X, Y, sample_weight)
        return Posed(in_words(risk.objective, self.model), data, [(risk, self._weights(), 0.0)])

    def _asked(
        self, X: Any, Y: Any, sample_weight: Any
    ) -> tuple[Problem, StructuredRisk, dict[str, Any]]:
        """What `fit` minimises, and the data that it depends on."""
        if not isinstance(self.model, StructuredModel):
            kind = type(self.model).__name__
            raise TypeError(f"model must be a StructuredModel, not {kind}")
        inputs, outputs = _listed(X), _listed(Y)
        if len(inputs) != len(outputs):
            raise ValueError(f"there are {len(inputs)} inputs, but {len(outputs)} outputs")
        if not inputs:
            raise ValueError("there is no example: give one or more inputs with their outputs")
        s, problem = sample_weights(sample_weight, len(inputs)), Problem.of(self, loss=self.model)
        given, threads = (inputs, outputs, problem.regularizer), threads_of(self.n_jobs)
        risk = structured_risk(self.model, *given, s=s, threads=threads)
        return problem, risk, {"inputs": inputs, "outputs": outputs, "weights": s}

    def predict(self, X: Any) -> list[Any]:
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

    def score(self, X: Any, Y: Any) -> float:
        """Return the mean cost of the predictions, with a minus: the larger the better."""
        truths, said = _listed(Y), self.predict(X)
        if len(truths) != len(said):
            raise ValueError(f"there are {len(said)} inputs, but {len(truths)} outputs")
        if not truths:
            raise ValueError("there is no example to score")
        pairs = enumerate(zip(truths, said, strict=True))
        costs = [call_model(i, self.model.cost, y, other) for i, (y, other) in pairs]
        return -float(np.mean(costs))


def _listed(values: Any) -> Sequence[Any]:
    """Examples one by one: rows of an array or of a sparse matrix, or what a sequence holds."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise TypeError(f"examples must be a sequence of inputs or outputs, not {values!r}")
    if hasattr(values, "to_numpy"):  # a table's rows: on its own it is a sequence of columns
        values = values.to_numpy()
    if hasattr(values, "tocsr"):
        rows = values.tocsr()
        return [rows[[i]] for i in range(rows.shape[0])]
    return values.tolist() if getattr(values, "ndim", 0) == 1 else list(values)
