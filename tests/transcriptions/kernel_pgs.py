"""The primal gradient solver on kernels, ZHU Fig. 1 with p = 2 and section VII, by plain numpy.

theta = sum_s beta_s phi(x_s) is kept by its coefficients; norms and values are taken from the Gram
matrix K afresh in each round. At most `budget` coefficients differ from 0: past it, the one with the
least |beta_s| sqrt(K_ss) is projected onto the phi(x_n) that holds most of it. A loss is a pair
(value, slope) of Python functions.
"""

import numpy as np


def kernel_pgs(K, y, loss, order, alpha, B, s, budget, b):
    """Return the coefficients of f_0, ..., f_T (a row each) and their intercepts."""
    _, slope = loss
    beta, iterates, biases = np.zeros(len(y)), [], []
    curvature, reach = 0.0, min(1.0, B * np.max(s * np.sqrt(np.diag(K))))
    for t, i in enumerate(order):
        f = in_ball(beta / ((t + 1) * alpha), K, B)
        iterates.append(f)
        biases.append(b)
        p = float(K[i] @ f)
        a = s[i] * slope(p + b, y[i])
        beta[i] -= a
        if np.count_nonzero(beta) > budget:
            project_out(beta, K)
        reach = max(reach, abs(p))
        # DLF Alg. 2, lambda = 0, with the largest prediction for a radius
        curvature = (curvature + np.sqrt(curvature**2 + (a / reach) ** 2)) / 2
        b = b - a / curvature if curvature > 0 else b
    iterates.append(in_ball(beta / ((len(order) + 1) * alpha), K, B))
    return np.array(iterates), np.array([*biases, b])


def in_ball(f, K, B):
    length = np.sqrt(max(f @ K @ f, 0.0))
    return f * (B / length) if length > B else f


def project_out(beta, K):
    support = np.flatnonzero(beta)
    out = support[np.argmin(np.abs(beta[support]) * np.sqrt(K[support, support]))]
    rest = support[support != out]
    if rest.size:
        near = rest[np.argmax(K[out, rest] ** 2 / K[rest, rest])]
        beta[near] += beta[out] * K[out, near] / K[near, near]
    beta[out] = 0.0
