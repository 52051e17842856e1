"""Online methods of DLF (Do, Le, Foo 2009), section 3.

In round t the learner plays w_t and is shown

    f_t(w) = (lam/2) |w|^2 + mean of the losses of the examples in chunk t of `order`,

the chunks being consecutive, of size `batch`, the last perhaps shorter. All methods start at
w_1 = 0 and return (iterates, S): the rows of `iterates` are w_1, ..., w_{T+1}, and S holds
S_t = lam*t + tau_{1:t} = 1/eta_t for t = 1, ..., T. S is the ball |w| <= radius in the paper; its
R, the radius that sets tau, is here `rho`.
"""

import math

import numpy as np
from scipy.optimize import brentq


def chunks(order, batch=1):
    """The examples of each round."""
    order = np.asarray(order)
    return [order[start : start + batch] for start in range(0, len(order), batch)]


def risk_of_round(X, y, loss, lam, rows, w):
    """f_t(w), DLF (8) with any loss."""
    value, _ = loss
    total = 0.0
    for i in rows:
        total += value(float(X[i] @ w), float(y[i]))
    return 0.5 * lam * float(w @ w) + total / len(rows)


def subgradient_of_round(X, y, loss, lam, rows, w):
    """g_t in the subdifferential of f_t at w."""
    _, slope = loss
    total = np.zeros(X.shape[1])
    for i in rows:
        total = total + slope(float(X[i] @ w), float(y[i])) * X[i]
    return lam * w + total / len(rows)


def project(w, radius):
    """(Pi_S[w], |Pi_S[w]|): the norm is exactly `radius` where the ball is active."""
    norm = float(np.linalg.norm(w))
    if norm <= radius:
        return w, norm
    return (radius / norm) * w, float(radius)


def _step(w, S, g, radius):
    """w_{t+1} = Pi_S[w_t - g_t / S_t] and its norm; S_t = 0 happens only if lam = G_t = g_t = 0."""
    if S == 0.0:
        assert not np.any(g), "S_t = 0 with a non-zero gradient: G_t does not bound g_t"
        return project(w, radius)
    return project(w - g / S, radius)


def _bound_on(G, t, g):
    """G_t: the number G, or the function G of (t, g_t)."""
    return float(G(t, g)) if callable(G) else float(G)


# ---------------------------------------------------------------------------------- the methods


def projected_subgradient(X, y, loss, lam, order, batch=1, radius=math.inf):
    """DLF Alg. 1. Pegasos is radius = sqrt(R(0)/lam): 1/sqrt(lam) for the hinge."""
    w = np.zeros(X.shape[1])  # w_1
    iterates, S = [w], []
    for t, rows in enumerate(chunks(order, batch), start=1):
        g = subgradient_of_round(X, y, loss, lam, rows, w)
        S_t = lam * t  # eta_t = 1/lam_{1:t}
        w, _ = _step(w, S_t, g, radius)
        iterates.append(w)
        S.append(S_t)
    return np.array(iterates), np.array(S)


def adaptive(X, y, loss, lam, order, G, rho, batch=1, radius=math.inf):
    """Adaptive online gradient descent: Alg. 1 on the functions of DLF (4)."""
    w = np.zeros(X.shape[1])
    iterates, S = [w], []
    tau_sum = 0.0
    for t, rows in enumerate(chunks(order, batch), start=1):
        g = subgradient_of_round(X, y, loss, lam, rows, w)
        G_t = _bound_on(G, t, g)
        before = lam * t + tau_sum  # lam_{1:t} + tau_{1:t-1}
        tau = 0.5 * (-before + math.sqrt(before**2 + 8 * G_t**2 / (3 * rho**2)))  # Bartlett et al.
        tau_sum += tau
        S_t = lam * t + tau_sum  # eta_t = 1/(lam_{1:t} + tau_{1:t})
        w, _ = _step(w, S_t, g + tau * w, radius)  # gradient of f''_t, DLF (4)
        iterates.append(w)
        S.append(S_t)
    return np.array(iterates), np.array(S)


def proximal(X, y, loss, lam, order, G, rho, batch=1, radius=math.inf):
    """DLF Alg. 2: the proximal method with Strategy 1, balancing.

    G: a number, or a function of (t, g_t) that gives G_t; g_t is the whole subgradient of f_t,
    lam*w_t included.
    """
    w = np.zeros(X.shape[1])
    iterates, S = [w], []
    tau_sum = 0.0
    for t, rows in enumerate(chunks(order, batch), start=1):
        g = subgradient_of_round(X, y, loss, lam, rows, w)
        G_t = _bound_on(G, t, g)
        before = lam * t + tau_sum
        tau = 0.5 * (-before + math.sqrt(before**2 + G_t**2 / rho**2))  # Alg. 2
        tau_sum += tau
        S_t = lam * t + tau_sum
        w, _ = _step(w, S_t, g, radius)
        iterates.append(w)
        S.append(S_t)
    return np.array(iterates), np.array(S)


def proximal_bound(X, y, loss, lam, order, G, rho, batch=1, radius=math.inf):
    """DLF Strategy 2: tau_1 = argmin B(tau) of Th. 2 for the T rounds of `order`, rest 0."""
    T = len(chunks(order, batch))
    tau_1 = best_tau(G, lam, rho, T)
    w = np.zeros(X.shape[1])
    iterates, S = [w], []
    for t, rows in enumerate(chunks(order, batch), start=1):
        g = subgradient_of_round(X, y, loss, lam, rows, w)
        S_t = lam * t + tau_1  # tau_{1:t} = tau_1, Prop. 1
        w, _ = _step(w, S_t, g, radius)
        iterates.append(w)
        S.append(S_t)
    return np.array(iterates), np.array(S)


def optimistic(X, y, loss, lam, order, G, batch=1, accuracy=0.0, failure=1.0, radius=None):
    """DLF Alg. 3, with delta-hat where delta is printed in the search for T.

    A new phase restarts t and tau and keeps w. Stops when a phase of length T passes without an
    increase of rho, or when `order` is used up; accuracy = 0 means phases without end (T = inf).
    radius: of the ball S; None is the paper's 1/sqrt(lam).

    Returns (iterates, S, rho), over all phases in a row; S_t restarts with its phase. rho has T + 1
    entries: rho[t-1] is used in round t, rho[T] is the one a next round would use.
    """
    if radius is None:
        radius = 1 / math.sqrt(lam)
    rho = min(1.0, 1 / math.sqrt(lam))
    w = np.zeros(X.shape[1])
    iterates, S, rhos = [w], [], [rho]
    rounds = iter(chunks(order, batch))
    rows = next(rounds, None)
    converged = False
    while not converged and rows is not None:
        converged = True
        T = phase_length(G, lam, rho, accuracy, failure)
        t, tau_sum = 0, 0.0
        while t < T:
            if rows is None:  # the given order has ended before the phase
                break
            t += 1
            g = subgradient_of_round(X, y, loss, lam, rows, w)
            G_t = _bound_on(G, t, g)
            before = lam * t + tau_sum
            tau = 0.5 * (-before + math.sqrt(before**2 + G_t**2 / rho**2))
            tau_sum += tau
            S_t = lam * t + tau_sum
            w, norm = _step(w, S_t, g, radius)
            iterates.append(w)
            S.append(S_t)
            rows = next(rounds, None)
            if norm >= rho - math.sqrt(2 * accuracy / lam):
                rho = math.sqrt(2) * rho
                converged = False
                rhos.append(rho)
                break
            rhos.append(rho)
    return np.array(iterates), np.array(S), np.array(rhos)


def phase_length(G, lam, rho, accuracy, failure):
    """Smallest T with min(G^2 (1+log T)/(dhat lam T), 4 rho G/(dhat sqrt T)) <= accuracy.

    dhat = failure/(3 - log2 lam); for lam > 1, where that grows beyond failure/3 and at last
    turns negative, failure/3 (two increases of rho, hence three phases, are possible there).
    """
    if accuracy == 0:
        return math.inf
    failure_of_phase = failure / (3 - min(0.0, math.log2(lam)))

    def reached(T):
        return (
            min(
                G**2 * (1 + math.log(T)) / (failure_of_phase * lam * T),  # Cor. 2, Prop. 2
                4 * rho * G / (failure_of_phase * math.sqrt(T)),  # Cor. 3, Prop. 2
            )
            <= accuracy
        )

    high = 1
    while not reached(high):
        high *= 2
    low = high // 2  # not reached (or 0); both bounds fall with T
    while high - low > 1:
        middle = (low + high) // 2
        if reached(middle):
            high = middle
        else:
            low = middle
    return high


# ------------------------------------------------------------------------ from online to batch


def uniform_average(iterates):
    """Mean of w_1, ..., w_T (B11): the last row, w_{T+1}, has not been played."""
    return np.mean(iterates[:-1], axis=0)


def suffix_average(iterates, fraction=0.5):
    """Mean of the last ceil(fraction * T) of w_1, ..., w_T (B11)."""
    T = len(iterates) - 1
    count = math.ceil(fraction * T)
    return np.mean(iterates[T - count : T], axis=0)


# ---------------------------------------------------------------------------- regret and bounds


def regret(X, y, loss, lam, order, iterates, u, batch=1):
    """sum_t f_t(w_t) - f_t(u) over the rounds that `iterates` played."""
    total = 0.0
    for t, rows in enumerate(chunks(order, batch)):
        if t == len(iterates) - 1:
            break
        total += risk_of_round(X, y, loss, lam, rows, iterates[t])
        total -= risk_of_round(X, y, loss, lam, rows, u)
    return total


def taus(S, lam):
    """tau_1, ..., tau_T from S_t = lam*t + tau_{1:t}."""
    return np.diff(S, prepend=0.0) - lam


def _all_rounds(G, T):
    """G_1, ..., G_T from a number or an array."""
    return np.broadcast_to(np.asarray(G, dtype=float), (T,))


def lemma_1(G, lam, T):
    """Right-hand side of DLF (2), for projected_subgradient."""
    G = _all_rounds(G, T)
    return 0.5 * sum(G[t - 1] ** 2 / (lam * t) for t in range(1, T + 1))


def corollary_1(G, lam, tau, rho):
    """R_T(tau_1, ..., tau_T) of DLF (5), the right-hand side of (6), for any tau >= 0."""
    T = len(tau)
    G = _all_rounds(G, T)
    total, tau_sum = 0.0, 0.0
    for t in range(1, T + 1):
        tau_sum += tau[t - 1]
        S_t = lam * t + tau_sum
        if G[t - 1] > 0:
            total += G[t - 1] ** 2 / S_t
        total += 4 * tau[t - 1] * rho**2
    return 0.5 * total


def theorem_1(G, lam, rho, T):
    """Right-hand side of DLF Th. 1: twice the least R_T, which has tau_2 = ... = 0 (Prop. 1)."""
    G = _all_rounds(G, T)
    t = np.arange(1, T + 1)

    def derivative(tau):  # of 2 R_T(tau, 0, ..., 0)
        return 4 * rho**2 - np.sum(G**2 / (lam * t + tau) ** 2)

    tau = _root_of_increasing(derivative, math.sqrt(np.sum(G**2)) / (2 * rho), lam)
    return 2 * corollary_1(G, lam, [tau] + [0.0] * (T - 1), rho)


def theorem_2(tau, G, lam, rho, T):
    """B(tau) of DLF Th. 2; for lam = 0 its limit, (15)."""
    if lam == 0:
        return 4 * tau * rho**2 + G**2 * T / tau
    x = tau / lam
    return 4 * tau * rho**2 + G**2 / lam * (1 / (1 + x) + math.log((T + x) / (1 + x)))


def best_tau(G, lam, rho, T):
    """argmin over tau >= 0 of B(tau), DLF Th. 2; for lam = 0 footnote 4."""
    if lam == 0:
        return math.sqrt(T * G**2 / (4 * rho**2))  # footnote 4

    def derivative(tau):  # B'(tau), from Th. 2 with lam cancelled; B is convex
        return 4 * rho**2 - G**2 * (
            1 / (lam + tau) ** 2 + (T - 1) / ((lam + tau) * (lam * T + tau))
        )

    return _root_of_increasing(derivative, G * math.sqrt(T) / (2 * rho), lam)


def theorem_2_best(G, lam, rho, T):
    """min over tau of B(tau)."""
    return theorem_2(best_tau(G, lam, rho, T), G, lam, rho, T)


def adaptive_bound(G, lam, rho, T):
    """DLF footnote 3 (Bartlett et al.): min over tau of sum 3 tau_t rho^2 + 2 G_t^2 / S_t.

    The minimum has tau_2 = ... = 0, as in Prop. 1.
    """
    G = _all_rounds(G, T)
    t = np.arange(1, T + 1)

    def derivative(tau):
        return 3 * rho**2 - np.sum(2 * G**2 / (lam * t + tau) ** 2)

    tau = _root_of_increasing(derivative, math.sqrt(2 * np.sum(G**2) / 3) / rho, lam)
    return 3 * tau * rho**2 + float(np.sum(2 * G**2 / (lam * t + tau)))


def _root_of_increasing(derivative, top, lam):
    """Where the increasing `derivative` crosses 0 in [0, top]; 0 if it is positive throughout.

    `top` is the root for lam = 0, and the root falls as lam grows.
    """
    if lam > 0 and derivative(0.0) >= 0:
        return 0.0
    top = top * (1 + 1e-9)  # room for rounding
    return brentq(derivative, top * 1e-12 if lam == 0 else 0.0, top, xtol=1e-15 * top, rtol=1e-14)
