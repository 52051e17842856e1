"""What is said of a player that is none, of its constants, and of a domain not its own."""

from __future__ import annotations

import math
from typing import Any

from stepless.games.players.player import Player


def refuse_nobody(player: Any) -> None:
    """Raise TypeError where a name, a class or anything else is given for a player.

    Examples
    --------
    >>> refuse_nobody("ogd")
    Traceback (most recent call last):
    ...
    TypeError: a player is an object such as OGD(), not 'ogd'
    """
    if not isinstance(player, Player):
        raise TypeError(f"a player is an object such as OGD(), not {told(player)}")


def told(given: Any) -> str:
    """What was given in place of an object: a name, a class, or something of another class."""
    if isinstance(given, str):
        return repr(given)
    return f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__


def positive(**given: float | None) -> None:
    """Raise ValueError where a constant was given that is not positive."""
    for name, value in given.items():
        if value is not None and not 0.0 < value < math.inf:
            raise ValueError(f"{name} must be positive, not {value:g}; leave it out if unknown")


def nonnegative(**given: float | None) -> None:
    """Raise ValueError where a constant was given that is below 0."""
    for name, value in given.items():
        if value is not None and not 0.0 <= value < math.inf:
            raise ValueError(f"{name} must be at least 0, not {value:g}")


def sum_of_simplex(player: Player, other: str) -> float:
    """Return the sum of weights in the player's simplex; `other` plays where it is none."""
    if not player.domain.simplex:
        raise ValueError(
            f"{player.name} plays in a simplex, not in {type(player.domain).__name__}; use {other}"
        )
    return player.domain.radius()
