"""Online convex games, transcribed from MAH (chapters 2, 5, 6, 9.5), DHS and DLF.

Every algorithm is a function of the rounds' costs and of EXPLICIT steps and constants. A round is a
cost with `value(w)` and `gradient(w)`, or, for an adversary that sees the play, a function of the
play that returns one. All return `Played`: the plays w_1, ..., w_T, the costs that were shown, and
the algorithm's other sequences by their letter in the paper.

A set is a tuple: ("space",), ("ball", R), ("box", lower, upper), ("simplex",), ("cross", R) for the
l1 ball. Every argmin is clarabel's, then solved again to machine precision on the constraints
that clarabel found active (`argmin` asserts that the two agree).
"""

import itertools
import math
from types import SimpleNamespace

import clarabel
import numpy as np
from scipy import sparse
from scipy.linalg import null_space
from scipy.optimize import brentq

# -------------------------------------------------------------------------------------- rounds


class Linear:
    """f(w) = <c, w>."""

    def __init__(self, c):
        self.c = np.asarray(c, dtype=float)

    def value(self, w):
        return float(self.c @ w)

    def gradient(self, w):
        return self.c


class Quadratic:
    """f(w) = <w, Hw>/2 + <c, w>."""

    def __init__(self, H, c):
        self.H, self.c = np.asarray(H, dtype=float), np.asarray(c, dtype=float)

    def value(self, w):
        return float(0.5 * w @ self.H @ w + self.c @ w)

    def gradient(self, w):
        return self.H @ w + self.c


class Growth:
    """f(w) = -log <r, w>."""

    def __init__(self, r):
        self.r = np.asarray(r, dtype=float)

    def value(self, w):
        return -math.log(self.r @ w)

    def gradient(self, w):
        return -self.r / (self.r @ w)


def shown(round_, w):
    """The cost of a round, given what was played."""
    return round_(w) if callable(round_) else round_


def each(number, rounds):
    """A number for every round."""
    return np.broadcast_to(np.asarray(number, dtype=float), len(rounds))


def played(plays, costs, **letters):
    return SimpleNamespace(
        w=np.array(plays), f=costs, **{name: np.array(rows) for name, rows in letters.items()}
    )


# ------------------------------------------------------------------------------- sets and argmin


def constraints(S, d):
    """(E, e, A, b): the polyhedron {Ew = e, Aw <= b}; the ball has none of them."""
    none, nothing = np.zeros((0, d)), np.zeros(0)
    eye = np.eye(d)
    if S[0] in ("space", "ball"):
        return none, nothing, none, nothing
    if S[0] == "box":
        lower, upper = np.broadcast_to(S[1], d), np.broadcast_to(S[2], d)
        return none, nothing, np.vstack([eye, -eye]), np.concatenate([upper, -lower])
    if S[0] == "simplex":
        return np.ones((1, d)), np.ones(1), -eye, np.zeros(d)
    if S[0] == "cross":
        signs = np.array(list(itertools.product([1.0, -1.0], repeat=d)))
        return none, nothing, signs, np.full(len(signs), float(S[1]))
    raise ValueError(S)


def scaled(S, factor):
    """factor * S, for bandits."""
    if S[0] == "box":
        return ("box", factor * np.asarray(S[1]), factor * np.asarray(S[2]))
    return (S[0], factor * S[1])


def _settings():
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    return settings


def _solve(P, q, A, b, cones):
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)), q, sparse.csc_matrix(A), b, cones, _settings()
    )
    found = solver.solve()
    return np.array(found.x), np.array(found.z), np.array(found.s)


def _quadratic_by_clarabel(H, c, S, l1):
    """The minimiser, its active inequalities, its zeros; v >= |w| carries the l1 norm."""
    d = c.size
    E, e, A, b = constraints(S, d)
    n = d if l1 == 0.0 else 2 * d
    P, q = np.zeros((n, n)), np.zeros(n)
    P[:d, :d], q[:d] = H, c
    blocks, sides, cones = [], [], []

    def add(rows, side, cone):
        if len(rows):
            blocks.append(np.hstack([rows, np.zeros((len(rows), n - rows.shape[1]))]))
            sides.append(side)
            cones.append(cone(len(rows)))

    add(E, e, clarabel.ZeroConeT)
    add(A, b, clarabel.NonnegativeConeT)
    if l1 > 0.0:
        q[d:] = l1
        eye = np.eye(d)
        bend = np.vstack([np.hstack([eye, -eye]), np.hstack([-eye, -eye])])
        add(bend, np.zeros(2 * d), clarabel.NonnegativeConeT)
    if S[0] == "ball":
        cone = np.vstack([np.zeros(d), -np.eye(d)])
        add(cone, np.concatenate([[S[1]], np.zeros(d)]), clarabel.SecondOrderConeT)
    if not blocks:
        return np.linalg.solve(H, -c), np.zeros(0, dtype=bool), np.zeros(d, dtype=bool)
    x, z, s = _solve(P, q, np.vstack(blocks), np.concatenate(sides), cones)
    active = (z > s)[len(e) :]
    bends = active[len(b) : len(b) + 2 * d] if l1 > 0.0 else np.zeros(2 * d, dtype=bool)
    return x[:d], active[: len(b)], bends[:d] & bends[d:]


def _on_ball(H, c, R):
    """min <w, Hw>/2 + <c, w> over |w| <= R: the multiplier is a root of |w(k)| = R."""
    h, U = np.linalg.eigh(H)
    a = U.T @ c

    def norm(k):
        return float(np.linalg.norm(a / (h + k)))

    if norm(0.0) <= R:
        return -U @ (a / h)
    top = float(np.linalg.norm(a)) / R
    w = -U @ (a / (h + brentq(lambda k: norm(k) - R, 0.0, top, xtol=1e-15 * top, rtol=1e-15)))
    return w * (R / np.linalg.norm(w))


def _on_face(H, c, E, e, A, b, active):
    """The same on a polyhedron: right the guess of the active inequalities until KKT holds."""
    active = active.copy()
    for _ in range(100):
        B, r = np.vstack([E, A[active]]), np.concatenate([e, b[active]])
        w, N = np.linalg.lstsq(B, r, rcond=1e-12)[0], np.eye(c.size)
        if len(B):
            N = null_space(B, rcond=1e-12)
        w = w - N @ np.linalg.solve(N.T @ H @ N, N.T @ (c + H @ w))
        beyond = A @ w - b
        if len(b) and beyond.max() > 1e-12:
            active[np.argmax(beyond)] = True
            continue
        held = np.linalg.lstsq(B.T, -(H @ w + c), rcond=1e-12)[0][len(e) :]
        if not len(held) or held.min() >= -1e-12:
            break
        active[np.flatnonzero(active)[np.argmin(held)]] = False
    return w


def argmin(H, c, S, l1=0.0):
    """argmin over w in S of <w, Hw>/2 + <c, w> + l1 |w|_1."""
    H, c = np.asarray(H, dtype=float), np.asarray(c, dtype=float)
    scale = max(float(np.abs(H).max()), float(np.abs(c).max()), l1)
    H, c, l1 = H / scale, c / scale, l1 / scale
    found, active, zeros = _quadratic_by_clarabel(H, c, S, l1)
    E, e, A, b = constraints(S, c.size)
    signs = np.where(zeros, 0.0, np.sign(found)) if l1 > 0.0 else np.ones(c.size)
    while True:  # a weight that changes its sign on the way is 0
        on, w = signs != 0.0, np.zeros(c.size)
        if on.any():
            slope, part = (c + l1 * signs)[on], H[np.ix_(on, on)]
            if S[0] == "ball":
                w[on] = _on_ball(part, slope, S[1])
            else:
                w[on] = _on_face(part, slope, E[:, on], e, A[:, on], b, active)
        turned = w * signs < 0.0
        if l1 == 0.0 or not turned.any():
            break
        signs[turned] = 0.0

    def value(v):
        return float(0.5 * v @ H @ v + c @ v + l1 * np.abs(v).sum())

    slack = 1e-7 * (1.0 + float(np.abs(c).sum()) + l1)
    assert outside(w, S) <= 1e-10, (S, w, found)
    assert value(w) <= value(found) + slack, (S, w, found)
    return w


def outside(w, S):
    """How far w is outside S."""
    if S[0] == "ball":
        return max(0.0, float(np.linalg.norm(w)) - S[1])
    E, e, A, b = constraints(S, w.size)
    return max((0.0, *np.abs(E @ w - e), *(A @ w - b)))


def project(w, S):
    """The Euclidean projection."""
    return argmin(np.eye(w.size), -w, S)


def lowest(c, S):
    """A minimiser of <c, w> over S, in closed form (the paper's oracle M)."""
    d = c.size
    corner = np.zeros(d)
    if S[0] == "simplex":
        corner[np.argmin(c)] = 1.0
        return corner
    if S[0] == "box":
        return np.where(c > 0.0, S[1], S[2]) * np.ones(d)
    if S[0] == "ball":
        norm = np.linalg.norm(c)
        return np.zeros(d) if norm == 0.0 else -(S[1] / norm) * c
    j = np.argmax(np.abs(c))
    corner[j] = -S[1] * np.sign(c[j])
    return corner


def entropy_argmin(c, z):
    """argmin over the simplex of <c, w> + sum w log(w/z): z exp(-c), normalised."""
    u = np.log(z) - c
    w = np.exp(u - u.max())
    return w / w.sum()


def entropy_argmin_by_clarabel(c, z):
    """The same by exponential cones: the sum of t, t >= w log(w/z)."""
    d = c.size
    q = np.concatenate([c, np.ones(d)])  # variables w, t
    rows, sides, cones = [np.concatenate([np.ones(d), np.zeros(d)])[None, :]], [np.ones(1)], []
    cones.append(clarabel.ZeroConeT(1))
    for j in range(d):  # (-t, w, z) in K_exp: w exp(-t/w) <= z
        block = np.zeros((3, 2 * d))
        block[0, d + j], block[1, j] = 1.0, -1.0
        rows.append(block)
        sides.append(np.array([0.0, 0.0, z[j]]))
        cones.append(clarabel.ExponentialConeT())
    x, _, _ = _solve(np.zeros((2 * d, 2 * d)), q, np.vstack(rows), np.concatenate(sides), cones)
    return x[:d]


class Euclidean:
    """B(w, z) = |w - z|^2/2 on a set."""

    def __init__(self, S, d):
        self.S, self.d = S, d
        self.first = argmin(np.eye(d), np.zeros(d), S)

    def nearest(self, c, z, l1=0.0):
        """argmin over w in S of <c, w> + B(w, z) + l1 |w|_1."""
        return argmin(np.eye(self.d), c - z, self.S, l1)

    def dual_step(self, w, c):
        """grad Phi* (grad Phi(w) + c), not projected."""
        return w + c

    def between(self, w, z, share):
        """grad Phi* (share grad Phi(w) + (1 - share) grad Phi(z))."""
        return share * w + (1 - share) * z

    def divergence(self, w, z):
        return 0.5 * float((w - z) @ (w - z))

    def dual_norm(self, g):
        return float(np.linalg.norm(g))


class Entropy:
    """B(w, z) = sum w log(w/z) on the simplex."""

    def __init__(self, d):
        self.first = np.full(d, 1.0 / d)

    def nearest(self, c, z, l1=0.0):  # |w|_1 is 1 on the simplex
        return entropy_argmin(c, z)

    def dual_step(self, w, c):
        return entropy_argmin(-c, w)

    def between(self, w, z, share):
        v = w**share * z ** (1 - share)
        return v / v.sum()

    def divergence(self, w, z):
        live = w > 0.0
        return float(np.sum(w[live] * np.log(w[live] / z[live])))

    def dual_norm(self, g):
        return float(np.abs(g).max())


# ------------------------------------------------------------------------------ MAH section 2.2.2


def ogd(rounds, S, w1, steps):
    """MAH 2.2.2.1 with a step for every round: R/(G sqrt t) of Th. 2.8, 1/(alpha t) of Th. 2.9."""
    w, plays, costs = np.array(w1, dtype=float), [], []
    for round_, eta in zip(rounds, steps, strict=True):
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        w = project(w - eta * f.gradient(w), S)
    return played(plays, costs)


def ftpl(rounds, S, perturbations):
    """MAH 2.2.2.2: w_1 = M(0), w_{t+1} = M(f_1 + ... + f_t + mu_t); row t - 1 is mu_t."""
    d = perturbations.shape[1]
    w, total, plays, costs = lowest(np.zeros(d), S), np.zeros(d), [], []
    for round_, mu in zip(rounds, perturbations, strict=True):
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        total = total + f.gradient(w)
        w = lowest(total + mu, S)
    return played(plays, costs)


def ftrl(rounds, S, d, eta):
    """MAH 2.2.2.3, Alg. 2, (5.2), R = |w|^2/2; the box in 2.2.2.3 forgets the 1/eta of (5.2).

    eta: a number, or the one that decides each round's play.
    """
    total, plays, costs = np.zeros(d), [], []
    for round_, eta in zip(rounds, each(eta, rounds), strict=True):
        w = argmin(np.eye(d) / eta, total, S)
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        total = total + f.gradient(w)
    return played(plays, costs)


def omd(rounds, mirror, steps):
    """MAH 2.2.2.4; w_1 minimises Phi over W (the print: over K).

    With the entropy on the simplex, exponentiated gradients.
    """
    w, plays, costs = mirror.first, [], []
    for round_, eta in zip(rounds, steps, strict=True):
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        w = mirror.nearest(eta * f.gradient(w), w)
    return played(plays, costs)


def hedge(rounds, d, eta):
    """Exponential weights: w_t is proportional to exp(-eta_t (f_1 + ... + f_{t-1}))."""
    total, plays, costs = np.zeros(d), [], []
    for round_, eta in zip(rounds, each(eta, rounds), strict=True):
        w = np.exp(-eta * (total - total.min()))
        w = w / w.sum()
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        total = total + f.gradient(w)
    return played(plays, costs)


def ons(rounds, S, w1, curvature, ridge):
    """MAH 2.2.2.5: A_t = ridge_t I + sum to t of curvature_s g_s g_s^T; projection in its norm.

    The print is curvature = 1/eta, ridge = 0, with which A_1 is singular.
    """
    w, plays, costs = np.array(w1, dtype=float), [], []
    A = np.zeros((w.size, w.size))
    both = zip(each(curvature, rounds), each(ridge, rounds), strict=True)
    for round_, (beta, epsilon) in zip(rounds, both, strict=True):
        f = shown(round_, w)
        g = f.gradient(w)
        plays.append(w)
        costs.append(f)
        A = A + beta * np.outer(g, g)
        H = A + epsilon * np.eye(w.size)
        w = argmin(H, g - H @ w, S)
    return played(plays, costs)


# -------------------------------------------------------------------------------- MAH chapter 5


def iftrl(rounds, S, d, L, eta):
    """MAH Alg. 3. Also the letter z: z_0, ..., z_T."""
    z, total, last = np.zeros(d), np.zeros(d), np.zeros(d)  # z_0; the sum; grad f_0 (z_0)
    plays, costs, searches = [], [], [z]
    for round_ in rounds:
        w = argmin(L / eta * np.eye(d), last - L / eta * z, S)  # step 4
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        total = total + f.gradient(z)
        z = argmin(L / eta * np.eye(d), total, S)  # step 6
        last = f.gradient(z)
        searches.append(z)
    return played(plays, costs, z=searches)


def omp(rounds, mirror, L, eta):
    """MAH Alg. 4 (Euclidean), Alg. 5; (5.15) with exp(-(eta/L) f) where the mirror is entropy."""
    z = mirror.first
    g, plays, costs, searches = np.zeros(z.size), [], [], [z]
    for round_ in rounds:
        w = mirror.nearest(eta / L * g, z)  # step 4
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        g = f.gradient(w)
        z = mirror.nearest(eta / L * g, z)  # step 6
        searches.append(z)
    return played(plays, costs, z=searches)


def experts_as_printed(costs, eta):
    """MAH (5.15) with its exp(+eta f): it follows the worst expert."""
    m = len(costs[0])
    z, last, plays = np.full(m, 1.0 / m), np.zeros(m), []
    for f in costs:
        w = z * np.exp(eta * last)
        plays.append(w / w.sum())
        z = z * np.exp(eta * f)
        z, last = z / z.sum(), f
    return np.array(plays)


def simplified_omp(rounds, mirror, L, eta, l1=0.0, projected=False):
    """MAH Alg. 7; with l1 > 0 Alg. 8 for g = l1 |w|_1, the rounds' costs being f-hat."""
    z = mirror.first
    g, plays, costs, searches = np.zeros(z.size), [], [], [z]
    for round_ in rounds:
        w = mirror.nearest(eta / L * g, z, eta / L * l1)  # step 4
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        new = f.gradient(w)
        z = mirror.dual_step(w, eta / L * (g - new))  # step 6
        if projected:
            z = mirror.nearest(np.zeros(z.size), z)
        g = new
        searches.append(z)
    return played(plays, costs, z=searches)


def strictly_convex_omp(rounds, S, d, beta, height):
    """MAH (5.18): H_t = height_t I + sum to t - 1 of beta_s g_s g_s^T; height 1 + beta G^2."""
    z, g, M = np.zeros(d), np.zeros(d), np.zeros((d, d))
    plays, costs, searches = [], [], [z]
    both = zip(each(beta, rounds), each(height, rounds), strict=True)
    for round_, (curvature, h) in zip(rounds, both, strict=True):
        H = M + h * np.eye(d)
        w = argmin(H, g - H @ z, S)
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        g = f.gradient(w)
        z = argmin(H, g - H @ z, S)
        M = M + curvature * np.outer(g, g)
        searches.append(z)
    return played(plays, costs, z=searches)


def bandit_omp(rounds, S, d, before, after, alpha, delta):
    """MAH Alg. 6: d + 1 values a round, the estimate (5.21), on (1 - alpha) S.

    The paper's heights G/eta are `before` in step 4 and `after` in step 6.
    """
    z, g, plays, costs, gradients = np.zeros(d), np.zeros(d), [], [], []
    constants = (each(number, rounds) for number in (before, after, alpha, delta))
    for round_, low, high, share, away in zip(rounds, *constants, strict=True):
        inner = scaled(S, 1.0 - share)
        w = argmin(low * np.eye(d), g - low * z, inner) if low > 0.0 else z  # step 4
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        here = f.value(w)
        g = np.array([(f.value(w + away * e) - here) / away for e in np.eye(d)])  # (5.21)
        z = argmin(high * np.eye(d), g - high * z, inner)  # step 6
        gradients.append(g)
    return played(plays, costs, g=gradients)


# ------------------------------------------------------------------------------ MAH section 2.2.4


def one_point(rounds, S, directions, eta, delta, xi, offset=0.0):
    """EOGD: plays z_t + delta u_t, z_{t+1} = Pi(z_t - eta (f_t(w_t) - offset) u_t) on (1 - xi) S.

    The print has no offset; any that is known before u_t is drawn leaves the mean as it is.
    """
    z, plays, costs, centers = np.zeros(directions.shape[1]), [], [], []
    constants = (each(number, rounds) for number in (eta, delta, xi, offset))
    for round_, u, step, away, share, less in zip(rounds, directions, *constants, strict=True):
        w = z + away * u
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        centers.append(z)
        z = project(z - step * (f.value(w) - less) * u, scaled(S, 1.0 - share))
    return played(plays, costs, z=centers)


def two_point(rounds, S, directions, eta, delta, xi):
    """EOGD with (d / 2 delta)(f(w + delta u) - f(w - delta u)) u for the gradient."""
    d = directions.shape[1]
    w, plays, costs, gradients = np.zeros(d), [], [], []
    constants = (each(number, rounds) for number in (eta, delta, xi))
    for round_, u, step, away, share in zip(rounds, directions, *constants, strict=True):
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        g = d / (2 * away) * (f.value(w + away * u) - f.value(w - away * u)) * u
        gradients.append(g)
        w = project(w - step * g, scaled(S, 1.0 - share))
    return played(plays, costs, g=gradients)


# -------------------------------------------------------------------------------- MAH chapter 6


def saddle_omp(rounds, primal, dual, eta):
    """MAH Alg. 9. A round is (f-hat, A, phi-hat); Th. 6.3 needs 1/eta where print has L_i/eta.

    Step 5 with A_{t-1}^T u_{t-1} (the print multiplies by A_{t-1} once more); A_0 = 0.
    """
    z, v = primal.first, dual.first
    gw, gu = np.zeros(z.size), np.zeros(v.size)
    plays, duals, costs = [], [], []
    for round_ in rounds:
        u = dual.nearest(-eta * gu, v)  # step 4
        w = primal.nearest(eta * gw, z)  # step 5
        f, A, phi = shown(round_, w)
        plays.append(w)
        duals.append(u)
        costs.append((f, A, phi))
        gu = A @ w - phi.gradient(u)
        gw = f.gradient(w) + A.T @ u
        v = dual.nearest(-eta * gu, v)  # step 7
        z = primal.nearest(eta * gw, z)  # step 8
    return played(plays, costs, u=duals)


# ------------------------------------------------------------------------------ MAH section 9.5


def soft_constraints(rounds, ball, excesses, w1, eta, delta, gamma=0.0, lam1=0.0):
    """MAH Alg. 14 on (9.28), and on (9.34) with gamma > 0 and a single constraint.

    `excesses`: functions w -> (g_i(w), gradient of g_i at w). Also the letter v: the multipliers.
    """
    w, lam = np.array(w1, dtype=float), np.zeros(len(excesses)) + lam1
    plays, costs, multipliers = [], [], []
    for round_ in rounds:
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        multipliers.append(lam)
        values, slopes = zip(*(g(w) for g in excesses), strict=True)
        ascent = np.array(values) + gamma - eta * delta * lam
        step = f.gradient(w) + lam @ np.array(slopes)
        w = project(w - eta * step, ball)
        lam = np.maximum(lam + eta * ascent, 0.0)
    return played(plays, costs, v=multipliers)


# ---------------------------------------------------------------------------------- DHS and DLF


def adagrad(rounds, S, d, eta, delta, full=False, primal_dual=False):
    """DHS Alg. 1 (diagonal), Alg. 2 (full); mirror descent (4) or primal-dual (3), phi = 0.

    x_1 is the point nearest to 0, which is 0 in the paper.
    """
    x, seen, plays, costs = project(np.zeros(d), S), np.zeros((0, d)), [], []
    for round_ in rounds:
        f = shown(round_, x)
        plays.append(x)
        costs.append(f)
        g = f.gradient(x)
        seen = np.vstack([seen, g])
        H = delta * np.eye(d) + (root(seen) if full else np.diag(np.linalg.norm(seen, axis=0)))
        x = argmin(H, eta * seen.sum(axis=0) if primal_dual else eta * g - H @ x, S)
    return played(plays, costs)


def root(A):
    """(A^T A)^(1/2), by A's singular values: those of A^T A would lose half of the digits."""
    _, h, V = np.linalg.svd(A, full_matrices=False)
    return (V.T * h) @ V


def proximal(rounds, S, w1, R, strengths, bounds=None):
    """DLF Alg. 2: lambda_t from `strengths`, G_t from `bounds` or |g_t|. Also the letter tau."""
    w, lam, tau = np.array(w1, dtype=float), 0.0, 0.0
    plays, costs, taus = [], [], []
    for t, (round_, strength) in enumerate(zip(rounds, strengths, strict=True)):
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        g = f.gradient(w)
        G = float(np.linalg.norm(g)) if bounds is None else bounds[t]
        lam += strength
        more = 0.5 * (-lam - tau + math.sqrt((lam + tau) ** 2 + G**2 / R**2))
        tau += more
        taus.append(more)
        if lam + tau > 0.0:
            w = project(w - g / (lam + tau), S)
    return played(plays, costs, tau=taus)


def adaptive(rounds, S, w1, rho, strengths):
    """DLF (4), Bartlett et al.: the norm is measured from w_1, which is 0 in the paper."""
    first = w = np.array(w1, dtype=float)
    lam, tau, plays, costs, taus = 0.0, 0.0, [], [], []
    for round_, strength in zip(rounds, strengths, strict=True):
        f = shown(round_, w)
        plays.append(w)
        costs.append(f)
        g = f.gradient(w)
        lam += strength
        more = 0.5 * (-lam - tau + math.sqrt((lam + tau) ** 2 + 8 * (g @ g) / (3 * rho**2)))
        tau += more
        taus.append(more)
        if lam + tau > 0.0:
            w = project(w - (g + more * (w - first)) / (lam + tau), S)
    return played(plays, costs, tau=taus)


# --------------------------------------------------------------------------------- regret


def best_fixed(costs, S, d, l1=0.0):
    """The best fixed decision for linear and quadratic costs, or one that is 1e-9 away."""
    c = sum(f.c for f in costs)
    H = sum(getattr(f, "H", np.zeros((d, d))) for f in costs)
    if not H.any() and l1 == 0.0:
        return lowest(c, S)
    scale = float(np.abs(H).max() + np.abs(c).max() + l1)
    return argmin(H + 1e-9 * scale * np.eye(d), c, S, len(costs) * l1)


def regret(run, u):
    """The sum over rounds of f_t(w_t) - f_t(u)."""
    return math.fsum(f.value(w) - f.value(u) for f, w in zip(run.f, run.w, strict=True))


def extended_variation(costs, points, norm=np.linalg.norm):
    """EGV, MAH (5.9), (5.13): the sum of |grad f_{t+1}(y_t) - grad f_t(y_t)|^2, f_0 = 0."""
    total, last = 0.0, None
    for f, y in zip(costs, points[: len(costs)], strict=True):
        before = 0.0 if last is None else last.gradient(y)
        total += float(norm(f.gradient(y) - before)) ** 2
        last = f
    return total
