"""AdaGrad of DHS (Duchi, Hazan, Singer 2010) and the baselines of its section 7.

In round t the learner holds x_t, is shown the example (z_t, y_t), and suffers

    f_t(x) + phi(x),    f_t(x) = loss(<z_t, x>, y_t),

with phi the penalty and the domain X as below. The rows of Z and the entries of y are the stream,
in order. A loss is a pair (value, slope) of Python functions of a prediction and a target.

Vector or matrix. With K = None, x has d entries, the prediction is a number and slope(pred, y) is
one; with K, x is a d x K matrix, the prediction is the vector Z[t] @ x of K scores and slope(preds,
y) is a vector of K slopes; the gradient is outer(z_t, slopes).

Bias. With bias = True every z_t gets a last feature 1, so x has a last entry (a last row with K):
`x[:d]` are the weights, `x[d]` is the bias. It is like any other coordinate, with its own entry of
the metric, save that neither phi nor X know of it.

Runs. Every algorithm returns a Run: `iterates` holds x_1, ..., x_{T+1}, `gradients` g_1, ..., g_T,
`metrics` H_1, ..., H_T, `losses` f_1(x_1), ..., f_T(x_T), `d` the number of weight rows. x_1 is the
point of X nearest 0: 0 itself wherever 0 is in X.

psi_t is (1/2)<x, H_t x> throughout, as in Alg. 1, Alg. 2 and (21) to (25), not the <x, H_t x> of
section 1.1, Lemma 12 and Corollary 14 (which is the same algorithm with eta/2).

delta = 0. A coordinate that no gradient has touched has H_ii = 0 and u_i = 0, and anything is a
minimiser in it; the nearest to 0 is taken, which is where it has been since x_1.
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import brentq


class Run(NamedTuple):
    iterates: np.ndarray  # (T + 1, ...) x_1, ..., x_{T+1}
    gradients: np.ndarray  # (T, ...) of the shape of x
    metrics: np.ndarray  # (T, ...) diagonal of H_t in the shape of x, or (T, n, n) for full ones
    losses: np.ndarray  # (T,) f_t(x_t), without phi
    d: int  # rows of weights; the bias is row d


# -------------------------------------------------------------------------------------- losses


def crammer_singer_value(scores, y):
    """max(0, 1 + max over r != y of scores[r] - scores[y])."""
    return max(0.0, 1 + np.max(np.delete(scores, y)) - scores[y])


def crammer_singer_slopes(scores, y):
    """e_r - e_y for the best wrong class r (the first of equals), 0 where the loss is 0."""
    slopes = np.zeros(len(scores))
    if crammer_singer_value(scores, y) > 0:
        slopes[best_wrong_class(scores, y)] = 1.0
        slopes[y] = -1.0
    return slopes


def best_wrong_class(scores, y):
    rivals = np.array(scores, dtype=float)
    rivals[y] = -math.inf
    return int(np.argmax(rivals))


def softmax_value(scores, y):
    """log sum_r exp(scores[r]) - scores[y]."""
    top = np.max(scores)
    return float(top + np.log(np.sum(np.exp(scores - top))) - scores[y])


def softmax_slopes(scores, y):
    """The probabilities, less 1 at y."""
    p = np.exp(scores - np.max(scores))
    p = p / np.sum(p)
    p[y] -= 1
    return p


HINGE = (lambda p, y: max(0.0, 1 - y * p), lambda p, y: -y if y * p < 1 else 0.0)
CRAMMER_SINGER = (crammer_singer_value, crammer_singer_slopes)
SOFTMAX = (softmax_value, softmax_slopes)


# ------------------------------------------------------------------------ penalties and domains


@dataclass(frozen=True)
class Penalty:
    """phi(w) = l1 |w|_1 + (l2/2) |w|_2^2 + lam * sum over groups of |w_group|_norm.

    groups: "rows", the rows of a d x K matrix (the entries of a vector), or a list of lists of
    indices into w.ravel(). norm: 2 or math.inf.
    """

    l1: float = 0.0
    l2: float = 0.0
    lam: float = 0.0
    norm: float = 2
    groups: Any = "rows"

    def index_groups(self, shape):
        if self.lam == 0:
            return []
        if isinstance(self.groups, str):
            width = int(np.prod(shape[1:]))
            return [np.arange(i * width, (i + 1) * width) for i in range(shape[0])]
        return [np.asarray(group) for group in self.groups]

    def value(self, w):
        total = self.l1 * np.sum(np.abs(w)) + self.l2 / 2 * np.sum(w**2)
        for group in self.index_groups(w.shape):
            total += self.lam * np.linalg.norm(w.ravel()[group], self.norm)
        return float(total)


def no_penalty():
    return Penalty()


def l1(lam):
    return Penalty(l1=lam)


def ridge(lam):
    """(lam/2) |w|^2."""
    return Penalty(l2=lam)


def elastic_net(lam_1, lam_2):
    """lam_1 |w|_1 + (lam_2/2) |w|^2."""
    return Penalty(l1=lam_1, l2=lam_2)


def l2_groups(lam, groups):
    return Penalty(lam=lam, norm=2, groups=groups)


def linf_groups(lam, groups):
    return Penalty(lam=lam, norm=math.inf, groups=groups)


def rows_l2(lam):
    """l1/l2, section 6.6."""
    return Penalty(lam=lam, norm=2)


def rows_linf(lam):
    """l1/linf, section 6.6."""
    return Penalty(lam=lam, norm=math.inf)


@dataclass(frozen=True)
class Domain:
    """X, for the weights (a matrix is taken as the vector of its entries).

    kind: "all", "box" (low, high), "nonneg", "l1_ball", "l2_ball" (of radius c), "simplex" (sum c).
    """

    kind: str = "all"
    c: float = 1.0
    low: Any = -1.0
    high: Any = 1.0

    def nearest_to_origin(self, shape):
        if self.kind == "simplex":
            return np.full(shape, self.c / np.prod(shape))
        if self.kind == "box":
            return np.clip(np.zeros(shape), self.low, self.high)
        return np.zeros(shape)

    def violation(self, w):
        if self.kind == "box":
            return float(np.max(np.maximum(self.low - w, w - self.high)))
        if self.kind == "nonneg":
            return float(np.max(-w))
        if self.kind == "simplex":
            return float(max(np.max(-w), abs(np.sum(w) - self.c)))
        if self.kind == "l1_ball":
            return float(np.sum(np.abs(w)) - self.c)
        if self.kind == "l2_ball":
            return float(np.linalg.norm(w) - self.c)
        return 0.0


def everywhere():
    return Domain("all")


def box(low, high):
    return Domain("box", low=low, high=high)


def nonnegative():
    return Domain("nonneg")


def l1_ball(c):
    return Domain("l1_ball", c=c)


def l2_ball(c):
    return Domain("l2_ball", c=c)


def simplex(c=1.0):
    return Domain("simplex", c=c)


# --------------------------------------------------------------------------- (21), by clarabel


def direct(u, H, weight, phi, domain):
    """argmin over x in X of <u, x> + weight * phi(x) + (1/2)<x, Hx>, by clarabel: (21).

    H: the diagonal, in the shape of u, or a full (n, n) matrix acting on u.ravel(). Solved in units
    in which the unconstrained minimiser is of size 1. Good to 1e-9, but to 2e-7 only where strict
    complementarity fails (x_t in a corner of X, g_t = 0): there `closed` is the better one.
    """
    u, H = np.asarray(u, dtype=float), np.asarray(H, dtype=float)
    if H.shape == u.shape:
        H = np.diag(_touched(H, u, domain).ravel())
    pull = float(np.max(np.abs(u)))
    if pull == 0:
        pull = float(np.max(np.diag(H)))
    size = pull / float(np.max(np.diag(H)))  # x = size * v
    unit = pull * size  # objective / unit
    scaled = Penalty(
        l1=weight * phi.l1 * size / unit,
        l2=weight * phi.l2 * size**2 / unit,
        lam=weight * phi.lam * size / unit,
        norm=phi.norm,
        groups=phi.groups,
    )
    inside = Domain(
        domain.kind,
        c=domain.c / size,
        low=np.asarray(domain.low) / size,
        high=np.asarray(domain.high) / size,
    )
    v = _cone_programme(H * size**2 / unit, u.ravel() * size / unit, scaled, inside, u.shape)
    return size * v.reshape(u.shape)


def _touched(H, u, domain):
    """H with 1 where H = u = 0, so that the minimiser there is the point nearest 0."""
    unseen = H == 0
    if np.any(unseen):
        if domain.kind == "simplex":
            raise ValueError("delta = 0 leaves the minimiser over a simplex undetermined")
        assert np.all(u[unseen] == 0)
    return np.where(unseen, 1.0, H)


def _cone_programme(P, q, phi, domain, shape, planes=(), n_free=0):
    """min x'Px/2 + q'x + phi(w) + sum_t max_k (A_t x + b_t)_k over w in X; returns x.

    x = (w.ravel(), the free entries); planes: the pairs (A_t, b_t). Variables of the programme:
    x, then one bound |w_i| each if l1 norms occur, one norm for each group, one loss for each t.
    """
    n_w = int(np.prod(shape))
    n = n_w + n_free
    groups = phi.index_groups(shape)
    n_abs = n_w if phi.l1 > 0 or domain.kind == "l1_ball" else 0
    at_abs, at_group = n, n + n_abs
    at_loss = at_group + len(groups)
    N = at_loss + len(planes)

    quadratic = np.zeros((N, N))
    quadratic[:n, :n] = P
    quadratic[range(n_w), range(n_w)] += phi.l2
    linear = np.zeros(N)
    linear[:n] = q
    linear[at_abs:at_group] = phi.l1
    linear[at_group:at_loss] = phi.lam
    linear[at_loss:] = 1.0

    zero, positive, second_order = [], [], []  # rows (a, b), each meaning b - <a, v> in the cone

    def row(**entries):
        a = np.zeros(N)
        for index, value in entries.values():
            a[index] += value
        return a

    for i in range(n_abs):  # |w_i| <= a_i
        positive.append((row(x=(i, 1.0), a=(at_abs + i, -1.0)), 0.0))
        positive.append((row(x=(i, -1.0), a=(at_abs + i, -1.0)), 0.0))
    for k, group in enumerate(groups):
        if phi.norm == 2:  # (t, w_group) in the second-order cone
            cone = [(row(t=(at_group + k, -1.0)), 0.0)]
            cone += [(row(x=(i, -1.0)), 0.0) for i in group]
            second_order.append(cone)
        else:  # |w_i| <= t
            for i in group:
                positive.append((row(x=(i, 1.0), t=(at_group + k, -1.0)), 0.0))
                positive.append((row(x=(i, -1.0), t=(at_group + k, -1.0)), 0.0))
    for k, (A, b) in enumerate(planes):  # A x + b <= loss
        for a_k, b_k in zip(A, b, strict=True):
            a = row(t=(at_loss + k, -1.0))
            a[:n] = a_k
            positive.append((a, -b_k))

    if domain.kind == "box":
        low, high = (np.broadcast_to(e, shape).ravel() for e in (domain.low, domain.high))
        for i in range(n_w):
            positive.append((row(x=(i, 1.0)), high[i]))
            positive.append((row(x=(i, -1.0)), -low[i]))
    if domain.kind in ("nonneg", "simplex"):
        positive += [(row(x=(i, -1.0)), 0.0) for i in range(n_w)]
    if domain.kind == "simplex":
        a = np.zeros(N)
        a[:n_w] = 1.0
        zero.append((a, domain.c))
    if domain.kind == "l1_ball":
        a = np.zeros(N)
        a[at_abs:at_group] = 1.0
        positive.append((a, domain.c))
    if domain.kind == "l2_ball":
        second_order.append([(np.zeros(N), domain.c)] + [(row(x=(i, -1.0)), 0.0) for i in range(n)])
        del second_order[-1][1 + n_w :]

    cones = []
    if zero:
        cones.append(clarabel.ZeroConeT(len(zero)))
    if positive:
        cones.append(clarabel.NonnegativeConeT(len(positive)))
    cones += [clarabel.SecondOrderConeT(len(cone)) for cone in second_order]
    rows = zero + positive + [pair for cone in second_order for pair in cone]
    if not rows:  # a quadratic, everywhere
        return np.linalg.solve(quadratic, -linear)

    A, b = np.array([a for a, _ in rows]), np.array([b for _, b in rows], dtype=float)
    best, least = None, math.inf
    for factor, tolerance, equilibrate in product(
        (1.0, 0.1, 10.0, 0.01), (1e-13, 1e-14, 1e-12, 1e-10), (True, False)
    ):
        P, q = factor * quadratic, factor * linear
        solution = _clarabel(P, q, A, b, cones, tolerance, equilibrate)
        gap = abs(solution.obj_val - solution.obj_val_dual) / max(factor, abs(solution.obj_val))
        error = max(gap, solution.r_prim, solution.r_dual)
        if error < least:
            best, least = np.array(solution.x)[:n], error
        if least < 1e-11:
            return best
    if least < 1e-9:
        return best
    raise ArithmeticError(f"clarabel: no more than {least}")


def _clarabel(P, q, A, b, cones, tolerance, equilibrate):
    """min v'Pv/2 + q'v with b - Av in the cones; the caller measures what came out."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 500
    settings.max_threads = 1
    settings.equilibrate_enable = equilibrate
    settings.max_step_fraction = 0.8  # with 0.99 it fails now and then, or leaves 1e-6
    settings.iterative_refinement_abstol = settings.iterative_refinement_reltol = 1e-16
    settings.iterative_refinement_max_iter = 50
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    P, A = sparse.triu(sparse.csc_matrix(P), format="csc"), sparse.csc_matrix(A)
    return clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()


def planes_of_hinge(Z, y, bias=False):
    """[1 - y z'x]_+ as the maximum of two planes, for each example."""
    Z = with_bias(Z, bias)
    return [(np.array([-t * z, 0 * z]), np.array([1.0, 0.0])) for z, t in zip(Z, y, strict=True)]


def planes_of_crammer_singer(Z, y, K, bias=False):
    """The K planes of the Crammer-Singer hinge over x.ravel(), for each example."""
    planes = []
    for z, t in zip(with_bias(Z, bias), y, strict=True):
        A, b = np.zeros((K, len(z), K)), np.ones(K)
        for r in range(K):
            A[r, :, r] += z
            A[r, :, t] -= z
        b[t] = 0.0  # r = y: the plane 0
        planes.append((A.reshape(K, -1), b))
    return planes


def best_fixed_point(planes, phi, domain, shape, bias=False):
    """argmin over x of sum_t [max of the planes of t + phi(x)], x in X: the x* of regret.

    shape: of the weights, (d,) or (d, K); returns x with its bias.
    """
    T, K = len(planes), int(np.prod(shape[1:]))
    n_free = K if bias else 0
    n = int(np.prod(shape)) + n_free
    times_T = Penalty(T * phi.l1, T * phi.l2, T * phi.lam, phi.norm, phi.groups)
    x = _cone_programme(np.zeros((n, n)), np.zeros(n), times_T, domain, shape, planes, n_free)
    return x.reshape((shape[0] + bias, *shape[1:]))


# ------------------------------------------------------------------ (21), by the closed forms


def closed(u, H, weight, phi, domain):
    """The same argmin as `direct`, exactly, for a diagonal H.

    l1, ridge and their sum with every domain; groups with X = R^d.
    """
    H = _touched(np.asarray(H, dtype=float), u, domain)
    if phi.lam > 0:
        if domain.kind != "all" or phi.l1 > 0 or phi.l2 > 0:
            raise NotImplementedError
        x = np.zeros(u.size)
        solve = figure_4 if phi.norm == 2 else section_6_5
        for group in phi.index_groups(u.shape):
            x[group] = solve(u.ravel()[group], H.ravel()[group], weight * phi.lam)
        outside = np.setdiff1d(np.arange(u.size), np.concatenate(phi.index_groups(u.shape)))
        x[outside] = -u.ravel()[outside] / H.ravel()[outside]
        return x.reshape(u.shape)

    H = H + weight * phi.l2  # (l2/2)|x|^2 is a part of the metric
    threshold = weight * phi.l1

    def shrunk(extra):  # argmin of <u,x> + (threshold + extra)|x|_1 + <x,Hx>/2
        return -np.sign(u) * np.maximum(np.abs(u) - threshold - extra, 0) / H

    x = shrunk(0.0)
    if domain.kind == "all":
        return x
    if domain.kind == "box":
        return np.clip(x, domain.low, domain.high)  # each coordinate is a convex problem
    if domain.kind == "nonneg":
        return np.maximum(x, 0)
    if domain.kind == "l1_ball":
        if np.sum(np.abs(x)) <= domain.c:
            return x
        v = -u / np.sqrt(H)  # on |x|_1 = c the l1 penalty is a constant: (26)
        z = figure_3(np.abs(v).ravel(), 1 / np.sqrt(H).ravel(), domain.c)
        return np.sign(v) * z.reshape(u.shape) / np.sqrt(H)
    if domain.kind == "simplex":  # x = [-u - theta]_+ / H with sum c; |x|_1 = c is a constant
        v = -u - np.min(-u)  # a shift of u changes nothing on the simplex
        v = v + domain.c * np.max(H)  # theta >= 0 from here on: |v/H|_1 >= c
        z = figure_3((v / np.sqrt(H)).ravel(), 1 / np.sqrt(H).ravel(), domain.c)
        return z.reshape(u.shape) / np.sqrt(H)
    if domain.kind == "l2_ball":  # (H + theta) x = shrunk -u
        if np.linalg.norm(x) <= domain.c:
            return x
        pull = x * H

        def excess(theta):
            return np.linalg.norm(pull / (H + theta)) - domain.c

        theta = brentq(excess, 0.0, np.linalg.norm(pull) / domain.c, xtol=1e-300, rtol=1e-15)
        return pull / (H + theta)
    raise ValueError(domain.kind)


def equation_22(g_mean, H, t, eta, lam):
    """x_{t+1} of RDA with phi = lam |x|_1, X = R^d."""
    return np.sign(-g_mean) * eta * t / H * np.maximum(np.abs(g_mean) - lam, 0)


def equation_23(g_mean, t, eta, lam):
    """x_{t+1} of Xiao's RDA with phi = lam |x|_1: (22) with H = sqrt(t)."""
    return np.sign(-g_mean) * eta * math.sqrt(t) * np.maximum(np.abs(g_mean) - lam, 0)


def equation_24(x, g, H, eta, lam):
    """x_{t+1} of CMD with phi = lam |x|_1, X = R^d."""
    moved = x - eta / H * g
    return np.sign(moved) * np.maximum(np.abs(moved) - lam * eta / H, 0)


def equation_25(x, g, s, delta, eta, lam):
    """x_{t+1} of CMD with phi = (lam/2)|x|^2, X = R^d, mended; s is norms or squares alike.

    Printed with diag(s) x_t, which is the minimiser with (delta/2)|x|^2 in the place of
    (delta/2)|x - x_t|^2: not the Bregman divergence of psi_t.
    """
    return ((delta + s) * x - eta * g) / (eta * lam + delta + s)


def lazy_24(x, H, steps, eta, lam):
    """(24) `steps` times with g = 0 (section 6.1)."""
    return np.sign(x) * np.maximum(np.abs(x) - lam * eta / H * steps, 0)


def lazy_25(x, s, delta, steps, eta, lam):
    """(25) `steps` times with g = 0, mended: section 6.2 prints s^k in the place of (delta+s)^k."""
    return ((delta + s) / (eta * lam + delta + s)) ** steps * x


def figure_3(v, a, c):
    """argmin |z - v|^2 with <a, z> <= c, z >= 0, for v >= 0, a > 0, c > 0; the first test mended.

    The text below (28) prints the sum of a_i^2 in the test for rho up to rho - 1: the figure's own
    sum, up to rho, is the right one.
    """
    if np.dot(a, v) <= c:  # printed: sum v <= c
        return v.copy()
    order = np.argsort(-v / a, kind="stable")
    rho = 0
    for j in range(1, len(v) + 1):
        first = order[:j]
        last = order[j - 1]
        if np.sum(a[first] ** 2 * (v[first] / a[first] - v[last] / a[last])) < c:
            rho = j
    first = order[:rho]
    theta = (np.dot(a[first], v[first]) - c) / np.sum(a[first] ** 2)  # (28)
    return np.maximum(v - theta * a, 0)


def figure_4(u, H, lam):
    """argmin <u,x> + <x,Hx>/2 + lam |x|_2, H a diagonal, the bracket mended.

    Printed with theta_max and theta_min exchanged; the inequalities above it with sigma_max and
    sigma_min exchanged. theta may not be below 0.
    """
    if np.linalg.norm(u) <= lam:
        return np.zeros(len(u))
    v = u / H
    top = np.linalg.norm(v) / lam - 1 / np.max(H)
    bottom = max(0.0, np.linalg.norm(v) / lam - 1 / np.min(H))

    def alpha(theta):
        return -v / (1 / H + theta)

    low, high = bottom, top
    for _ in range(200):
        theta = (low + high) / 2
        if np.linalg.norm(alpha(theta)) > lam:
            low = theta
        else:
            high = theta
    theta = (low + high) / 2
    # x = -(u + alpha)/H = -theta u / (1 + theta H): the same without its cancellation
    return -theta * u / (1 + theta * H)


def section_6_5(u, H, lam):
    """argmin <u,x> + <x,Hx>/2 + lam |x|_inf, H a diagonal, by the dual and Fig. 3.

    alpha = argmin |H^(-1/2)(u + alpha)| with |alpha|_1 <= lam: z = H^(-1/2) alpha, a = H^(1/2).
    """
    if lam == 0:
        return -u / H
    v = -u / np.sqrt(H)
    z = np.sign(v) * figure_3(np.abs(v), np.sqrt(H), lam)
    alpha = np.sqrt(H) * z
    return -(u + alpha) / H


# ------------------------------------------------------------------------------------ streams


def with_bias(Z, bias):
    Z = np.asarray(Z, dtype=float)
    return np.hstack([Z, np.ones((len(Z), 1))]) if bias else Z


def first_point(d, K, bias, domain):
    """x_1: the point of X nearest 0, and bias 0."""
    weights = (d,) if K is None else (d, K)
    x = np.zeros((d + bias, *weights[1:]))
    x[:d] = domain.nearest_to_origin(weights)
    return x


def loss_and_gradient(loss, z, y, x):
    value, slope = loss
    prediction = z @ x
    return float(value(prediction, y)), np.multiply.outer(z, slope(prediction, y))


def _minimiser(u, H, weight, phi, domain, d, argmin):
    """(21) in the weights; in the bias, free of phi and X, -u/H."""
    x = np.zeros(u.shape)
    x[:d] = argmin(u[:d], H[:d], weight, phi, domain)
    x[d:] = -u[d:] / np.where(H[d:] > 0, H[d:], 1.0)  # u = 0 where H = 0
    return x


# ------------------------------------------------------------------------- AdaGrad, diagonal


def adagrad_rda(
    Z, y, loss, eta, delta, phi=Penalty(), domain=Domain(), K=None, bias=False, argmin=direct
):
    """Alg. 1 with the primal-dual subgradient update (3)."""
    d = np.shape(Z)[1]
    x = first_point(d, K, bias, domain)
    squares, g_sum = np.zeros(x.shape), np.zeros(x.shape)
    iterates, gradients, metrics, losses = [x], [], [], []
    for t, (z, target) in enumerate(zip(with_bias(Z, bias), y, strict=True), start=1):
        value, g = loss_and_gradient(loss, z, target, x)
        squares = squares + g**2
        H = delta + np.sqrt(squares)  # delta + |g_{1:t,i}|
        g_sum = g_sum + g
        x = _minimiser(eta * g_sum / t, H / t, eta, phi, domain, d, argmin)  # (3)
        iterates.append(x)
        gradients.append(g)
        metrics.append(H)
        losses.append(value)
    return _run(iterates, gradients, metrics, losses, d)


def adagrad_cmd(
    Z, y, loss, eta, delta, phi=Penalty(), domain=Domain(), K=None, bias=False, argmin=direct
):
    """Alg. 1 with the composite mirror-descent update (4)."""
    d = np.shape(Z)[1]
    x = first_point(d, K, bias, domain)
    squares = np.zeros(x.shape)
    iterates, gradients, metrics, losses = [x], [], [], []
    for z, target in zip(with_bias(Z, bias), y, strict=True):
        value, g = loss_and_gradient(loss, z, target, x)
        squares = squares + g**2
        H = delta + np.sqrt(squares)
        x = _minimiser(eta * g - H * x, H, eta, phi, domain, d, argmin)  # (4), through (21)
        iterates.append(x)
        gradients.append(g)
        metrics.append(H)
        losses.append(value)
    return _run(iterates, gradients, metrics, losses, d)


def adagrad_strongly_convex(
    Z, y, loss, eta, delta, lam, domain=Domain(), K=None, bias=False, argmin=direct
):
    """Section 5: CMD with phi = (lam/2)|w|^2 and s_{t,i} = |g_{1:t,i}|^2, the squares themselves.

    The bias, which phi does not see, is stepped with delta + |g_{1:t,b}|, the root (section 6.2).
    """
    d = np.shape(Z)[1]
    x = first_point(d, K, bias, domain)
    squares = np.zeros(x.shape)
    iterates, gradients, metrics, losses = [x], [], [], []
    for z, target in zip(with_bias(Z, bias), y, strict=True):
        value, g = loss_and_gradient(loss, z, target, x)
        squares = squares + g**2
        H = delta + squares
        H[d:] = delta + np.sqrt(squares[d:])
        x = _minimiser(eta * g - H * x, H, eta, ridge(lam), domain, d, argmin)
        iterates.append(x)
        gradients.append(g)
        metrics.append(H)
        losses.append(value)
    return _run(iterates, gradients, metrics, losses, d)


def _run(iterates, gradients, metrics, losses, d):
    return Run(
        np.array(iterates), np.array(gradients), np.array(metrics), np.array(losses, dtype=float), d
    )


# ----------------------------------------------------------------- AdaGrad, full and in blocks


def root(G):
    """G^(1/2) of a positive semidefinite G; eigenvalues below 1e-13 of the largest count as 0."""
    values, vectors = np.linalg.eigh(G)
    values = np.where(values > 1e-13 * np.max(values, initial=0.0), values, 0.0)
    return (vectors * np.sqrt(values)) @ vectors.T


def block_root(G, blocks):
    """The root of the block-diagonal part of G (section 8)."""
    S = np.zeros(G.shape)
    for block in blocks:
        S[np.ix_(block, block)] = root(G[np.ix_(block, block)])
    return S


def full_minimiser(u, H, weight, lam, radius):
    """argmin <u,x> + weight (lam/2)|x|^2 + <x,Hx>/2 with |x|_2 <= radius, of least norm.

    Least norm is what the pseudo-inverse of Appendix A takes where H is singular (delta = 0).
    """
    values, vectors = np.linalg.eigh(H + weight * lam * np.eye(len(u)))
    pull = -(vectors.T @ u)
    live = values > 1e-12 * np.max(values, initial=0.0)
    values, pull, vectors = values[live], pull[live], vectors[:, live]
    if np.linalg.norm(pull / values) <= radius:
        return vectors @ (pull / values)

    def excess(theta):
        return np.linalg.norm(pull / (values + theta)) - radius

    theta = brentq(excess, 0.0, np.linalg.norm(pull) / radius, xtol=1e-300, rtol=1e-15)
    return vectors @ (pull / (values + theta))


def blocks_of(d, K, bias, blocks=None):
    """Blocks of x.ravel(): those given for the weights (None: one), and each bias its own."""
    width = 1 if K is None else K
    blocks = [np.arange(d * width)] if blocks is None else [np.asarray(b) for b in blocks]
    assert sorted(np.concatenate(blocks).tolist()) == list(range(d * width))
    return blocks + [np.array([d * width + k]) for k in range(width if bias else 0)]


def adagrad_full_rda(
    Z, y, loss, eta, delta, lam=0.0, radius=math.inf, blocks=None, K=None, bias=False
):
    """Alg. 2 with (3), phi = (lam/2)|w|^2, X = {|w| <= radius}; blocks of w.ravel(): Cor. 14.

    The metrics of the Run are (n, n) matrices over x.ravel(); a bias is a block of its own.
    """
    d = np.shape(Z)[1]
    parts = blocks_of(d, K, bias, blocks)
    x = first_point(d, K, bias, Domain())
    n_w = x[:d].size
    G, g_sum = np.zeros((x.size, x.size)), np.zeros(x.size)
    iterates, gradients, metrics, losses = [x], [], [], []
    for t, (z, target) in enumerate(zip(with_bias(Z, bias), y, strict=True), start=1):
        value, g = loss_and_gradient(loss, z, target, x)
        G = G + np.outer(g, g)  # g.ravel() g.ravel()'
        H = delta * np.eye(x.size) + block_root(G, parts)
        g_sum = g_sum + g.ravel()
        x = _full_step(eta * g_sum / t, H / t, eta, lam, radius, n_w).reshape(x.shape)  # (3)
        iterates.append(x)
        gradients.append(g)
        metrics.append(H)
        losses.append(value)
    return _run(iterates, gradients, metrics, losses, d)


def adagrad_full_cmd(
    Z, y, loss, eta, delta, lam=0.0, radius=math.inf, blocks=None, K=None, bias=False
):
    """Alg. 2 with (4); otherwise as adagrad_full_rda."""
    d = np.shape(Z)[1]
    parts = blocks_of(d, K, bias, blocks)
    x = first_point(d, K, bias, Domain())
    n_w = x[:d].size
    G, H = np.zeros((x.size, x.size)), delta * np.eye(x.size)
    iterates, gradients, metrics, losses = [x], [], [], []
    for z, target in zip(with_bias(Z, bias), y, strict=True):
        value, g = loss_and_gradient(loss, z, target, x)
        if np.any(g):  # else the root is the last one
            G = G + np.outer(g, g)
            H = delta * np.eye(x.size) + block_root(G, parts)
        if np.any(g) or lam > 0:  # else x_t itself is the minimiser
            u = eta * g.ravel() - H @ x.ravel()
            x = _full_step(u, H, eta, lam, radius, n_w).reshape(x.shape)  # (4), through (21)
        iterates.append(x)
        gradients.append(g)
        metrics.append(H)
        losses.append(value)
    return _run(iterates, gradients, metrics, losses, d)


def _full_step(u, H, weight, lam, radius, n_w):
    weights = full_minimiser(u[:n_w], H[:n_w, :n_w], weight, lam, radius)
    free = np.diag(H)[n_w:]
    return np.append(weights, -u[n_w:] / np.where(free > 0, free, 1.0))


# ----------------------------------------------------------------------------------- baselines


def rda(Z, y, loss, eta, phi=Penalty(), domain=Domain(), K=None, bias=False, argmin=direct):
    """Xiao's RDA: (3) with psi_t = sqrt(t) |x|^2 / 2; for phi = lam |x|_1 it is (23)."""
    d = np.shape(Z)[1]
    x = first_point(d, K, bias, domain)
    g_sum = np.zeros(x.shape)
    iterates, gradients, metrics, losses = [x], [], [], []
    for t, (z, target) in enumerate(zip(with_bias(Z, bias), y, strict=True), start=1):
        value, g = loss_and_gradient(loss, z, target, x)
        H = np.full(x.shape, math.sqrt(t))
        g_sum = g_sum + g
        x = _minimiser(eta * g_sum / t, H / t, eta, phi, domain, d, argmin)
        iterates.append(x)
        gradients.append(g)
        metrics.append(H)
        losses.append(value)
    return _run(iterates, gradients, metrics, losses, d)


def fobos(Z, y, loss, eta, phi=Penalty(), domain=Domain(), K=None, bias=False, argmin=direct):
    """argmin |x - (x_t - eta_t g_t)|^2 / 2 + eta_t phi(x), eta_t = eta/sqrt(t), over X.

    With phi = 0 it is online gradient descent (Zinkevich).
    """
    d = np.shape(Z)[1]
    x = first_point(d, K, bias, domain)
    iterates, gradients, metrics, losses = [x], [], [], []
    for t, (z, target) in enumerate(zip(with_bias(Z, bias), y, strict=True), start=1):
        value, g = loss_and_gradient(loss, z, target, x)
        eta_t = eta / math.sqrt(t)
        half = x - eta_t * g
        x = _minimiser(-half, np.ones(x.shape), eta_t, phi, domain, d, argmin)
        iterates.append(x)
        gradients.append(g)
        metrics.append(np.full(x.shape, math.sqrt(t)))
        losses.append(value)
    return _run(iterates, gradients, metrics, losses, d)


def passive_aggressive_step(loss, square, variant, C):
    """tau of Crammer et al. (2006) for a suffered loss and the squared norm of its direction."""
    if loss == 0 or square == 0:
        return 0.0
    if variant == "PA":
        return loss / square
    if variant == "PA-I":
        return min(C, loss / square)
    if variant == "PA-II":
        return loss / (square + 1 / (2 * C))
    raise ValueError(variant)


def passive_aggressive(Z, y, variant="PA-I", C=1.0, bias=False):
    """PA, PA-I, PA-II for y in {-1, 1}; DHS's lambda is 1/C of PA-I. Metrics: tau_t."""
    d = np.shape(Z)[1]
    x = np.zeros(d + bias)
    iterates, gradients, taus, losses = [x], [], [], []
    for z, target in zip(with_bias(Z, bias), y, strict=True):
        value, g = loss_and_gradient(HINGE, z, target, x)
        tau = passive_aggressive_step(value, np.dot(z, z), variant, C)
        x = x + tau * target * z
        iterates.append(x)
        gradients.append(g)
        taus.append(tau)
        losses.append(value)
    return _run(iterates, gradients, taus, losses, d)


def passive_aggressive_multiclass(Z, y, K, variant="PA-I", C=1.0, bias=False):
    """PA for y in {0, ..., K-1}: the Crammer-Singer hinge against the best wrong class r.

    The direction is z in column y and -z in column r, of squared norm 2|z|^2. Metrics: tau_t.
    """
    d = np.shape(Z)[1]
    x = np.zeros((d + bias, K))
    iterates, gradients, taus, losses = [x], [], [], []
    for z, target in zip(with_bias(Z, bias), y, strict=True):
        value, g = loss_and_gradient(CRAMMER_SINGER, z, target, x)
        tau = passive_aggressive_step(value, 2 * np.dot(z, z), variant, C)
        x = x.copy()
        rival = best_wrong_class(z @ iterates[-1], target)
        x[:, target] += tau * z
        x[:, rival] -= tau * z
        iterates.append(x)
        gradients.append(g)
        taus.append(tau)
        losses.append(value)
    return _run(iterates, gradients, taus, losses, d)


def arow(Z, y, r=1.0, covariance="full", bias=False):
    """AROW (Crammer, Kulesza, Dredze 2009) for y in {-1, 1}; (10), mended. Metrics: Sigma_{t+1}.

    covariance: "full"; "diagonal" keeps the diagonal of Sigma_{t+1} (Sigma_jj - beta Sigma_jj^2
    z_j^2); "drop" that of its inverse (1/Sigma_jj + z_j^2 / r). The two diagonal ones store
    vectors. Nothing moves unless the margin is below 1.

    (10) prints alpha without its factor beta, and x_t for z_t; its lambda is r.
    """
    d = np.shape(Z)[1]
    n = d + bias
    mu, Sigma = np.zeros(n), np.eye(n)
    iterates, gradients, metrics, losses = [mu], [], [], []
    for z, target in zip(with_bias(Z, bias), y, strict=True):
        value, g = loss_and_gradient(HINGE, z, target, mu)
        if target * np.dot(z, mu) < 1:
            beta = 1 / (z @ Sigma @ z + r)
            alpha = max(0.0, 1 - target * np.dot(z, mu)) * beta
            mu = mu + alpha * target * (Sigma @ z)
            if covariance == "drop":
                Sigma = np.diag(1 / (1 / np.diag(Sigma) + z**2 / r))
            else:
                Sigma = Sigma - beta * np.outer(Sigma @ z, Sigma @ z)
            if covariance == "diagonal":
                Sigma = np.diag(np.diag(Sigma))
        iterates.append(mu)
        gradients.append(g)
        metrics.append(Sigma if covariance == "full" else np.diag(Sigma))
        losses.append(value)
    return _run(iterates, gradients, metrics, losses, d)


# ---------------------------------------------------------------- the constructions of 1.2


def diagonal_construction(d, cycles, seed=0):
    """z_t = +-e_i, i cycling through 1, ..., d; y = sign <1, z>. Returns (Z, y)."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], size=d * cycles)
    Z = np.tile(np.eye(d), (cycles, 1)) * signs[:, None]
    return Z, np.sign(Z @ np.ones(d))


def full_construction(d, cycles, seed=0):
    """z_t = +-v_i, i cycling, V orthonormal; y = sign <1, V'z>. Returns (Z, y, V)."""
    rng = np.random.default_rng(seed)
    V, _ = np.linalg.qr(rng.standard_normal((d, d)))
    signs = rng.choice([-1.0, 1.0], size=d * cycles)
    Z = np.tile(V.T, (cycles, 1)) * signs[:, None]
    return Z, np.where(Z @ V @ np.ones(d) > 0, 1.0, -1.0), V


def diagonal_example(d, cycles, seed=0):
    """(AdaGrad, online gradient descent) on diagonal_construction, in the box |x|_inf <= 1.

    eta = 1 for both; delta = 0 and update (4) for AdaGrad. The total losses are sums of `losses`.
    In truth AdaGrad's is d, online gradient descent's equation_6(d, cycles - 2).
    """
    Z, y = diagonal_construction(d, cycles, seed)
    X = box(-1.0, 1.0)
    return (
        adagrad_cmd(Z, y, HINGE, 1.0, 0.0, domain=X, argmin=closed),
        fobos(Z, y, HINGE, 1.0, domain=X, argmin=closed),
    )


def full_example(d, cycles, seed=0):
    """(full AdaGrad, online gradient descent) on full_construction, in the ball of radius sqrt(d).

    Appendix A ends "at least d sqrt(d)" for gradient descent: what it shows is the value of (6).

    The hinge here is flat from a margin of 1 - 1e-9 on. From round d + 1 on AdaGrad's margins are 1
    but for rounding; were one a hair less, its step of 1/sqrt(2) would leave the ball, and the
    projection would spoil all other margins. (A subgradient other than 0 at the kink does so too.)
    """
    hinge = (HINGE[0], lambda p, y: HINGE[1](p, y) if y * p < 1 - 1e-9 else 0.0)
    Z, y, _ = full_construction(d, cycles, seed)
    radius = math.sqrt(d) * (1 + 1e-12)  # room for rounding: x_{d+1} lies on the sphere
    return (
        adagrad_full_cmd(Z, y, hinge, 1.0, 0.0, radius=radius),
        fobos(Z, y, hinge, 1.0, domain=l2_ball(radius), argmin=closed),
    )


def equation_6(d, T):
    """Online gradient descent's loss over T + 2 cycles of the diagonal construction.

    Proposition 1 has it >= d + d sqrt(d)/4 for T >= sqrt(d) + 1. That is FALSE for d <= 7 (d = 1: 1
    < 1.25), and so is a step of its proof: the sum over t = 1, ..., sqrt(i) of 1 - t/sqrt(i) is
    never >= sqrt(i)/2, only >= (sqrt(i) - 1)/2. What follows is >= d/2 + d sqrt(d)/3, hence the
    claim from d = 36 on; numerically it holds from d = 8 on. For T >= d/4 the sum is about d^2/12.
    """
    i = np.arange(1, d + 1)
    total, x = float(d), np.zeros(d)
    for t in range(T + 1):
        x = x + 1 / np.sqrt(i + t * d)
        total += float(np.sum(np.maximum(1 - x, 0)))
    return total


# ------------------------------------------------------------------------- regret and its bounds
#
# Every bound below is one on regret(run, ...) for an x* in X (with its bias). `printed=True` is
# what the paper says, `printed=False` what its Corollaries 3, 4 and 11 prove for psi_t =
# (1/2)<x, H_t x>. All proofs replace sum phi(x_{t+1}) by sum phi(x_t), which costs phi(x_1) -
# phi(x_{T+1}) <= phi(x_1): zero if phi(x_1) = 0, as the paper assumes in Corollary 4 (and needs in
# Corollary 3 and Theorems 6, 8, 13 too); else pass phi_first = phi(x_1), as for a simplex.


def regret(run, Z, y, loss, phi, x_star, bias=False):
    """R_phi(T) of (2) against x_star, which has its bias as its last row."""
    total = float(np.sum(run.losses))
    for x, z, target in zip(run.iterates, with_bias(Z, bias), y, strict=False):
        total += phi.value(x[: run.d]) - phi.value(x_star[: run.d])
        total -= float(loss[0](z @ x_star, target))
    return total


def gamma(run):
    """gamma_T = sum_i |g_{1:T,i}|.

    Also sqrt(d * inf {sum_t <g_t, diag(s)^-1 g_t> : sum s <= d}). The definition above Corollary 7,
    with sum s <= gamma_T, is wrong: by (13) its infimum is gamma_T and its root sqrt(gamma_T).
    """
    return float(np.sum(np.sqrt(np.sum(run.gradients**2, axis=0))))


def trace_root(run, delta):
    """tr(G_T^(1/2)), from the last metric of a full or block-diagonal run."""
    H = run.metrics[-1]
    return float(np.trace(H) - delta * len(H))


def _square(v, H):
    """<v, Hv> for a diagonal or a full H."""
    return float(np.sum(H * v**2)) if H.shape == v.shape else float(v.ravel() @ H @ v.ravel())


def _dual_square(g, H):
    """<g, H^-1 g>; coordinates with g = 0 do not count where H = 0 (pseudo-inverse, full)."""
    if H.shape == g.shape:
        live = g != 0
        return float(np.sum(g[live] ** 2 / H[live]))
    return float(g.ravel() @ np.linalg.pinv(H, rcond=1e-12, hermitian=True) @ g.ravel())


def corollary_3(run, x_star, eta, H_0, phi_first=0.0):
    """(11) for update (3), on the run's own metrics: psi_T(x*)/eta + (eta/2) sum |g_t|^2_{t-1}*.

    H_0: the metric before the first gradient, delta * I for AdaGrad, which must be > 0. Holds for
    x_1 = argmin over X of psi_0.
    """
    before = [np.asarray(H_0, dtype=float), *run.metrics[:-1]]
    duals = sum(_dual_square(g, H) for g, H in zip(run.gradients, before, strict=True))
    return phi_first + _square(x_star, run.metrics[-1]) / (2 * eta) + eta / 2 * duals


def corollary_4(run, x_star, eta, phi_first=0.0):
    """(12) for update (4), on the run's own metrics."""
    x, H = run.iterates, run.metrics
    total = _square(x_star - x[0], H[0]) / (2 * eta)  # B_{psi_1}(x*, x_1)
    for t in range(len(H) - 1):
        total += _square(x_star - x[t + 1], H[t + 1] - H[t]) / (2 * eta)
    duals = sum(_dual_square(g, H_t) for g, H_t in zip(run.gradients, H, strict=True))
    return phi_first + total + eta / 2 * duals


def theorem_6_rda(run, x_star, eta, delta, printed=False, phi_first=0.0):
    """(16), for delta >= max_t |g_t|_inf.

    Proved: delta/(2 eta) |x*|_2^2 + 1/(2 eta) |x*|_inf^2 gamma_T + eta gamma_T. Printed without the
    two halves: LARGER than what is proved, hence true (psi_T(x*) is taken as <x*, H_T x*>, the
    dual norms as those of (1/2)<x, Hx>).
    """
    assert delta >= np.max(np.abs(run.gradients))
    half = 1.0 if printed else 0.5
    top = np.max(np.abs(x_star))
    return (
        phi_first
        + half * (delta * np.sum(x_star**2) + top**2 * gamma(run)) / eta
        + eta * gamma(run)
    )


def theorem_6_cmd(run, x_star, eta, delta, printed=False, phi_first=0.0):
    """(17).

    Proved: delta/(2 eta) |x* - x_1|_2^2 + 1/(2 eta) max_t |x* - x_t|_inf^2 gamma_T + eta gamma_T.

    THE PRINTED BOUND IS SMALLER THAN WHAT IS PROVED, AND FALSE, for delta > 0: it lacks the first
    term, since B_{psi_1}(x*, x_1) <= (1/2)|x* - x_1|_inf^2 <1, s_1> forgets delta (as delta grows
    x_t stays at x_1 and the regret is linear in T; the printed bound is not). True for delta = 0.
    """
    first = 0.0 if printed else delta / (2 * eta) * np.sum((x_star - run.iterates[0]) ** 2)
    width = np.max(np.abs(x_star - run.iterates[:-1]))  # t <= T
    return phi_first + first + width**2 / (2 * eta) * gamma(run) + eta * gamma(run)


def corollary_7_eta(update, size):
    """Corollary 7: eta = |x*|_inf for "rda", D_inf/sqrt(2) for "cmd"; `size` is that norm.

    D_inf is the supremum over X of |x - x*|_inf. For the bound that is proved, "rda" does best with
    |x*|_inf / sqrt(2) as well.
    """
    return size if update == "rda" else size / math.sqrt(2)


def corollary_7(run, update, size, x_star, delta, printed=False):
    """Corollary 7's bounds on a run with eta = corollary_7_eta(update, size), phi(x_1) = 0.

    rda, size = |x*|_inf. Printed: 2 size gamma_T + delta |x*|_2^2 / size; proved: 3/2 and delta/2.
    cmd, size = D_inf. Printed: sqrt(2) size gamma_T, FALSE for delta > 0, where what is proved has
    delta |x* - x_1|_2^2 / (sqrt(2) size) more.
    """
    if update == "rda":
        half = 1.0 if printed else 0.5
        rest = delta * np.sum(x_star**2) / size
        return (1 + half) * size * gamma(run) + half * rest
    first = 0.0 if printed else delta * np.sum((x_star - run.iterates[0]) ** 2)
    return math.sqrt(2) * size * gamma(run) + first / (math.sqrt(2) * size)


def theorem_8_rda(run, x_star, eta, delta, printed=False, phi_first=0.0):
    """(18), for delta >= max_t |g_t|_2.

    Proved: delta/(2 eta) |x*|^2 + 1/(2 eta) |x*|^2 tr G_T^(1/2) + eta tr G_T^(1/2). Printed without
    the halves: LARGER, hence true. (Its proof combines Corollary 3 with (20); what it needs is
    <x*, G_T^(1/2) x*> <= |x*|^2 tr G_T^(1/2).)
    """
    assert delta >= max(np.linalg.norm(g) for g in run.gradients)
    half = 1.0 if printed else 0.5
    trace = trace_root(run, delta)
    return phi_first + half * np.sum(x_star**2) * (delta + trace) / eta + eta * trace


def theorem_8_cmd(run, x_star, eta, delta, printed=False, phi_first=0.0):
    """(19).

    Proved: delta/(2 eta) |x* - x_1|^2 + 1/(2 eta) max_t |x* - x_t|^2 tr G_T^(1/2) + eta tr
    G_T^(1/2). Printed with delta/eta |x*|^2 as its first term: LARGER for x_1 = 0, hence true.
    """
    trace = trace_root(run, delta)
    half, start = (1.0, 0.0) if printed else (0.5, run.iterates[0])
    width = max(float(np.sum((x_star - x) ** 2)) for x in run.iterates[:-1])
    return (
        phi_first
        + half * delta / eta * np.sum((x_star - start) ** 2)
        + width / (2 * eta) * trace
        + eta * trace
    )


def corollary_14(run, x_star, eta, delta, blocks, printed=False, phi_first=0.0):
    """Corollary 14 for (3) in blocks (those of blocks_of), for delta >= max_{t,i} |g_{t,[i]}|_2.

    Proved: (delta |x*|^2 + max_i |x*_[i]|^2 tr G_T^(1/2)) / (2 eta) + eta tr G_T^(1/2).

    THE PRINTED BOUND LACKS THE TERM IN delta. Its psi_t = <x, G_t^(1/2) x> has none, but then
    Corollary 3 proves nothing (the dual norm of g_1 is infinite), and with psi_t = (1/2)<x,
    G_t^(1/2) x> it is FALSE: d = 1, g = 1, -M, M^2, ... with M large, x* = +-eta/2.
    """
    x, trace = x_star.ravel(), trace_root(run, delta)
    largest = max(float(np.sum(x[block] ** 2)) for block in blocks)
    if printed:
        return phi_first + largest * trace / eta + eta * trace
    gradients = run.gradients.reshape(len(run.gradients), -1)
    assert delta >= max(np.linalg.norm(g[block]) for g in gradients for block in blocks)
    return phi_first + (delta * np.sum(x**2) + largest * trace) / (2 * eta) + eta * trace


def corollary_11(run, x_star, eta, lam, printed=False, phi_first=0.0):
    """Corollary 11: (12) less (lam/2)|w* - w_{t+1}|^2 for t = 1, ..., T - 1, phi lam-convex.

    THE PRINTED BOUND IS SMALLER THAN WHAT IS PROVED, AND FALSE for eta > 1: it takes off another
    (lam eta/2)|x* - x_1|^2. A strongly convex phi gives terms at x_2, ..., x_{T+1} only; one at x_1
    needs strongly convex f_t, and is (lam/2)|x* - x_1|^2 then. (T = 1, f_1 = g x, x* = -eta g / H_1:
    regret - printed bound = (lam/2)(eta - 1) x*^2.)
    """
    total = corollary_4(run, x_star, eta, phi_first)
    w, w_star = run.iterates[:, : run.d], x_star[: run.d]
    for t in range(1, len(run.gradients)):
        total -= lam / 2 * float(np.sum((w_star - w[t]) ** 2))
    if printed:
        total -= lam * eta / 2 * float(np.sum((w_star - w[0]) ** 2))
    return total


def theorem_13(run, x_star, lam, delta, G, printed=False, phi_first=0.0):
    """Theorem 13, for eta = G^2/lam, G >= max_t |g_t|_inf over the weights.

    Proved: (lam delta/(2 G^2) + lam/2)|w* - w_1|^2 + G^2/(2 lam) sum_i log(|g_{1:T,i}|^2/delta + 1).
    The first terms bound (1/eta) B_{psi_1}(x*, x_1) = sum_i (delta + g_{1,i}^2)(w*_i - w_{1,i})^2
    / (2 eta). With a free bias b, the terms of Theorem 6 (17) for it, mended, at the same eta.

    THE PRINTED BOUND IS SMALLER THAN WHAT IS PROVED, AND FALSE, for lam well above G^2: its first
    term is 2 G^2 delta/lam |w* - w_1|^2, with eta where 1/eta belongs, and the lam/2 is lost to the
    wrong term of Corollary 11 (T = 1, d = 1, g = 1, lam = 100, delta = 70, x* = -1/100: regret
    0.005, printed bound 0.0003). Its second term is twice what is proved, so that it does hold for
    small lam and long runs. Besides, the theorem wants phi strongly convex in a p-norm with p >= 2:
    the proof needs |v|_p >= |v|_2, which is p <= 2; and its display has g_t where g_{t+1} belongs.
    """
    d, eta = run.d, G**2 / lam
    assert np.max(np.abs(run.gradients[:, :d])) * (1 - 1e-12) <= G
    start = float(np.sum((x_star[:d] - run.iterates[0][:d]) ** 2))
    squares = np.sum(run.gradients[:, :d] ** 2, axis=0)
    logs = float(np.sum(np.log(squares / delta + 1)))
    if printed:
        total = 2 * G**2 * delta / lam * start + G**2 / lam * logs
    else:
        total = (lam * delta / (2 * G**2) + lam / 2) * start + G**2 / (2 * lam) * logs
    for k in np.ndindex(x_star[d:].shape):  # the biases
        bias = (slice(None), d + k[0], *k[1:])
        norm = float(np.linalg.norm(run.gradients[bias]))
        gaps = np.abs(x_star[bias[1:]] - run.iterates[:-1][bias])
        total += (delta * gaps[0] ** 2 + np.max(gaps) ** 2 * norm) / (2 * eta) + eta * norm
    return phi_first + total
