"""Linear ranking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Self, TypeAlias

from numpy.typing import ArrayLike
from sklearn.utils import Tags

from stepless.arrays import Array, MatrixLike, Weights
from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.certificate import store_certificate
from stepless.estimators.certified_estimator import CertifiedEstimator
from stepless.estimators.linear_scores import linear_scores, linear_weights
from stepless.estimators.parameters import PenaltyParameters, RunParameters, ordered_signature
from stepless.estimators.proof import Data, Obligation, describe_problem, store_proof
from stepless.estimators.validation import refuse_store, validate_X_y
from stepless.estimators.warm_start import last_weights, may_reset_features, minimize_oracle_risk
from stepless.problem import Problem
from stepless.registry import UnknownName, named
from stepless.risks import ranking
from stepless.risks.ranking.top import top_of
from stepless.run import Run, Watchers
from stepless.warning import warn

Queries: TypeAlias = "ArrayLike | None"  # sizes or ids


@ordered_signature
@dataclass(eq=False, repr=False)
class LinearRanker(PenaltyParameters, RunParameters, CertifiedEstimator):
    """A linear ranker of each query's documents, with a certificate.

    Minimises Ω(w) + the mean over queries of a loss of their documents' scores ⟨w, x_i⟩, until the
    answer is provably within the relative `gap` of the optimum. There is no step size to choose.
    Queries in which no order is better than another (one document, or one grade) have no loss, and
    are left out of the mean. There is no intercept: no order depends on it.

    Parameters
    ----------
    loss
        ``"pairwise"``, the hinge of score differences, a mean over all pairs of different grades
        in a query; ``"ndcg"``, ``"map"``, ``"mrr"``, bounds on 1 − NDCG@k, the average
        precision, the reciprocal rank; ``"assigned_ndcg"``, Chapelle, Le and Smola's for NDCG@k;
        or a `RankingLoss`: see `stepless.risks.ranking`. For ``"map"`` and ``"mrr"`` documents are
        relevant or not: y > 0 or y ≤ 0.
    k
        The k of NDCG@k and precision@k, in these losses and in `score`.
    solver
        ``"auto"``, ``"bundle"``, ``"proximal-bundle"``, ``"bundle-linesearch"``, or a solver
        object of one of these.
    warm_start
        True to start `fit` where the last fit ended: on the same data with another α, which then
        takes few passes; on other data of the same features, from its weights.
    penalty, alpha, gap, passes, seconds, random_state, n_jobs, verbose
        As in `LinearClassifier`, but alpha is a number; these solvers use no random numbers.

    Attributes
    ----------
    coef_, intercept_
        Weights, and 0.
    n_queries_, n_queries_left_out_
        Number of queries in the mean loss, and of queries without a loss.
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

    loss: str | ranking.RankingLoss = "pairwise"
    _: KW_ONLY
    k: int = 10

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @all_or_nothing
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        group: Queries = None,
        qid: Queries = None,
        watchers: Watchers = (),
    ) -> Self:
        """Fit to documents X (m × d, dense or sparse) with grades y, the higher the better.

        Queries are given by `group`, their sizes if the rows of each follow each other, or by
        `qid`, the id of each row's query, in any order. Watchers are called with every event and
        the best (w, b) so far; True ends the run.
        """
        refuse_store(self, X)
        run = Run.of(self, watchers)
        problem, risk = self._risk(X, y, group, qid, run, may_reset_features(self, X))
        if risk.alone:
            warn(
                f"{risk.alone} of {risk.left_out + risk.queries} queries have one document, which "
                "is all there is to rank: they are left out; if that is not meant, look at group= "
                "or qid="
            )
        last = last_weights(self, risk.d)
        data = risk.loss, risk.source.X, risk.source.y, risk.starts
        result = minimize_oracle_risk(self, run, risk, last if last is None else (last, 0.0), data)
        self.coef_, self.intercept_, self.alpha_ = result.w, 0.0, problem.strength
        store_certificate(self, run, [result], constants=[risk.at_constant])
        self.n_queries_, self.n_queries_left_out_ = risk.queries, risk.left_out
        store_proof(self, [result], describe_problem(risk.objective, risk.loss), _data(risk))
        return self

    def _proof_obligation(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: Weights,
        group: Queries = None,
        qid: Queries = None,
    ) -> Obligation:
        if sample_weight is not None:
            raise ValueError("a ranker has no sample_weight: leave it out")
        _, risk = self._risk(X, y, group, qid, Run.of(self), False)
        runs = [(risk, linear_weights(self, risk.d)[0][0], 0.0)]
        return Obligation(describe_problem(risk.objective, risk.loss), _data(risk), runs)

    def predict(self, X: MatrixLike) -> Array:
        """Return the score ⟨w, x⟩ of each document; the higher, the earlier in its query."""
        return linear_scores(self, X)

    def score(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        group: Queries = None,
        qid: Queries = None,
        measure: str = "ndcg",
    ) -> float:
        """Return the mean of a measure over the queries that have a relevant document.

        It is ``"ndcg"`` or ``"precision"``, of the first k documents, ``"map"`` or ``"mrr"``.
        Relevant are documents of a grade above 0. `group` or `qid` is as in `fit`.
        """
        _refuse_no_queries(group, qid)
        known: dict[str, Callable[..., float]] = {
            "ndcg": partial(ranking.ndcg_at_k, k=top_of(self.k)),
            "precision": partial(ranking.precision_at_k, k=top_of(self.k)),
            "map": ranking.mean_average_precision,
            "mrr": ranking.mean_reciprocal_rank,
        }
        if not isinstance(measure, str) or measure not in known:
            raise UnknownName("measure", str(measure), known)
        return known[measure](y, self.predict(X), group=group, qid=qid)

    def _risk(
        self, X: MatrixLike, y: ArrayLike, group: Queries, qid: Queries, run: Run, reset: bool
    ) -> tuple[Problem, ranking.RankingRisk]:
        loss, threads = self._ranking_loss(), run.threads
        problem = Problem.of(self, loss=loss)
        _refuse_no_queries(group, qid)
        X, y = validate_X_y(self, X, y, reset=reset, numeric=True, ensure_min_samples=2)
        risk = ranking.RankingRisk(
            loss, X, y, problem.regularizer, group=group, qid=qid, threads=threads
        )
        return problem, risk

    def _ranking_loss(self) -> ranking.RankingLoss:
        top = top_of(self.k)
        if isinstance(self.loss, ranking.RankingLoss):
            return self.loss
        if not isinstance(self.loss, str):
            raise TypeError(f"loss must be a name or a RankingLoss, not {type(self.loss).__name__}")
        known = {
            name: partial(kind, top) if "k" in kind._fields else kind
            for name, kind in ranking.RANKING_LOSSES.items()
        }
        found: ranking.RankingLoss = named("loss", self.loss, known)
        return found


def _refuse_no_queries(group: Queries, qid: Queries) -> None:
    if group is None and qid is None:
        raise ValueError(
            "a ranker needs to know the queries: give qid=, an id for each row, or group=, the "
            "sizes of the queries, whose rows follow each other; for a single query, group=[len(y)]"
        )


def _data(risk: ranking.RankingRisk) -> Data:
    return {"examples": risk.source, "targets": risk.source.y, "queries": risk.starts}
