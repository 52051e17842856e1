"""Rounds of players who are shown values only, and what their theorems need to know of the costs."""

import numpy as np

from games.rounds import rivals
from stepless.games.costs import Linear
from stepless.games.players import Run


def steepest(cost, radius):
    """A Lipschitz constant in a ball."""
    if isinstance(cost, Linear):
        return np.linalg.norm(cost.c)
    return np.linalg.norm(cost.c) + cost.smoothness * radius  # a quadratic


def played(player, domain, d, opponent, rounds=120, seed=0):
    """Play; return the run, the costs and what each round lost. The opponent does not see dice."""
    rng = np.random.default_rng(seed + 1000)
    player.enter(domain, d, seed=seed)
    plays, gradients, costs, losses = [], [], [], []
    for t in range(rounds):
        points = np.atleast_2d(player.play())
        cost = opponent(rng, d, player.w if not player.expected else player.z, t)
        values = np.array([cost.value(v) for v in points])
        plays.append(player.w)
        losses.append(player.suffer(values))
        player.observe(values)
        gradients.append(player.g)
        costs.append(cost)
    radius = min(domain.radius(), np.sqrt(d) * domain.reach())
    player.lipschitz = max(steepest(f, radius) for f in costs)
    player.smoothness = max(f.smoothness for f in costs)
    return Run(np.array(plays), np.array(gradients)), costs, np.array(losses)


def regrets(player, domain, d, opponent, rounds=120, seed=0, us=None):
    """Regret and bound against each of some fixed decisions, a row each, and the losses."""
    run, costs, losses = played(player, domain, d, opponent, rounds, seed)
    us = rivals(domain, d, run, seed) if us is None else us
    regret = [np.cumsum(losses - [f.value(u) for f in costs]) for u in us]
    bound = [player.bound(run, u) for u in us]
    return np.array(regret), np.array(bound), losses


def estimated(player, domain, d, rounds, seed):
    """Play values made up against a rival, dice seen; return Σ⟨g_s, z_s − u_s⟩ and its bound.

    That part of the theorems holds for every sequence of numbers, not on average only.
    """
    rng = np.random.default_rng(seed)
    player.lipschitz = 0.0
    player.enter(domain, d, seed=seed)
    u = corners(domain, d)[seed % 4]
    plays, gradients, linear = [], [], []
    for t in range(rounds):
        z, target = player.z, u + player.share * (player.interior_point - u)
        size = 10.0 ** (3 * (t // 20 % 3) * (seed % 2)) * rng.uniform(0.0, 1.0)
        away = np.sign(player.s @ (z - target)) if seed % 3 else rng.choice([-1.0, 1.0])
        values = np.zeros(np.atleast_2d(player.play()).shape[0])
        values[0] = away * size
        plays.append(player.w)
        player.observe(values)
        gradients.append(player.g)
        linear.append(player.g @ (z - target))
    bound = player.bound(Run(np.array(plays), np.array(gradients)), u)
    return np.cumsum(linear), bound


def expected(make, domain, d, opponent, rounds, seeds, us):
    """Mean and standard error of regret − bound after each round, and the mean of both."""
    pairs = [regrets(make(), domain, d, opponent, rounds, s, us)[:2] for s in range(seeds)]
    regret, bound = (np.array(x) for x in zip(*pairs, strict=True))
    off = regret - bound
    error = off.std(axis=0) / np.sqrt(seeds)
    return off.mean(axis=0), error, regret.mean(axis=0), bound.mean(axis=0)


def corners(domain, d):
    """A few fixed decisions, chosen before any round."""
    found = []
    for g in (*np.eye(d)[:2], -np.ones(d), np.linspace(-1.0, 1.0, d)):
        w = np.zeros(d)
        domain.vertex(g, w)
        found.append(w)
    return found


def outside(domain, points):
    """How far the points lie outside of the domain."""
    far = 0.0
    for w in np.atleast_2d(points):
        v = w.copy()
        domain.project(v)
        far = max(far, np.abs(v - w).max())
    return far
