import math

import numpy as np
import pytest

from games.argmin import argmin
from games.rounds import CONVEX, LINEAR, alternates, played, random, worst
from stepless.games import ExampleLoss, Game, Growth, Quadratic
from stepless.games.players import StrictlyConvexMirrorProx
from stepless.objective import L1, Box, L2Ball, Simplex, Squared


def growth(rng, d, w, t):
    return Growth(np.exp(0.3 * rng.normal(size=d)))


def bowls(rng, d, w, t):
    return Quadratic.around(rng.normal(size=d), 1.0 + t % 3)


def against(rng, d, w, t):
    """A bowl whose middle flees, steep and flat in turns."""
    return Quadratic.around(-3.0 * w + 0.1 * rng.normal(size=d), 10.0 ** (3 * ((t // 13) % 3 - 1)))


@pytest.mark.parametrize(
    ("domain", "opponent"),
    [(Box(-0.3, 0.5), bowls), (Box(-0.5, 0.8), against), (Simplex(1.0), growth)],
)
def test_points_are_the_argmins_of_5_18(domain, opponent):
    player, rng = StrictlyConvexMirrorProx().enter(domain, 4), np.random.default_rng(3)
    curved = np.zeros((4, 4))
    for t in range(12):
        w, before = player.play(), player.z
        player.observe(opponent(rng, 4, w, t))
        g = player.hint
        H = curved + player.inverse_steps[-1] * np.eye(4)
        np.testing.assert_allclose(player.z, argmin(domain, g - H @ before, H=H), atol=1e-8)
        curved += player.strict[-1] * np.outer(g, g)
        H = curved + player.inverse_step * np.eye(4)
        ahead = argmin(domain, g - H @ player.z, H=H)
        np.testing.assert_allclose(player.play(), ahead, atol=1e-8)


def test_costs_curve_as_much_as_is_said():
    """(5.16) for every u, and for no larger β of an exp-concave cost."""
    rng, tight = np.random.default_rng(0), np.inf
    player = StrictlyConvexMirrorProx().enter(Simplex(1.0), 3)
    for t in range(40):
        w = player.play()
        cost = growth(rng, 3, w, t)
        player.observe(cost)
        for u in (*np.eye(3), *rng.dirichlet(np.ones(3), 20)):
            z = cost.gradient(w) @ (u - w)
            room = cost.value(u) - cost.value(w) - z - player.strict[-1] * z * z
            assert room >= -1e-13
            tight = min(tight, room / (z * z) if abs(z) > 1e-3 else np.inf)
    assert tight < 1e-3


def test_regret_is_within_the_bound():
    for domain in (L2Ball(1.0), Simplex(1.0), Box(-0.5, 2.0)):
        for opponent in (*LINEAR, *CONVEX, against):
            over, _ = worst(StrictlyConvexMirrorProx(), domain, 3, opponent, 30)
            assert over <= 1e-12, (domain, opponent.__name__)
    for seed in range(10):
        assert worst(StrictlyConvexMirrorProx(), Simplex(1.0), 3, growth, 60, seed)[0] <= 1e-12


def test_regret_is_within_the_bound_of_a_known_curvature():
    """½(⟨x, w⟩ − y)² = ½e² has the gradient ex, so that ½⟨x, u − w⟩² = z²/(2e²); |e| ≤ 2 here."""

    def examples(rng, d, w, t):
        x = rng.normal(size=d)
        return ExampleLoss(Squared(), x / np.linalg.norm(x), rng.uniform(-1.0, 1.0))

    for seed in range(10):
        player = StrictlyConvexMirrorProx(curvature=0.125)
        assert worst(player, L2Ball(1.0), 3, examples, 60, seed)[0] <= 1e-12


def test_bound_is_logarithmic():
    days = [growth(np.random.default_rng(t), 3, None, t) for t in range(2000)]
    ledger = Game(StrictlyConvexMirrorProx(), Simplex(1.0)).run(days)
    assert ledger.holds
    assert ledger.bound[-1] - ledger.bound[999] <= 8.0 * 3 * math.log(2.0)
    assert ledger.bound[-1] <= 30.0


def test_steady_costs_leave_a_constant():
    steady = [Quadratic.around([0.9, 0.6, -0.3], 4.0)] * 2000
    bound = Game(StrictlyConvexMirrorProx(), L2Ball(1.0)).run(steady).bound
    assert bound[-1] <= bound[199] + 0.1 <= 20.0


def test_decisions_do_not_depend_on_units():
    def scaled(by):
        def bowls(rng, d, w, t):
            return Quadratic.around(by * rng.normal(size=d), 100.0)

        return bowls

    small = played(StrictlyConvexMirrorProx(), L2Ball(1.0), 3, scaled(1.0), 30)[0].plays
    large = played(StrictlyConvexMirrorProx(), L2Ball(1000.0), 3, scaled(1000.0), 30)[0].plays
    np.testing.assert_allclose(1000.0 * small, large, rtol=1e-7, atol=1e-7)


def test_costs_that_turn_every_round_leave_a_root():
    """No more than 2D√V for any linear costs, with adaptive step sizes."""
    player = StrictlyConvexMirrorProx()
    run, _, _ = played(player, Box(-1.0, 1.0), 3, alternates, 1500)
    V = (np.diff(run.gradients, axis=0, prepend=0.0) ** 2).sum()
    assert player.bound(run, np.ones(3))[-1] <= 2.0 * player.diameter * math.sqrt(V)


def test_a_second_game_is_the_same():
    player = StrictlyConvexMirrorProx()
    plays = [played(player, Simplex(1.0), 3, random, 20)[0].plays for _ in range(2)]
    np.testing.assert_array_equal(*plays)


def test_a_penalty_is_refused():
    with pytest.raises(ValueError, match="no penalty"):
        StrictlyConvexMirrorProx().enter(L2Ball(1.0), 2, penalty=L1(0.1))


def test_a_negative_curvature_is_refused():
    with pytest.raises(ValueError, match="curvature must be"):
        StrictlyConvexMirrorProx(curvature=-1.0)
