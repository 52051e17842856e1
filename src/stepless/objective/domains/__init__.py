"""Domains: sets of admissible weights, one per file."""

from stepless.objective.domains.box import Box
from stepless.objective.domains.constraint import Constraint
from stepless.objective.domains.domain import Domain
from stepless.objective.domains.free import Free
from stepless.objective.domains.intersection import Intersection
from stepless.objective.domains.l1_ball import L1Ball
from stepless.objective.domains.l2_ball import L2Ball
from stepless.objective.domains.lp_ball import LpBall
from stepless.objective.domains.nonnegative import Nonnegative
from stepless.objective.domains.polytope import Polytope
from stepless.objective.domains.psd_cone import PSDCone
from stepless.objective.domains.shrunk import Shrunk
from stepless.objective.domains.simplex import Simplex
from stepless.objective.domains.spectrahedron import Spectrahedron

DOMAINS: dict[str, type[Domain]] = {
    "free": Free,
    "ball": L2Ball,
    "l1_ball": L1Ball,
    "box": Box,
    "simplex": Simplex,
    "nonnegative": Nonnegative,
    "lp_ball": LpBall,
    "psd": Spectrahedron,
    "psd_cone": PSDCone,
}

__all__ = [
    "DOMAINS",
    "Box",
    "Constraint",
    "Domain",
    "Free",
    "Intersection",
    "L1Ball",
    "L2Ball",
    "LpBall",
    "Nonnegative",
    "PSDCone",
    "Polytope",
    "Shrunk",
    "Simplex",
    "Spectrahedron",
]
