"""DLF's Figure 3: the standard bundle method beside the proximal one, for three strengths each.

A problem is a function from a strength to a risk; each has a name in PROBLEMS, and strengths.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from benchmarks import ranking
from benchmarks.tables import table
from stepless import SquaredL2, Stopping
from stepless.minimize import minimize
from stepless.risks.ranking import NDCG, Pairwise, RankingLoss, RankingRisk
from stepless.solvers import SOLVERS
from stepless.whole_risk import WholeRisk

SOLVERS_SHOWN = ("bundle", "proximal-bundle")
ITERATIONS = (5, 10, 20, 50, 100, 200)


@cache
def web_ranking(loss: RankingLoss) -> Callable[[float], WholeRisk]:
    """MQ2008, fold 1: 471 queries; DLF had 1000 of their own."""
    X, y, qid = ranking.documents(0, 1, 2)
    risk = RankingRisk(loss, X, y, SquaredL2(1.0), qid=qid)
    return lambda strength: risk.under(SquaredL2(strength))


def problems() -> dict[str, tuple[Callable[[float], WholeRisk], tuple[float, ...]]]:
    """Problems whose data are at hand, and their strengths."""
    found: dict[str, tuple[Callable[[float], WholeRisk], tuple[float, ...]]] = {}
    if ranking.present():
        found["web ranking, NDCG@10"] = web_ranking(NDCG(10)), (1e-2, 1e-4, 1e-6)
        found["web ranking, pairwise"] = web_ranking(Pairwise()), (1e-2, 1e-4, 1e-6)
    return found


def show(name: str, risk_at: Callable[[float], WholeRisk], strengths: tuple[float, ...]) -> None:
    """Best objective so far, and certified relative gap, after so many iterations."""
    rows = []
    for strength in strengths:
        for solver in SOLVERS_SHOWN:
            stopping = Stopping(gap=1e-6, passes=ITERATIONS[-1])
            trace = minimize(risk_at(strength), SOLVERS[solver](), stopping).trace
            cells = []
            for t in ITERATIONS:
                event = trace[min(t, len(trace)) - 1]
                cells.append(f"{event.objective:.4f} ({event.rel_gap:.1%})")
            rows.append((f"{strength:g}", solver, *cells, float(np.round(trace[-1].seconds, 2))))
    print(f"### {name}: objective (certified gap) after so many iterations\n")
    table(["λ", "solver", *map(str, ITERATIONS), "seconds"], rows)


def main() -> None:
    print("## DLF Figure 3: standard against proximal bundle\n")
    for name, (risk_at, strengths) in problems().items():
        show(name, risk_at, strengths)


if __name__ == "__main__":
    main()
