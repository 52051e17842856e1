import numpy as np
import pytest

from games.bandit_rounds import outside
from games.rounds import DOMAINS, D
from stepless.games import Game, GameError
from stepless.games.costs import Linear, Quadratic
from stepless.games.players import BanditMirrorProx, BanditOnePoint, BanditTwoPoint
from stepless.objective import L1, L2Ball, Simplex

BANDITS = (BanditOnePoint, BanditTwoPoint, BanditMirrorProx)


@pytest.mark.parametrize("kind", BANDITS)
@pytest.mark.parametrize("name", DOMAINS)
def test_every_point_lies_in_the_domain(kind, name):
    domain = DOMAINS[name]
    player = kind().enter(domain, D)
    rng = np.random.default_rng(2)
    for t in range(150):
        points = player.play()
        assert outside(domain, points) <= 1e-13
        c = rng.normal(size=D) * 10.0 ** (t % 7 - 3)
        player.observe(np.atleast_2d(points) @ c)


@pytest.mark.parametrize("kind", BANDITS)
def test_shrunk_domain_leaves_room_around_where_the_player_stands(kind):
    player = kind().enter(L2Ball(1.0), 3)
    for _ in range(50):
        points = np.atleast_2d(player.play())
        assert np.linalg.norm(player.z) <= 1.0 - player.share + 1e-12
        player.observe(points @ [1.0, 2.0, -3.0])
    assert np.linalg.norm(player.z) > 0.9 * (1.0 - player.share)


@pytest.mark.parametrize("kind", BANDITS)
def test_same_seed_same_game(kind):
    rng = np.random.default_rng(4)
    costs = [Quadratic.around(c) for c in rng.normal(size=(60, 3))]
    player = kind()

    def play(seed):
        return Game(player, L2Ball(1.0), seed=seed).run(costs)

    first, second, other = play(5), play(5), play(6)
    np.testing.assert_array_equal(first.plays, second.plays)
    np.testing.assert_array_equal(first.loss, second.loss)
    if kind is not BanditMirrorProx:
        assert not np.array_equal(first.plays, other.plays)


@pytest.mark.parametrize("kind", BANDITS)
def test_takes_values_costs_and_functions_alike(kind):
    cost = Quadratic.around([0.3, -0.2, 0.1])
    ways = [
        lambda p: p.observe(np.array([cost.value(v) for v in np.atleast_2d(p.play())])),
        lambda p: p.observe([cost.value(v) for v in np.atleast_2d(p.play())]),
        lambda p: p.observe(cost),
        lambda p: p.observe(cost.value),
    ]
    ends = []
    for way in ways:
        player = kind().enter(Simplex(), 3)
        for _ in range(20):
            way(player)
        ends.append(player.z)
    for end in ends[1:]:
        np.testing.assert_array_equal(end, ends[0])


class NoSlope:
    """A function whose gradient must not be asked for."""

    def value(self, w):
        return float(w @ w)

    def gradient(self, w):
        raise AssertionError("a bandit asked for a gradient")


@pytest.mark.parametrize("kind", BANDITS)
def test_never_asks_for_a_gradient(kind):
    player = kind().enter(L2Ball(1.0), 3)
    for _ in range(5):
        player.observe(NoSlope())


@pytest.mark.parametrize("kind", BANDITS)
def test_ledger_keeps_what_was_suffered(kind):
    costs = [Linear(c) for c in np.random.default_rng(1).normal(size=(40, 3))]
    ledger = Game(kind(), Simplex(), seed=3).run(costs)
    player, losses = kind().enter(Simplex(), 3, seed=3), []
    for cost in costs:
        values = [cost.value(v) for v in np.atleast_2d(player.play())]
        losses.append(np.mean(values) if kind is BanditTwoPoint else values[0])
        player.observe(values)
    np.testing.assert_allclose(np.diff(ledger.loss, prepend=0.0), losses, atol=1e-12)


@pytest.mark.parametrize("kind", BANDITS)
def test_without_constants_no_bound(kind):
    ledger = Game(kind(), L2Ball(1.0)).run(np.ones((5, 2)))
    assert np.isinf(ledger.bound).all()
    assert ledger.holds


@pytest.mark.parametrize("kind", BANDITS)
def test_a_single_decision_leaves_nothing_to_decide(kind):
    player = kind().enter(Simplex(), 1)
    for _ in range(3):
        player.observe(np.atleast_2d(player.play()) @ [2.0])
    np.testing.assert_array_equal(player.z, [1.0])


@pytest.mark.parametrize("kind", BANDITS)
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_scale_of_the_costs_does_not_matter(kind, factor):
    costs = np.random.default_rng(7).normal(size=(80, 3))
    plays = [Game(kind(), L2Ball(1.0)).run(c).plays for c in (costs, factor * costs)]
    np.testing.assert_allclose(*plays, atol=1e-9)


@pytest.mark.parametrize("kind", BANDITS)
def test_bad_rounds_are_refused_where_they_happen(kind):
    player = kind().enter(L2Ball(1.0), 5)
    player.observe(lambda w: 1.0)
    with pytest.raises(
        GameError, match=r"round 2: .* asks for \d value.* got an array of shape \(9,\)"
    ):
        player.observe(np.zeros(9))
    player = kind().enter(L2Ball(1.0), 5)
    with pytest.raises(GameError, match=r"round 1: .*not finite"):
        player.observe(lambda w: np.nan)
    with pytest.raises(ValueError, match="make it a part of each cost"):
        kind().enter(L2Ball(1.0), 5, penalty=L1(0.1))
