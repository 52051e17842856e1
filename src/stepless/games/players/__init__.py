"""Players, one per file. A new one is its file, an import here and its name in `__all__`."""

from stepless.games.players.adagrad import AdaGrad
from stepless.games.players.adaptive import Adaptive
from stepless.games.players.bandit_mirror_prox import BanditMirrorProx
from stepless.games.players.bandit_one_point import BanditOnePoint
from stepless.games.players.bandit_two_point import BanditTwoPoint
from stepless.games.players.composite_mirror_prox import CompositeMirrorProx
from stepless.games.players.constant import Constant
from stepless.games.players.exponentiated_gradient import ExponentiatedGradient
from stepless.games.players.ftpl import FTPL
from stepless.games.players.ftrl import FTRL
from stepless.games.players.hedge import Hedge
from stepless.games.players.iftrl import IFTRL
from stepless.games.players.mirror_prox import MirrorProx
from stepless.games.players.ogd import OGD
from stepless.games.players.omd import OMD
from stepless.games.players.ons import ONS
from stepless.games.players.player import Player, Run
from stepless.games.players.proximal import Proximal
from stepless.games.players.saddle_mirror_prox import SaddleMirrorProx
from stepless.games.players.soft_constraints import SoftConstraints
from stepless.games.players.strictly_convex_mirror_prox import StrictlyConvexMirrorProx

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
    "CompositeMirrorProx",
    "Constant",
    "ExponentiatedGradient",
    "Hedge",
    "MirrorProx",
    "Player",
    "Proximal",
    "Run",
    "SaddleMirrorProx",
    "SoftConstraints",
    "StrictlyConvexMirrorProx",
]

# All players above, by name: the shell, comparisons, contract tests and docs follow from it.
PLAYERS: dict[str, type[Player]] = {
    kind.name: kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Player) and kind is not Player
}
ALIASES = {"uniform": "constant"}  # the usual name if weights are shares
