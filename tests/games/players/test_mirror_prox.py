import math

import numpy as np
import pytest

from games.argmin import argmin
from games.rounds import CONVEX, LINEAR, alternates, played, random, worst
from stepless.games import Game, Growth, Linear, Quadratic
from stepless.games.players import MirrorProx
from stepless.objective import L1, Box, L1Ball, L2Ball, Simplex

GIVEN = {
    "nothing": {},
    "smoothness": {"smoothness": 0.5},
    "linear": {"smoothness": 0.0},
    "both": {"smoothness": 0.5, "variation": 7.0},
}


def bregman(domain, g, h, z):
    """argmin ⟨g, w⟩ + hB(w, z) over the domain, by clarabel."""
    if isinstance(domain, Simplex):
        mass = h * domain.bound
        return argmin(domain, g - mass * np.log(z), entropy=mass)
    return argmin(domain, g - h * z, H=h)


def bowls(rng, d, w, t):
    return Quadratic.around(rng.normal(size=d), 1.0 + t % 3)


@pytest.mark.parametrize("domain", [L2Ball(1.0), Simplex(2.0), Box(-0.2, 0.4)], ids=repr)
@pytest.mark.parametrize("given", GIVEN)
def test_projected_points_are_the_argmins(domain, given):
    player, rng = MirrorProx(**GIVEN[given]).enter(domain, 4), np.random.default_rng(3)
    for t in range(12):
        iterates, w = player.iterates, player.play()
        before, hint, z0 = iterates.z, iterates.hint, iterates.mirror.first()
        if t > 0:
            np.testing.assert_allclose(
                w, bregman(domain, hint, iterates.inverse_step, before), atol=1e-8
            )
        player.observe(bowls(rng, 4, w, t))
        h = iterates.inverse_steps[-1]
        z, share = bregman(domain, player.g, h, before), h / iterates.inverse_step
        if isinstance(domain, Simplex):
            z = z**share * z0 ** (1.0 - share)
        else:
            z = share * z + (1.0 - share) * z0
        # The first step may end on the sphere with no multiplier: clarabel is lost there.
        np.testing.assert_allclose(iterates.z, z, atol=1e-8 if t > 0 else 1e-5)


@pytest.mark.parametrize("domain", [L2Ball(1.0), Box(-0.2, 0.4)], ids=repr)
def test_simplified_points_are_those_of_algorithm_7(domain):
    player = MirrorProx(smoothness=0.5, variation=7.0, update="simplified").enter(domain, 4)
    rng, outside = np.random.default_rng(3), 0
    for t in range(12):
        iterates, w, h = player.iterates, player.play(), player.iterates.inverse_step
        hint = iterates.hint
        np.testing.assert_allclose(w, bregman(domain, hint, h, iterates.z), atol=1e-8)
        player.observe(bowls(rng, 4, w, t))
        np.testing.assert_allclose(iterates.z, w + (hint - player.g) / h, atol=1e-12)
        inside = iterates.z.copy()
        domain.project(inside)
        outside += np.abs(inside - iterates.z).max() > 1e-3
    assert outside > 1  # else the two updates would be the same


@pytest.mark.parametrize("given", ["smoothness", "both"])
def test_both_updates_are_one_where_no_constraint_binds(given):
    def quiet(rng, d, w, t):
        return Quadratic.around(0.3 * rng.normal(size=d), 0.5)

    plays = [
        played(MirrorProx(update=update, **GIVEN[given]), L2Ball(50.0), 3, quiet, 60)[0].plays
        for update in ("projected", "simplified")
    ]
    np.testing.assert_allclose(*plays, atol=1e-12)


def test_experts_have_the_closed_form():
    """(5.15), with exp(−f/h)."""
    rng = np.random.default_rng(1)
    costs = rng.uniform(size=(60, 5))
    changes = np.diff(costs, axis=0, prepend=0.0)
    V = float((np.abs(changes).max(axis=1) ** 2).sum())
    h = math.sqrt(V / (2.0 * math.log(5)))
    player = MirrorProx(smoothness=0.0, variation=V).enter(Simplex(1.0), 5)
    z, last = np.full(5, 0.2), np.zeros(5)
    for f in costs:
        w = z * np.exp(-last / h)
        np.testing.assert_allclose(player.play(), w / w.sum(), rtol=1e-10)
        player.observe(f)
        z = z * np.exp(-f / h)
        z, last = z / z.sum(), f


@pytest.mark.parametrize("update", ["projected", "simplified"])
@pytest.mark.parametrize("given", GIVEN)
def test_regret_is_within_the_bound(given, update):
    for domain in (L2Ball(1.0), Simplex(1.0), Box(-0.5, 2.0), L1Ball(2.0)):
        for opponent in LINEAR + CONVEX:
            over, _ = worst(MirrorProx(update=update, **GIVEN[given]), domain, 3, opponent, 40)
            assert over <= 1e-12, (domain, opponent.__name__)


@pytest.mark.parametrize("mirror", ["euclidean", "p-norm"])
def test_regret_is_within_the_bound_of_another_mirror(mirror):
    for opponent in LINEAR + CONVEX:
        assert worst(MirrorProx(mirror), Simplex(1.0), 3, opponent, 40)[0] <= 1e-12


def test_bound_is_sharp():
    shares = [worst(MirrorProx(), L2Ball(1.0), 3, f, 200)[1] for f in LINEAR]
    assert max(shares) > 0.9
    assert np.median(shares) > 0.25


def drifting(rng, d):
    """Bowls of one shape whose centre wanders: how gradients change does not depend on w."""
    centers = np.cumsum(0.1 * rng.normal(size=(300, d)), axis=0)
    return [Quadratic.around(c, 2.0) for c in centers], 2.0 * np.diff(centers, axis=0, prepend=0.0)


@pytest.mark.parametrize("update", ["projected", "simplified"])
@pytest.mark.parametrize("domain", [L2Ball(1.0), L2Ball(3.0), Simplex(1.0)], ids=repr)
def test_bound_is_within_that_of_theorem_5_6(domain, update):
    costs, changes = drifting(np.random.default_rng(5), 3)
    player = MirrorProx(smoothness=2.0, variation=1.0).enter(domain, 3)
    squares = [player.iterates.mirror.dual_square(g) for g in changes]
    squares[0] = player.iterates.mirror.dual_square(costs[0].gradient(player.play()))
    V, R = sum(squares), math.sqrt(2.0 * player.iterates.mirror.value_range)
    ledger = Game(MirrorProx(None, 2.0, V, update), domain).run(costs)
    assert ledger.holds
    assert ledger.bound[-1] <= 2.0 * R * max(math.sqrt(2.0) * 2.0 * R, math.sqrt(V))


@pytest.mark.parametrize("domain", [L2Ball(2.0), Simplex(1.0), Simplex(3.0)], ids=repr)
def test_bound_is_within_that_of_corollaries_5_7_and_5_9(domain):
    costs = np.random.default_rng(6).uniform(size=(400, 4))
    mirror = MirrorProx().enter(domain, 4).iterates.mirror
    V = sum(mirror.dual_square(c) for c in np.diff(costs, axis=0, prepend=0.0))
    ledger = Game(MirrorProx(smoothness=0.0, variation=V), domain).run(costs)
    assert ledger.holds
    assert ledger.bound[-1] <= math.sqrt(2.0 * mirror.value_range * V)


@pytest.mark.parametrize("update", ["projected", "simplified"])
@pytest.mark.parametrize("given", [{}, {"smoothness": 4.0}, {"smoothness": 0.25}])
@pytest.mark.parametrize("domain", [L2Ball(1.0), Simplex(1.0)], ids=repr)
def test_steady_costs_leave_a_constant(domain, given, update):
    steady = [Quadratic.around([0.9, 0.6, -0.3], 4.0)] * 10_000
    bound = Game(MirrorProx(update=update, **given), domain).run(steady).bound
    assert bound[-1] <= bound[99] + 1e-3
    assert bound[-1] <= 60.0


def test_one_change_costs_a_constant():
    one, other = Quadratic.around([0.9, 0.6], 2.0), Quadratic.around([-0.9, 0.2], 2.0)
    ledger = Game(MirrorProx(), L2Ball(1.0)).run([one] * 3000 + [other] * 3000)
    assert ledger.holds
    assert ledger.bound[2999] <= 10.0
    assert ledger.bound[-1] <= ledger.bound[3100] + 1e-3 <= 40.0


@pytest.mark.parametrize("update", ["projected", "simplified"])
@pytest.mark.parametrize("given", [{}, {"smoothness": 0.0}])
def test_weights_that_have_vanished_come_back(given, update):
    """After 3000 steady rounds exp(−t/h) is 0 in floating point."""

    def turns(rng, d, w, t):
        return Linear([0.0, 1.0] if t < 3000 else [2.0, 0.0])

    player = MirrorProx(update=update, **given)
    assert worst(player, Simplex(1.0), 2, turns, 6000)[0] <= 1e-12
    assert player.play()[1] > 0.99


def test_heights_double_as_the_variation_grows():
    run, _, _ = played(player := MirrorProx(smoothness=0.3), L2Ball(1.0), 3, random, 300)
    steps = np.log2(np.array(player.iterates.inverse_steps) / (math.sqrt(8.0) * 0.3))
    assert (steps == steps.round()).all()
    assert (np.diff(steps) >= 0.0).all()
    seen = (np.diff(run.gradients, axis=0, prepend=0.0) ** 2).sum()
    assert 2.0 * math.sqrt(seen) <= player.iterates.inverse_step < 4.0 * math.sqrt(seen)


def test_portfolios():
    days = np.exp(0.1 * np.random.default_rng(0).normal(size=(300, 4)))
    assert Game(MirrorProx(), Simplex(1.0)).run(map(Growth, days)).holds


def test_costs_that_turn_every_round_leave_a_root():
    """No more than 2D√V for any linear costs, with adaptive step sizes."""
    player = MirrorProx()
    run, _, _ = played(player, Box(-1.0, 1.0), 3, alternates, 1500)
    V = (np.diff(run.gradients, axis=0, prepend=0.0) ** 2).sum()
    assert player.bound(run, np.ones(3))[-1] <= 2.0 * player.diameter * math.sqrt(V)


def test_a_second_game_is_the_same():
    player = MirrorProx()
    plays = [played(player, Simplex(1.0), 3, random, 20)[0].plays for _ in range(2)]
    np.testing.assert_array_equal(*plays)


def test_a_single_point_is_a_game():
    assert worst(MirrorProx(), Simplex(1.0), 1, random, 10)[0] <= 0.0


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"variation": 1.0}, "give both"),
        ({"smoothness": 1.0, "variation": 0.0}, "above 0"),
        ({"smoothness": -1.0}, "smoothness must be"),
        ({"smoothness": math.nan}, "smoothness must be"),
        ({"update": "lazy"}, "'projected' or 'simplified'"),
    ],
)
def test_constants_that_cannot_be(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        MirrorProx(**given)


def test_a_penalty_is_refused():
    with pytest.raises(ValueError, match="no penalty"):
        MirrorProx().enter(L2Ball(1.0), 2, penalty=L1(0.1))
