"""ClippedSGD of MAH (Mahdavi 2014), Alg. 1, Th. 3.2 and 3.5: learning with a target risk.

    minimise  L(w) = E l(<w, x>, y)   over |w| <= R, told that min L <= target.

m stages of T examples; each averages T points of clipped gradient descent in a ball around the mean
of the stage before. The examples are given: `stages` is a list of index arrays, one a stage, of
which every example is used once. A loss is a pair (value, slope) of Python functions.

What Th. 3.2 assumes, all of it:
- |x| <= 1; l convex and beta-smooth in the prediction, and l >= 0;
- L alpha-strongly convex (not l itself); kappa = beta/alpha;
- the examples independent, drawn from the distribution that defines L (or with replacement from the
  sample that does);
- nabla L(w*) = 0 at w* = argmin, |w*| <= R: the proofs of Lemma 3.7 and of the last step use it;
- target >= min L, known beforehand; target > 0;
- shrink (the paper's epsilon) in (0, 1), tau in (0, 1/4]: see `schedule`.
"""

import math
from typing import NamedTuple

import numpy as np

from .mixed import nearest_in_two_balls


class Run(NamedTuple):
    centres: np.ndarray  # (m + 1, d) what_1 = 0, ..., what_{m+1}, the last one returned
    iterates: list  # m arrays (T + 1, d): w_k^1 = what_k, ..., w_k^{T+1}
    radii: np.ndarray  # (m + 1,) Delta_1 = R, ..., Delta_{m+1}


def clip(g, limit):
    """(3.4): every coordinate to [-limit, limit]."""
    return np.sign(g) * np.minimum(limit, np.abs(g))


def next_radius(Delta, target, beta, shrink, tau, printed=False):
    """(3.6): Delta_{k+1}, mended: sqrt(shrink Delta^2 + (2 tau/beta) target).

    PRINTED WITHOUT 2/beta. The proof of Th. 3.2 has b = 8/(alpha xi) = 2 tau/beta and uses it; with
    the printed one (whose units are wrong) w* can leave the ball for beta < 2: see
    test_printed_radius_loses_the_optimum.
    """
    factor = tau if printed else 2 * tau / beta
    return math.sqrt(shrink * Delta**2 + factor * target)


def clipped_sgd(X, y, loss, stages, eta, R, target, beta, xi, shrink, tau, printed=False):
    """MAH Alg. 1. The clip limit of stage k is gamma_k = 2 xi beta Delta_k.

    Step 4 means w_k^1, and (3.2) what_{k+1}: the mean of w_k^1, ..., w_k^T, T points, the last not
    among them. printed: (3.6) as it stands in the paper.
    """
    _, slope = loss
    origin = np.zeros(X.shape[1])
    centre, Delta = origin, float(R)
    centres, iterates, radii = [centre], [], [Delta]
    for rows in stages:
        limit = 2 * xi * beta * Delta
        w = centre
        points = [w]
        for i in rows:
            g = slope(float(X[i] @ w), float(y[i])) * X[i]
            w = nearest_in_two_balls(w - eta * clip(g, limit), origin, R, centre, Delta)  # (3.5)
            points.append(w)
        iterates.append(np.array(points))
        centre = np.mean(points[:-1], axis=0)  # (3.2)
        Delta = next_radius(Delta, target, beta, shrink, tau, printed)
        centres.append(centre)
        radii.append(Delta)
    return Run(np.array(centres), iterates, np.array(radii))


class Schedule(NamedTuple):
    xi: float
    T: int  # the paper's T_1, a stage
    eta: float
    s: int


def schedule(alpha, beta, d, R, target, m, delta, shrink=0.5, tau=0.25, printed=False):
    """Th. 3.2's constants, mended.

    xi = 4 beta/(alpha tau),  s = ceil(log2(xi beta R^2/target)), at least 1,
    T = 4 max{(xi^3 beta d + (16/3) xi beta sqrt d)/(shrink alpha) ln(m s/delta),
              16 xi^2 beta^2 d/(alpha shrink)^2},    eta = 1/(2 xi beta sqrt(d T)).

    Mended: Th. 3.5 needs xi >= 16 beta/alpha, hence tau <= 1/4 where tau < 1 is printed. The d of (3.10)
    is lost below it: eta has sqrt(d T) for sqrt T and T's second term a d. |w_k^t - w*| <= 2 Delta,
    not Delta, so M = 4 sqrt(d) gamma Delta in Lemma 3.6, and Th. A.25's second display needs 2/3
    for sqrt(2)/3: 16/3 for 2. In Lemma 3.7 the same 2 is made good by the right self-bounding,
    |l'|^2 <= 2 beta l for the 4 beta l of Lemma 3.9. "mu = B/8" is mu = xi/8.
    """
    assert printed or tau <= 0.25
    xi = 4 * beta / (alpha * tau)
    s = max(1, math.ceil(math.log2(xi * beta * R**2 / target)))
    last, dims = (2.0, 1) if printed else (16 / 3, d)
    noise = (xi**3 * beta * d + last * xi * beta * math.sqrt(d)) / (shrink * alpha)
    T = 4 * max(noise * math.log(m * s / delta), 16 * dims * (xi * beta / (alpha * shrink)) ** 2)
    T = math.ceil(T)
    return Schedule(xi, T, 1 / (2 * xi * beta * math.sqrt(dims * T)), s)


def theorem_3_2(beta, R, target, m, shrink=0.5, tau=0.25):
    """(beta R^2/2) shrink^m + (1 + tau/(1 - shrink)) target: L(what_{m+1}), probability 1 - delta."""
    return 0.5 * beta * R**2 * shrink**m + (1 + tau / (1 - shrink)) * target


def theorem_3_5(alpha, beta, d, T, xi, s, delta):
    """(a, b) of (3.8), mended: |what_{k+1} - w*|^2 <= a Delta_k^2 + b target, probability 1 - delta.

    For one stage with |what_k - w*| <= Delta_k, xi >= 16 beta/alpha, eta = 1/(2 xi beta sqrt(d T)).
    """
    assert xi >= 16 * beta / alpha
    noise = (xi**3 * beta * d + 16 / 3 * xi * beta * math.sqrt(d)) * math.log(s / delta)
    a = 2 / (alpha * T) * (2 * xi * beta * math.sqrt(d * T) + noise)
    return a, 8 / (alpha * xi)


def radius_from_slope(G, alpha):
    """R = 2 G/alpha, G >= |nabla L(0)| (|l'(0, y)| and |x| <= 1 give one): then |w*| <= R."""
    return 2 * G / alpha
