"""Contracts of all players in the registry: a new one is tested the day it exists."""

import pickle

import numpy as np
import pytest
from benchmarks.game_pictures import PAGE, with_table

from stepless import Free, L1Ball, L2Ball, Polytope, Simplex
from stepless.games import PLAYERS, Game, GameError, Growth, Player, Quadratic, Saddle
from stepless.games.costs import Cost

HALF = Polytope.of([[1.0, 1.0, 1.0]], [0.5])
T, D = 60, 3
names = pytest.mark.parametrize("name", PLAYERS)
any_cost = pytest.mark.parametrize(
    "name",
    [
        name
        for name, kind in PLAYERS.items()
        if kind.feedback == "gradient" and kind.cost_class is Cost
    ],
)


def domain_of(name, size=None):
    return Simplex(size or 1.0) if PLAYERS[name].simplex_only else L2Ball(size or 1.5)


def constraints_of(name):
    return [HALF] if PLAYERS[name].needs_constraints else []


def game_of(name, seed=0):
    constraints = constraints_of(name)
    return Game(PLAYERS[name](), domain_of(name), d=D, constraints=constraints, seed=seed)


def costs_of(name, seed=0, linear=False):
    rng = np.random.default_rng(seed)
    if PLAYERS[name].cost_class is Saddle:
        return [Saddle(rng.normal(size=(2, D)), L1Ball(1.0)) for _ in range(T)]
    if linear:
        return list(rng.normal(size=(T, D)))
    return [*rng.normal(size=(T // 2, D)), *map(Quadratic.around, rng.normal(size=(T // 2, D)))]


@names
def test_the_same_seed_is_the_same_game(name):
    game = game_of(name, seed=3)
    first, again = game.run(costs_of(name)), game.run(costs_of(name))
    np.testing.assert_array_equal(first.plays, again.plays)
    np.testing.assert_array_equal(first.bound, again.bound)


@names
@pytest.mark.parametrize("linear", [True, False], ids=["linear", "convex"])
@pytest.mark.parametrize("seed", range(3))
def test_regret_is_within_the_bound_and_plays_within_the_domain(name, seed, linear):
    ledger = game_of(name).run(costs_of(name, seed, linear))
    for w in ledger.plays:
        inside = w.copy()
        domain_of(name).project(inside)
        np.testing.assert_allclose(w, inside, atol=1e-9)
    assert not np.isnan(ledger.bound).any()
    if linear:  # bandits must be given a Lipschitz constant
        unbounded = ledger.theorem == "none" or PLAYERS[name].feedback == "values"
        assert np.isfinite(ledger.bound).all() != unbounded
    if not ledger.expected:
        assert ledger.holds


@names
def test_a_pickled_player_goes_on_identically(name):
    costs, player = costs_of(name), PLAYERS[name]()
    player.enter(domain_of(name), D, constraints=constraints_of(name))
    for cost in costs[:20]:
        show(player, cost)
    twin = pickle.loads(pickle.dumps(player))
    for cost in costs[20:40]:
        np.testing.assert_array_equal(player.play(), twin.play())
        show(player, cost)
        show(twin, cost)


def show(player, cost):
    points = np.atleast_2d(player.play())
    if player.feedback == "gradient":
        player.observe(cost)
        return
    value = cost.value if hasattr(cost, "value") else lambda v: float(np.dot(cost, v))
    player.observe(np.array([value(v) for v in points]))


@names
def test_what_was_played_is_not_changed_afterwards(name):
    game = game_of(name)
    player = game.player.enter(game.domain, D, constraints=game.constraints)
    seen = []
    for cost in costs_of(name)[:20]:
        w = player.play()
        seen.append((w, w.copy()))
        show(player, cost)
    for w, then in seen:
        np.testing.assert_array_equal(w, then)


@names
def test_an_unbounded_domain_is_refused_in_a_sentence(name):
    with pytest.raises(ValueError, match=r"bounded domain|plays in a simplex") as refused:
        PLAYERS[name]().enter(Free(), D)
    assert "\n" not in str(refused.value)


@names
@pytest.mark.parametrize("size", [1e-200, 1e-65, 1e65, 1e200])
def test_a_domain_whose_squares_are_no_numbers_is_refused(name, size):
    sentence = f"extends to {size:.3g}, but squares of distances .* outside of 1e-64 to 1e.64"
    with pytest.raises(ValueError, match=sentence.replace("+", ".")):
        PLAYERS[name]().enter(domain_of(name, size), D, constraints=constraints_of(name))


@names
@pytest.mark.parametrize("d", [0, -1, 2.5])
def test_a_decision_has_a_whole_number_of_weights(name, d):
    with pytest.raises(ValueError, match=f"at least 1, not d={d}"):
        PLAYERS[name]().enter(domain_of(name), d)


@any_cost
def test_a_simplex_of_one_point(name):
    if PLAYERS[name].needs_constraints:
        pytest.skip("constraints of three weights")
    ledger = Game(PLAYERS[name](), Simplex()).run([[1.0], [2.0], [-3.0]])
    np.testing.assert_array_equal(ledger.plays, np.ones((3, 1)))
    assert ledger.holds


def rounds(name, wrong):
    costs = costs_of(name)[:5]
    return [*costs, wrong]


class Wrong:
    def __init__(self, g):
        self.g = g

    def value(self, w):
        return 0.0

    def gradient(self, w):
        return self.g


@any_cost
@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (Wrong(np.zeros(D + 1)), r"round 6: the gradient has shape \(4,\), but a decision has 3"),
        (
            Wrong(np.array([0.0, np.nan, 0.0])),
            "round 6: the gradient is not finite: entry 1 is nan",
        ),
        (
            Wrong(np.array([0.0, 0.0, np.inf])),
            "round 6: the gradient is not finite: entry 2 is inf",
        ),
        (lambda w: float(w @ w), "round 6: .* needs gradients, but the cost has values only"),
        ("costs", "round 6: a round needs an array of costs"),
        (Growth([1.0, 2.0]), "round 6: the cost is one of 2 weights, but the game has 3"),
    ],
    ids=["shape", "nan", "inf", "values", "word", "size"],
)
def test_a_bad_round_is_named(name, wrong, sentence):
    if name == "constant" and "values only" in sentence:
        pytest.skip("it needs no gradients")
    with pytest.raises(GameError, match=sentence) as raised:
        game_of(name).run(rounds(name, wrong))
    assert raised.value.round == 6


@pytest.mark.parametrize(
    "name", [name for name, kind in PLAYERS.items() if kind.cost_class is not Cost]
)
def test_a_cost_of_another_class_is_refused(name):
    with pytest.raises(GameError, match=r"round 6: .* needs costs of class .*, not Linear; use"):
        game_of(name).run(rounds(name, [1.0, 2.0, 3.0]))


@names
def test_its_docstring_follows_the_template(name):
    text = PLAYERS[name].__doc__
    for part in ("Plays ", "Theorem ", "Cost ", "Needs "):
        assert f"\n    {part}" in text, part
    assert ">>>" in text


def test_the_page_has_the_table_of_players():
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page) == page, "run python -m benchmarks.game_pictures"
    assert all(f"| `{name}` | `{kind.__name__}` |" in page for name, kind in PLAYERS.items())


@names
def test_it_says_how_it_was_made(name):
    player = PLAYERS[name]()
    assert isinstance(player, Player)
    assert repr(player).startswith(f"{type(player).__name__}(")
