"""Risks of chains of tags: conditional random fields and max-margin Markov networks."""

from stepless.risks.chains.chain_risk import ChainRisk
from stepless.risks.chains.crf_risk import CRFRisk
from stepless.risks.chains.hinge_risk import ChainHingeRisk
from stepless.risks.chains.pairs import AllPairs, Pairs, SeenPairs

CHAIN_LOSSES: dict[str, type[ChainRisk]] = {"crf": CRFRisk, "hinge": ChainHingeRisk}

__all__ = [
    "CHAIN_LOSSES",
    "AllPairs",
    "CRFRisk",
    "ChainHingeRisk",
    "ChainRisk",
    "Pairs",
    "SeenPairs",
]
