"""Risks of chains of tags: conditional random fields and max-margin Markov networks.

A new loss is a subclass of `ChainRisk` in its own file, and one line of `CHAIN_LOSSES`.
"""

from stepless.risks.chains.chain_risk import ChainRisk as ChainRisk
from stepless.risks.chains.crf_risk import CRFRisk as CRFRisk
from stepless.risks.chains.hinge_risk import ChainHingeRisk as ChainHingeRisk
from stepless.risks.chains.pairs import AllPairs as AllPairs, Pairs as Pairs, SeenPairs as SeenPairs

# The losses by the names that users write, in Python and on the command line.
CHAIN_LOSSES: dict[str, type[ChainRisk]] = {"crf": CRFRisk, "hinge": ChainHingeRisk}
