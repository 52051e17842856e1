"""Online convex games: players, costs, ledgers of regret."""

from stepless.games import players
from stepless.games.compare import Comparison, compare_players
from stepless.games.costs import Cost, ExampleLoss, Growth, Linear, Quadratic, Saddle
from stepless.games.errors import GameError
from stepless.games.game import Game
from stepless.games.hindsight import Best, best_fixed
from stepless.games.learner import LearnerFromPlayer
from stepless.games.ledger import Ledger
from stepless.games.players import *  # noqa: F403
from stepless.games.portfolio import growths, relatives, wealth

__all__ = [
    "Best",
    "Comparison",
    "Cost",
    "ExampleLoss",
    "Game",
    "GameError",
    "Growth",
    "LearnerFromPlayer",
    "Ledger",
    "Linear",
    "Quadratic",
    "Saddle",
    "best_fixed",
    "compare_players",
    "growths",
    "relatives",
    "wealth",
]
__all__ += players.__all__
