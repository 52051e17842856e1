"""Games: what is written down, and what is said of rounds that cannot be played."""

import math
import pickle

import numpy as np
import pytest

from stepless.games import Game, GameError, Growth, LearnerFromPlayer, Ledger, Linear, Quadratic
from stepless.games.players import OGD, BanditTwoPoint, Constant, SoftConstraints
from stepless.games.players.player import Player
from stepless.objective import L1, Box, L1Ball, L2Ball, Nonnegative, Polytope, Simplex

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
        ([GOOD, Odd("abc")], r"round 2: the gradient is no array of numbers, but str"),
        ([GOOD, Odd([1.0, 0.0, 0.0], None)], r"round 2: the cost .* one number, not NoneType"),
        (
            [GOOD, Odd([1.0, 0.0, 0.0], np.ones(1))],
            r"round 2: the cost of a decision must be one number, not ndarray of shape \(1,\)",
        ),
        ([GOOD, [math.inf, 0.0, 0.0]], r"round 2: the gradient is not finite: entry 0 is inf"),
        ([GOOD, [1.0, 2.0]], r"round 2: the cost is one of 2 weights, but the game has 3"),
        ([GOOD, Odd([1.0, 0.0, 0.0], math.nan)], r"round 2: the cost of the decision is nan"),
        ([GOOD, lambda w: 0.0], r"round 2: ogd needs gradients, but the cost has values only"),
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


@pytest.mark.parametrize("value", [None, np.ones(2), "much"], ids=str)
def test_a_bandit_is_told_of_what_is_no_number(value):
    with pytest.raises(GameError, match="round 2: the cost of a decision must be one number, not"):
        Game(BanditTwoPoint(), L2Ball(1.0), d=2).run([lambda w: 0.0, lambda w: value])


@pytest.mark.parametrize("player", [OGD(), Constant(), BanditTwoPoint()], ids=repr)
def test_a_portfolio_of_nothing(player):
    with pytest.raises(GameError, match=r"round 1: .*costs infinitely much: use a Simplex"):
        Game(player, L2Ball(1.0)).run([Growth([1.0, 1.0])] * 3)


class Writer(Stubborn):
    """Writes into its decision."""

    name = "writer"

    def learn(self, g, cost):
        self.w += 0.01


class Jumper(Stubborn):
    """Leaves the domain in round 2."""

    name = "jumper"

    def learn(self, g, cost):
        self.w = np.full(3, 9.0)


class BanditJumper(BanditTwoPoint):
    """Asks outside of the domain in round 3, and stands inside."""

    def play(self):
        return self.points + (5.0 if self.t == 2 else 0.0)


def test_decisions_of_a_player_that_writes_into_them():
    ledger = Game(Writer([0.0, 0.0, 0.0]), L2Ball(1.0)).run(C[:10])
    np.testing.assert_allclose(ledger.plays[:, 0], 0.01 * np.arange(10))
    np.testing.assert_allclose(ledger.loss, np.cumsum(np.sum(C[:10] * ledger.plays, axis=1)))


def test_decisions_outside_are_refused():
    with pytest.raises(GameError, match=r"round 2: jumper plays outside of the domain, 8\.42 away"):
        Game(Jumper([0.0, 0.0, 0.0]), L2Ball(1.0)).run(C[:4])
    with pytest.raises(GameError, match="round 3: bandit-two-point plays outside"):
        Game(BanditJumper(), L2Ball(1.0)).run(C[:4])


def test_the_bound_of_another_game_is_refused():
    player = OGD()
    game, other = Game(player, L2Ball(1.0)), Game(player, L2Ball(2.0))
    record = game.play(C)
    best = game.hindsight(record)
    assert game.ledger(record, best).holds
    other.play(C)
    with pytest.raises(ValueError, match="ogd has begun another game since"):
        game.ledger(record, best)


@pytest.mark.parametrize(
    ("domain", "constraint"),
    [
        (Simplex(), L2Ball(0.1)),
        (Simplex(), L1Ball(0.5)),
        (L2Ball(1.0), Polytope.of([[-1.0, 0.0, 0.0]], [-2.0])),
        (Box(-1.0, 1.0), Polytope.of([[-1.0, -1.0, -1.0]], [-4.0])),
    ],
)
def test_constraints_that_nothing_obeys(domain, constraint):
    def never():
        raise AssertionError("the game has begun")
        yield

    told = f"no decision of {type(domain).__name__} obeys all constraints: loosen one"
    with pytest.raises(ValueError, match=told):
        Game(SoftConstraints(), domain, d=3, constraints=[constraint]).run(never())


def test_constraints_without_an_excess():
    with pytest.raises(ValueError, match="needs `excess`, which Simplex lacks: use it as the"):
        Game(OGD(), L2Ball(1.0), constraints=[Simplex()])


def test_constraints_of_another_size():
    of_two = Polytope.of([[1.0, 1.0]], [1.0])
    for player in (SoftConstraints(), OGD()):
        with pytest.raises(ValueError, match="polytope is one of 2 weights, but there are 3"):
            Game(player, L2Ball(1.0), constraints=[of_two]).run(C)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Game("ogd", Simplex()), r"a player is an object such as OGD\(\), not 'ogd'"),
        (lambda: Game(OGD, Simplex()), "not the class OGD"),
        (lambda: LearnerFromPlayer("ogd"), r"a player is an object such as OGD\(\), not 'ogd'"),
        (lambda: Game(OGD(), "simplex"), r"a domain is an object such as Simplex\(\), not 'simp"),
        (lambda: Game(OGD(), Simplex), "not the class Simplex"),
        (lambda: Game(OGD(), Simplex(), constraints=[3]), "a domain is an object .*, not int"),
        (
            lambda: Game(OGD(), Simplex(), constraints=L1Ball(1.0)),
            r"constraints are a list: write \[L1Ball\(bound=1\.0\)\]",
        ),
        (
            lambda: Game(OGD(), Simplex()).run(None),
            "a stream of costs, one per round, not NoneType",
        ),
        (lambda: Game(OGD(), Simplex()).run(C, best=C[0]), "a Best, from `hindsight`, not ndarray"),
    ],
)
def test_what_is_something_else(make, told):
    with pytest.raises(TypeError, match=told):
        make()


def test_a_frame_is_its_rows():
    from pandas import DataFrame

    rows = Game(OGD(), L2Ball(1.0)).run(DataFrame(C)).plays
    np.testing.assert_array_equal(rows, Game(OGD(), L2Ball(1.0)).run(C).plays)


def test_the_certificate_counts_against_the_player():
    one = np.ones(1)
    ledger = Ledger("ogd", loss=one, regret=2.0 * one, bound=3.0 * one, theorem="T", gap=0.5)
    assert ledger.certified_regret == 2.5


def test_no_theorem_in_words():
    told = repr(Game(Constant(), L2Ball(1.0)).run(C))
    assert ", no theorem, certified ≤" in told
    assert "inf" not in told


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
    with pytest.raises(ValueError, match="at least 1, not d=0"):
        Game(OGD(), L2Ball(1.0)).run([[], []])
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
