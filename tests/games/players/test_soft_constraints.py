import numpy as np
import pytest

from games.argmin import argmin
from games.rounds import CONVEX, LINEAR, random, rivals
from stepless.games import Game
from stepless.games.costs import Linear
from stepless.games.players import Run, SoftConstraints
from stepless.objective import L1, Box, Constraint, L1Ball, L2Ball, Simplex


class HalfSpace(Constraint):
    """size·(w_0 − at) ≤ 0."""

    at: float = 0.5
    size: float = 1.0

    def excess(self, w):
        return self.size * (w[0] - self.at)

    def outward(self, w, g):
        g[:] = 0.0
        g[0] = self.size
        return self.excess(w)


BALL = L2Ball(1.0)
CONSTRAINTS = {
    "half space": (HalfSpace(0.3),),
    "ball": (L2Ball(0.5),),
    "two": (HalfSpace(0.3), L1Ball(0.7)),
}


def outward(rng, d, w, t):
    """Unit costs that pay for going where the constraints are not kept."""
    return Linear(-np.eye(d)[0] + 0.2 * rng.normal(size=d))


def played(player, domain, d, opponent, constraints, rounds, seed=0):
    rng = np.random.default_rng(seed)
    player.enter(domain, d, constraints=constraints)
    plays, costs, gradients = [], [], []
    for t in range(rounds):
        w = player.play()
        cost = opponent(rng, d, w, t)
        player.observe(cost)
        plays.append(w)
        costs.append(cost)
        gradients.append(player.g)
    violation = np.cumsum([[c.excess(w) for c in constraints] for w in plays], axis=0)
    losses = np.array([f.value(w) for f, w in zip(costs, plays, strict=True)])
    return Run(np.array(plays), np.array(gradients)), costs, losses, violation


def unit_costs(rng, d, w, t):
    c = rng.normal(size=d) - np.eye(d)[0]
    return Linear(c / max(np.linalg.norm(c), 1.0))


@pytest.mark.parametrize("zero_violation", [False, True])
def test_is_algorithm_14_where_all_constants_are_1(zero_violation):
    # R = 1: a ball of diameter 1; G = 1 and D ≤ 1 of costs and constraints
    ball, T, m = L2Ball(0.5), 64, 1 if zero_violation else 2
    constraints = (HalfSpace(0.1), L2Ball(0.3))
    player = SoftConstraints(zero_violation, lipschitz=1.0, horizon=T)
    player.enter(ball, 3, constraints=constraints)
    w, multipliers, rng = np.zeros(3), np.zeros(m), np.random.default_rng(2)
    for t in range(T):
        np.testing.assert_allclose(player.play(), w, atol=1e-12)
        cost = unit_costs(rng, 3, w, t)
        player.observe(cost)
        (now,) = player.epochs
        c = np.array([one.excess(w) for one in constraints])
        slopes = np.array([np.eye(3)[0], w / max(np.linalg.norm(w), 1e-300)])
        if zero_violation:
            top = int(c.argmax())
            c, slopes = c[[top]], slopes[[top]]
        K = 5.0 + 3.0 * now.gamma**2 if zero_violation else (m + 1) + 2.0 * m
        eta = 1.0 / np.sqrt(K * T)
        A, B = (2.0, 3.0) if zero_violation else (m + 1.0, 2.0)
        assert np.isclose(now.delta, A + B * now.delta**2 * eta**2)
        assert now.delta <= 2.0 * A  # the least of two roots
        pull = cost.c + multipliers @ slopes
        multipliers = np.maximum(
            multipliers + eta * (c + now.gamma - now.delta * eta * multipliers), 0.0
        )
        w = w - eta * pull
        w *= min(1.0, 0.5 / np.linalg.norm(w))
    assert multipliers.max() > 0.0


@pytest.mark.parametrize("domain", [L2Ball(2.0), Box(-0.2, 0.6), Simplex(2.0)], ids=repr)
def test_steps_are_argmins(domain):
    player, rng = SoftConstraints(), np.random.default_rng(3)
    player.enter(domain, 3, constraints=[HalfSpace(0.1), L1Ball(0.3)])
    for _ in range(30):
        w, g = player.play(), 5.0 * rng.normal(size=3) - 3.0
        player.observe(g)
        now = player.epochs[-1]
        height = now.steepest / (now.eta * player.diameter)
        scale = now.steepest * player.diameter / now.unit
        slope = scale * (now.multipliers[-2] @ [np.eye(3)[0], np.sign(w)])
        found = argmin(domain, g + slope - height * w, H=height)
        np.testing.assert_allclose(player.play(), found, atol=1e-8)
    assert now.multipliers[-1].max() > 0.0


@pytest.mark.parametrize("zero_violation", [False, True])
@pytest.mark.parametrize("given", [{}, {"lipschitz": 2.0, "horizon": 80}])
def test_regret_is_within_the_bound(zero_violation, given):
    for constraints in CONSTRAINTS.values():
        for opponent in (*LINEAR, *CONVEX, outward):
            player = SoftConstraints(zero_violation, **given)
            run, costs, losses, violation = played(player, BALL, 3, opponent, constraints, 80)
            # decisions that obey, and decisions that do not
            for u in (np.zeros(3), np.array([0.2, 0.2, 0.0]), *rivals(BALL, 3, run)):
                regret = np.cumsum(losses - [f.value(u) for f in costs])
                bound = player.bound(run, u)
                size = np.cumsum(np.abs(losses)) + np.abs(bound)
                assert ((regret - bound) <= 1e-11 * size).all(), (opponent.__name__, constraints)
            allowed = player.violation_bound(run)
            assert allowed.shape == violation.shape
            assert (violation <= allowed + 1e-10 * (1.0 + np.abs(allowed))).all()


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_violations_of_many_games_are_within_theorem_9_19(name):
    constraints, T = CONSTRAINTS[name], 256
    m, first = len(constraints), 0
    for seed in range(100):
        player = SoftConstraints(lipschitz=1.0, horizon=T)
        run, _, _, violation = played(player, BALL, 2, unit_costs, constraints, T, seed)
        assert (violation <= player.violation_bound(run) + 1e-10).all()
        # the theorem, from its constants alone: the first rounds may be epochs of their own
        first = len(player.epochs) - 1
        e, n = player.epochs[-1], len(player.epochs[-1])
        assert first + n == T
        K = 3.0 * m + 1.0
        assert np.isclose(e.eta, 1.0 / np.sqrt(K * T))
        late = violation[-1] - (violation[first - 1] if first else 0.0)
        most = 2.0 * (e.delta * e.eta * n + 1.0 / e.eta) * (n + 1.5 / e.eta)
        assert (late <= e.unit * np.sqrt(most)).all()
        told = np.diff(player.violation_bound(run)[[first - 1, -1]], axis=0) if first else 0.0
        assert np.all(told <= 1.5 * e.unit * np.sqrt(most))
        u = np.full(2, 0.1)
        assert player.bound(run, u)[-1] <= 1.6 * 2.0 * np.sqrt(K * T)


def test_regret_and_violation_grow_as_in_theorem_9_19():
    ends = {}
    for T in (1000, 16_000):
        player = SoftConstraints()
        run, _, _, violation = played(player, BALL, 2, outward, (HalfSpace(0.3),), T)
        u = np.array([0.3, 0.0])
        ends[T] = player.bound(run, u)[-1], violation[-1, 0], player.violation_bound(run)[-1, 0]
    assert ends[16_000][0] <= 6.0 * max(ends[1000][0], 2.0 * np.sqrt(1000))
    assert 0.0 < ends[16_000][1] <= 1.3 * 16**0.75 * ends[1000][1]
    assert ends[16_000][2] <= 1.3 * 16**0.75 * ends[1000][2]


def test_zero_violation_keeps_the_sum_below_0_and_the_plain_player_does_not():
    T, broken = 1000, 0
    for seed in range(30):
        strict = SoftConstraints(True, lipschitz=2.0, horizon=T)
        run, _, _, violation = played(strict, BALL, 2, outward, (HalfSpace(0.5),), T, seed)
        (e,) = strict.epochs
        assert 0.0 < e.gamma * e.unit < 1.5  # HalfSpace(0.5) is as deep as 1.5
        assert violation[-1, 0] <= 0.0
        assert (violation <= strict.violation_bound(run) + 1e-9).all()
        if seed < 5:
            plain = SoftConstraints(lipschitz=2.0, horizon=T)
            _, _, _, more = played(plain, BALL, 2, outward, (HalfSpace(0.5),), T, seed)
            broken += more[-1, 0] > 0.0
    assert broken == 5


def test_before_the_end_of_an_epoch_the_sum_may_be_above_0():
    """The player begins outside: the first rounds must be above 0, whatever it does."""
    T = 2000
    player = SoftConstraints(True, lipschitz=1.0, horizon=T)
    _, _, _, violation = played(player, BALL, 2, unit_costs, (HalfSpace(-0.4),), T)
    assert violation[0, 0] > 0.0
    assert violation[-1, 0] <= 0.0


def test_inset_leaves_nothing_to_9_38():
    from stepless.games.players.soft_constraints import _inset

    for T in (100.0, 1e4, 1e6):
        for credit in (0.0, -5.0, 10.0):
            gamma, eta, delta = _inset(T, credit)
            allowed = np.sqrt(2.0 * (T + 1.5 / eta) * (delta * eta * T + 1.0 / eta))
            assert np.isclose(eta, 1.0 / np.sqrt((5.0 + 3.0 * gamma**2) * T))
            assert gamma == 1.0 or np.isclose(allowed - gamma * T, credit, rtol=1e-8, atol=1e-6)
    assert 2.0 < _inset(1e8, 0.0)[0] * 1e2 < 3.0  # b T^(−1/4)
    assert _inset(1e4, 1e9)[0] == 0.0


def test_zero_violation_without_constants_holds_after_every_epoch():
    player = SoftConstraints(True)
    _, _, _, violation = played(player, BALL, 2, outward, (HalfSpace(0.5),), 4000)
    ends = np.cumsum([len(e) for e in player.epochs])[:-1]
    late = ends[ends > 500]
    assert late.size >= 2
    assert (violation[late - 1, 0] <= 0.0).all()


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_scales_do_not_matter(factor):
    def play(costs, size):
        player = SoftConstraints()
        return Game(player, BALL, constraints=[HalfSpace(0.3, size)]).run(costs).plays

    costs = np.random.default_rng(7).normal(size=(200, 3)) - 1.0
    plain = play(costs, 1.0)
    np.testing.assert_allclose(play(factor * costs, 1.0), plain, atol=1e-9)
    np.testing.assert_allclose(play(costs, factor), plain, atol=1e-9)


def test_flat_rounds_move_nothing():
    player = SoftConstraints().enter(BALL, 2, constraints=[HalfSpace(0.5)])
    for _ in range(20):
        player.observe(np.zeros(2))
    np.testing.assert_array_equal(player.play(), np.zeros(2))


def test_epochs_double():
    player = SoftConstraints(lipschitz=10.0).enter(BALL, 2, constraints=[HalfSpace(0.5)])
    for t in range(8 + 16 + 32):
        player.observe(random(np.random.default_rng(t), 2, None, t))
    assert [len(e) for e in player.epochs] == [8, 16, 32]
    player.observe([100.0, 0.0])
    assert player.epochs[-1].steepest == 100.0
    player.observe([101.0, 0.0])
    assert player.epochs[-1].steepest == 200.0


def test_refusals():
    with pytest.raises(ValueError, match="soft-constraints needs constraints: give Game"):
        SoftConstraints().enter(BALL, 2)
    with pytest.raises(ValueError, match="which Simplex lacks: use it as the domain"):
        SoftConstraints().enter(BALL, 2, constraints=[Simplex()])
    with pytest.raises(ValueError, match="make it a part of each cost"):
        SoftConstraints().enter(BALL, 2, constraints=[HalfSpace()], penalty=L1(0.1))


@pytest.mark.parametrize(
    "given", [{"horizon": -1}, {"horizon": 0}, {"lipschitz": -1.0}, {"lipschitz": np.nan}], ids=str
)
def test_what_is_known_is_positive(given):
    with pytest.raises(ValueError, match="leave it out if unknown"):
        SoftConstraints(**given)
