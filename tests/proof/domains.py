"""The distance of weights from a domain."""

from fractions import Fraction

from proof.arithmetic import INFINITY, exact, mp, norm, real, vector
from proof.losses import kind


def violation(domain, w):
    """Return how far w lies outside of a domain, relative to its size; 0 inside.

    The size is a ball's radius, a box's width, a simplex's sum; of an unbounded domain, the
    largest |w_j|.
    """
    w = vector(w)
    largest = real(max(map(abs, w), default=Fraction(0))) or mp.one
    match kind(domain):
        case "Free":
            return mp.zero
        case "Nonnegative":
            return real(max(-min(w, default=Fraction(0)), Fraction(0))) / largest
        case "Box":
            low, high = exact(domain.low), exact(domain.high)
            over = max(max(low - wj, wj - high, Fraction(0)) for wj in w)
            return real(over / (high - low))
        case "L1Ball":
            sum_ = sum(map(abs, w))
            return real(max(sum_ / exact(domain.bound) - 1, Fraction(0)))
        case "L2Ball":
            over = sum(wj * wj for wj in w) - exact(domain.bound) ** 2
            if over <= 0:
                return mp.zero
            return real(over) / (norm(w) + real(domain.bound)) / real(domain.bound)
        case "LpBall":
            return max(norm(w, real(domain.p)) / real(domain.bound) - 1, mp.zero)
        case "Simplex":
            bound = exact(domain.bound)
            return real(max(abs(sum(w) - bound), -min(w), Fraction(0)) / bound)
        case "Polytope":
            size = real(domain.bound) if domain.bound < INFINITY else largest
            over = [
                sum(exact(entry) * wj for entry, wj in zip(row, w, strict=True)) - exact(bi)
                for row, bi in zip(domain.A, domain.b, strict=True)
            ]
            return real(max(*over, Fraction(0))) / size
        case "Intersection":
            over = max(norm(w) / real(domain.bound) - 1, mp.zero)
            return max(over, violation(domain.domain, w))
        case "Shrunk":
            center, kept = vector(domain.center), 1 - exact(domain.share)
            grown = [c + (wj - c) / kept for c, wj in zip(center, w, strict=True)]
            return violation(domain.domain, grown) * real(kept)
        case "PSDCone" | "Spectrahedron":
            return _violation_of_matrix(domain, w, largest)
    raise NotImplementedError(f"no exact violation of {kind(domain)}")


def _violation_of_matrix(domain, w, largest):
    n = round(len(w) ** 0.5)
    X = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            X[i, j] = real((w[i * n + j] + w[j * n + i]) / 2)
    skew = max(abs(real(w[i * n + j] - w[j * n + i])) for i in range(n) for j in range(n))
    over = max(-min(mp.eigsy(X, eigvals_only=True)), skew, mp.zero)
    if kind(domain) == "PSDCone":
        return over / largest
    trace = real(sum(w[i * n + i] for i in range(n)) - exact(domain.bound))
    return max(over, trace) / real(domain.bound)
