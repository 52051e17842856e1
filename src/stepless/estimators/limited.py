"""Parameters that estimators have in common."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any


@dataclass(eq=False, repr=False)
class Limited:
    """When a fit ends, what is left to chance, where it begins: as `LinearClassifier` has them."""

    _: KW_ONLY
    gap: float = 1e-3
    passes: int | None = None
    seconds: float | None = None
    random_state: Any = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0
