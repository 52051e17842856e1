import math

import numpy as np
import pytest

from games.argmin import argmin
from games.rounds import rivals
from stepless.games import Game, GameError, Linear, Quadratic
from stepless.games.costs import Saddle
from stepless.games.players import Run, SaddleMirrorProx
from stepless.objective import L1, Box, L2Ball, Simplex

GIVEN = {
    "nothing": {},
    "smoothness": {"smoothness": 2.0},
    "bilinear": {"smoothness": 0.0},
    "both": {"smoothness": 2.0, "variation": 30.0},
}
Q = Box(-0.5, 1.0)


def hinges(rng, d, w, t):
    x = rng.normal(size=d)
    return Saddle(np.outer([1.0, 0.0], -x), Q, phi=Linear([-1.0, 0.0]))


def fixed(rng, d, w, t):
    """One max part, and a bowl that moves."""
    A = np.arange(2.0 * d).reshape(2, d) % 3 - 1.0
    return Saddle(A, Q, Quadratic.around(np.cos(np.arange(d) + 0.1 * t)))


def bent(rng, d, w, t):
    return Saddle(
        rng.normal(size=(2, d)), Q, Linear(rng.normal(size=d)), Quadratic(1.5, [0.2, 0.0], 1.0)
    )


def scales(rng, d, w, t):
    """Nothing, then a thousand times larger or smaller all of a sudden, against w."""
    if t < 3:
        return Saddle(np.zeros((2, d)), Q)
    by = 10.0 ** (3 * ((t // 7) % 3 - 1))
    return Saddle(by * np.outer(rng.normal(size=2), w + 0.1 * rng.normal(size=d)), Q)


OPPONENTS = (hinges, fixed, bent, scales)


def played(player, domain, opponent, rounds=50, d=3, seed=0):
    rng = np.random.default_rng(seed)
    player.enter(domain, d)
    plays, duals, gradients, costs = [], [], [], []
    for t in range(rounds):
        plays.append(player.play())
        costs.append(opponent(rng, d, plays[-1], t))
        duals.append(player.u if t > 0 else np.zeros(2))
        player.observe(costs[-1])
        gradients.append(player.g)
    return Run(np.array(plays), np.array(gradients)), np.array(duals), costs


def field(cost, w, u):
    """F(w, u)."""
    phi = 0.0 if cost.phi is None else cost.phi.value(u)
    return cost.smooth_value(w) + float(cost.A @ w @ u) - phi


def test_points_are_the_argmins_of_algorithm_9():
    for domain, given in ((L2Ball(1.0), "nothing"), (Box(-1.0, 1.0), "both")):
        player, rng = SaddleMirrorProx(**GIVEN[given]).enter(domain, 3), np.random.default_rng(3)
        for t in range(12):
            w = player.play()
            cost = fixed(rng, 3, w, t)
            if t > 0:
                iterates = player.iterates
                h, g, y = iterates.inverse_step, iterates.hint, iterates.z
                np.testing.assert_allclose(w, argmin(domain, g[:3] - h * y[:3], H=h), atol=1e-8)
                np.testing.assert_allclose(player.u, argmin(Q, g[3:] - h * y[3:], H=h), atol=1e-8)
                x = iterates.w
            player.observe(cost)
            iterates = player.iterates
            if t > 0:
                h, share = (
                    iterates.inverse_steps[-1],
                    iterates.inverse_steps[-1] / iterates.inverse_step,
                )
                down = cost.f.gradient(w) + cost.A.T @ x[3:]
                z = argmin(domain, down - h * y[:3], H=h)
                v = argmin(Q, -(cost.A @ w) - h * y[3:], H=h)
                np.testing.assert_allclose(iterates.z, share * np.concatenate([z, v]), atol=1e-8)


@pytest.mark.parametrize("given", GIVEN)
def test_saddle_regret_is_within_the_bound(given):
    """Th. 6.3, for any w and u."""
    rng = np.random.default_rng(1)
    for domain in (L2Ball(1.0), Simplex(2.0)):
        for opponent in OPPONENTS:
            player = SaddleMirrorProx(**GIVEN[given])
            run, duals, costs = played(player, domain, opponent)
            sizes = np.cumsum([abs(f.value(w)) for f, w in zip(costs, run.plays, strict=True)])
            for w in rivals(domain, 3, run):
                for u in (np.array([-0.5, 1.0]), np.array([1.0, 1.0]), rng.uniform(-0.5, 1.0, 2)):
                    ours = [field(f, x, u) for f, x in zip(costs, run.plays, strict=True)]
                    theirs = [field(f, w, v) for f, v in zip(costs, duals, strict=True)]
                    regret = np.cumsum(np.array(ours) - theirs)
                    bound = player.saddle_bound(w, u)
                    assert (bound <= player.saddle_bound() + 1e-12 * np.abs(bound)).all()
                    assert (regret <= bound + 1e-12 * (sizes + np.abs(bound) + 1.0)).all()


@pytest.mark.parametrize("given", GIVEN)
def test_regret_is_within_the_bound(given):
    for domain in (L2Ball(1.0), Simplex(2.0)):
        for opponent in OPPONENTS:
            player = SaddleMirrorProx(**GIVEN[given])
            run, _, costs = played(player, domain, opponent)
            losses = np.array([f.value(w) for f, w in zip(costs, run.plays, strict=True)])
            for w in rivals(domain, 3, run):
                regret = np.cumsum(losses - [f.value(w) for f in costs])
                bound = player.bound(run, w)
                size = np.cumsum(np.abs(losses)) + np.abs(bound) + 1.0
                assert (regret <= bound + 1e-12 * size).all(), (domain, opponent.__name__)


@pytest.mark.parametrize("opponent", [hinges, bent])
def test_what_no_single_u_explains_is_accounted_for(opponent):
    """Σ f_s(w_s) − max_u Σ F_s(w_s, u)."""
    player = SaddleMirrorProx()
    run, _, costs = played(player, L2Ball(1.0), opponent, 30)
    lift, curve = np.zeros(2), 0.0
    for f, w in zip(costs, run.plays, strict=True):
        c, H = f.concave()
        lift += f.A @ w - c
        curve = curve if H is None else curve + H
    u = argmin(Q, -lift, H=curve)
    pairs = list(zip(costs, run.plays, strict=True))
    left = sum(f.value(w) - field(f, w, u) for f, w in pairs)
    assert player.gaps[-1] == pytest.approx(left, abs=1e-8)
    assert left > 0.1
    if opponent is bent:  # where u is the only one
        w = run.plays[7]
        allowed = player.saddle_bound(w, u)[-1] + left
        assert player.bound(run, w)[-1] == pytest.approx(allowed, abs=1e-7)


def test_bound_is_within_that_of_corollary_6_7():
    """For a fixed max part g: Th. 6.3's number and Σ|g(w_t) − g(ŵ)|."""
    player = SaddleMirrorProx()
    run, _, costs = played(player, L2Ball(1.0), fixed, 200)
    middle = run.plays.mean(axis=0)
    g = np.array([costs[0].max_value(w) for w in run.plays])
    allowed = player.saddle_bound()[-1] + np.abs(g - costs[0].max_value(middle)).sum()
    for w in rivals(L2Ball(1.0), 3, run):
        assert player.bound(run, w)[-1] <= allowed + 1e-9


def test_bound_is_within_that_of_theorem_6_3():
    rng = np.random.default_rng(4)
    A = rng.normal(size=(2, 3))
    sigma = float(np.linalg.norm(A, 2))
    centers = np.cumsum(0.05 * rng.normal(size=(200, 3)), axis=0)
    costs = [Saddle(A, Q, Quadratic.around(c)) for c in centers]
    L = math.sqrt(2.0 * (1.0 + sigma**2))
    V = float((np.diff(centers, axis=0, prepend=0.0) ** 2).sum())  # G_1(x_0): w_0 and u_0 are 0
    player = SaddleMirrorProx(smoothness=L, variation=V)
    played(player, L2Ball(1.0), lambda rng, d, w, t: costs[t], len(costs))
    M = player.downhill.value_range + player.uphill.value_range
    allowed = 4.0 * math.sqrt(M) * max(2.0 * math.sqrt(M * (sigma**2 + 1.0)), math.sqrt(V))
    assert player.saddle_bound()[-1] <= allowed


def test_steady_costs_leave_a_constant():
    steady = Saddle([[-1.0, -2.0], [1.0, 0.5]], Q, Quadratic.around([0.3, -0.2]))
    player = SaddleMirrorProx()
    played(player, L2Ball(1.0), lambda rng, d, w, t: steady, 5000, 2)
    bound = player.saddle_bound()
    assert bound[-1] <= bound[999] + 1e-2 <= 40.0


def test_other_costs_are_refused():
    with pytest.raises(GameError, match=r"round 1: .* class Saddle"):
        Game(SaddleMirrorProx(), L2Ball(1.0)).run([[1.0, 2.0]])


def test_another_domain_of_u_is_refused():
    one, other = Saddle([[1.0, 0.0]], Q), Saddle([[1.0, 0.0]], Box(0.0, 1.0))
    with pytest.raises(GameError, match="round 2: the domain of u"):
        Game(SaddleMirrorProx(), L2Ball(1.0)).run([one, other])


def test_a_penalty_is_refused():
    with pytest.raises(ValueError, match="no penalty"):
        SaddleMirrorProx().enter(L2Ball(1.0), 2, penalty=L1(0.1))
