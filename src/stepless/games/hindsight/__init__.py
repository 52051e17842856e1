"""The best fixed decision, once all costs are known, with a certificate."""

from stepless.games.hindsight.best import Best, best_fixed, refuse_empty

__all__ = ["Best", "best_fixed", "refuse_empty"]
