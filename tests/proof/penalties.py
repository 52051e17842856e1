"""Regularizers, from the formulas of their docstrings."""

from fractions import Fraction
from itertools import pairwise

from proof.arithmetic import INFINITY, add, entropy, exact, mp, norm, real, vector
from proof.losses import kind

NORMS = {"RowsL2": 2, "RowsLInf": INFINITY, "GroupsL2": 2, "GroupsLInf": INFINITY}


def penalty(regularizer, w, outputs=1):
    """Ω(w) of weights in one long row, `outputs` of them to a feature."""
    w = vector(w)
    name = kind(regularizer)
    if name == "Zero":
        return mp.zero
    alpha = exact(regularizer.alpha)
    if name in NORMS:
        blocks = [[w[k] for k in block] for block in blocks_of(regularizer, len(w), outputs)]
        return real(alpha) * mp.fsum(norm(block, NORMS[name]) for block in blocks)
    squares = sum((wj * wj for wj in w), Fraction(0))
    match name:
        case "SquaredL2":
            return real(alpha * squares / 2)
        case "L1":
            return real(alpha * sum(map(abs, w)))
        case "ElasticNet":
            ratio = exact(regularizer.ratio)
            return real(alpha * (ratio * sum(map(abs, w)) + (1 - ratio) * squares / 2))
        case "SquaredLp":
            p = exact(regularizer.p)
            return real(alpha / (2 * (p - 1))) * norm(w, p) ** 2
        case "Entropy":
            prior = exact(regularizer.prior)
            if min(w, default=0) < 0:
                return INFINITY
            # w log(w/π) − w + π = π(x log x − x + 1) with x = w/π
            parts = [add(lambda x=wj / prior: [entropy(x), -x, 1]) for wj in w]
            return real(alpha * prior) * mp.fsum(parts)
        case "HyperbolicEntropy":
            return real(alpha) * mp.fsum(_hyperbolic(wj, exact(regularizer.scale)) for wj in w)
    raise NotImplementedError(f"no exact value of {name}")


def _hyperbolic(w, beta):
    x = real(w / beta)
    return add(lambda: [real(w) * mp.asinh(real(w / beta)), -_over(w, beta)]) if x else mp.zero


def _over(w, beta):
    """√(w² + β²) − β."""
    return real(w * w) / (mp.sqrt(real(w * w + beta * beta)) + real(beta))


def blocks_of(regularizer, size, outputs):
    """Return the places of the weights that a norm of rows or groups takes together."""
    features = [range(j * outputs, (j + 1) * outputs) for j in range(size // outputs)]
    if kind(regularizer).startswith("Rows"):
        return [list(row) for row in features]
    order, starts = regularizer.order.tolist(), regularizer.starts.tolist()
    return [
        [place for j in order[here:there] for place in features[j]]
        for here, there in pairwise(starts)
    ]
