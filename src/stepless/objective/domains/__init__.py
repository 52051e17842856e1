"""Domains: where the weights may lie, one a file."""

from stepless.objective.domains.domain import Domain
from stepless.objective.domains.free import Free
from stepless.objective.domains.l2_ball import L2Ball

DOMAINS: dict[str, type[Domain]] = {"free": Free, "ball": L2Ball}

__all__ = ["DOMAINS", "Domain", "Free", "L2Ball"]
