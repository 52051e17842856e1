"""Checks of what a user gives for a player, its constants and its domain."""

from __future__ import annotations

import math

from stepless.games.players.player import Player


def refuse_non_player(player: object) -> None:
    """Raise TypeError if a name, a class or anything else is given for a player."""
    if not isinstance(player, Player):
        raise TypeError(f"a player is an object such as OGD(), not {described(player)}")


def described(given: object) -> str:
    """Describe what was given in place of an object: a name, a class, or another type's value."""
    if isinstance(given, str):
        return repr(given)
    return f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__


def refuse_nonpositive(**given: float | None) -> None:
    """Raise ValueError if a constant is given that is not positive and finite."""
    for name, value in given.items():
        if value is not None and not 0.0 < value < math.inf:
            raise ValueError(f"{name} must be positive, not {value:g}; leave it out if unknown")


def refuse_negative(**given: float | None) -> None:
    """Raise ValueError if a constant is given that is negative or not finite."""
    for name, value in given.items():
        if value is not None and not 0.0 <= value < math.inf:
            raise ValueError(f"{name} must be at least 0, not {value:g}")


def sum_of_simplex(player: Player, other: str) -> float:
    """Return the sum of weights in the player's simplex; `other` plays elsewhere."""
    if not player.domain.simplex:
        raise ValueError(
            f"{player.name} plays in a simplex, not in {type(player.domain).__name__}; use {other}"
        )
    return player.domain.radius()
