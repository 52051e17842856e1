"""Mixed optimisation of MAH (Mahdavi 2014): MixedGrad (Alg. 10, ch. 7), EMGD (Alg. 11, ch. 8).

    F(w) = (1/n) sum_i f_i(w),   f_i(w) = s_i l(<w, x_i>, y_i) + (lam/2)|w|^2,

with lam = 0 for MixedGrad, which brings its own lam_k. A loss is a pair (value, slope) of Python
functions of a prediction and a target. The examples that the stochastic oracle returns are given:
`epochs` is a list of index arrays, one an epoch, whose lengths are the T_k.

A domain is a function (v, centre, radius) -> the point nearest v of W with |w - centre| <= radius;
`whole_space` and `ball_domain(R)` are exact.

Every method returns a Run. MixedGrad's iterates are the paper's w_k^t + wbar_k, so that both kinds
of run read alike.
"""

import math
from typing import NamedTuple

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import brentq


class Run(NamedTuple):
    centres: np.ndarray  # (m + 1, d) wbar_1 = 0, ..., wbar_{m+1}, the last one returned
    iterates: list  # m arrays (T_k + 1, d): w_1 = wbar_k, ..., w_{T_k + 1}
    radii: np.ndarray  # (m,) Delta_k


# ---------------------------------------------------------------------------------- projections


def nearest_in_ball(v, centre, radius):
    """The point of |w - centre| <= radius nearest v."""
    distance = float(np.linalg.norm(v - centre))
    return v if distance <= radius else centre + (radius / distance) * (v - centre)


def whole_space(v, centre, radius):
    """W = R^d."""
    return nearest_in_ball(v, centre, radius)


def nearest_in_two_balls(v, first, R, second, Delta):
    """The point of |w - first| <= R, |w - second| <= Delta nearest v, exactly.

    If one constraint alone is active, the answer is the projection on that ball, and it is feasible.
    If neither projection is, both are active: w lies on the two spheres, that is in the plane <w -
    first, e> = h, e the unit vector from first to second, h = (R^2 - Delta^2 + D^2)/(2D), D their
    distance, at distance rho = sqrt(R^2 - h^2) from the axis; the nearest such point is in the
    direction of the part of v - first that is normal to e. (That part is 0 only where the
    projections are feasible, or rho = 0.)
    """
    for this, size, other, limit in ((first, R, second, Delta), (second, Delta, first, R)):
        w = nearest_in_ball(v, this, size)
        if np.linalg.norm(w - other) <= limit * (1 + 1e-15):
            return w
    D = float(np.linalg.norm(second - first))
    assert R + Delta >= D, "the balls do not meet"
    e = (second - first) / D
    h = (R**2 - Delta**2 + D**2) / (2 * D)
    rho = math.sqrt(max(R**2 - h**2, 0.0))
    normal = (v - first) - float((v - first) @ e) * e
    length = float(np.linalg.norm(normal))
    return first + h * e + (rho / length * normal if length > 0 else 0.0)


def ball_domain(R):
    """W = {|w| <= R}."""
    return lambda v, centre, radius: nearest_in_two_balls(v, np.zeros_like(v), R, centre, radius)


def dykstra(v, projections, rounds=10000):
    """The point of an intersection nearest v, by Dykstra's alternating projections: a check."""
    w = v
    corrections = [np.zeros_like(v) for _ in projections]
    for _ in range(rounds):
        for j, project in enumerate(projections):
            moved = w + corrections[j]
            w = project(moved)
            corrections[j] = moved - w
    return w


# ------------------------------------------------------------------------------------- gradients


def slopes_at(X, y, loss, w, s=None):
    """s_i l'(<w, x_i>, y_i) for every i."""
    _, slope = loss
    weights = np.ones(len(X)) if s is None else s
    return np.array([weights[i] * slope(float(X[i] @ w), float(y[i])) for i in range(len(X))])


def objective(X, y, loss, lam, w, s=None):
    """F(w)."""
    value, _ = loss
    weights = np.ones(len(X)) if s is None else s
    losses = [weights[i] * value(float(X[i] @ w), float(y[i])) for i in range(len(X))]
    return 0.5 * lam * float(w @ w) + float(np.mean(losses))


# -------------------------------------------------------------------------------------- the epoch


def _epochs(X, y, loss, epochs, first_radius, shrink, step, s):
    """What Alg. 10 and 11 share: mixed gradients of the losses, mean of T + 1 points, smaller ball.

    step(k, g, w, centre, radius) -> w_{t+1}, g = the mixed gradient of the losses alone: the full
    gradient at the centre + (l'_i(w) - l'_i(centre)) x_i.
    """
    _, slope = loss
    weights = np.ones(len(X)) if s is None else s
    centre, radius = np.zeros(X.shape[1]), float(first_radius)
    centres, iterates, radii = [centre], [], []
    for k, rows in enumerate(epochs):
        at_centre = slopes_at(X, y, loss, centre, s)
        full = np.zeros(X.shape[1])
        for i in range(len(X)):
            full = full + at_centre[i] * X[i] / len(X)
        w = centre  # w_1
        points = [w]
        for i in rows:
            change = weights[i] * slope(float(X[i] @ w), float(y[i])) - at_centre[i]
            w = step(k, full + change * X[i], w, centre, radius)
            points.append(w)
        iterates.append(np.array(points))
        radii.append(radius)
        centre = np.mean(points, axis=0)  # of T_k + 1 points
        centres.append(centre)
        radius = radius / shrink
    return Run(np.array(centres), iterates, np.array(radii))


# ------------------------------------------------------------------------------------ the methods


def emgd(X, y, loss, lam, epochs, eta, Delta, domain=whole_space, s=None):
    """MAH Alg. 11. Delta: Delta^1; the ball shrinks by sqrt(2).

    The strongly convex term sits in every f_i, so the mixed gradient of F is that of the losses plus
    lam w exactly: it adds no noise.
    """

    def step(k, g, w, centre, radius):
        return domain(w - eta * (g + lam * w), centre, radius)  # step 9

    return _epochs(X, y, loss, epochs, Delta, math.sqrt(2), step, s)


def emgd_proximal(X, y, loss, composite, epochs, eta, Delta, s=None):
    """EMGD with the penalty kept whole: composite(g, w, eta, centre, radius) is the step 9.

    Not in MAH. Th. 8.1 holds for it as it stands, with L the smoothness of the losses alone (the
    larger of that and lam), for any convex Omega with F = Omega + mean loss lam-strongly convex. In
    its proof (8.14) becomes <g, w_{t+1} - u> + Omega(w_{t+1}) - Omega(u) <= (|u - w_t|^2 - |u -
    w_{t+1}|^2 - |w_{t+1} - w_t|^2)/(2 eta); summed, the losses run over w_1, ..., w_T and Omega over
    w_2, ..., w_{T+1}; (8.16) for the mean loss supplies its value at w_{T+1} and the one at wbar,
    and Omega(w_1) = Omega(wbar) completes F(wbar) <= F(w*) + (lam/2) Delta^2.
    """

    def step(k, g, w, centre, radius):
        return composite(g, w, eta, centre, radius)

    return _epochs(X, y, loss, epochs, Delta, math.sqrt(2), step, s)


def mixed_grad(X, y, loss, epochs, lam, eta, Delta, gamma=2.0, domain=whole_space, s=None):
    """MAH Alg. 10, step 11 with argmin for argmax, step 13 with T_k for T. lam, eta, Delta: of k = 1.

    In w = w_k^t + wbar_k the step is w - eta_k (g + lam_k w), g the mixed gradient of the losses:
    the regularizer is centred at 0, not at wbar_k. IT MAY STOP SHORT OF THE OPTIMUM: see theorem_7_1.
    """

    def step(k, g, w, centre, radius):
        shrunk = gamma**k
        return domain(w - eta / shrunk * (g + lam / shrunk * w), centre, radius)

    return _epochs(X, y, loss, epochs, Delta, gamma, step, s)


# -------------------------------------------------------------------- the step with a penalty in it


def ridge_step(lam):
    """argmin <g, w> + (lam/2)|w|^2 + |w - w_t|^2/(2 eta) over the ball: shrink, then project.

    Exact: the objective is (lam + 1/eta)/2 |w - v|^2 + const., v = (w_t - eta g)/(1 + eta lam), so
    its minimiser over ANY closed convex set is the projection of v.
    """

    def step(g, w, eta, centre, radius):
        return nearest_in_ball((w - eta * g) / (1 + eta * lam), centre, radius)

    return step


def soft(v, threshold):
    """prox of threshold * |.|_1."""
    return np.sign(v) * np.maximum(np.abs(v) - threshold, 0.0)


def l1_step(alpha):
    """The same with Omega = alpha |w|_1, by its one multiplier mu >= 0 of the ball.

    w(mu) = argmin eta Omega + |w - v|^2/2 + (mu/2)|w - centre|^2 = prox of eta Omega/(1 + mu) at (v
    + mu centre)/(1 + mu), v = w_t - eta g; |w(mu) - centre| falls with mu, to 0. So any Omega with a
    prox will do. "prox, then project" is NOT it, unless the centre is 0 (then w(mu) = soft(v, eta
    alpha)/(1 + mu)) or the ball is inactive.
    """

    def step(g, w, eta, centre, radius):
        v = w - eta * g

        def point(mu):
            return soft((v + mu * centre) / (1 + mu), eta * alpha / (1 + mu))

        def excess(mu):
            return float(np.linalg.norm(point(mu) - centre)) - radius

        if excess(0.0) <= 0:
            return point(0.0)
        high = 1.0
        while excess(high) > 0:
            high *= 2
        return point(brentq(excess, 0.0, high, xtol=1e-14, rtol=1e-14))

    return step


def l1_step_direct(alpha):
    """l1_step by clarabel: variables w, u; min eta <g, w> + |w - w_t|^2/2 + eta alpha <1, u>."""

    def step(g, w, eta, centre, radius):
        d = len(w)
        P = sparse.block_diag([sparse.eye(d), sparse.csc_matrix((d, d))], format="csc")
        q = np.concatenate([eta * g - w, np.full(d, eta * alpha)])
        eye, zero = np.eye(d), np.zeros((d, d))
        A = np.block([[eye, -eye], [-eye, -eye], [np.zeros((1, 2 * d))], [-eye, zero]])
        b = np.concatenate([np.zeros(2 * d), [radius], -centre])
        cones = [clarabel.NonnegativeConeT(2 * d), clarabel.SecondOrderConeT(d + 1)]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
        solution = clarabel.DefaultSolver(P, q, sparse.csc_matrix(A), b, cones, settings).solve()
        return np.array(solution.x)[:d]

    return step


# -------------------------------------------------------------------------------------- theorem 8.1


def theorem_8_1_epoch(L, lam, delta):
    """The least T of (8.6): 1152 (L/lam)^2 ln(1/delta), for delta <= exp(-1/2)."""
    assert delta <= math.exp(-0.5)
    assert lam <= L
    return math.ceil(1152 * (L / lam) ** 2 * math.log(1 / delta))


def theorem_8_1_eta(L, T):
    """eta = 1/(L sqrt T)."""
    return 1 / (L * math.sqrt(T))


def theorem_8_1_radius(gap_at_zero, lam):
    """The least Delta^1 of (8.6): sqrt(2 (F(0) - F*)/lam); any upper bound on the gap will do.

    The other term of the maximum, |w*|, is never the larger one: lam |w*|^2/2 <= F(0) - F*.
    """
    return math.sqrt(2 * gap_at_zero / lam)


def theorem_8_1(lam, Delta, m):
    """(bound on F(wbar^{m+1}) - F*, bound on |wbar^{m+1} - w*|^2), with probability 1 - m delta.

    lam Delta^2/2^(m+1) and Delta^2/2^m, where lam Delta^2/(2m+1) and Delta^2/(2m) are printed.

    Assumes: every f_i convex and L-smooth on W (L = beta max |x_i|^2 s_i + lam for a beta-smooth
    loss), F lam-strongly convex, indices drawn uniformly with replacement and afresh, T =
    theorem_8_1_epoch(L, lam, delta) or more, eta = theorem_8_1_eta(L, T), Delta from (8.6). W may
    bind at w*. (8.8) should say |what - w*|, not |what - wbar|.
    """
    return lam * Delta**2 / 2 ** (m + 1), Delta**2 / 2**m


def epoch_bound(L, T, eta, delta, Delta):
    """What the proof of Th. 8.1 has for one epoch, any T and eta: F(what) - F* is at most

        Delta^2 (1/(2 eta) + L + eta T L^2/2 + 4 L sqrt(2 T ln(1/delta))) / (T + 1)

    with probability 1 - delta, if F(wbar) - F* <= (lam/2) Delta^2 with lam <= L.
    """
    noise = 4 * L * math.sqrt(2 * T * math.log(1 / delta))
    return Delta**2 * (1 / (2 * eta) + L + eta * T * L**2 / 2 + noise) / (T + 1)


# -------------------------------------------------------------------------------------- theorem 7.1


class MixedGradConstants(NamedTuple):
    lam: float  # lam_1
    T: int  # T_1
    eta: float  # eta_1
    Delta: float  # Delta_1
    gamma: float


def theorem_7_1_constants(beta, R, m, delta):
    """Th. 7.1: gamma = 2, lam_1 = 16 beta, T_1 = 300 ln(m/delta), eta_1, Delta_1 = R."""
    assert delta <= math.exp(-4.5)
    T = math.ceil(300 * math.log(m / delta))
    return MixedGradConstants(16 * beta, T, 1 / (2 * beta * math.sqrt(3 * T)), R, 2.0)


def theorem_7_1(beta, R, m):
    """80 beta R^2 / 2^(2m-2), claimed for F(wbar_{m+1}) - min F. FALSE.

    F(w) = (w - 1)^2/2 on [-1, 1], n = 1, beta = R = 1 (so nothing is random): after m = 6 epochs with
    the theorem's constants wbar = 0.418 and F = 0.169 > 0.078; after 7, 0.160 > 0.0195; and wbar
    never gets beyond 0.45. In epoch k the iterates move towards u_k = argmin F + (lam_k/2)|w|^2,
    that is 1/(1 + 16/2^(k-1)), and no further than Delta_k = 2^(1-k) from wbar_k: the balls shrink
    faster than the regularization path moves.

    The gap: Lemma 7.10 bounds the way from u_k to u_{k+1} by (gamma - 1)|u_k - wbar_{k+1}|. The
    regularizer (lam_k/2)|w + wbar_k|^2 is centred at 0, so [153] gives (gamma - 1)|u_k|. (Solve
    epoch k exactly and the lemma says that u_{k+1} = u_k.) See theorem_7_1_mended.

    Further, in the proof: F(0) <= F(w*) + (beta/2)|w*|^2 needs nabla F(w*) = 0, so W must not bind (F
    linear, beta -> 0: the claim cannot be true); F_k is (beta + lam_k)-smooth, not beta; |w_t - w*|
    <= 2 Delta, so that K and Sigma in Lemma 7.9 are 4 beta Delta^2 and 4 beta^2 Delta^4 T for B_T;
    A_T <= 6 beta^2 Delta^2 T needs lam_k <= sqrt(2) beta, but lam_1 = 16 beta. None of these four does
    harm to Th. 7.2's first half if nabla F_k = 0 at its minimiser: mixed_grad_epoch_bound.
    """
    return 80 * beta * R**2 / 2 ** (2 * m - 2)


def mixed_grad_epoch_bound(beta, lam, T, eta, delta, Delta):
    """F_k(what) - min F_k after epoch k, with probability 1 - delta; F_k = F + (lam_k/2)|w|^2.

    Mended (7.10), for u_k = argmin F_k over R^d, |u_k - wbar_k| <= Delta_k, u_k in W:

        Delta^2/(T+1) [1/(2 eta) + beta + lam/2 + eta beta^2 T/(2(1 - eta lam))
                       + (8/3) beta ln(1/delta) + 2 beta sqrt(2 T ln(1/delta))].

    The regularizer is kept with the full gradient (it is lam-smooth: hence 1 - eta lam), B_T and C_T
    are one martingale of differences <= 4 beta Delta^2 and variances <= 4 beta^2 Delta^4, and the
    second display of Th. A.25 has 2/3 for the sqrt(2)/3 that is printed.
    """
    log = math.log(1 / delta)
    noise = 8 / 3 * beta * log + 2 * beta * math.sqrt(2 * T * log)
    descent = 1 / (2 * eta) + beta + lam / 2 + eta * beta**2 * T / (2 * (1 - eta * lam))
    return Delta**2 / (T + 1) * (descent + noise)


def mended_constants(beta, mu, R, m, delta):
    """For theorem_7_1_mended: lam_1 = mu/2, T_1 = 300 gamma^8 (beta/lam_1)^2 ln(m/delta)."""
    assert m / delta >= math.exp(0.5)
    lam = mu / 2
    T = math.ceil(300 * 256 * (beta / lam) ** 2 * math.log(m / delta))
    return MixedGradConstants(lam, T, 1 / (2 * beta * math.sqrt(3 * T)), R, 2.0)


def theorem_7_1_mended(mu, R, m):
    """(25/64) mu R^2 / 4^(m-1) with probability 1 - delta, for mu-strongly convex F.

    Assumes: f_i convex and beta-smooth, nabla F(w*) = 0, |w*| <= R, W a ball around 0 that has w* in
    it (or R^d), constants of mended_constants. By induction |u_k - wbar_k| <= Delta_k: the epoch
    leaves |wbar_{k+1} - u_k| <= Delta_k/4 (its bound is below lam_k Delta_k^2/32), and |u_k -
    u_{k+1}| <= (lam_k/2)|u_k|/mu <= lam_k R/(2 mu) <= Delta_k/4. At the end F - F* <= lam_m
    Delta_m^2/32 + (lam_m/2)(|w*|^2 - |wbar|^2) and |w* - wbar| <= (3/4) Delta_m. It needs strong
    convexity and gives 1/T where EMGD converges linearly: there is no reason to use it.
    """
    return 25 / 64 * mu * R**2 / 4 ** (m - 1)


def epoch_lengths(T, m, gamma=2.0):
    """T_1, ..., T_m: T gamma^(2(k-1))."""
    return [math.ceil(T * gamma ** (2 * k)) for k in range(m)]
