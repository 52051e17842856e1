"""Linear ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

from stepless.arrays import Array
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.certificate import certify
from stepless.estimators.examples import examples
from stepless.estimators.linear_scores import linear_scores, linear_weights
from stepless.estimators.proof import Posed, in_words, keep_proof
from stepless.estimators.sparse_estimator import SparseEstimator
from stepless.estimators.warm_start import anew, goes_on, minimize_whole
from stepless.problem import Problem
from stepless.registry import UnknownName, named
from stepless.risks.ranking import (
    RANKING_LOSSES,
    RankingLoss,
    RankingRisk,
    mean_average_precision,
    mean_reciprocal_rank,
    ndcg_at_k,
    precision_at_k,
)
from stepless.risks.ranking.top import top_of
from stepless.run import Run
from stepless.warning import warn
from stepless.watchers import Watcher


@dataclass(eq=False, repr=False)
class LinearRanker(SparseEstimator):
    """A linear ranker of each query's documents, with a certificate.

    Minimises Ω(w) + the mean over queries of a loss of their documents' scores ⟨w, x_i⟩, until the
    answer is provably within the relative `gap` of the best one. There is no step size to choose.
    Queries in which no order is better than another (one document, or one grade) have no
    loss, and are left out of the mean. There is no intercept: no order depends on it.

    Parameters
    ----------
    loss
        ``"pairwise"``, the hinge of the differences of scores, a mean over all pairs of different
        grades of a query; ``"ndcg"``, ``"map"``, ``"mrr"``, bounds on 1 − NDCG@k, the average
        precision, the reciprocal rank; ``"assigned_ndcg"``, Chapelle, Le and Smola's for NDCG@k;
        or a `RankingLoss`: see `stepless.risks.ranking`. For ``"map"`` and ``"mrr"`` documents are
        relevant or not: y > 0 or y ≤ 0.
    k
        How many documents from the top NDCG@k and precision@k see, in these losses and in `score`.
    solver
        ``"auto"``, ``"bundle"``, ``"proximal-bundle"``, ``"bundle-linesearch"``, or one of these
        with parameters of its own.
    warm_start
        Whether `fit` begins where the last fit ended: on the same data with another α, which then
        takes few passes; on other data of the same features, from its weights.
    penalty, alpha, gap, passes, seconds, random_state, n_jobs, verbose
        As in `LinearClassifier`; no strength is chosen, and the solvers so far draw nothing.

    Attributes
    ----------
    coef_, intercept_
        Weights, and 0.
    n_queries_, n_queries_left_out_
        How many queries the mean loss is of, and how many have no loss.
    objective_, lower_bound_, gap_, rel_gap_, trace_, alpha_, solver_, n_passes_, stopped_by_
        As in `LinearClassifier`; so is `proof_`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(60, 3)), np.arange(60) // 10
    >>> y = np.digitize(X @ [1.0, -1.0, 0.0], [0.5, 1.5])  # grades 0, 1, 2
    >>> ranker = LinearRanker(loss="ndcg", alpha=1e-2).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid) > 0.95, ranker.stopped_by_
    (True, 'gap')
    """

    loss: Any = "pairwise"
    _: KW_ONLY
    k: int = 10
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        group: Any = None,
        qid: Any = None,
        watchers: Iterable[Watcher] = (),
    ) -> Self:
        """Fit to documents X (m × d, dense or sparse) with grades y, the higher the better.

        One of the two says which query a row belongs to: `group` has the sizes of the queries,
        whose rows follow each other; `qid` an id of the query for each row, in any order. Watchers
        are called with every event and the best (w, b) so far; True ends the run.
        """
        run = Run.of(self, watchers)
        problem, risk = self._asked(X, y, group, qid, run, anew(self, X))
        if risk.alone:
            warn(
                f"{risk.alone} of {risk.left_out + risk.queries} queries have one document, which "
                "is all there is to rank: they are left out; if that is not meant, look at group= "
                "or qid="
            )
        weights = (linear_weights(self, risk.d)[0][0], 0.0) if goes_on(self, risk.d) else None
        made_of = risk.loss, risk.source.X, risk.source.y, risk.starts
        result = minimize_whole(self, run, risk, weights, made_of)
        self.coef_, self.intercept_, self.alpha_ = result.w, 0.0, problem.strength
        certify(self, run, [result], constants=[risk.at_constant])
        self.n_queries_, self.n_queries_left_out_ = risk.queries, risk.left_out
        keep_proof(self, [result], in_words(risk.objective, risk.loss), _data(risk))
        return self

    def _posed(
        self, X: Any, y: Any, sample_weight: Any, group: Any = None, qid: Any = None
    ) -> Posed:
        """The problem that `fit` would pose, and the answer of now."""
        if sample_weight is not None:
            raise ValueError("a ranker has no sample_weight: leave it out")
        _, risk = self._asked(X, y, group, qid, Run.of(self), False)
        answer = risk, linear_weights(self, risk.d)[0][0], 0.0
        return Posed(in_words(risk.objective, risk.loss), _data(risk), [answer])

    def predict(self, X: Any) -> Array:
        """Return the score ⟨w, x⟩ of each document; the higher, the earlier in its query."""
        return linear_scores(self, X)

    def score(
        self, X: Any, y: Any, *, group: Any = None, qid: Any = None, measure: str = "ndcg"
    ) -> float:
        """Return the mean of a measure over the queries that have a relevant document.

        It is ``"ndcg"`` or ``"precision"``, of the first k documents, ``"map"`` or ``"mrr"``.
        Relevant are documents of a grade above 0. `group` or `qid` is as in `fit`.
        """
        _refuse_no_queries(group, qid)
        known: dict[str, Callable[..., float]] = {
            "ndcg": partial(ndcg_at_k, k=top_of(self.k)),
            "precision": partial(precision_at_k, k=top_of(self.k)),
            "map": mean_average_precision,
            "mrr": mean_reciprocal_rank,
        }
        if not isinstance(measure, str) or measure not in known:
            raise UnknownName("measure", str(measure), known)
        return known[measure](y, self.predict(X), group=group, qid=qid)

    # -- from parameters to a problem --------------------------------------------------------

    def _asked(
        self, X: Any, y: Any, group: Any, qid: Any, run: Run, reset: bool
    ) -> tuple[Problem, RankingRisk]:
        loss = self._ranking_loss()
        problem = Problem.of(self, loss=loss)
        _refuse_no_queries(group, qid)
        X, y = examples(self, X, y, reset=reset, numeric=True, ensure_min_samples=2)
        threads = run.threads
        risk = RankingRisk(loss, X, y, problem.regularizer, group=group, qid=qid, threads=threads)
        return problem, risk

    def _ranking_loss(self) -> RankingLoss:
        top = top_of(self.k)
        if isinstance(self.loss, RankingLoss):
            return self.loss
        if not isinstance(self.loss, str):
            raise TypeError(f"loss must be a name or a RankingLoss, not {type(self.loss).__name__}")
        known = {
            name: partial(kind, top) if "k" in kind._fields else kind
            for name, kind in RANKING_LOSSES.items()
        }
        return named("loss", self.loss, known)


def _refuse_no_queries(group: Any, qid: Any) -> None:
    if group is None and qid is None:
        raise ValueError(
            "a ranker needs to know the queries: give qid=, an id for each row, or group=, the "
            "sizes of the queries, whose rows follow each other; of one query alone, group=[len(y)]"
        )


def _data(risk: RankingRisk) -> dict[str, Any]:
    return {"examples": risk.source, "targets": risk.source.y, "queries": risk.starts}
