"""AdaGrad: its steps by clarabel, its regret under DHS Th. 6, 8, Cor. 14."""

import numpy as np
import pytest
from scipy.optimize import brentq

from games import rounds
from games.argmin import argmin
from games.rounds import played, worst
from stepless import L1, Box, ElasticNet, L1Ball, L2Ball, Simplex, SquaredL2
from stepless.games import Game
from stepless.games.players.adagrad import AdaGrad
from stepless.objective import Polytope, SquaredLp

BLOCKS = (0, "a", 0, "a")
MATRICES = ["diagonal", "full", BLOCKS]
UPDATES = ["mirror", "averaging"]
DOMAINS = [Simplex(), L2Ball(2.0), Box(-1.0, 0.5), L1Ball(1.5)]


def metric(matrix, G, delta):
    """H_t of DHS Fig. 1, 2 and §8, by an eigendecomposition."""
    d = G.shape[1]
    if matrix == "diagonal":
        return np.diag(delta + np.linalg.norm(G, axis=0))
    outer = G.T @ G
    if matrix != "full":
        outer *= np.equal.outer(np.array(matrix, dtype=object), np.array(matrix, dtype=object))
    values, vectors = np.linalg.eigh(outer)
    return delta * np.eye(d) + (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def first_size(matrix, g):
    if matrix == "diagonal":
        return np.abs(g).max()
    return np.linalg.norm(g) if matrix == "full" else max(np.hypot(*g[::2]), np.hypot(*g[1::2]))


def nearest(domain, linear, H, l1=0.0):
    """By clarabel; in a ball, whose cones leave it short of 1e-8, by the multiplier of the norm."""
    if not isinstance(domain, L2Ball):
        return argmin(domain, linear, H=H, l1=l1)

    def at(multiplier):
        return np.linalg.solve(H + multiplier * np.eye(linear.size), -linear)

    if np.linalg.norm(at(0.0)) <= domain.bound:
        return at(0.0)
    top = np.linalg.norm(linear) / domain.bound
    return at(brentq(lambda m: np.linalg.norm(at(m)) - domain.bound, 0.0, top, xtol=1e-13))


def penalty_of(domain, matrix):
    """A penalty that the player knows there, with its share of ‖w‖₁ and of ½‖w‖²."""
    if isinstance(domain, Simplex):
        return ElasticNet(0.4, 0.5), 0.2, 0.2
    if isinstance(domain, Box) and matrix == "diagonal":
        return L1(0.3), 0.3, 0.0
    return SquaredL2(0.3), 0.0, 0.3


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("penalized", [False, True])
def test_update_is_the_argmin(domain, matrix, update, penalized):
    penalty, l1, ridge = penalty_of(domain, matrix) if penalized else (None, 0.0, 0.0)
    d, rng = 4, np.random.default_rng(0)
    player = AdaGrad(matrix, update, delta=0.5).enter(domain, d, penalty=penalty)
    G, eta = np.zeros((0, d)), player.step
    for t in range(1, 13):
        g = rng.normal(size=d) * (np.arange(d) + 0.1)
        w = player.play()
        player.observe(g)
        G = np.vstack([G, g])
        H = metric(matrix, G, 0.5)
        if update == "mirror":
            v = nearest(domain, eta * G[-1] - H @ w, H + eta * ridge * np.eye(d), eta * l1)
        else:
            H = H + t * eta * ridge * np.eye(d)
            v = nearest(domain, eta * G.sum(axis=0), H, t * eta * l1)
        np.testing.assert_allclose(player.play(), v, atol=2e-8)


@pytest.mark.parametrize("update", UPDATES)
def test_eta_and_delta_are_the_papers(update):
    g = np.array([3.0, 0.0, -1.0, 4.0])
    for matrix in MATRICES:
        player = AdaGrad(matrix, update).enter(Box(-1.0, 2.0), 4)
        player.observe(np.zeros(4))
        assert player.least == 0.0
        np.testing.assert_array_equal(player.play(), np.zeros(4))
        player.observe(g)
        assert player.theorem == {
            "diagonal": "DHS Theorem 6",
            "full": "DHS Theorem 8",
        }.get(matrix, "DHS Corollary 14")
        size = {"diagonal": 1.0, "full": 2.0}.get(matrix, np.sqrt(2.0))
        if update == "mirror":
            assert player.step == pytest.approx(3.0 * size / np.sqrt(2.0))
        else:
            assert player.step == pytest.approx(2.0 * size)
        slight = matrix == "diagonal" and update == "mirror"
        assert player.least == pytest.approx(first_size(matrix, g) * (2.0**-26 if slight else 1.0))


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("opponent", [*rounds.LINEAR, *rounds.CONVEX])
def test_regret_is_within_the_bound(matrix, update, opponent):
    for seed, domain in enumerate(DOMAINS):
        assert worst(AdaGrad(matrix, update), domain, 4, opponent, 40, seed=seed)[0] <= 1e-10


@pytest.mark.parametrize("matrix", ["diagonal", "full"])
@pytest.mark.parametrize("update", UPDATES)
def test_regret_with_a_penalty_is_within_the_bound(matrix, update):
    rng = np.random.default_rng(3)
    for domain in DOMAINS[:3]:
        penalty, _, _ = penalty_of(domain, matrix)
        game = Game(AdaGrad(matrix, update), domain, penalty=penalty)
        assert game.run(rng.normal(size=(60, 4)) + 0.2).holds


def test_bounds_are_sharp():
    assert worst(AdaGrad(), Box(-1.0, 1.0), 4, rounds.growing)[1] > 0.3
    assert worst(AdaGrad("full"), L2Ball(1.0), 4, rounds.growing)[1] > 0.3
    assert worst(AdaGrad(update="averaging"), Box(-1.0, 1.0), 4, rounds.against, 40)[1] > 0.1


def test_averaging_says_when_a_gradient_was_too_steep():
    player = AdaGrad(update="averaging")
    run, _, _ = played(player, L2Ball(1.0), 2, rounds.steady, 20)
    player.bound(run, np.zeros(2))
    assert player.theorem == "DHS Theorem 6"
    run, _, _ = played(player, L2Ball(1.0), 2, rounds.growing, 20)
    player.bound(run, np.zeros(2))
    assert player.theorem == "DHS Corollary 3"


def test_blocks_of_one_weight_are_a_diagonal():
    rows = np.random.default_rng(2).normal(size=(30, 3))
    for update in UPDATES:
        players = [
            AdaGrad(matrix, update, eta=1.0, delta=1.0).enter(L2Ball(0.7), 3)
            for matrix in ("diagonal", (0, 1, 2))
        ]
        for row in rows:
            for player in players:
                player.observe(row)
        np.testing.assert_allclose(players[0].play(), players[1].play(), atol=1e-9)


def test_a_domain_without_diagonal_projections():
    cut = Polytope.of([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [1.0, 0.5, 0.5])
    player = AdaGrad(delta=1.0).enter(cut, 2)
    g = np.array([-3.0, -1.0])
    player.observe(g)
    v = argmin(cut, player.step * g, H=1.0 + np.abs(g))
    np.testing.assert_allclose(player.play(), v, atol=1e-8)


def test_a_game_of_nothing():
    run, _, _ = played(
        player := AdaGrad(), Simplex(), 3, lambda rng, d, w, t: rounds.Linear(np.zeros(d)), 5
    )
    np.testing.assert_array_equal(player.bound(run, run.plays[0]), np.zeros(5))


def test_refusals():
    with pytest.raises(ValueError, match="matrix must be 'diagonal', 'full' or the block"):
        AdaGrad("whole")
    with pytest.raises(ValueError, match="update must be 'mirror' or 'averaging'"):
        AdaGrad(update="rda")
    with pytest.raises(ValueError, match="delta must be positive"):
        AdaGrad(delta=0.0)
    with pytest.raises(ValueError, match="blocks of 2 weights, but a decision has 3"):
        AdaGrad((0, 1)).enter(Simplex(), 3)
    with pytest.raises(ValueError, match="does not know the penalty L1 in L2Ball"):
        AdaGrad().enter(L2Ball(1.0), 3, penalty=L1(1.0))
    with pytest.raises(ValueError, match="does not know the penalty L1 in Box"):
        AdaGrad("full").enter(Box(-1.0, 1.0), 3, penalty=L1(1.0))
    with pytest.raises(ValueError, match="does not know the penalty SquaredLp"):
        AdaGrad().enter(Simplex(), 3, penalty=SquaredLp(1.0, 1.5))
