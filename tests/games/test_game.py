"""Games: what is written down, and what is said of rounds that cannot be played."""

import math
import pickle

import numpy as np
import pytest

from stepless.games import Game, GameError, Growth, Linear, Quadratic
from stepless.games.players import OGD, BanditTwoPoint, Constant
from stepless.games.players.player import Player
from stepless.objective import L1, Box, L2Ball, Nonnegative, Polytope, Simplex

RNG = np.random.default_rng(0)
C = RNG.normal(size=(60, 3))


def test_a_ledger_adds_up():
    ledger = Game(OGD(), L2Ball(1.0)).run(C)
    losses = np.einsum("tj,tj->t", C, ledger.plays)
    np.testing.assert_allclose(ledger.loss, np.cumsum(losses), atol=1e-12)
    u = -C.sum(axis=0) / np.linalg.norm(C.sum(axis=0))
    np.testing.assert_allclose(ledger.best, u, atol=1e-12)
    np.testing.assert_allclose(ledger.regret, np.cumsum(losses - C @ u), atol=1e-11)
    assert ledger.certified_regret == pytest.approx(ledger.regret[-1], abs=1e-10)
    steps = np.sum(np.diff(C, axis=0, prepend=0.0) ** 2, axis=1)
    np.testing.assert_allclose(ledger.variation, np.cumsum(steps), rtol=1e-12)
    assert ledger.holds
    assert len(ledger) == 60
    np.testing.assert_array_equal(ledger.round, np.arange(1, 61))


def test_the_variation_is_taken_at_the_decisions():
    costs = [Quadratic(h, c) for h, c in zip(RNG.uniform(1, 2, 30), C[:30], strict=True)]
    ledger = Game(OGD(), L2Ball(1.0)).run(costs)
    expected = [costs[0].gradient(ledger.plays[0])]
    for t in range(1, 30):
        w = ledger.plays[t - 1]
        expected.append(costs[t].gradient(w) - costs[t - 1].gradient(w))
    squares = [g @ g for g in expected]
    np.testing.assert_allclose(ledger.variation, np.cumsum(squares), rtol=1e-10)


def test_a_penalty_counts_in_every_round():
    from stepless.games.players import CompositeMirrorProx

    ledger = Game(CompositeMirrorProx(), L2Ball(1.0), penalty=L1(0.1)).run(C)
    losses = np.einsum("tj,tj->t", C, ledger.plays) + 0.1 * np.abs(ledger.plays).sum(axis=1)
    np.testing.assert_allclose(ledger.loss, np.cumsum(losses), atol=1e-12)
    at_best = C @ ledger.best + 0.1 * np.abs(ledger.best).sum()
    np.testing.assert_allclose(ledger.regret, np.cumsum(losses - at_best), atol=1e-10)


def test_violations_are_summed():
    halves = [Polytope.of([[1.0, 0.0, 0.0]], [0.1]), Box(-0.5, 0.5)]
    ledger = Game(OGD(), L2Ball(1.0), constraints=halves).run(C)
    expected = np.array([[c.excess(w) for c in halves] for w in ledger.plays]).cumsum(axis=0)
    np.testing.assert_allclose(ledger.violation, expected)
    assert all(c.excess(ledger.best) <= 1e-9 for c in halves)
    assert list(ledger.to_frame().columns)[-2:] == ["violation_0", "violation_1"]


def test_a_game_is_replayed_identically():
    first, second, other = (
        Game(BanditTwoPoint(), L2Ball(1.0), seed=seed).run(C) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first.plays, second.plays)
    assert (first.plays != other.plays).any()
    player = OGD()
    once, twice = (Game(player, L2Ball(1.0)).run(C) for _ in range(2))
    np.testing.assert_array_equal(once.plays, twice.plays)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(once)).loss, once.loss)


def test_an_opponent_may_see_the_decision():
    player, seen = OGD(), []

    def against():
        for _ in range(50):
            seen.append(player.w)
            yield player.w + np.array([0.1, 0.0])

    ledger = Game(player, L2Ball(1.0), d=2).run(against())
    np.testing.assert_array_equal(ledger.plays, seen)
    assert ledger.regret[-1] > 0.0
    assert ledger.holds


def test_values_alone():
    def values(w):
        return float((w[0] - 0.5) ** 2 + w[1] ** 2)

    ledger = Game(BanditTwoPoint(), L2Ball(1.0), d=2).run([values] * 200)
    assert np.isnan(ledger.variation).all()
    assert ledger.gap == math.inf
    assert math.isinf(ledger.certified_regret)
    assert sum(values(w) for w in [ledger.best]) < 0.1


class Stubborn(Player):
    """Plays what it was given, wherever that lies."""

    name = "stubborn"
    theorem = "none"

    def __init__(self, w):
        self.given = w

    def begin(self):
        self.w = np.array(self.given, dtype=float)

    def learn(self, g, cost):
        pass

    def bound(self, run, u):
        return np.full(len(run.plays), np.inf)


class Odd:
    """A cost that is right until it is not."""

    d = 3

    def __init__(self, gradient, value=0.0):
        self._gradient, self._value = gradient, value

    def value(self, w):
        return self._value

    def gradient(self, w):
        return self._gradient


GOOD = Linear([1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        (
            [GOOD, GOOD, Odd([1.0, 2.0])],
            r"round 3: the gradient has shape \(2,\), but .* 3 weights",
        ),
        ([GOOD, Odd([1.0, math.nan, 0.0])], r"round 2: the gradient is not finite: entry 1 is nan"),
        ([GOOD, [math.inf, 0.0, 0.0]], r"round 2: the gradient is not finite: entry 0 is inf"),
        ([GOOD, [1.0, 2.0]], r"round 2: the cost is one of 2 weights, but the game has 3"),
        ([GOOD, Odd([1.0, 0.0, 0.0], math.nan)], r"round 2: the cost of the decision is nan"),
        ([GOOD, lambda w: 0.0], r"round 2: ogd needs gradients, but only values are shown"),
        ([GOOD, None], r"round 2: a round needs an array of costs"),
        ([GOOD, ["a", "b", "c"]], r"round 2: could not convert string to float"),
        ([GOOD, np.eye(3)], r"round 2: a linear cost is one number for each weight"),
    ],
)
def test_a_bad_round_is_named(costs, sentence):
    with pytest.raises(GameError, match=sentence):
        Game(OGD(), L2Ball(1.0)).run(costs)


def test_a_bandit_is_told_of_a_value_that_is_none():
    with pytest.raises(GameError, match="round 2: the cost of the decision is nan"):
        Game(BanditTwoPoint(), L2Ball(1.0), d=2).run([lambda w: 0.0, lambda w: math.nan])


def test_a_start_outside_is_refused():
    with pytest.raises(GameError, match=r"round 1: stubborn starts outside of the domain, 1 away"):
        Game(Stubborn([2.0, 0.0, 0.0]), L2Ball(1.0)).run(C)
    with pytest.raises(GameError, match=r"round 1: stubborn plays weights of shape \(2,\)"):
        Game(Stubborn([0.5, 0.0]), L2Ball(1.0)).run(C)
    with pytest.raises(ValueError, match="outside"):
        Game(Constant(w=[2.0, 0.0, 0.0]), L2Ball(1.0)).run(C)


def test_games_that_cannot_begin():
    with pytest.raises(ValueError, match="the stream is empty"):
        Game(OGD(), L2Ball(1.0)).run([])
    with pytest.raises(ValueError, match="give Game d="):
        Game(BanditTwoPoint(), L2Ball(1.0)).run([lambda w: 0.0])
    with pytest.raises(
        GameError, match="round 1: the cost is one of 3 weights, but the game has 2"
    ):
        Game(OGD(), L2Ball(1.0), d=2).run(C)
    with pytest.raises(ValueError, match="bounded"):
        Game(OGD(), Nonnegative()).run(C)


def test_a_portfolio_of_no_worth():
    bad = ([1.0, r] for r in (1.1, 0.9, -0.1))
    with pytest.raises(ValueError, match=r"asset 1 has -0\.1"):
        Game(OGD(), Simplex()).run(map(Growth, bad))


def test_a_ledger_in_words_and_pictures():
    import matplotlib as mpl

    mpl.use("Agg")
    ledger = Game(OGD(), L2Ball(1.0)).run(C)
    assert "60 rounds of ogd" in repr(ledger)
    assert "MAH Theorem 2.8" in repr(ledger)
    frame = ledger.to_frame()
    assert list(frame.columns) == ["loss", "regret", "bound", "variation"]
    assert frame.index[-1] == 60
    axes = ledger.plot()
    assert len(axes.get_lines()) == 2
    assert axes.get_xlabel() == "round"
