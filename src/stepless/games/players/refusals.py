"""What a player says when a game is not one for it."""

from __future__ import annotations

from typing import Any

from stepless.games.players.player import Player
from stepless.objective import Simplex


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


def refuse_penalty(player: Player) -> None:
    """Raise ValueError where the game has a penalty beside its costs.

    Examples
    --------
    >>> from stepless import L1
    >>> from stepless.games import OGD
    >>> OGD().enter(Simplex(), 2, penalty=L1(1.0))
    Traceback (most recent call last):
    ...
    ValueError: ogd knows no penalty apart: let it be a part of each cost
    """
    if player.penalty is not None:
        raise ValueError(f"{player.name} knows no penalty apart: let it be a part of each cost")


def simplex_of(player: Player, other: str) -> Simplex:
    """The player's domain, if it is a simplex; `other` is who plays where it is none."""
    if not isinstance(player.domain, Simplex):
        raise ValueError(
            f"{player.name} plays in a simplex, not in {type(player.domain).__name__}; use {other}"
        )
    return player.domain
