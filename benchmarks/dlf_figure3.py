"""DLF's Figure 3: the standard bundle method against the proximal one, on risks of structure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks import datasets, ranking, rna
from benchmarks.tables import table
from stepless import SquaredL2, Stopping
from stepless.minimization import minimize
from stepless.risks.oracle_risk import OracleRisk
from stepless.risks.ranking import NDCG, Pairwise, RankingLoss, RankingRisk
from stepless.solvers import Bundle, ProximalBundle
from stepless.structured import StructuredRisk
from stepless.structured.rna import Folding

ITERATIONS = (5, 10, 20, 40, 80)


def rna_folds(folds: int = rna.FOLDS) -> Iterator[OracleRisk]:
    """Training parts of the five folds, of sequences with up to 150 bases."""
    records, fold = rna.families()
    for number in range(folds):
        train = [
            record
            for record, of in zip(records, fold, strict=True)
            if of != number and len(record.sequence) <= 150
        ]
        X, Y = [r.sequence for r in train], [r.structure for r in train]
        yield StructuredRisk(Folding(), X, Y, SquaredL2(1.0))


def ranking_folds(loss: RankingLoss) -> Iterator[OracleRisk]:
    """Training parts of the five folds, some 470 queries each; DLF had 1000 of their own."""
    for fold in range(ranking.PARTS):
        X, y, qid = ranking.documents(fold, fold + 1, fold + 2)
        yield RankingRisk(loss, X, y, SquaredL2(1.0), qid=qid)


def compare(title: str, risks: list[OracleRisk], strengths: Sequence[float]) -> None:
    """Print means over the folds: best objective so far, by iteration, and the certified gap."""
    rows: list[tuple[Any, ...]] = []
    for strength in strengths:
        for solver in (Bundle, ProximalBundle):
            runs = [
                minimize(
                    risk.under(SquaredL2(strength)),
                    solver(),
                    Stopping(gap=0.0, passes=ITERATIONS[-1]),
                )
                for risk in risks
            ]
            best = [
                float(np.mean([run.trace[t - 1].objective for run in runs])) for t in ITERATIONS
            ]
            gaps = [float(np.mean([run.trace[t - 1].rel_gap for run in runs])) for t in ITERATIONS]
            seconds = float(np.mean([run.trace[-1].seconds for run in runs]))
            rows.append((f"{strength:g}", solver.name, *best, gaps[-2], gaps[-1], round(seconds)))
    print(f"## DLF Figure 3: {title}, mean of {len(risks)} folds\n")
    table(
        [
            "λ",
            "solver",
            *(f"J after {t}" for t in ITERATIONS),
            *(f"certified gap after {t}" for t in ITERATIONS[-2:]),
            "s",
        ],
        rows,
    )


def main() -> None:
    if ranking.present():
        for title, loss in (("NDCG@10", NDCG(10)), ("pairs", Pairwise())):
            risks = list(ranking_folds(loss))
            compare(f"web ranking (MQ2008), {title}", risks, (1e-2, 1e-4, 1e-6))
    if datasets.present("rna-s151rfam"):
        compare("RNA folding (S-151Rfam)", list(rna_folds()), (1e-1, 1e-3, 1e-5))


if __name__ == "__main__":
    main()
