"""Losses of rankings, and the measures that they bound.

A new loss is a subclass of `RankingLoss` in its own file, and one line of `RANKING_LOSSES`; if it
has a field `k`, that is the ranker's.
"""

from stepless.risks.ranking.assigned_ndcg import AssignedNDCG
from stepless.risks.ranking.average_precision import AveragePrecision
from stepless.risks.ranking.measures import (
    mean_average_precision,
    mean_reciprocal_rank,
    ndcg_at_k,
    precision_at_k,
)
from stepless.risks.ranking.ndcg import NDCG
from stepless.risks.ranking.pairwise import Pairwise
from stepless.risks.ranking.queries import Queries
from stepless.risks.ranking.ranking_loss import RankingLoss
from stepless.risks.ranking.ranking_risk import RankingRisk
from stepless.risks.ranking.reciprocal_rank import ReciprocalRank

# The losses by the names that users write, in Python and on the command line.
RANKING_LOSSES: dict[str, type[RankingLoss]] = {
    "pairwise": Pairwise,
    "ndcg": NDCG,
    "assigned_ndcg": AssignedNDCG,
    "map": AveragePrecision,
    "mrr": ReciprocalRank,
}

__all__ = [
    "NDCG",
    "RANKING_LOSSES",
    "AssignedNDCG",
    "AveragePrecision",
    "Pairwise",
    "Queries",
    "RankingLoss",
    "RankingRisk",
    "ReciprocalRank",
    "mean_average_precision",
    "mean_reciprocal_rank",
    "ndcg_at_k",
    "precision_at_k",
]
