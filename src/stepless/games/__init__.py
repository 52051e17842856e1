"""Online convex games on arbitrary functions: players, costs, ledgers of regret."""

from stepless.games.compare import Comparison, compare_players
from stepless.games.costs import Cost, ExampleLoss, Growth, Linear, Quadratic, Saddle
from stepless.games.errors import GameError
from stepless.games.game import Game
from stepless.games.hindsight import Best, best_fixed
from stepless.games.learner import LearnerFromPlayer
from stepless.games.ledger import Ledger
from stepless.games.players import (
    FTPL,
    FTRL,
    IFTRL,
    OGD,
    OMD,
    ONS,
    PLAYERS,
    AdaGrad,
    Adaptive,
    BanditMirrorProx,
    BanditOnePoint,
    BanditTwoPoint,
    CompositeMirrorProx,
    Constant,
    ExponentiatedGradient,
    Hedge,
    MirrorProx,
    Player,
    Proximal,
    Run,
    SaddleMirrorProx,
    SoftConstraints,
    StrictlyConvexMirrorProx,
)
from stepless.games.portfolio import growths, relatives, wealth

__all__ = [
    "FTPL",
    "FTRL",
    "IFTRL",
    "OGD",
    "OMD",
    "ONS",
    "PLAYERS",
    "AdaGrad",
    "Adaptive",
    "BanditMirrorProx",
    "BanditOnePoint",
    "BanditTwoPoint",
    "Best",
    "Comparison",
    "CompositeMirrorProx",
    "Constant",
    "Cost",
    "ExampleLoss",
    "ExponentiatedGradient",
    "Game",
    "GameError",
    "Growth",
    "Hedge",
    "LearnerFromPlayer",
    "Ledger",
    "Linear",
    "MirrorProx",
    "Player",
    "Proximal",
    "Quadratic",
    "Run",
    "Saddle",
    "SaddleMirrorProx",
    "SoftConstraints",
    "StrictlyConvexMirrorProx",
    "best_fixed",
    "compare_players",
    "growths",
    "relatives",
    "wealth",
]
