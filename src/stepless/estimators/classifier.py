"""Linear classification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from stepless.data import Source
from stepless.estimators.all_or_nothing import all_or_nothing, whole_chunks
from stepless.estimators.class_weight import sensible
from stepless.estimators.columns import named_classes, refuse_no_classes, refuse_other_classes
from stepless.estimators.linear_model import LinearModel
from stepless.estimators.probabilities import has_probabilities, probabilities
from stepless.estimators.stream import Stream, Streams
from stepless.given import shown
from stepless.minimize import Result
from stepless.objective import JOINT, LOSSES, JointLoss, Loss, Objective
from stepless.watchers import Watcher


class LinearClassifier(ClassifierMixin, LinearModel):
    """A linear classifier with a certificate, of two classes or of more.

    Minimises Ω(w) + Σ s_i ℓ(⟨w, x_i⟩ + b, y_i)/Σ s_i for y_i = ±1, until the answer is provably
    within the relative `gap` of the best one. There is no step size to choose. More than two
    classes are set against the rest one by one, or learned jointly.

    Parameters
    ----------
    loss
        ``"hinge"``, ``"squared_hinge"``, ``"smoothed_hinge"``, ``"logistic"``, with a parameter in
        brackets where there is one (``"smoothed_hinge(50)"``), or a `Loss` of your own.
    penalty
        ``"l2"``, (α/2)‖w‖²; ``"l1"``, α‖w‖₁; ``"elasticnet(ρ)"``, α(ρ‖w‖₁ + (1 − ρ)‖w‖²/2);
        ``"lp(p)"``, α‖w‖_p²/(2(p − 1)), 1 < p ≤ 2; ``"entropy"``, relative entropy of weights that
        are not negative; ``"hyperbolic"``, the like for both signs;
        ``"l1/l2"`` and ``"l1/linf"``, α Σ_j ‖W_j‖ over the rows of a joint model's weights, one a
        feature; ``"none"``; or a `Regularizer`, such as `GroupsL2.of(alpha, groups)`.
    alpha
        The penalty's strength, α, or ``"auto"``: that at which the penalty costs as much as the
        sampling error does, found from the examples with a few coarse fits, for the penalties
        ``"l2"`` and ``"lp(p)"``. Classes set against the rest share one. The fit is then that of
        the number given.
    domain
        ``"free"``, ``"ball(R)"`` for ‖w‖ ≤ R, ``"l1_ball(R)"``, ``"lp_ball(R, p)"``,
        ``"box(low, high)"``, ``"nonnegative"``, ``"simplex(R)"``, ``"psd(R)"`` for a square matrix
        as one row of weights, or a `Domain`, such as `Polytope.of(A, b)`.
    multi_class
        What to do with more than two classes: ``"ovr"``, one against the rest, or ``"joint"``: a
        matrix of weights and one loss for all, Crammer and Singer's hinge or, for logistic,
        softmax.
    solver
        ``"auto"`` or a name from `stepless.SOLVERS`, or a solver with parameters of its own.
    gap, passes, seconds
        The run ends when the relative gap is certified, or after so many passes over the data or
        seconds, whichever comes first. Without a limit it ends after 1000 passes, with a warning.
        More than two classes share the seconds; the choice of alpha takes up to half of them.
    fit_intercept
        Whether there is an intercept; it is never penalised.
    class_weight
        None, ``"balanced"``, or a dict from class to weight.
    random_state
        Seed of the order of examples; the same data and seed give the same
        answer to the last bit, on one machine.
    n_jobs
        Threads; None or −1 for all cores.
    warm_start
        Whether `fit` begins from the last fit's weights.
    shuffle
        Whether online solvers take the examples in a random order, new for each pass, or as they
        lie. `partial_fit` always takes them as they lie.
    verbose
        1 to write a line a pass to standard error.

    Attributes
    ----------
    coef_, intercept_, classes_
        Weights (a row a class, or one row for two classes), intercepts, and class labels.
    loss_, alpha_
        The loss, that of all classes if they are learned jointly, and the penalty's strength: what
        was given or chosen, 0 without a penalty.
    objective_, lower_bound_, gap_, rel_gap_
        The certificate: the optimum lies between `lower_bound_` and `objective_`. With more than
        two classes these are sums over the classes' problems.
    trace_
        The run's events (a list of traces, one a class, for more than two classes).
    solver_, n_passes_, stopped_by_
        The solver's name, its passes, and what ended the run: ``"gap"``, ``"passes"``,
        ``"seconds"``, ``"watcher"``; ``"rounding"`` or ``"solver"`` if nothing is left to gain;
        ``"interrupt"`` after Ctrl-C or SIGTERM, with the best weights so far and a warning, whereas
        a second one raises and changes nothing. ``"stream"`` after `partial_fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> clf = LinearClassifier(loss="hinge", alpha=1e-2, gap=1e-2).fit(X, y)
    >>> clf.rel_gap_ <= 1e-2, clf.stopped_by_
    (True, 'gap')
    """

    def __init__(
        self,
        loss: str | Loss = "hinge",
        *,
        penalty: Any = "l2",
        alpha: float | str = 1e-4,
        domain: Any = "free",
        multi_class: str = "ovr",
        solver: Any = "auto",
        gap: float = 1e-3,
        passes: int | None = None,
        seconds: float | None = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        shuffle: bool = True,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            loss,
            penalty=penalty,
            alpha=alpha,
            domain=domain,
            solver=solver,
            gap=gap,
            passes=passes,
            seconds=seconds,
            fit_intercept=fit_intercept,
            random_state=random_state,
            n_jobs=n_jobs,
            warm_start=warm_start,
            shuffle=shuffle,
            verbose=verbose,
        )
        self.multi_class = multi_class
        self.class_weight = class_weight

    @all_or_nothing
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, watchers: Iterable[Watcher] = ()
    ) -> Self:
        """Fit to examples X (m × d, dense or sparse) and labels y.

        Watchers are called with every event and the best (w, b) so far; True ends the run.
        """
        objective = self._objective(("signs", "classes"))
        source, y, classes = self._labelled(X, y, sample_weight)
        starts = self._starts(classes, source.shape[1])
        results: list[Result] = []
        joint = self._joint(objective, len(classes))
        self.loss_ = (joint or objective).loss
        if joint is not None:
            numbered = source.relabelled(np.searchsorted(classes, y).astype(float))
            start = None if starts[0] is None else _columns(*self._linear(source.shape[1]))
            joint, _ = self._settle_strength(joint, [numbered])
            result = self._run(joint, numbered, self._stopping(), start, watchers)
            return self._keep([result], classes, *_rows(result.w, result.b, len(classes)))
        problems = (_against_rest(source, y, positive) for positive in _positives(classes))
        objective, choosing = self._settle_strength(objective, problems)
        for k, positive in enumerate(_positives(classes)):
            label = f"class {positive}: " if len(classes) > 2 else ""
            signs = _against_rest(source, y, positive)
            spent = choosing + sum(result.trace[-1].seconds for result in results)
            stopping = self._stopping(len(starts) - k, spent)
            results.append(self._run(objective, signs, stopping, starts[k], watchers, label))
        coef, intercept = np.array([r.w for r in results]), np.array([r.b for r in results])
        return self._keep(results, classes, coef, intercept)

    def _keep(
        self, results: list[Result], classes: NDArray, coef: NDArray, intercept: NDArray
    ) -> Self:
        self.classes_, self.coef_, self.intercept_ = classes, coef, intercept
        self._certify(results)
        self.__dict__.pop("_streams", None)
        return self

    def _joint(self, objective: Objective, classes: int) -> Objective | None:
        """Return the objective of all classes at once, if that is what is asked for."""
        if self.multi_class not in ("ovr", "joint"):
            raise ValueError(f"multi_class must be 'ovr' or 'joint', not {shown(self.multi_class)}")
        loss = objective.loss
        if isinstance(loss, JointLoss):
            if classes == 2:
                raise ValueError("two classes need no joint loss: use loss='hinge' or 'logistic'")
            if loss.classes != classes:
                raise ValueError(f"{loss} is not for {classes} classes, which y holds")
            return objective
        if self.multi_class == "ovr" or classes == 2:
            return None
        if type(loss) not in JOINT:
            known = [name for name, kind in LOSSES.items() if kind in JOINT]
            raise ValueError(
                f"{type(loss).__name__} is no loss of several classes at once: choose one of "
                f"{', '.join(known)}, or multi_class='ovr'"
            )
        return replace(objective, loss=JOINT[type(loss)](classes))

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> tuple[Source, NDArray, NDArray]:
        """Examples, whose targets are not yet signs, labels, and classes that have any weight."""
        X, y = self._examples(X, y, reset=True)
        s, classes = self._weighted_classes(y, sample_weight, self.class_weight)
        return Source(X, np.ones(len(y)), s, self._threads()), y, classes

    def _source(self, X: Any, y: Any, sample_weight: Any) -> Source:
        """Examples of two classes, the second one positive."""
        source, y, classes = self._labelled(X, y, sample_weight)
        if len(classes) > 2:
            raise ValueError(f"y holds {len(classes)} classes: a path is of two, or of numbers")
        return _against_rest(source, y, classes[1])

    def _starts(self, classes: NDArray, d: int) -> list[tuple[NDArray, float] | None]:
        if not self._goes_on(d, classes):
            return [None] * len(_positives(classes))
        coef, intercepts = self._linear(d)
        return list(zip(coef, intercepts.tolist(), strict=True))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more chunk of a stream, in its order, in one pass.

        The first call must name all `classes`, and later ones no others; after `fit`, learning goes
        on from the fitted weights. A stream keeps the loss, penalty, domain and solver that it
        began with. It is not kept itself, and cannot be certified: `gap_` is infinite. With the
        solvers of `adagrad`'s kind (the default), it makes no difference how the stream is cut into
        chunks.
        """
        self.predict_and_learn(X, y, classes, sample_weight)
        return self

    @whole_chunks
    def predict_and_learn(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        settle: bool = True,
    ) -> NDArray:
        """Learn a chunk as `partial_fit` does; return what was predicted before each example.

        The mean loss of all predictions so far is `progressive_loss_`. Unless `settle` is true,
        `coef_` and `intercept_` are left as they were, which saves time where features are many
        and chunks small; `settle` brings them up to date.
        """
        self._refuse_to_choose()
        objective = self._objective(("signs", "classes"))
        fitted = hasattr(self, "coef_")
        X, y = self._examples(X, y, reset=not fitted)
        if not fitted:
            if classes is None:
                raise ValueError("the first call of partial_fit must name all classes=")
            self.classes_ = named_classes(classes)
        elif classes is not None:
            refuse_other_classes(self.classes_, classes)
        unseen = np.setdiff1d(y, self.classes_)
        if unseen.size:
            refuse_no_classes(y)
            raise ValueError(f"label {unseen[0]} is not among the classes of the first call")
        if len(self.classes_) < 2:
            raise ValueError("a classifier needs two classes to tell apart, not one")
        s = self._weights(sample_weight, len(y))
        if sensible(self.class_weight) == "balanced":
            raise ValueError(
                "class_weight='balanced' must see all examples; give a dict for a stream"
            )
        if self.class_weight is not None:
            s = s * compute_sample_weight(self.class_weight, y)
        solver = self._online_solver()
        if not hasattr(self, "_streams"):
            self._streams = Streams(self._start_streams(objective, solver, X.shape[1], fitted))
        source = Source(X, np.ones(len(y)), s, self._threads(), scaled=False)
        self._streams.refuse_changes(self)
        z = self._learn(source, y)
        self.loss_ = self._streams.objective.loss
        self.progressive_loss_ = self._streams.progressive_loss()
        self.solver_ = solver.name
        self._store_strength(objective)
        self._certify_nothing()
        if settle or not fitted:
            self._settle()
        return self._plausible(z.ravel() if z.shape[1] == 1 else z)

    def _start_streams(
        self, objective: Objective, solver: Any, d: int, fitted: bool
    ) -> list[Stream]:
        """One stream for all classes if they are learned jointly, otherwise one a problem."""
        joint = self._joint(objective, len(self.classes_))
        if joint is not None:
            start = _columns(*self._linear(d)) if fitted else None
            return [Stream(joint, solver, d, start)]
        starts: list[Any] = [None] * len(_positives(self.classes_))
        if fitted:
            coef, intercepts = self._linear(d)
            starts = list(zip(coef, intercepts.tolist(), strict=True))
        return [Stream(objective, solver, d, at) for at in starts]

    def _learn(self, source: Source, y: NDArray) -> NDArray:
        """Learn a chunk; return the decisions before each example was learned, a column a class."""
        if self._streams.objective.loss.targets == "classes":
            numbered = np.searchsorted(self.classes_, y).astype(float)
            return self._streams.learn([source.relabelled(numbered)])
        positives = _positives(self.classes_)
        return self._streams.learn(_against_rest(source, y, positive) for positive in positives)

    @whole_chunks
    def settle(self) -> None:
        """Bring `coef_` and `intercept_` up to date with what was learned from the stream."""
        check_is_fitted(self, "_streams", msg="there is no stream: learn from one before")
        self._settle()

    def _settle(self) -> None:
        self.coef_, self.intercept_ = self._streams.weights()

    def decision_function(self, X: Any) -> NDArray:
        """⟨w, x⟩ + b for each example (a column a class for more than two)."""
        z = self._scores(X)
        return z.ravel() if len(self.classes_) == 2 else z

    def predict(self, X: Any) -> NDArray:
        """Return the most plausible class of each example."""
        return self._plausible(self.decision_function(X))

    def _plausible(self, z: NDArray) -> NDArray:
        if z.ndim == 1:
            return self.classes_[(z > 0).astype(int)]
        return self.classes_[z.argmax(axis=1)]

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> NDArray:
        """Return the probability of each class, where the loss models one (logistic)."""
        z = self.decision_function(X)
        return softmax(z, axis=1) if self.loss_.outputs() > 1 else probabilities(self.loss_, z)


def _columns(coef: NDArray, intercepts: NDArray) -> tuple[NDArray, NDArray]:
    """Weights as a joint run has them, and intercepts."""
    return coef.T.ravel(), intercepts


def _rows(w: NDArray, b: Any, K: int) -> tuple[NDArray, NDArray]:
    """Weights, a row a class, and intercepts of a joint run."""
    return np.ascontiguousarray(w.reshape(-1, K).T), np.array(np.broadcast_to(b, K), dtype=float)


def _against_rest(source: Source, y: NDArray, positive: Any) -> Source:
    return source.relabelled(np.where(y == positive, 1.0, -1.0))


def _positives(classes: NDArray) -> NDArray:
    """The class that each problem sets against the rest; two classes need but one problem."""
    return classes[1:] if len(classes) == 2 else classes
