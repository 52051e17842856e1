import math

import numpy as np
import pytest

from games.argmin import argmin
from games.rounds import CONVEX, LINEAR, played, random, rivals
from stepless.games import Game, Linear, Quadratic
from stepless.games.players import CompositeMirrorProx, MirrorProx, Run
from stepless.objective import L1, Box, ElasticNet, L2Ball, Polytope, Simplex, SquaredL2

GIVEN = {
    "nothing": {},
    "smoothness": {"smoothness": 0.5},
    "both": {"smoothness": 0.5, "variation": 7.0},
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize(
    ("domain", "penalty"),
    [
        (L2Ball(1.0), L1(0.3)),
        (Box(-0.4, 0.8), ElasticNet(0.5, 0.5)),
        (Simplex(2.0), SquaredL2(0.4)),
    ],
    ids=repr,
)
def test_points_are_the_argmins_of_algorithm_8(domain, penalty, given):
    player = CompositeMirrorProx(**GIVEN[given]).enter(domain, 4, penalty=penalty)
    rng, sparse = np.random.default_rng(3), 0
    ridge = {L1: 0.0, ElasticNet: 0.25, SquaredL2: 0.4}[type(penalty)]
    lasso = {L1: 0.3, ElasticNet: 0.25, SquaredL2: 0.0}[type(penalty)]

    def nearest(g, h, z, lasso=lasso, ridge=ridge):
        if isinstance(domain, Simplex):
            mass = h * domain.bound
            return argmin(domain, g - mass * np.log(z), entropy=mass, H=ridge, l1=lasso)
        return argmin(domain, g - h * z, H=h + ridge, l1=lasso)

    for t in range(12):
        iterates, w = player.iterates, player.play()
        hint, h, z, first = (
            iterates.hint,
            iterates.inverse_step,
            iterates.z,
            iterates.mirror.first(),
        )
        if h > 0.0:
            np.testing.assert_allclose(w, nearest(hint, h, z), atol=1e-8)
        sparse += int((w == 0.0).any())
        player.observe(Quadratic.around(0.5 * rng.normal(size=4), 0.5 + 0.1 * (t % 3)))
        h = iterates.inverse_steps[-1]
        # Step 6 is a step from w_t by the change of gradients, without the penalty.
        z = nearest(player.g - hint, h, w, 0.0, 0.0)
        share = h / iterates.inverse_step
        if isinstance(domain, Simplex):
            z = z**share * first ** (1.0 - share)
        else:
            z = share * z + (1.0 - share) * first
        np.testing.assert_allclose(iterates.z, z, atol=1e-8 if t > 0 else 1e-5)
    assert sparse > 0 or lasso == 0.0


def excess(player, domain, penalty, opponent, rounds=40, d=3):
    """The largest (regret − bound)/(size of the numbers), penalty included."""
    rng = np.random.default_rng(0)
    player.enter(domain, d, penalty=penalty)
    plays, gradients, costs = [], [], []
    for t in range(rounds):
        plays.append(player.play())
        costs.append(opponent(rng, d, plays[-1], t))
        player.observe(costs[-1])
        gradients.append(player.g)
    run = Run(np.array(plays), np.array(gradients))

    def losses(points):
        fixed = [float(penalty.total(w[:, None])) for w in points]
        return np.array([f.value(w) for f, w in zip(costs, points, strict=True)]) + fixed

    lost, over = losses(plays), -np.inf
    for u in (*rivals(domain, d, run), player.iterates.mirror.first()):
        regret, bound = np.cumsum(lost - losses([u] * rounds)), player.bound(run, u)
        size = np.cumsum(np.abs(lost)) + np.abs(bound) + 1e-300
        over = max(over, ((regret - bound) / size).max())
    return over


@pytest.mark.parametrize("given", GIVEN)
def test_regret_is_within_the_bound(given):
    for domain, penalty in (
        (L2Ball(1.0), L1(0.3)),
        (Simplex(1.0), SquaredL2(2.0)),
        (Simplex(1.0), L1(0.5)),
        (Box(-0.5, 2.0), ElasticNet(1.0, 0.5)),
    ):
        for opponent in LINEAR + CONVEX:
            player = CompositeMirrorProx(**GIVEN[given])
            assert excess(player, domain, penalty, opponent) <= 1e-12, (domain, opponent.__name__)


def test_rounds_before_the_first_gradient_count():
    """The shortest decision, (0.4, 0.8), is not that of the least ‖w‖₁, (0, 1)."""
    sides = [[-1.0, -2.0], [-1.0, 0.0], [0.0, -1.0], [1.0, 0.0], [0.0, 1.0]]
    domain = Polytope.of(sides, [-2.0, 0.0, 0.0, 2.0, 2.0])

    def late(rng, d, w, t):
        return Linear(np.zeros(d)) if t < 20 else random(rng, d, w, t)

    player = CompositeMirrorProx()
    assert excess(player, domain, L1(2.0), late, d=2) <= 1e-12
    assert player.iterates.waited == 21
    run = Run(np.array([[0.4, 0.8]]), np.zeros((1, 2)))
    np.testing.assert_allclose(player.bound(run, np.array([0.0, 1.0]))[:20], 0.4 * np.arange(1, 21))


def test_bound_is_within_that_of_corollary_6_2():
    centers = np.cumsum(0.1 * np.random.default_rng(5).normal(size=(300, 3)), axis=0)
    costs = [Quadratic.around(c, 2.0) for c in centers]
    V = 4.0 * float((np.diff(centers, axis=0, prepend=0.0) ** 2).sum())
    player = CompositeMirrorProx(smoothness=2.0, variation=V)
    ledger = Game(player, L2Ball(1.0), penalty=L1(0.2)).run(costs)
    assert ledger.holds
    assert ledger.bound[-1] <= 2.0 * max(2.0 * math.sqrt(2.0), math.sqrt(V))


def test_steady_costs_leave_a_constant():
    steady = [Quadratic.around([0.9, 0.1, -0.3], 4.0)] * 5000
    bound = Game(CompositeMirrorProx(), L2Ball(1.0), penalty=L1(0.5)).run(steady).bound
    assert bound[-1] <= bound[99] + 1e-3 <= 60.0


def test_without_a_penalty_it_is_mirror_prox_in_an_entropy():
    plays = [
        played(player, Simplex(1.0), 3, random, 40)[0].plays
        for player in (CompositeMirrorProx(), MirrorProx(), MirrorProx(update="simplified"))
    ]
    np.testing.assert_allclose(plays[0], plays[1], atol=1e-10)
    np.testing.assert_allclose(plays[0], plays[2], atol=1e-10)
