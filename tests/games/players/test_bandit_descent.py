"""Regret of the players who descend along random directions."""

import pytest

from games.bandit_rounds import corners, estimated, expected
from games.rounds import against, drifting_bowls, flips, one_coordinate, random, scales, steady
from stepless.games.players import BanditOnePoint, BanditTwoPoint
from stepless.objective import Box, L2Ball, Simplex


@pytest.mark.parametrize("kind", [BanditOnePoint, BanditTwoPoint])
@pytest.mark.parametrize("domain", [L2Ball(1.0), Box(-0.2, 0.6), Simplex(2.0)], ids=repr)
def test_regret_of_the_estimates_is_within_the_bound_in_every_game(domain, kind):
    share = 0.0
    for seed in range(40):
        linear, bound = estimated(kind(), domain, 3, 60, seed)
        assert (linear <= bound * (1.0 + 1e-12)).all()
        share = max(share, linear[-1] / bound[-1])
    assert share > 0.7


@pytest.mark.parametrize(("kind", "seeds"), [(BanditOnePoint, 50), (BanditTwoPoint, 40)])
@pytest.mark.parametrize("domain", [L2Ball(1.0), Simplex(1.0)], ids=repr)
@pytest.mark.parametrize(
    "opponent", [random, against, flips, scales, one_coordinate, steady, drifting_bowls]
)
def test_expected_regret_is_within_the_bound(domain, opponent, kind, seeds):
    mean, error, _, bound = expected(kind, domain, 3, opponent, 60, seeds, corners(domain, 3))
    assert (mean <= 4.0 * error).all()
    assert (bound > 0.0).all()
