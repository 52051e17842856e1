"""Rounds against any opponent, and whether a player's theorem holds in each of them."""

import numpy as np

from stepless.games.costs import ExampleLoss, Linear, Quadratic
from stepless.games.players import Run
from stepless.objective import Absolute, Box, L1Ball, L2Ball, Polytope, Simplex

D = 4
_A = np.random.default_rng(5).normal(size=(5, D))
_A = np.vstack([_A, -_A])
DOMAINS = {
    "ball": L2Ball(1.5),
    "box": Box(-1.0, 2.0),
    "simplex": Simplex(2.0),
    "l1": L1Ball(1.3),
    "polytope": Polytope.of(_A, np.linspace(0.4, 1.6, 10)),
}
GEOMETRIES = [*((name, None) for name in DOMAINS), ("simplex", "euclidean"), ("l1", "euclidean")]


def random(rng, d, w, t):
    return Linear(rng.normal(size=d))


def against(rng, d, w, t):
    """Against the decision: all that is held costs, all that is not would have paid."""
    return Linear(w - w.mean() + 0.1 * rng.normal(size=d))


def flips(rng, d, w, t):
    c = np.zeros(d)
    c[0] = 1.0 if (t // 7) % 2 else -1.0
    return Linear(c)


def alternates(rng, d, w, t):
    return Linear(np.where(np.arange(d) % 2 == t % 2, 1.0, -1.0) * (0.5 if t == 0 else 1.0))


def scales(rng, d, w, t):
    """Costs a thousand times larger or smaller, all of a sudden, after rounds of nothing."""
    if t < 3:
        return Linear(np.zeros(d))
    return Linear(rng.normal(size=d) * 10.0 ** (3 * ((t // 11) % 3 - 1)))


def one_coordinate(rng, d, w, t):
    c = np.zeros(d)
    c[t % d if t % 50 < 25 else 0] = rng.uniform(-1.0, 1.0)
    return Linear(c)


def steady(rng, d, w, t):
    return Linear(np.linspace(0.0, 1.0, d))


def growing(rng, d, w, t):
    return Linear(np.sign(w - w.mean() + 1e-9 * rng.normal(size=d)) * 1.3**t)


def drifting_bowls(rng, d, w, t):
    return Quadratic.around(np.cos(np.arange(d) + 0.05 * t), 1.0 + (t % 5))


def kinks(rng, d, w, t):
    return ExampleLoss(Absolute(), rng.normal(size=d), rng.normal())


LINEAR = (random, against, flips, alternates, scales, one_coordinate, steady, growing)
OBLIVIOUS = (random, flips, alternates, scales, one_coordinate, steady)
CONVEX = (drifting_bowls, kinks)


def played(player, domain, d, opponent, rounds=120, seed=0):
    """Play; return the run, the costs and what each round lost."""
    rng = np.random.default_rng(seed)
    player.enter(domain, d, seed=seed)
    plays, gradients, costs = [], [], []
    for t in range(rounds):
        w = player.play()
        cost = opponent(rng, d, w, t)
        player.observe(cost)
        plays.append(w)
        gradients.append(player.g)
        costs.append(cost)
    losses = np.array([f.value(w) for f, w in zip(costs, plays, strict=True)])
    return Run(np.array(plays), np.array(gradients)), costs, losses


def rivals(domain, d, run, seed=0):
    """Fixed decisions: corners, the best one for each of a few prefixes, points in between."""
    rng = np.random.default_rng(seed)
    found = []
    sums = np.cumsum(run.gradients, axis=0)
    for c in (*sums[:: max(len(sums) // 4, 1)], sums[-1], *rng.normal(size=(2, d))):
        w = np.zeros(d)
        domain.vertex(c, w)
        found.append(w)
    for _ in range(2):
        w = rng.normal(size=d)
        domain.project(w)
        found.append(w)
    return found


def worst(player, domain, d, opponent, rounds=120, seed=0):
    """The largest (regret − bound)/(size of the numbers), and the largest regret/bound."""
    run, costs, losses = played(player, domain, d, opponent, rounds, seed)
    over, share = -np.inf, -np.inf
    for u in rivals(domain, d, run, seed):
        regret = np.cumsum(losses - np.array([f.value(u) for f in costs]))
        bound = player.bound(run, u)
        assert bound.shape == regret.shape
        assert not np.isnan(bound).any()
        size = np.cumsum(np.abs(losses)) + np.abs(bound) + 1e-300
        over = max(over, ((regret - bound) / size).max())
        share = max(share, (regret[-1] / bound[-1]) if bound[-1] > 0.0 else -np.inf)
    return over, share
