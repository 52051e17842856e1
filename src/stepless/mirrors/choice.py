"""The mirror map of a name, or the domain's own."""

from __future__ import annotations

from stepless.mirrors.entropy import Entropy
from stepless.mirrors.euclidean import Euclidean
from stepless.mirrors.mirror import Mirror
from stepless.objective import Domain, L1Ball, Simplex
from stepless.registry import UnknownName

MIRRORS = {"euclidean": Euclidean, "entropy": Entropy}


def mirror_of(name: str | None, domain: Domain, d: int) -> Mirror:
    """Build the mirror map of that name over a domain of d weights.

    None stands for the domain's own: the entropy for a simplex, p-norms for an ℓ₁ ball, else the
    Euclidean one.

    Examples
    --------
    >>> mirror_of(None, Simplex(1.0), 3).name
    'entropy'
    """
    if name is None:
        name = "entropy" if isinstance(domain, Simplex) else "euclidean"
    if name not in MIRRORS:
        raise UnknownName("mirror", name, MIRRORS)
    return MIRRORS[name](domain, d)
