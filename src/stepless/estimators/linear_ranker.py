"""Linear ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Self

from numpy.typing import NDArray

from stepless.estimators.all_or_nothing import all_or_nothing
from stepless.estimators.certificate import certify
from stepless.estimators.examples import examples
from stepless.estimators.linear_scores import linear_scores, linear_weights
from stepless.estimators.sparse_estimator import SparseEstimator
from stepless.estimators.warm_start import anew, goes_on, minimize_whole
from stepless.problem import Problem
from stepless.registry import UnknownName, named
from stepless.risks.ranking import (
    NDCG,
    AssignedNDCG,
    AveragePrecision,
    Pairwise,
    RankingLoss,
    RankingRisk,
    ReciprocalRank,
    mean_average_precision,
    mean_reciprocal_rank,
    ndcg_at_k,
    precision_at_k,
)
from stepless.risks.ranking.top import top_of
from stepless.run import Run
from stepless.warning import warn
from stepless.watchers import Watcher


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
    penalty
        ``"l2"``, (α/2)‖w‖²; ``"l1"``, ``"elasticnet(ρ)"``, ``"lp(p)"``, ``"entropy"``,
        ``"hyperbolic"`` as in `LinearClassifier`, or a `Regularizer`.
    alpha
        The penalty's strength, α.
    solver
        ``"auto"``, ``"bundle"``, ``"proximal-bundle"``, ``"bundle-linesearch"``, or one of these
        with parameters of its own.
    gap, passes, seconds
        The run ends when the relative gap is certified, or after so many passes over the data or
        seconds, whichever comes first. Without a limit it ends after 1000 passes, with a warning.
    random_state
        Seed; the solvers so far draw nothing.
    n_jobs
        Threads; None or −1 for all cores.
    warm_start
        Whether `fit` begins where the last fit ended: on the same data with another α, which then
        takes few passes; on other data of the same features, from its weights.
    verbose
        1 to write a line a pass to standard error.

    Attributes
    ----------
    coef_, intercept_
        Weights, and 0.
    n_queries_, n_queries_left_out_
        How many queries the mean loss is of, and how many have no loss.
    objective_, lower_bound_, gap_, rel_gap_
        The certificate: the optimum lies between `lower_bound_` and `objective_`.
    trace_
        The run's events.
    alpha_, solver_, n_passes_, stopped_by_
        The penalty's strength, the solver's name, its passes, and what ended the run, as in
        `LinearClassifier`.

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

    def __init__(
        self,
        loss: Any = "pairwise",
        *,
        k: int = 10,
        penalty: Any = "l2",
        alpha: float = 1e-4,
        solver: Any = "auto",
        gap: float = 1e-3,
        passes: int | None = None,
        seconds: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.k = k
        self.penalty = penalty
        self.alpha = alpha
        self.solver = solver
        self.gap = gap
        self.passes = passes
        self.seconds = seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose

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
        loss = self._ranking_loss()
        problem, run = Problem.of(self, loss=loss), Run.of(self, watchers)
        _refuse_no_queries(group, qid)
        X, y = examples(self, X, y, reset=anew(self, X), numeric=True, ensure_min_samples=2)
        risk = RankingRisk(
            loss, X, y, problem.regularizer, group=group, qid=qid, threads=run.threads
        )
        if risk.alone:
            warn(
                f"{risk.alone} of {risk.left_out + risk.queries} queries have one document, which "
                "is all there is to rank: they are left out; if that is not meant, look at group= "
                "or qid="
            )
        weights = (linear_weights(self, risk.d)[0][0], 0.0) if goes_on(self, risk.d) else None
        made_of = loss, risk.source.X, risk.source.y, risk.starts
        result = minimize_whole(self, run, risk, weights, made_of)
        self.coef_, self.intercept_, self.alpha_ = result.w, 0.0, problem.strength
        certify(self, run, [result])
        self.n_queries_, self.n_queries_left_out_ = risk.queries, risk.left_out
        return self

    def predict(self, X: Any) -> NDArray:
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

    def _ranking_loss(self) -> RankingLoss:
        top = top_of(self.k)
        if isinstance(self.loss, RankingLoss):
            return self.loss
        if not isinstance(self.loss, str):
            raise TypeError(f"loss must be a name or a RankingLoss, not {type(self.loss).__name__}")
        known = {
            "pairwise": Pairwise,
            "ndcg": partial(NDCG, top),
            "assigned_ndcg": partial(AssignedNDCG, top),
            "map": AveragePrecision,
            "mrr": ReciprocalRank,
        }
        return named("loss", self.loss, known)


def _refuse_no_queries(group: Any, qid: Any) -> None:
    if group is None and qid is None:
        raise ValueError(
            "a ranker needs to know the queries: give qid=, an id for each row, or group=, the "
            "sizes of the queries, whose rows follow each other; of one query alone, group=[len(y)]"
        )
