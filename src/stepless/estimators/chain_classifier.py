"""Tagging of sequences."""

from __future__ import annotations

from collections.abc import Sequence, Set, Sized
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from stepless.arguments import brief, is_missing
from stepless.arrays import AnyArray, Array, Indices, Weights
from stepless.data.sequences import Sequences, Vocabulary
from stepless.estimators.all_or_nothing import all_or_nothing, whole_chunks
from stepless.estimators.certificate import store_certificate, store_no_certificate
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.chain_stream import ChainStream
from stepless.estimators.chain_weights import ChainWeights
from stepless.estimators.parameters import PenaltyParameters, RunParameters, ordered_signature
from stepless.estimators.proof import Data, Obligation, describe_problem, store_proof
from stepless.estimators.targets import stream_classes
from stepless.estimators.validation import refuse_store, sample_weights
from stepless.estimators.warm_start import minimize_oracle_risk
from stepless.objective import Regularizer
from stepless.problem import Problem
from stepless.registry import UnknownName
from stepless.risks import chains
from stepless.risks.chains.decoding import best_labelings, tag_probabilities
from stepless.run import Run, Watchers, threads_of
from stepless.solvers.online.adagrad import AdaGrad
from stepless.solvers.online.chain_adagrad import ChainAdaGrad

Listed: TypeAlias = "Sequence[Any]"  # one item per sequence


def _has_marginals(estimator: ChainClassifier) -> bool:
    if getattr(estimator, "loss_", estimator.loss) != "crf":
        raise AttributeError("the hinge models no probabilities; use loss='crf'")
    return True


@ordered_signature
@dataclass(eq=False, repr=False)
class ChainClassifier(PenaltyParameters, RunParameters, CertifiedEstimator):
    """A tagger of sequences by a linear chain, with a certificate.

    A labeling y of a sequence x scores Σ_t ⟨w_{y_t}, x_t⟩ + Σ_t T[y_t, y_{t+1}] + start[y_1] +
    end[y_n]. Minimises Ω(w, T, start, end) + the mean loss over *sequences*, long and short alike,
    until the answer is provably within the relative `gap` of the optimum.

    Parameters
    ----------
    loss
        ``"crf"``, −log P(y|x) with P(y|x) ∝ exp(score): a conditional random field; or ``"hinge"``,
        max_{y'} score(y') − score(y) + Σ_t cost[y_t, y'_t]: a max-margin Markov network.
    cost
        For the hinge, the cost of predicting a tag (column) in place of the true one (row), in the
        order of `classes_`; None: 1 per wrong tag.
    penalty
        ``"l2"``, ``"l1"``, ``"elasticnet(ρ)"`` or a `Regularizer`, as for `LinearClassifier`; it
        covers all weights, transitions too.
    alpha
        The penalty's strength, α. CRFsuite minimises a sum; with m sequences its c2 = α m/2 and
        c1 = α m.
    pairs
        ``"seen"``: features have weights for the tags that they occur with; ``"all"``: for all
        tags, which takes more memory and time, and is rarely better.
    solver
        ``"auto"``, or ``"lbfgs"`` (crf only), ``"proximal-bundle"``, ``"bundle"``,
        ``"bundle-linesearch"``; for `partial_fit` ``"auto"``, ``"adagrad"`` or an `AdaGrad`.
    warm_start
        True to start `fit` from the last fit's weights, with new features if there are any; on the
        same data with another alpha, also from its planes.
    gap, passes, seconds, random_state, n_jobs, verbose
        As in `LinearClassifier`; the solvers above use no random numbers.

    Attributes
    ----------
    classes_
        The tags, sorted.
    vocabulary_
        Column of each feature, by name; None if sequences are matrices.
    emission_, transition_, start_, end_
        Weights: features × tags (sparse for ``pairs="seen"``), tags × tags (from, to), and of the
        first and the last tag.
    weights_
        All of them, as they are learned and stored.
    objective_, lower_bound_, gap_, rel_gap_, trace_, alpha_, solver_, n_passes_, stopped_by_
        As in `LinearClassifier`; so is `proof_`.

    Notes
    -----
    A sequence is a matrix, dense or sparse, with one row per position, or a list with, for each
    position, the names of its features or a dict from names to values (numbers, or strings).
    `window_features` and `word_features` of `stepless.data` make such lists from words. Features
    that did not occur in training are ignored.

    Examples
    --------
    >>> X = [[["the"], ["dog"], ["barks"]], [["a"], ["dog"], ["sleeps"]]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"]]
    >>> model = ChainClassifier(alpha=0.1).fit(X, y)
    >>> [tags.tolist() for tags in model.predict([[["a"], ["cat"], ["barks"]]])]
    [['D', 'N', 'V']]
    >>> model.rel_gap_ <= 1e-3, model.solver_
    (True, 'lbfgs')
    """

    loss: str = "crf"
    _: KW_ONLY
    cost: ArrayLike | None = None
    pairs: str = "seen"
    _sparse: ClassVar[bool] = False

    # -- learning -----------------------------------------------------------------------------

    @all_or_nothing
    def fit(
        self, X: Listed, y: Listed, sample_weight: Weights = None, *, watchers: Watchers = ()
    ) -> Self:
        """Fit to sequences X and their tags y, one per position; weights are those of sequences.

        Watchers are called with every event and the best (w, b) so far; True ends the run.
        """
        refuse_store(self, X)
        problem, run = self._problem(), Run.of(self, watchers)
        last = getattr(self, "weights_", None) if self.warm_start else None
        vocabulary = Vocabulary() if last is None else last.vocabulary.copy()
        sequences = vocabulary.learn(X, run.threads)
        tags = _flat(y, sequences.lengths)
        s = sample_weights(sample_weight, len(sequences))
        numbers: Indices
        if last is None:
            classes, numbers = np.unique(tags, return_inverse=True)
        else:
            classes, numbers = self.classes_, _numbered(tags, self.classes_, sequences)
        if (K := len(classes)) < 2:
            raise ValueError(f"y holds one tag only ({classes[0]}): a tagger needs two")
        risk, layout, cost = self._risk(sequences, numbers, K, problem.regularizer, s)
        data = self.loss, cost, sequences.X, sequences.ends, numbers, layout, s
        start = None if last is None else (last.within(layout), 0.0)
        result = minimize_oracle_risk(self, run, risk, start, data)
        self.classes_, self.loss_, self.alpha_ = classes, self.loss, problem.strength
        self.weights_ = ChainWeights(vocabulary, layout, result.w, K)
        store_certificate(self, run, [result], constants=[risk.at_constant])
        described = describe_problem(risk.objective, self.loss, cost=cost)
        store_proof(self, [result], described, _data(sequences, numbers, s))
        self.__dict__.pop("_stream", None)
        return self

    def _proof_obligation(self, X: Listed, y: Listed, sample_weight: Weights) -> Obligation:
        """Return the problem that `fit` would solve with known features; its current solution."""
        problem, K = self._problem(), len(self.classes_)
        sequences = self._read(X)
        numbers = _numbered(_flat(y, sequences.lengths), self.classes_, sequences)
        s = sample_weights(sample_weight, len(sequences))
        risk, layout, cost = self._risk(sequences, numbers, K, problem.regularizer, s)
        runs = [(risk, self.weights_.within(layout), 0.0)]
        described = describe_problem(risk.objective, self.loss, cost=cost)
        return Obligation(described, _data(sequences, numbers, s), runs)

    @whole_chunks
    def partial_fit(self, X: Listed, y: Listed, classes: ArrayLike | None = None) -> Self:
        """Learn from one more chunk of a stream of sequences, in its order, in one pass of AdaGrad.

        The first call must name all tags, `classes`; after `fit`, learning goes on from the fitted
        weights. New features may come with every chunk; the cuts between chunks make no difference.
        A stream is not kept, so that it cannot be certified: `gap_` is infinite; the mean loss of
        all sequences so far, each predicted before it was learned, is `progressive_loss_`.
        """
        problem, run = self._problem(), Run.of(self)
        solver, fitted = _stream_solver(run), hasattr(self, "classes_")
        tags = stream_classes(self.classes_ if fitted else None, classes, "tags")
        if (K := len(tags)) < 2:
            raise ValueError(f"classes= must name two tags or more, not {tags.tolist()}")
        # A copy: a chunk that is refused must leave weights and vocabulary of one size.
        vocabulary = self.weights_.vocabulary.copy() if fitted else Vocabulary()
        sequences = vocabulary.learn(X, run.threads)
        numbers = _numbered(_flat(y, sequences.lengths), tags, sequences)
        if not hasattr(self, "_stream"):
            start = np.zeros((K + 2, K))
            if fitted:
                every = chains.AllPairs(self.weights_.vocabulary.width, K)
                start = self.weights_.within(every).reshape(-1, K)
            cost = self._costs(K)
            learner = ChainAdaGrad(K, cost, solver.update, eta=solver.eta, delta=solver.delta)
            self._stream = ChainStream(learner, problem.regularizer, start)
        self._stream.refuse_changes(self)
        self._stream.learn(sequences, numbers)
        w = self._stream.weights()
        self.classes_, self.loss_, self.alpha_ = tags, self.loss, problem.strength
        self.weights_ = ChainWeights(vocabulary, chains.AllPairs(len(w) - K - 2, K), w.ravel(), K)
        self.progressive_loss_, self.solver_ = self._stream.mean_loss(), solver.name
        store_no_certificate(self)
        self.__dict__.pop("_last", None)  # a warm start is from here
        return self

    # -- predictions --------------------------------------------------------------------------

    def predict(self, X: Listed) -> list[AnyArray]:
        """Return the tags of the labeling with the highest score, one array per sequence."""
        sequences, known = self._read(X), self.weights_
        numbers = best_labelings(sequences, known.layout, known.tags, known.w)
        return np.split(self.classes_[numbers], sequences.ends[1:-1])

    @available_if(_has_marginals)
    def predict_marginals(self, X: Listed) -> list[Array]:
        """Return P(y_t = c | x), one array (positions × tags) per sequence, for the loss crf."""
        sequences, known = self._read(X), self.weights_
        p = tag_probabilities(sequences, known.layout, known.tags, known.w)
        return np.split(p, sequences.ends[1:-1])

    def score(self, X: Listed, y: Listed) -> float:
        """Return the share of correct tags."""
        predicted = self.predict(X)
        tags = _flat(y, [len(labels) for labels in predicted])
        return float(np.mean(np.concatenate(predicted) == tags))

    vocabulary_ = property(lambda self: self._learned().vocabulary.columns)
    emission_ = property(lambda self: self._learned().emission)
    transition_ = property(lambda self: self._learned().edges[:-2])
    start_ = property(lambda self: self._learned().edges[-2])
    end_ = property(lambda self: self._learned().edges[-1])

    def _learned(self) -> ChainWeights:
        check_is_fitted(self)
        return self.weights_

    # -- from parameters to a problem --------------------------------------------------------

    def _problem(self) -> Problem:
        if not isinstance(self.loss, str):
            raise TypeError(f"loss must be a name, not {brief(self.loss)}")
        if self.loss not in chains.CHAIN_LOSSES:
            raise UnknownName("loss", self.loss, chains.CHAIN_LOSSES)
        if self.pairs not in ("seen", "all"):
            raise ValueError(f"pairs must be 'seen' or 'all', not {brief(self.pairs)}")
        if self.loss == "crf" and self.cost is not None:
            raise ValueError("cost= is for loss='hinge'; a crf models probabilities")
        return Problem.of(self, loss=chains.CHAIN_LOSSES[self.loss])

    def _costs(self, K: int) -> Array | None:
        """Return the costs of wrong tags, one row per true tag; None for a crf."""
        if self.loss == "crf":
            return None
        if self.cost is None:
            return 1.0 - np.eye(K)
        cost = np.asarray(self.cost, dtype=float)
        if cost.shape != (K, K):
            raise ValueError(f"cost must be {K} × {K}, tags by tags, not {cost.shape}")
        if not (np.isfinite(cost).all() and (cost >= 0.0).all() and not np.diag(cost).any()):
            raise ValueError("cost must be finite, ≥ 0, and 0 for the right tag (its diagonal)")
        return cost

    def _risk(
        self, sequences: Sequences, numbers: Indices, K: int, penalty: Regularizer, s: Array
    ) -> tuple[chains.ChainRisk, chains.Pairs, Array | None]:
        """Return the risk, the layout of its weights, and its costs."""
        layout: chains.Pairs = chains.AllPairs(sequences.X.shape[1], K)
        if self.pairs == "seen":
            seen = chains.SeenPairs.of(sequences.X, numbers, K)
            layout = layout if seen.weights() == layout.weights() else seen
        cost, given = self._costs(K), (sequences, numbers, layout, K, penalty, s)
        if cost is None:
            return chains.CRFRisk(*given), layout, None
        return chains.ChainHingeRisk(*given, cost=cost), layout, cost

    def _read(self, X: Listed) -> Sequences:
        known, K = self._learned(), len(self.classes_)
        if known.tags != K:
            raise ValueError(
                f"classes_ has {K} tags, but the weights are of another number: fit again, or put "
                "classes_ back"
            )
        return known.vocabulary.read(X, threads_of(self.n_jobs))


def _data(sequences: Sequences, numbers: Indices, s: Array) -> Data:
    return {"examples": sequences.X, "lengths": sequences.ends, "tags": numbers, "weights": s}


def _stream_solver(run: Run) -> AdaGrad:
    solver = AdaGrad() if run.solver == "auto" else run.named_solver()
    if not isinstance(solver, AdaGrad) or solver.matrix != "diagonal":
        raise ValueError(
            f"solver {solver.name!r} cannot learn sequences from a stream: choose 'auto', "
            "'adagrad', or an AdaGrad with a diagonal matrix"
        )
    return solver


def _flat(y: Listed, lengths: Sequence[int]) -> AnyArray:
    """Return all tags, one after another, of sequences of these lengths."""
    listed = isinstance(y, Sized) and not sparse.issparse(y)
    if not (listed and all(isinstance(tags, Sized) and not isinstance(tags, Set) for tags in y)):
        raise ValueError("y must be a list with, for each sequence, a list of tags")
    if len(y) != len(lengths):
        raise ValueError(f"there are {len(lengths)} sequences in X, but {len(y)} in y")
    for i, tags in enumerate(y):
        if len(tags) != lengths[i]:
            raise ValueError(
                f"sequence {i} has {lengths[i]} positions in X, but {len(tags)} tags in y"
            )
    for i, tags in enumerate(y):
        gap = next((t for t, tag in enumerate(tags) if is_missing(tag)), None)
        if gap is not None:
            raise ValueError(f"sequence {i} has no tag at position {gap}: {tags[gap]}")
    if len({isinstance(tag, str) for tags in y for tag in tags}) > 1:
        raise ValueError("some tags in y are strings and others are not: make them alike")
    flat = np.concatenate([np.asarray(list(tags)) for tags in y])
    if flat.ndim != 1:
        raise ValueError(f"tags must be strings or numbers, not {next(iter(y[0]))!r}")
    return flat


def _numbered(tags: AnyArray, classes: AnyArray, sequences: Sequences) -> Indices:
    """Return tags as numbers; refuse one that is none of the classes."""
    numbers = np.searchsorted(classes, tags).clip(max=len(classes) - 1)
    strange = np.flatnonzero(classes[numbers] != tags)
    if strange.size:
        i = int(np.searchsorted(sequences.ends, strange[0], side="right")) - 1
        raise ValueError(
            f"tag {tags[strange[0]]!s} in sequence {i} is not among the tags that were named or "
            f"fitted first: {', '.join(map(str, classes))}"
        )
    return numbers
