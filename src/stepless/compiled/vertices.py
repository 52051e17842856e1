"""A domain's corners and its inside, for all weights at once."""

from __future__ import annotations

from stepless.jit import compiled
from stepless.objective.domains.domain import is_thin


@compiled("g[d] w[d]", plain=is_thin)
def lowest(domain, g, w):
    """Write w, a minimiser of ⟨g, ·⟩ over the domain."""
    domain.vertex(g, w)


@compiled("w[_]", plain=is_thin)
def enter(domain, w):
    """Move w to the nearest point of the domain."""
    domain.project(w)
