"""Online convex games on arbitrary functions: players, costs, ledgers of regret."""

from stepless.games.costs import Cost, ExampleLoss, Growth, Linear, Quadratic
from stepless.games.errors import GameError
from stepless.games.game import Game
from stepless.games.ledger import Ledger
from stepless.games.players import OGD, PLAYERS, Player

__all__ = [
    "OGD",
    "PLAYERS",
    "Cost",
    "ExampleLoss",
    "Game",
    "GameError",
    "Growth",
    "Ledger",
    "Linear",
    "Player",
    "Quadratic",
]
