"""Batch methods: SVL Alg. 1 and section 5, DLF Alg. 4, and true optima.

    J(w) = (lam/2) |w|^2 + R(w),     oracle(w) = (R(w), a) with a in the subdifferential of R at w.

The matrix A of planes has one column a_i for each plane <a_i, w> + b_i <= R(w), as in the papers.
"""

import math
from itertools import product

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from stepless import LOSSES

# ------------------------------------------------------------------------------ losses and risk

DEFAULTS = {"delta": 1.0, "epsilon": 0.1, "tau": 0.5, "gamma": 1.0}
# Losses whose optimum is that of a quadratic programme, see `_conjugate_of`; the others are smooth.
QUADRATIC = (
    *("hinge", "squared_hinge", "squared", "absolute", "huber"),
    *("epsilon_insensitive", "quantile"),
)


def scalar_loss(name, **params):
    """The pair (value, slope) of a named loss; at a kink the slope is that of the flatter side."""
    p = {**DEFAULTS, **params}
    delta, epsilon, tau, gamma = p["delta"], p["epsilon"], p["tau"], p["gamma"]

    def sign(r):
        return float(r > 0) - float(r < 0)

    def sigmoid(x):
        return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))

    def log1pexp(x):
        return max(x, 0.0) + math.log1p(math.exp(-abs(x)))

    def ylogy(y):
        return y * math.log(y) - y if y > 0 else 0.0

    def huber(r):
        return 0.5 * r**2 if abs(r) <= delta else delta * (abs(r) - 0.5 * delta)

    losses = {
        "hinge": (
            lambda z, y: max(0.0, 1 - y * z),
            lambda z, y: -y if y * z < 1 else 0.0,
        ),
        "squared_hinge": (
            lambda z, y: max(0.0, 1 - y * z) ** 2,
            lambda z, y: -2 * y * max(0.0, 1 - y * z),
        ),
        "smoothed_hinge": (
            lambda z, y: log1pexp(gamma * (1 - y * z)) / gamma,
            lambda z, y: -y * sigmoid(gamma * (1 - y * z)),
        ),
        "logistic": (
            lambda z, y: log1pexp(-y * z),
            lambda z, y: -y * sigmoid(-y * z),
        ),
        "squared": (lambda z, y: 0.5 * (z - y) ** 2, lambda z, y: z - y),
        "absolute": (lambda z, y: abs(z - y), lambda z, y: sign(z - y)),
        "huber": (
            lambda z, y: huber(z - y),
            lambda z, y: max(-delta, min(delta, z - y)),
        ),
        "epsilon_insensitive": (
            lambda z, y: max(0.0, abs(z - y) - epsilon),
            lambda z, y: sign(z - y) if abs(z - y) > epsilon else 0.0,
        ),
        "quantile": (
            lambda z, y: tau * (y - z) if y >= z else (tau - 1) * (y - z),
            lambda z, y: -tau if y > z else (1 - tau if y < z else 0.0),
        ),
        "poisson": (
            lambda z, y: math.exp(z) - y * z + ylogy(y),
            lambda z, y: math.exp(z) - y,
        ),
    }
    if name not in losses:  # a smooth loss that nobody has transcribed: plain Python, then scipy
        loss = LOSSES[name]()
        return loss.value, loss.slope
    return losses[name]


def risk_oracle(X, y, loss, s=None):
    """w -> (R(w), a): the weighted mean loss and its subgradient, one example after the other."""
    value, slope = loss
    s = np.ones(len(y)) if s is None else np.asarray(s, dtype=float)

    def oracle(w):
        R, a = 0.0, np.zeros(X.shape[1])
        for i in range(len(y)):
            z = float(X[i] @ w)
            R += s[i] * value(z, float(y[i]))
            a = a + s[i] * slope(z, float(y[i])) * X[i]
        return R / s.sum(), a / s.sum()

    return oracle


# ------------------------------------------------------------------------- quadratic programmes


def clarabel_solve(P, q, A, b, tolerance, equilibrate):
    """min x'Px/2 + q'x, Ax <= b, by clarabel. Returns x, the slacks b - Ax and the multipliers.

    The tolerance asks for more than can be had, so that clarabel stops where rounding stops it. Its
    status is not looked at: every caller measures the duality gap of what came out.
    """
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 500
    settings.max_threads = 1
    settings.equilibrate_enable = equilibrate
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    solver = clarabel.DefaultSolver(
        sparse.triu(P, format="csc"),
        np.asarray(q, dtype=float),
        sparse.csc_matrix(A),
        np.asarray(b, dtype=float),
        [clarabel.NonnegativeConeT(len(b))],
        settings,
    )
    solution = solver.solve()
    return np.array(solution.x), np.array(solution.s), np.array(solution.z)


def bundle_programme(A, b, S, p, weight, tolerance=1e-9):
    """min_w (S/2)|w|^2 - <p, w> + weight * max(0, max_i <a_i, w> + b_i), the zero plane included.

    Dual: max over alpha >= 0, sum alpha <= weight, of b'alpha - |p - A alpha|^2 / (2S); the part of
    `weight` that alpha leaves lies on the zero plane. Returns (w, dual value), and raises unless
    the two values agree to `tolerance`. Mostly they do to 1e-14; less only once a bundle has
    converged, when its planes differ by 1e-8 and double precision cannot tell them apart.
    """
    d, k = A.shape
    p = np.asarray(p, dtype=float)
    root = math.sqrt(S / weight)  # programme in (v = root * w, xi), divided by weight
    P = sparse.diags(np.append(np.ones(d), 0.0))
    q = np.append(-p / (weight * root), 1.0)
    rows = np.vstack([np.hstack([A.T / root, -np.ones((k, 1))]), np.append(np.zeros(d), -1.0)])
    scale = weight * float(np.max(np.abs(b)))
    best = (math.inf, None, None)

    def judge(w, alpha):
        nonlocal best
        alpha = np.maximum(alpha, 0.0)  # exactly feasible, so that the bound is one
        alpha = alpha / max(1.0, alpha.sum() / weight)
        primal = 0.5 * S * w @ w - p @ w + weight * max(0.0, float(np.max(A.T @ w + b)))
        dual = b @ alpha - (p - A @ alpha) @ (p - A @ alpha) / (2 * S)
        if abs(primal - dual) < best[0]:
            best = (abs(primal - dual), w, float(dual))
        return best[0] <= 1e-14 * scale

    for way in product((1e-15, 1e-12, 1e-9), (False, True)):  # too much asked may end in less
        x, slack, multipliers = clarabel_solve(P, q, rows, np.append(-b, 0.0), *way)
        done = judge(x[:d] / root, weight * multipliers[:k])
        active = multipliers > slack
        for _ in range(2 * k):  # the exact solution, once the active planes are the right ones
            if done:
                break
            w, xi, alpha = _from_active_planes(A, b, S, p, weight, active)
            done = judge(w, alpha[:k])
            excess = np.append(A.T @ w + b, 0.0) - xi
            if np.min(alpha) < 0:
                active[np.argmin(alpha)] = False
            elif np.max(excess[~active], initial=0.0) > 0:
                active[np.argmax(np.where(active, -np.inf, excess))] = True
            else:
                break
        if done:
            break
    gap, w, dual = best
    if not gap <= tolerance * max(scale, abs(dual)):
        raise ArithmeticError(f"bundle programme: primal and dual values differ by {gap}")
    return w, dual


def _from_active_planes(A, b, S, p, weight, active):
    """(w, xi, alpha) of the bundle programme if the active planes are those that attain xi.

    S w + sum_i alpha_i a_i = p,  sum_i alpha_i = weight,  <a_i, w> + b_i = xi for an active plane,
    alpha_i = 0 for the others; the zero plane is the last.
    """
    d, k = A.shape
    A, b = np.column_stack([A, np.zeros(d)])[:, active], np.append(b, 0.0)[active]
    n = len(b)
    K, right = np.zeros((d + 1 + n, d + 1 + n)), np.zeros(d + 1 + n)  # unknowns w, xi, alpha
    K[:d, :d] = np.eye(d)
    K[:d, d + 1 :] = A / S
    K[d, d + 1 :] = 1.0
    K[d + 1 :, :d] = A.T
    K[d + 1 :, d] = -1.0
    right[:d] = p / S
    right[d] = weight
    right[d + 1 :] = -b
    inverse = np.linalg.pinv(K, rcond=1e-15)  # planes that came twice make K singular
    solution = inverse @ right
    solution = solution + inverse @ (right - K @ solution)
    alpha = np.zeros(k + 1)
    alpha[active] = solution[d + 1 :]
    return solution[:d], solution[d], alpha


def lower_bound(A, b, lam):
    """Best lower bound on J from planes (columns of A, entries of b) and the zero plane, by the dual:

    max over the simplex of -(1/(2 lam)) |A alpha|^2 + b'alpha   (SVL (7) with its 1/lam restored).
    """
    A, b = np.asarray(A, dtype=float), np.asarray(b, dtype=float)
    _, dual = bundle_programme(A, b, lam, np.zeros(A.shape[0]), 1.0)
    return max(0.0, dual)


# ------------------------------------------------------------------------------ bundle methods


def bmrm(oracle, lam, d, steps):
    """SVL Alg. 1.

    Returns arrays over t = 0, ..., steps: iterates w_t, J(w_t), J_t(w_t), epsilon_t.
    """
    A, b = np.zeros((d, 0)), np.zeros(0)  # a_0 = 0, b_0 = 0 is inside the programmes
    w, lower = np.zeros(d), 0.0  # w_0 = argmin J_0
    iterates, J, J_t, epsilon = [], [], [], []
    for t in range(steps + 1):
        if t > 0:
            w, lower = bundle_programme(A, b, lam, np.zeros(d), 1.0)  # w_t = argmin J_t, (5)
        R, a = oracle(w)
        A = np.column_stack([A, a])  # a_{t+1}, (3)
        b = np.append(b, R - a @ w)  # b_{t+1}, (3)
        iterates.append(w)
        J.append(0.5 * lam * w @ w + R)
        J_t.append(lower)
        epsilon.append(min(J) - lower)  # epsilon_t = min_{s <= t} J(w_s) - J_t(w_t)
    return np.array(iterates), np.array(J), np.array(J_t), np.array(epsilon)


def bmrm_linesearch(oracle, lam, d, steps):
    """SVL section 5.

    Returns arrays over t = 0, ..., steps: iterates w_t, D_t, gamma_t = J(w_t) - D_t.
    """
    w, r = np.zeros(d), 0.0
    iterates, D, gamma = [], [], []
    for _ in range(steps + 1):
        R, a = oracle(w)  # a_{t+1}
        b = R - a @ w  # b_{t+1}, (3)
        D_t = -0.5 * lam * w @ w + r
        gamma_t = 0.5 * lam * w @ w + R - D_t
        iterates.append(w)
        D.append(D_t)
        gamma.append(gamma_t)
        curvature = (lam * w + a) @ (lam * w + a)
        eta = min(1.0, lam * gamma_t / curvature) if curvature > 0 else 1.0  # (15)
        w = (1 - eta) * w - (eta / lam) * a
        r = (1 - eta) * r + eta * b
    return np.array(iterates), np.array(D), np.array(gamma)


def proximal_bundle(oracle, lam, d, steps):
    """DLF Alg. 4 with the optimistic radius; planes, p_t, t and tau outlive a change of rho.

    Returns (iterates, tau, rho): w_1, ..., w_{steps+1} as rows; tau_1, ..., tau_steps; and
    steps + 1 radii, rho[t-1] used in iteration t.
    """
    rho = min(1.0, 1 / math.sqrt(lam))
    A, b = np.zeros((d, 0)), np.zeros(0)
    w, p, tau_sum = np.zeros(d), np.zeros(d), 0.0
    iterates, tau, rhos = [w], [], [rho]
    for t in range(1, steps + 1):
        R, a = oracle(w)
        A = np.column_stack([A, a])
        b = np.append(b, R - a @ w)
        before = lam * t + tau_sum  # lam t + tau_{1:t-1}
        G_t = lam * rho + np.linalg.norm(a)  # lam R + A_t of Prop. 3
        tau_t = 0.5 * (-before + math.sqrt(before**2 + G_t**2 / rho**2))
        tau_sum += tau_t
        p = p + tau_t * w  # sum of tau_i w_i
        w, _ = bundle_programme(A, b, lam * t + tau_sum, p, float(t))  # argmin P'_t, (10)
        if np.linalg.norm(w) >= rho:  # section 3.4 with epsilon = 0
            rho = math.sqrt(2) * rho
        iterates.append(w)
        tau.append(tau_t)
        rhos.append(rho)
    return np.array(iterates), np.array(tau), np.array(rhos)


def proposition_3(lam, tau, a_norms, rho):
    """DLF Prop. 3: bound on min_t f(w_t) - f(w*), if |w_t| <= rho for all t, and |w*| <= rho."""
    total, tau_sum = 0.0, 0.0
    for t in range(1, len(tau) + 1):
        tau_sum += tau[t - 1]
        total += 2 * tau[t - 1] * rho**2
        total += (lam * rho + a_norms[t - 1]) ** 2 / (2 * (lam * t + tau_sum))
    return total / len(tau)


# ------------------------------------------------------------------------------- true optima


def optimum(X, y, loss_name, lam, s=None, intercept=False, **params):
    """(J*, w, b): minimum over w and (if intercept) b of

        (lam/2) |w|^2 + sum_i s_i loss(<w, x_i> + b, y_i) / sum_i s_i.

    Raises ArithmeticError unless a dual bound shows the value to be within 1e-8 J* of the minimum.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    weights = np.ones(len(y)) if s is None else np.asarray(s, dtype=float)
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    weights = weights / weights.sum()
    quadratic = loss_name in QUADRATIC
    solve = _quadratic_optimum if quadratic else _smooth_optimum
    J, w, b, gap = solve(X, y, weights, loss_name, lam, intercept, {**DEFAULTS, **params})
    if not gap <= 1e-8 * J:
        raise ArithmeticError(f"optimum of {loss_name}, lam={lam}: {J} is only known to {gap}")
    return J, w, b


def objective(X, y, weights, loss_name, lam, w, b, params):
    """J(w, b), from the definition, in extended precision where w has it; weights sum to 1."""
    value, _ = scalar_loss(loss_name, **params)
    R = np.longdouble(0)
    for i in range(len(y)):
        R = R + weights[i] * value(X[i] @ w + b, y[i])
    return 0.5 * lam * (w @ w) + R


def _conjugate_of(name, y, p):
    """(lo, hi, h, e) with loss(z, y) = max over lo <= a <= hi of a(z - y) - h a^2/2 - e|a|."""
    one, inf = np.ones(len(y)), np.full(len(y), np.inf)
    positive = y > 0
    return {
        "hinge": (np.where(positive, -one, 0), np.where(positive, 0, one), 0.0, 0.0),
        "squared_hinge": (np.where(positive, -inf, 0), np.where(positive, 0, inf), 0.5, 0.0),
        "squared": (-inf, inf, 1.0, 0.0),
        "absolute": (-one, one, 0.0, 0.0),
        "huber": (-p["delta"] * one, p["delta"] * one, 1.0, 0.0),
        "epsilon_insensitive": (-one, one, 0.0, p["epsilon"]),
        "quantile": (-p["tau"] * one, (1 - p["tau"]) * one, 0.0, 0.0),
    }[name]


def _quadratic_optimum(X, y, weights, name, lam, intercept, params):
    """Piecewise linear-quadratic losses, as a quadratic programme in (w, b, q, up, down):

        min (lam/2) |w|^2 + sum_i weight_i (q_i^2 / (2h) + hi_i up_i - lo_i down_i)
        <w, x_i> + b - y_i - q_i <= e + up_i,   -(<w, x_i> + b - y_i - q_i) <= e + down_i,
        up, down >= 0,

    q = 0 where h = 0, up_i = 0 where hi_i is infinite; likewise down_i.

    The objective is divided by a guess of its own minimum, so that clarabel's absolute accuracy is
    a relative one. From each solution `_from_active_set` makes a second, exact but for rounding;
    the least objective and the greatest dual value of all are kept. These are in extended precision
    (numpy's longdouble): where w interpolates y, a residual of 1e-16 can be 1e-8 of J.
    """
    m, d = X.shape
    lo, hi, h, e = _conjugate_of(name, y, params)
    if name in ("hinge", "squared_hinge") and not np.all(np.abs(y) == 1):
        raise ValueError("labels must be -1 or 1")
    exact = [np.asarray(v, dtype=np.longdouble) for v in (X, y, weights)]
    J_best = objective(*exact, name, lam, np.zeros(d), 0.0, params)
    w_best, b_best = np.zeros(d), 0.0
    if J_best == 0:  # no loss is below 0
        return 0.0, w_best, b_best, 0.0

    n = d + 1 + 3 * m
    at_q, at_up, at_down = d + 1, d + 1 + m, d + 1 + 2 * m
    Z = np.zeros((m, n))  # residual z - y - q, without its constant
    Z[:, :d] = X
    Z[:, d] = 1.0
    Z[:, at_q:at_up] = -np.eye(m)
    up, down = np.zeros((m, n)), np.zeros((m, n))
    up[:, at_up:at_down] = np.eye(m)
    down[:, at_down:] = np.eye(m)
    A = np.vstack([Z - up, -Z - down, -up, -down])
    b = np.concatenate([e + y, e - y, np.zeros(2 * m)])
    P = np.zeros(n)
    P[:d] = lam
    P[at_q:at_up] = weights / h if h > 0 else 0.0
    q = np.zeros(n)
    q[at_up:at_down] = np.where(np.isinf(hi), 0.0, weights * hi)
    q[at_down:] = np.where(np.isinf(lo), 0.0, -weights * lo)
    # a variable that is 0 leaves the programme, and so does a row that costs nothing to satisfy
    zero = np.zeros(n, dtype=bool)
    zero[d] = not intercept
    zero[at_q:at_up] = h == 0
    zero[at_up:at_down] = np.isinf(hi) | (hi == 0)
    zero[at_down:] = np.isinf(lo) | (lo == 0)
    kept = np.concatenate([hi != 0, lo != 0, ~zero[at_up:at_down], ~zero[at_down:]])
    A, b, P, q = A[kept][:, ~zero], b[kept], P[~zero], q[~zero]

    lower = np.longdouble(0)
    for way in 2 * list(product((1e-15, 1e-12, 1e-9), (True, False))):
        guess = float(J_best)
        x_kept, slack_kept, multiplier_kept = clarabel_solve(
            sparse.diags(P / guess), q / guess, A, b, *way
        )
        if not np.all(np.isfinite(np.concatenate([x_kept, slack_kept, multiplier_kept]))):
            continue
        x, slack, multiplier = np.zeros(n), np.full(4 * m, np.inf), np.zeros(4 * m)
        x[~zero], slack[kept], multiplier[kept] = x_kept, slack_kept, multiplier_kept
        a = (multiplier[:m] - multiplier[m : 2 * m]) * guess / weights
        active = np.split(multiplier > slack, 4)
        for w, offset, a in (
            (x[:d], x[d], a),
            _from_active_set(*exact, lam, active, lo, hi, h, e, intercept),
        ):
            J = objective(*exact, name, lam, w, offset, params)
            if J_best > J:
                J_best, w_best, b_best = J, w, offset
            lower = max(lower, _dual_value(*exact, lam, a, lo, hi, h, e, intercept))
        if J_best - lower <= 1e-13 * J_best:
            break
    return float(J_best), w_best.astype(float), float(b_best), float(J_best - lower)


def _from_active_set(X, y, weights, lam, active, lo, hi, h, e, intercept):
    """(w, b, a) from the knowledge which of the programme's constraints hold with equality.

    a_i is at a bound, 0, or free, and then <w, x_i> + b - y_i - h a_i = e sign(a_i). With
    lam w + sum_i weight_i a_i x_i = 0 and, for b, sum_i weight_i a_i = 0 these are linear equations
    for w, b and c_i = weight_i a_i / lam of the free; solved in double precision, with residuals
    in extended precision (iterative refinement).
    """
    m, d = X.shape
    above, below, no_up, no_down = active
    at_hi = above & ~no_up & np.isfinite(hi)
    at_lo = below & ~no_down & np.isfinite(lo)
    free = ((above | below) & ~at_hi & ~at_lo) | ((h > 0) & np.isinf(lo) & np.isinf(hi))
    a = np.zeros(m, dtype=X.dtype)
    a[at_hi], a[at_lo] = hi[at_hi], lo[at_lo]

    k = int(free.sum())
    Z = np.column_stack([X, np.ones(m)])[:, : d + 1 if intercept else d]
    n = Z.shape[1]
    K = np.zeros((n + k, n + k), dtype=X.dtype)
    K[:d, :d] = np.eye(d)
    K[:n, n:] = Z[free].T
    K[n:, :n] = Z[free]
    K[n:, n:] = -h * lam * np.diag(1 / weights[free])
    right = np.concatenate([-Z.T @ (weights * a) / lam, y[free] + e * np.where(above[free], 1, -1)])
    solution = np.zeros(n + k, dtype=X.dtype)
    if h > 0 and k > 0:  # K is regular
        inverse = np.linalg.inv(K.astype(float))
    else:  # ties can make K singular
        inverse = np.linalg.pinv(K.astype(float), rcond=1e-15)
    for _ in range(5):
        solution = solution + inverse @ (right - K @ solution).astype(float)
    a[free] = lam * solution[n:] / weights[free]
    return solution[:d], solution[d] if intercept else 0.0, a


def _dual_value(X, y, weights, lam, a, lo, hi, h, e, intercept):
    """-|sum_i p_i a_i x_i|^2 / (2 lam) - sum_i p_i (a_i y_i + h a_i^2 / 2 + e |a_i|): below J*,

    after a is moved into its box and, with an intercept, to sum_i p_i a_i = 0.
    """
    a = np.clip(a, lo, hi)
    if intercept:
        for _ in range(50):  # spread what is too much over those that can take it
            rest = weights @ a
            room = (a > lo) if rest > 0 else (a < hi)
            if rest == 0 or not room.any():
                break
            a = np.where(room, np.clip(a - rest / weights[room].sum(), lo, hi), a)
        if abs(weights @ a) > 1e-15 * (weights @ np.abs(a)):
            return -np.inf
    v = X.T @ (weights * a)
    return -(v @ v) / (2 * lam) - weights @ (a * y + 0.5 * h * a**2 + e * np.abs(a))


def _smooth_optimum(X, y, weights, name, lam, intercept, params):
    """Trust-region Newton (scipy), then plain Newton steps while they lessen the decrement.

    Gap: |gradient|^2 / (2 lam), from strong convexity; with an intercept, which J is not strongly
    convex in, the Newton decrement g'H^{-1}g / 2 if that is more.
    """
    m, d = X.shape
    gamma = params["gamma"] if name == "smoothed_hinge" else 1.0
    if name in ("logistic", "smoothed_hinge") and not np.all(np.abs(y) == 1):
        raise ValueError("labels must be -1 or 1")
    Z = np.column_stack([X, np.ones(m)]) if intercept else X
    ridge = np.append(np.full(d, lam), 0.0) if intercept else np.full(d, lam)

    def value(v):
        return objective(X, y, weights, name, lam, v[:d], v[d] if intercept else 0.0, params)

    def derivatives(v):
        z = Z @ v
        if name == "poisson":
            first, second = np.exp(z) - y, np.exp(z)
        elif name not in ("logistic", "smoothed_hinge"):
            loss = LOSSES[name]()
            first = np.array([loss.slope(*pair) for pair in zip(z.tolist(), y.tolist())])
            second = np.array([loss.curvature(*pair) for pair in zip(z.tolist(), y.tolist())])
        else:
            u = -y * z if name == "logistic" else gamma * (1 - y * z)
            first = -y * expit(u)
            second = gamma * expit(u) * expit(-u)
        g = ridge * v + Z.T @ (weights * first)
        return g, np.diag(ridge) + (Z.T * (weights * second)) @ Z

    v = minimize(
        value,
        np.zeros(Z.shape[1]),
        method="trust-exact",
        jac=lambda v: derivatives(v)[0],
        hess=lambda v: derivatives(v)[1],
        options={"gtol": 1e-10, "maxiter": 2000},
    ).x
    g, H = derivatives(v)
    decrement = 0.5 * g @ np.linalg.solve(H, g)
    for _ in range(50):
        after = v - np.linalg.solve(H, g)
        g_after, H_after = derivatives(after)
        decrement_after = 0.5 * g_after @ np.linalg.solve(H_after, g_after)
        if not decrement_after < decrement:
            break
        v, g, H, decrement = after, g_after, H_after, decrement_after
    gap = g[:d] @ g[:d] / (2 * lam)
    if intercept:
        gap = max(gap, decrement)
    return float(value(v)), v[:d], float(v[d]) if intercept else 0.0, float(gap)
