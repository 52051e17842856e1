"""Losses of rankings, and the measures that they bound.

A new loss is a subclass of `RankingLoss` in its own file, and one line of `RANKING_LOSSES`; if it
has a field `k`, that is the ranker's.
"""

from stepless.risks.ranking.assigned_ndcg import AssignedNDCG as AssignedNDCG
from stepless.risks.ranking.average_precision import AveragePrecision as AveragePrecision
from stepless.risks.ranking.measures import (
    mean_average_precision as mean_average_precision,
    mean_reciprocal_rank as mean_reciprocal_rank,
    ndcg_at_k as ndcg_at_k,
    precision_at_k as precision_at_k,
)
from stepless.risks.ranking.ndcg import NDCG as NDCG
from stepless.risks.ranking.pairwise import Pairwise as Pairwise
from stepless.risks.ranking.queries import Queries as Queries
from stepless.risks.ranking.ranking_loss import RankingLoss as RankingLoss
from stepless.risks.ranking.ranking_risk import RankingRisk as RankingRisk
from stepless.risks.ranking.reciprocal_rank import ReciprocalRank as ReciprocalRank

# The losses by the names that users write, in Python and on the command line.
RANKING_LOSSES: dict[str, type[RankingLoss]] = {
    "pairwise": Pairwise,
    "ndcg": NDCG,
    "assigned_ndcg": AssignedNDCG,
    "map": AveragePrecision,
    "mrr": ReciprocalRank,
}
