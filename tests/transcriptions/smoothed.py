"""The smoothed hinge and its excess risk: MAH (Mahdavi 2014), chapter 4.

    phi(z; gamma) = log(1 + exp(gamma (1 - z)))/gamma,  z = y h(x) the margin, gamma > 0,
    hinge(z) <= phi(z; gamma) <= hinge(z) + log(2)/gamma,  |phi'| <= 1,  phi'' <= gamma/4.

Letters of the chapter, here and there:
- n            number of examples; B bounds |h|;
- gamma        smoothing; small is smooth, infinity is the hinge. gamma = n^beta;
- alpha        effort of the optimizer: k + 2 = n^(alpha/2) accelerated steps. Solving the problem
               to high accuracy is alpha = infinity;
- xi           how fast the best smooth risk nears the best hinge risk: L^phi* <= L^hinge* + a
               gamma^-(1 + xi), (4.6). xi = 0 with a = log 2 always holds;
- eta          in psi(eta; gamma): a binary excess risk, in [-1, 1];
- E(h)         binary excess risk, P(y h(x) <= 0) - its minimum over all measurable h;
- E_phi(h)     excess of E phi(y h(x); gamma) over its minimum over all measurable h (Th. 4.2 needs
               that, not the minimum over |h| <= B).
"""

import math

import numpy as np
from scipy.optimize import brentq


def phi(z, gamma):
    """(4.2), without overflow."""
    return np.logaddexp(0.0, gamma * (1 - z)) / gamma


def slope(z, gamma):
    """phi'(z; gamma) = -1/(1 + exp(-gamma(1 - z)))."""
    return -np.exp(-np.logaddexp(0.0, -gamma * (1 - z)))


def hinge(z):
    return np.maximum(0.0, 1 - z)


# ---------------------------------------------------------------------------- the psi-transform


def psi(eta, gamma):
    """Th. 4.5, correct as printed, for |eta| <= 1; in a form that does not overflow.

    With eta = |eta|, e^gamma C_1/(1 + eta) = (1 - eta)/(eta + q), e^gamma C_2/(1 - eta) = e^(2 gamma)
    (eta + q)/(1 - eta), q = sqrt(eta^2 + (1 - eta^2) e^(-2 gamma)).
    """
    eta = abs(eta)
    q = math.sqrt(eta**2 + (1 - eta**2) * math.exp(-2 * gamma))
    at_zero = np.logaddexp(0.0, gamma)
    right = 0.5 * (1 + eta) * (at_zero - math.log1p((1 - eta) / (eta + q)))
    if eta == 1:
        return float(right / gamma)
    log_wrong = 2 * gamma + math.log((eta + q) / (1 - eta))
    return float((right + 0.5 * (1 - eta) * (at_zero - np.logaddexp(0.0, log_wrong))) / gamma)


def theorem_4_6(eta, gamma):
    """|eta| - log(1/|eta|)/gamma, claimed <= psi. FALSE for gamma >= 2.5, |eta| near 0.66 to 1.

    gamma = 10, eta = 0.9: psi = 0.8804 < 0.8895. The proof has log((1 - eta)/(2 eta)) where log(1 +
    (1 - eta)/(2 eta)) belongs. See psi_lower_bound.
    """
    return abs(eta) - math.log(1 / abs(eta)) / gamma


def psi_lower_bound(eta, gamma):
    """Mended Th. 4.6: max{|eta| - (1 + |eta|) log(2)/(2 gamma), 2 eta^2/(gamma (1 + e^-gamma)^2)}.

    psi = phi(0) - min over z of (1 + eta)/2 phi(z) + (1 - eta)/2 phi(-z). The first: z = 1. The second:
    phi(+-z) <= phi(0) +- phi'(0) z + (gamma/8) z^2, phi'(0) = -1/(1 + e^-gamma), and the best z.
    """
    eta = abs(eta)
    linear = eta - (1 + eta) * math.log(2) / (2 * gamma)
    quadratic = 2 * eta**2 / (gamma * (1 + math.exp(-gamma)) ** 2)
    return max(linear, quadratic)


# ------------------------------------------------------------------------- binary excess risk


def theorem_4_8(excess, gamma):
    """E <= e + e/(1 + gamma e) log(1/e), e = E_phi, as printed. FALSE.

    Its proof takes log(1 + x) <= x in the wrong direction. Where y is random with P(y = 1 | x) =
    (1 + E)/2 and h predicts the wrong sign with h -> 0, E_phi = psi(E): gamma = 1, E = 0.1 has E_phi
    = 0.0135 and a "bound" of 0.071. Small excesses are quadratic. See excess_bound, binary_excess.
    """
    return excess + excess / (1 + gamma * excess) * math.log(1 / excess)


def excess_bound(excess, gamma):
    """Mended Th. 4.8: E <= min{e + log(2)/gamma, sqrt(gamma e/2) (1 + e^-gamma)}, e = E_phi.

    From psi_lower_bound; the first term because (1 + E)/2 <= 1. Any upper bound on E_phi will do, and
    the answer is at most 1.
    """
    linear = excess + math.log(2) / gamma
    quadratic = math.sqrt(gamma * excess / 2) * (1 + math.exp(-gamma))
    return min(1.0, linear, quadratic)


def binary_excess(excess, gamma):
    """The E with psi(E; gamma) = E_phi, 1 if there is none: the best that Th. 4.2 and 4.5 give."""
    if excess >= psi(1.0, gamma):
        return 1.0
    if excess <= 0:
        return 0.0
    return float(brentq(lambda E: psi(E, gamma) - excess, 0.0, 1.0, xtol=1e-15))


# ------------------------------------------------------------------------------- choice of gamma


def exponents(alpha=math.inf, xi=0.0, printed=False):
    """(beta, tau_1, tau_2) of Th. 4.13: gamma = n^beta, E_phi = O(n^-tau_1 + L^(1/2) n^-tau_2).

    L is the best hinge risk. beta = (min(1, alpha) - 1/2)/(1 + xi/2), tau_1 = min(1, alpha) - beta,
    tau_2 = (1 - beta)/2, alpha >= 1/2.

    Mended: [a gamma^-(1 + xi)]^(1/2) n^((beta - 1)/2) is n^(-1/2 - xi beta/2); the proof prints n^(-1/2
    - xi beta) and balances that, which puts 1 + xi where 1 + xi/2 belongs. For xi = 0 both are
    beta = 1/2, tau_1 = 1/2, tau_2 = 1/4 (alpha >= 1).
    """
    assert alpha >= 0.5
    effort = min(1.0, alpha)
    beta = (effort - 0.5) / (1 + xi if printed else 1 + xi / 2)
    if printed:
        return beta, (1 + 2 * xi * effort) / (2 * (1 + xi)), (0.5 + xi) / (2 * (1 + xi))
    return beta, effort - beta, (1 - beta) / 2


def corollary_4_12(n, beta, alpha, risk):
    """The bracket of (4.5): E_phi <= C(B, t) times this; C is not known.

    risk: the best smooth risk L^phi*. n^(beta-alpha) + n^(beta-1) + n^(beta-(alpha+1)/2) + risk^(1/2)
    n^((beta-1)/2).
    """
    powers = [beta - 1, beta - alpha, beta - (alpha + 1) / 2]
    smooth = sum(n**power for power in powers if not math.isinf(power))
    return smooth + math.sqrt(risk) * n ** ((beta - 1) / 2)


def choose_gamma(n, alpha=math.inf, xi=0.0):
    """gamma = n^beta, Th. 4.13 mended: sqrt(n) when nothing is assumed and the problem is solved.

    The chapter's choice for few examples (n <= n_0 of Th. 4.14); beyond, it takes gamma = 1, but n_0
    has an unknown constant. By Th. 4.8 as mended the BINARY risk pays log(2)/gamma = n^-beta on top,
    which Th. 4.14 (its "min(1/gamma, E_phi)" should be a sum) leaves out.
    """
    beta, _, _ = exponents(alpha, xi)
    return n**beta
