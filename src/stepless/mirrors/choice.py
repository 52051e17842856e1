"""The mirror map of a name, or the domain's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from stepless.mirrors.entropy import Entropy
from stepless.mirrors.euclidean import Euclidean
from stepless.mirrors.mirror import Mirror
from stepless.mirrors.p_norm import PNorm
from stepless.objective import Domain
from stepless.registry import UnknownName

MirrorName = Literal["euclidean", "entropy", "p-norm"]

_Maker = Callable[[Domain, int], Mirror]
MIRRORS: dict[str, _Maker] = {"euclidean": Euclidean, "entropy": Entropy, "p-norm": PNorm}


def mirror_of(name: str | None, domain: Domain, d: int) -> Mirror:
    """Build the mirror map of that name over a domain of d weights.

    None stands for the domain's own: the entropy for a simplex, p-norms for an ℓ₁ ball, else the
    Euclidean one.

    Examples
    --------
    >>> from stepless.objective import Simplex
    >>> mirror_of(None, Simplex(1.0), 3).name
    'entropy'
    """
    if name is None:
        name = "p-norm" if domain.ball_exponent == 1.0 else "euclidean"
        name = "entropy" if domain.simplex else name
    if name not in MIRRORS:
        raise UnknownName("mirror", name, MIRRORS)
    return MIRRORS[name](domain, d)
