"""Players: one a file."""

from stepless.games.players.ogd import OGD
from stepless.games.players.player import Player, Run

PLAYERS: dict[str, type[Player]] = {kind.name: kind for kind in (OGD,)}

__all__ = ["OGD", "PLAYERS", "Player", "Run"]
