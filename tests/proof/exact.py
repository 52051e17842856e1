"""Certificates evaluated exactly: objectives and the lower values of dual points.

Written from the definitions in `stepless.objective` alone, none of the library's arithmetic.
J(w, b) = Ω(w) + (1/m) Σ s_i ℓ(⟨w, x_i⟩ + b, y_i). Doubles are taken as the fractions they are;
results are reals of 600 bits, and what cannot be evaluated raises NotImplementedError.
"""

from fractions import Fraction

from proof.arithmetic import INFINITY, exact, mp, real, rounded, rows, vector
from proof.domains import violation
from proof.losses import base, conjugate, joint, kind, shares, slope_interval, value
from proof.minimum import least
from proof.penalties import penalty

__all__ = [
    "conjugate",
    "dual",
    "kernel_dual",
    "kernel_objective",
    "least",
    "level",
    "level_shares",
    "objective",
    "penalty",
    "shares",
    "slope_interval",
    "value",
    "violation",
]


def objective(loss, regularizer, X, y, s, w, b=None):
    """J(w, b), for w of d numbers, or of d × K for a joint loss, in any shape; s None is all 1."""
    K = loss.outputs()
    w = vector(_flat(w))
    z = []
    for x in rows(X):
        z.append([sum((xj * w[j * K + c] for j, xj in x.items()), Fraction(0)) for c in range(K)])
    return penalty(regularizer, w, K) + _risk(loss, z, y, s, b)


def dual(loss, regularizer, domain, X, y, s, slopes, intercept=False, ceiling=INFINITY):
    """The lower value of the slopes a: −(1/m) Σ s_i ℓ*(a_i, y_i) + min Ω(w) + ⟨Xᵀ(s∘a)/m, w⟩.

    The minimum is over the w of the domain with Ω(w) ≤ ceiling. With an intercept, slopes are
    levelled first: the intercept's own slope becomes 0. Of a joint loss a_i = p_i − e_y, of which
    the p_ic of the other classes are looked at alone.
    """
    m, K = len(y), loss.outputs()
    s = _weights(s, m)
    bases, a = _dual_point(loss, y, s, slopes, intercept)
    if bases == -INFINITY:
        return bases
    examples = rows(X)
    g = [Fraction(0)] * (X.shape[1] * K)
    for x, si, ai in zip(examples, s, a, strict=True):
        for j, xj in x.items():
            for c in range(K):
                g[j * K + c] += si * ai[c] * xj / m
    return bases + least(regularizer, domain, g, ceiling, K)


def kernel_objective(loss, alpha, kernel, X, y, s, c, b=None):
    """J of f = Σ c_i k(x_i, ·): (λ/2) cᵀKc + (1/m) Σ s_i ℓ((Kc)_i + b, y_i), λ = alpha."""
    m, K = len(y), loss.outputs()
    c = vector(_flat(c))
    gram = _gram(kernel, X)
    columns = [[real(c[i * K + k]) for i in range(m)] for k in range(K)]
    images = [[mp.fdot(row, column) for row in gram] for column in columns]
    square = mp.fsum(mp.fdot(u, v) for u, v in zip(columns, images, strict=True))
    z = [[rounded(image[i]) for image in images] for i in range(m)]
    return real(alpha) / 2 * square + _risk(loss, z, y, s, b)


def kernel_dual(loss, alpha, kernel, X, y, s, slopes, intercept=False, ceiling=INFINITY):
    """The lower value of the slopes: as `dual`, for the ridge in the kernel's space."""
    m, K = len(y), loss.outputs()
    s = _weights(s, m)
    bases, a = _dual_point(loss, y, s, slopes, intercept)
    if bases == -INFINITY:
        return bases
    gram = _gram(kernel, X)
    square = mp.zero
    for k in range(K):
        v = [real(si * ai[k] / m) for si, ai in zip(s, a, strict=True)]
        square += mp.fdot(v, [mp.fdot(row, v) for row in gram])
    slope, alpha = mp.sqrt(max(square, mp.zero)), real(alpha)
    reach = min(slope / alpha, mp.sqrt(2 * real(ceiling) / alpha))
    return bases + alpha / 2 * reach * reach - slope * reach


def level(a, s):
    """Return slopes with Σ s_i a_i = 0: those of the sign with the larger sum are made smaller."""
    above = sum((si * ai for si, ai in zip(s, a, strict=True) if ai > 0), Fraction(0))
    below = sum((-si * ai for si, ai in zip(s, a, strict=True) if ai < 0), Fraction(0))
    if above == below:
        return a
    share = min(above, below) / max(above, below)
    return [ai * share if (ai > 0) == (above > below) else ai for ai in a]


def level_shares(p, y, s):
    """Return distributions p_i with Σ s_i p_ic = Σ_{y_i = c} s_i: one and the same is mixed in.

    (1 − θ) P + θ Q = Y with the least θ for which no Q_c is negative.
    """
    m, K = len(p), len(p[0])
    P = [sum(s[i] * p[i][c] for i in range(m)) for c in range(K)]
    Y = [sum((s[i] for i in range(m) if y[i] == c), Fraction(0)) for c in range(K)]
    theta = max((1 - Y[c] / P[c] for c in range(K) if P[c] > 0), default=Fraction(0))
    if theta <= 0:
        return p
    mixed = [(Y[c] - (1 - theta) * P[c]) / sum(Y) for c in range(K)]
    return [[(1 - theta) * pi[c] + mixed[c] for c in range(K)] for pi in p]


def _dual_point(loss, y, s, slopes, intercept):
    """Return −(1/m) Σ s_i ℓ*(a_i, y_i) and the slopes, levelled if there is an intercept."""
    m = len(y)
    if kind(loss) == "SumOverOutputs":
        columns = zip(_columns_of(y), _columns_of(slopes), strict=True)
        each = [_dual_point(loss.loss, yc, s, ac, intercept) for yc, ac in columns]
        a = [[aic for [aic] in row] for row in zip(*(column for _, column in each), strict=True)]
        return mp.fsum(height for height, _ in each), a
    if not joint(loss):
        a = vector(_flat(slopes))
        a = level(a, s) if intercept else a
        heights = [-conjugate(loss, ai, yi) for ai, yi in zip(a, y, strict=True)]
        a = [[ai] for ai in a]
    else:
        y = [int(yi) for yi in y]
        p = [vector(pi) for pi in slopes]
        for pi, yi in zip(p, y, strict=True):
            pi[yi] = Fraction(0)
            pi[yi] = 1 - sum(pi)
        if min(min(pi) for pi, si in zip(p, s, strict=True) if si) < 0:
            return -INFINITY, None
        p = level_shares(p, y, s) if intercept else p
        heights = [base(loss, pi, yi) for pi, yi in zip(p, y, strict=True)]
        a = [[pic - (c == yi) for c, pic in enumerate(pi)] for pi, yi in zip(p, y, strict=True)]
    parts = [real(si / m) * height for si, height in zip(s, heights, strict=True) if si]
    return mp.fsum(parts), a


def _columns_of(array):
    """Return the columns of a matrix."""
    return [[row[c] for row in array] for c in range(len(array[0]))]


def _risk(loss, z, y, s, b):
    """(1/m) Σ s_i ℓ(z_i + b, y_i)."""
    m, K = len(z), loss.outputs()
    s = _weights(s, m)
    b = [Fraction(0)] * K if b is None else vector(_flat(b))
    parts = []
    for zi, yi, si in zip(z, y, s, strict=True):
        at = [zic + bc for zic, bc in zip(zi, b, strict=True)]
        if si:
            parts.append(real(si) * value(loss, at if K > 1 else at[0], yi))
    return mp.fsum(parts) / m


def _gram(kernel, X):
    examples = rows(X)
    return [[_kernel(kernel, x, u) for u in examples] for x in examples]


def _kernel(kernel, x, u):
    """k(x, u) of two rows."""
    product = sum((xj * u[j] for j, xj in x.items() if j in u), Fraction(0))
    match kind(kernel):
        case "LinearKernel":
            return real(product)
        case "Polynomial":
            base = exact(kernel.gamma) * product + exact(kernel.offset)
            return real(base**kernel.degree)
        case "Gaussian":
            square = sum(
                ((x.get(j, 0) - u.get(j, 0)) ** 2 for j in x.keys() | u.keys()), Fraction(0)
            )
            return mp.exp(-real(exact(kernel.gamma) * square))
    raise NotImplementedError(f"no exact kernel {kind(kernel)}")


def _weights(s, m):
    return [Fraction(1)] * m if s is None else vector(s)


def _flat(numbers):
    """Return the numbers of an array, or of lists in lists, or a single number, as a list."""
    if hasattr(numbers, "ravel"):
        return list(numbers.ravel())
    if isinstance(numbers, list | tuple):
        return [entry for part in numbers for entry in _flat(part)]
    return [numbers]
