"""First gradients that are next to nothing, or too much, beside the later ones."""

import numpy as np
import pytest

from games.rounds import DOMAINS, D, Linear, worst
from stepless.games import Game, GameError
from stepless.games.players import (
    IFTRL,
    PLAYERS,
    AdaGrad,
    CompositeMirrorProx,
    Constant,
    MirrorProx,
    StrictlyConvexMirrorProx,
)
from stepless.objective import L2Ball

SCALES = [1e-16, 1e-12, 1e-8, 1e8, 1e16]
GRADIENT = [
    kind
    for kind in PLAYERS.values()
    if kind.feedback == "gradient"
    and kind.name not in {"saddle-mirror-prox", "eg", "hedge", "soft-constraints"}
]


def after(scale):
    """Random costs, the first of them scaled."""

    def cost(rng, d, w, t):
        return Linear(rng.normal(size=d) * (scale if t == 0 else 1.0))

    return cost


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize(
    "player",
    [
        MirrorProx(),
        MirrorProx("euclidean"),
        IFTRL(),
        IFTRL("euclidean"),
        CompositeMirrorProx(),
        StrictlyConvexMirrorProx(),
        AdaGrad("full"),
        AdaGrad("full", "averaging"),
        AdaGrad((0, 0, 1, 1)),
    ],
    ids=repr,
)
def test_bounds_hold_after_a_first_gradient_of_another_size(player, domain):
    for scale in SCALES:
        for seed in range(4):
            over, _ = worst(player, DOMAINS[domain], D, after(scale), 6, seed)
            assert over <= 1e-10, (scale, seed)


@pytest.mark.parametrize("kind", GRADIENT)
@pytest.mark.parametrize("scale", [1e-170, 1e-320, 1e160, 1e300])
def test_sizes_whose_squares_are_no_numbers_are_refused(kind, scale):
    if kind is Constant and scale < 1.0:
        pytest.skip("it uses no gradient, and hindsight none that is too small")
    rows = np.random.default_rng(0).normal(size=(3, 4))
    rows[1] *= scale
    rows[0] = 0.0
    with pytest.raises(GameError, match=r"round 2: the gradient's largest entry .* scale the"):
        Game(kind(), L2Ball(1.0)).run(rows)


def test_nothing_beside_others_is_nothing():
    rows = np.random.default_rng(0).normal(size=(4, 3))
    rows[2] *= 1e-200
    ledger = Game(MirrorProx(), L2Ball(1.0)).run(rows)
    rows[2] = 0.0
    np.testing.assert_array_equal(ledger.plays, Game(MirrorProx(), L2Ball(1.0)).run(rows).plays)
    assert ledger.holds
