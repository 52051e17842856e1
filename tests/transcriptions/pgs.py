"""The Primal Gradient Solver of ZHU (Zhu et al. 2009), Fig. 1, Fig. 2 and section VI.

    minimise  F(w) = sigma r(w) + (1/m) sum_i s_i l(<w, x_i>, y_i)    over w in S,
    r(w) = |w|_p^2 / (2(p-1)),  1 < p <= 2,  1/p + 1/q = 1,  S = R^d or {|w|_p <= B}.

theta is the paper's working vector lambda, theta_t = -(lambda_1 + ... + lambda_t); lambda_t is a
subgradient at w_{t-1} of g_t(w) = (1/k) sum over the t-th batch of s_i l(<w, x_i>, y_i). A loss is
a pair (value, slope) of Python functions of a prediction and a target. The batches are given, as a
list of index arrays; s is 1 for every example unless given.

Every run returns (iterates, thetas), T + 1 rows each: w_0, ..., w_T and theta_0, ..., theta_T.
"""

import math

import numpy as np
from scipy.optimize import minimize


def subgradient_of_batch(X, y, loss, rows, w, s=None):
    """lambda_t, Fig. 1 line 6."""
    _, slope = loss
    total = np.zeros(X.shape[1])
    for i in rows:
        weight = 1.0 if s is None else float(s[i])
        total = total + weight * slope(float(X[i] @ w), float(y[i])) * X[i]
    return total / len(rows)


def value_of_batch(X, y, loss, rows, w, s=None):
    """g_t(w), (8); the mean loss of the sample where `rows` is all of it."""
    value, _ = loss
    total = 0.0
    for i in rows:
        weight = 1.0 if s is None else float(s[i])
        total += weight * value(float(X[i] @ w), float(y[i]))
    return total / len(rows)


# ---------------------------------------------------------------------------------- regularizers


def norm(w, p):
    """|w|_p."""
    top = float(np.max(np.abs(w), initial=0.0))
    return 0.0 if top == 0 else top * float(np.sum((np.abs(w) / top) ** p)) ** (1 / p)


def squared_norm(w, p):
    """r(w), (3)."""
    return norm(w, p) ** 2 / (2 * (p - 1))


def squared_norm_mirror(u, p, B=math.inf):
    """nabla r*(u), Fig. 2 with line 6 mended: B/|w|_p, where B/|w|_q is printed.

    The printed line leaves S (|w|_q <= |w|_p, so it shrinks too little). With |w|_p it is (28) of
    the appendix, which is right.
    """
    q = 1 / (1 - 1 / p)
    if not np.any(u):
        return np.zeros_like(u)
    w = np.zeros_like(u)
    power = norm(u, q) ** (2 - q)  # (sum_j |u_j|^q)^(2/q - 1)
    for i in range(len(u)):
        w[i] = power * abs(u[i]) ** (q - 1) * np.sign(u[i]) / (q - 1)  # line 3
    size = norm(w, p)
    return w if size <= B else (B / size) * w


def squared_norm_argmax(u, p, B=math.inf):
    """argmax over |w|_p <= B of <w, u> - r(w), by scipy: (22), for tiny cases. Good to 1e-5."""

    def negative(w):
        return squared_norm(w, p) - float(w @ u)

    def slope(w):
        size = norm(w, p)
        if size == 0:
            return -u
        return size ** (2 - p) * np.abs(w) ** (p - 1) * np.sign(w) / (p - 1) - u

    start = 0.5 * min(B, norm(u, 2)) * u / max(norm(u, 2), norm(u, p), 1e-300)
    ball = [] if math.isinf(B) else [{"type": "ineq", "fun": lambda w: B - norm(w, p)}]
    found = minimize(
        negative,
        start,
        jac=slope,
        method="SLSQP",
        constraints=ball,
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return found.x


def hyperbolic_entropy(w, beta):
    """r(w) = sum_i w_i asinh(w_i/beta) - sqrt(w_i^2 + beta^2) + beta.

    What section VII wants of r = sum |w_i| log|w_i|, which is NOT convex (it falls from 0 at w = 0
    to both sides, to -1/e at |w| = 1/e); on w >= 0 it is. The second derivative here is
    1/sqrt(w^2 + beta^2): strongly convex on balls only, with modulus 1/(B + beta d) in |.|_1 over
    |w|_1 <= B, so that Lemma 1 holds with sigma/(B + beta d) for sigma over that ball, and says
    nothing over R^d.
    """
    return float(np.sum(w * np.arcsinh(w / beta) - np.sqrt(w**2 + beta**2) + beta))


def hyperbolic_entropy_mirror(u, beta):
    """nabla r*(u) = beta sinh(u), over R^d."""
    return beta * np.sinh(u)


# ------------------------------------------------------------------------------------ the method


def mirrored(X, y, loss, batches, sigma, mirror, s=None):
    """Fig. 1 with any r: w_t = mirror(theta_t / ((t+1) sigma)), mirror = nabla r*, (9)."""
    theta = np.zeros(X.shape[1])
    w = np.zeros(X.shape[1])  # w_0
    iterates, thetas = [w], [theta]
    for t, rows in enumerate(batches, start=1):
        theta = theta - subgradient_of_batch(X, y, loss, rows, w, s)  # lines 6 and 7
        w = mirror(theta / ((t + 1) * sigma))  # line 8
        iterates.append(w)
        thetas.append(theta)
    return np.array(iterates), np.array(thetas)


def pgs(X, y, loss, batches, sigma, p=2.0, B=math.inf, s=None):
    """ZHU Fig. 1 and Fig. 2.

    Line 9 returns a random one of w_1, ..., w_T. What section VI proves is about w_0, ..., w_{T-1}:
    see `lemma_1`.
    """
    return mirrored(X, y, loss, batches, sigma, lambda u: squared_norm_mirror(u, p, B), s)


def pgs_hyperbolic(X, y, loss, batches, sigma, beta, s=None):
    """Fig. 1 with r = hyperbolic_entropy over R^d."""
    return mirrored(X, y, loss, batches, sigma, lambda u: hyperbolic_entropy_mirror(u, beta), s)


def ball_of_squared_loss(y, sigma, p, s=None, half=False):
    """B for l = (z - y)^2 (half: (z - y)^2/2): sigma r(w*) <= F(0), hence |w*|_p <= B.

    The paper has r(w*) <= (max |y|)^2 and so forgets sigma.
    """
    y = np.asarray(y, dtype=float)
    at_zero = float(np.mean(y**2 if s is None else s * y**2)) * (0.5 if half else 1.0)
    return math.sqrt(2 * (p - 1) * at_zero / sigma)


# -------------------------------------------------------------------------------------- theorems


def regret(X, y, loss, batches, sigma, iterates, u, p=2.0, s=None, shift=1):
    """sum_t c_t(w_{t-shift}) - c_t(u), c_t = sigma r + g_t, (13); shift = 0 is (14) as printed."""
    total = 0.0
    for t, rows in enumerate(batches, start=1):
        w = iterates[t - shift]
        total += sigma * squared_norm(w, p) + value_of_batch(X, y, loss, rows, w, s)
        total -= sigma * squared_norm(u, p) + value_of_batch(X, y, loss, rows, u, s)
    return total


def lemma_1(thetas, sigma, p=2.0):
    """Right-hand side of (15): (1/2) sum_t |lambda_t|_q^2 / (t sigma), a bound on regret, shift 1.

    Holds on every run, for any u in S and r 1-strongly convex in |.|_p: h_t = <lambda_{1:t-1}, .> +
    t sigma r has its minimum over S at w_{t-1}, so min h_t + <lambda_t, .> >= h_t(w_{t-1}) +
    <lambda_t, w_{t-1}> - |lambda_t|_q^2/(2 t sigma).

    AS PRINTED, WITH c_t(w_t) FOR c_t(w_{t-1}), IT IS FALSE: T = 1, l = |z - y|, x = 1, y = 0.01,
    sigma = 1 has regret 0.615, bound 0.5. And E c_i(w_i) = E F(w_i), below (16), is false too: w_i
    has seen batch i. Both are right for w_{i-1}: the predictor is a random one of w_0, ..., w_{T-1}.
    """
    q = 1 / (1 - 1 / p)
    lambdas = np.diff(thetas, axis=0)
    return 0.5 * sum(norm(g, q) ** 2 / (t * sigma) for t, g in enumerate(lambdas, start=1))


def theorem_1(L, sigma, T, delta=1.0):
    """L^2 (1 + ln T) / (2 sigma T delta): C log T / (sigma T delta) of (11), with its C.

    L bounds |lambda_t|_q. delta = 1: a bound on the mean over batches and i of F(w_i) - min F, i
    uniform on 0, ..., T-1 (and, by convexity, for the average of those w_i); else one that holds
    with probability 1 - delta. (11) has log T, which is 0 at T = 1: 1 + log T is what (15) gives.
    """
    return L**2 * (1 + math.log(T)) / (2 * sigma * T * delta)
