"""The least Ω(w) + ⟨g, w⟩ over the weights of a domain with Ω(w) ≤ ceiling.

Closed forms where the domain and the penalty are balls of one norm, or one of them is nothing.
Else both are sums over weights (or over eigenvalues) up to a few constraints: a ceiling on Ω, a
bound on ‖w‖₁, Σw, ‖w‖₂ or ‖w‖_p. Each has a multiplier; for *any* multipliers the sum of the
weights' own minima is a number below the least value, and the largest such number is the least
value itself. Multipliers are roots, found to 2^−250, one inside of the other.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from proof.arithmetic import INFINITY, exact, mp, norm, real
from proof.losses import kind
from proof.penalties import NORMS, blocks_of
from stepless.objective import L1

_CLOSE = mp.mpf(2) ** -250
_TINY = mp.mpf(2) ** -100  # of a multiplier without which a minimum need not be unique
_MOST_TRIALS = 2000


def least(regularizer, domain, g, ceiling=INFINITY, outputs=1):
    """Return min Ω(w) + ⟨g, w⟩ over the domain and Ω(w) ≤ ceiling, for fractions g."""
    if kind(regularizer) == "ElasticNet" and regularizer.ratio == 1.0:
        regularizer = L1(regularizer.alpha)
    name, where = kind(regularizer), kind(domain)
    ceiling = real(ceiling)
    if name in NORMS or (name == "L1" and where in ("Free", "L1Ball")):
        if where not in ("Free", "L1Ball"):
            raise NotImplementedError(f"{name} in {where}")
        if where == "L1Ball":
            ceiling = min(ceiling, real(exact(regularizer.alpha) * exact(domain.bound)))
        return _least_of_norm(regularizer, g, ceiling, outputs)
    if name == "SquaredLp" or (name == "SquaredL2" and where in ("Free", "L2Ball")):
        return _least_of_squared_norm(regularizer, domain, g, ceiling)
    if where == "Polytope":
        return _in_polytope(regularizer, domain, g, ceiling)
    if name == "Zero" and where == "Shrunk":
        share = exact(domain.share)
        center = sum((gj * exact(cj) for gj, cj in zip(g, domain.center, strict=True)), Fraction(0))
        return real(share * center) + real(1 - share) * least(regularizer, domain.domain, g)
    if name == "Zero":
        closed = _linear(domain, g)
        if closed is not None:
            return closed
    region = _region(domain)
    if region.matrix:
        if name not in ("SquaredL2", "Zero"):
            raise NotImplementedError(f"{name} in {where}: no function of eigenvalues")
        g = _eigenvalues(g)
    names = region.constraints
    if ceiling < INFINITY and name != "Zero":
        names = {"ceiling": ceiling, **names}
    search = _Search([real(gj) for gj in g], _penalty(regularizer), region)
    return search.maximise(names, {})[0]


def _least_of_norm(regularizer, g, ceiling, outputs):
    """α‖w‖ has the minimum 0 where the dual norm of g is at most α, else falls without end."""
    alpha, name = exact(regularizer.alpha), kind(regularizer)
    blocks = [[j] for j in range(len(g))]
    if name != "L1":
        blocks = blocks_of(regularizer, len(g), outputs)
    if NORMS.get(name) == 2:
        squares = max(sum(g[j] * g[j] for j in block) for block in blocks)
        within, dual = squares <= alpha * alpha, mp.sqrt(real(squares))
    else:
        sums = max(sum(abs(g[j]) for j in block) for block in blocks)
        within, dual = sums <= alpha, real(sums)
    return mp.zero if within or ceiling == 0 else ceiling * (1 - dual / real(alpha))


def _least_of_squared_norm(regularizer, domain, g, ceiling):
    """(k/2)‖w‖² in a ball of the same norm: only the length of w matters."""
    p, curvature = Fraction(2), exact(regularizer.alpha)
    if kind(regularizer) == "SquaredLp":
        p = exact(regularizer.p)
        curvature /= p - 1
        if not (kind(domain) == "Free" or exact(getattr(domain, "p", 0)) == p):
            raise NotImplementedError(f"SquaredLp in {kind(domain)}")
    slope, curvature = norm(g, real(p / (p - 1))), real(curvature)
    radius = INFINITY if kind(domain) == "Free" else real(domain.bound)
    reach = min(slope / curvature, radius, mp.sqrt(2 * ceiling / curvature))
    return curvature / 2 * reach * reach - slope * reach


def _linear(domain, g):
    """Return min ⟨g, w⟩ where it has a closed form, else None."""
    bound = real(getattr(domain, "bound", 0))
    match kind(domain):
        case "Free":
            return -INFINITY if any(g) else mp.zero
        case "Nonnegative":
            return -INFINITY if min(g, default=0) < 0 else mp.zero
        case "Box":
            low, high = exact(domain.low), exact(domain.high)
            return real(sum((min(low * gj, high * gj) for gj in g), Fraction(0)))
        case "L2Ball":
            return -bound * norm(g)
        case "L1Ball":
            return -bound * norm(g, INFINITY)
        case "LpBall":
            p = exact(domain.p)
            return -bound * norm(g, real(p / (p - 1)))
        case "Simplex":
            return bound * real(min(g))
        case "Spectrahedron":
            return bound * min(*_eigenvalues(g), mp.zero)
    return None


@dataclass(frozen=True)
class _Region:
    """An interval for each weight, constraints by name with their bounds; or of eigenvalues."""

    low: object = -INFINITY
    high: object = INFINITY
    constraints: dict = None
    p: object = 2
    matrix: bool = False


def _region(domain):
    """Say a domain as an interval for each weight and a few constraints."""
    match kind(domain):
        case "Free":
            return _Region(constraints={})
        case "Nonnegative":
            return _Region(low=mp.zero, constraints={})
        case "Box":
            return _Region(real(domain.low), real(domain.high), {})
        case "L2Ball":
            return _Region(constraints={"l2": real(domain.bound)})
        case "L1Ball":
            return _Region(constraints={"l1": real(domain.bound)})
        case "LpBall":
            return _Region(constraints={"lp": real(domain.bound)}, p=real(domain.p))
        case "Simplex":
            return _Region(low=mp.zero, constraints={"sum": real(domain.bound)})
        case "PSDCone":
            return _Region(low=mp.zero, constraints={}, matrix=True)
        case "Spectrahedron":
            return _Region(low=mp.zero, constraints={"l1": real(domain.bound)}, matrix=True)
        case "Intersection":
            inner = _region(domain.domain)
            bound = min(real(domain.bound), inner.constraints.get("l2", INFINITY))
            # the ball's multiplier is the outer one: it makes the inner minima unique
            return replace(inner, constraints={"l2": bound} | inner.constraints | {"l2": bound})
    raise NotImplementedError(f"no exact minimum in {kind(domain)}")


def _eigenvalues(g):
    """Return those of the symmetric part of a square matrix, its rows in turn."""
    n = round(len(g) ** 0.5)
    G = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            G[i, j] = real((g[i * n + j] + g[j * n + i]) / 2)
    return list(mp.eigsy(G, eigvals_only=True))


@dataclass(frozen=True)
class _Penalty:
    """ω(v) = corner·|v| + (bend/2)v², plus an entropy if there is one."""

    corner: object = mp.zero
    bend: object = mp.zero
    entropy: str = ""
    alpha: object = mp.zero
    scale: object = mp.one

    @property
    def strict(self):
        return self.bend > 0 or bool(self.entropy)

    def value(self, v):
        """ω(v), v finite."""
        if self.entropy == "Entropy":
            if v < 0:
                return INFINITY
            x = v / self.scale
            rest = (x * mp.log(x) if x else mp.zero) - x + 1
            return self.alpha * self.scale * rest
        if self.entropy:
            over = v * v / (mp.sqrt(v * v + self.scale**2) + self.scale)
            return self.alpha * (v * mp.asinh(v / self.scale) - over)
        return self.corner * abs(v) + self.bend / 2 * v * v

    def slope(self, v):
        """ω'(v), v > 0."""
        if self.entropy == "Entropy":
            return self.alpha * mp.log(v / self.scale)
        if self.entropy:
            return self.alpha * mp.asinh(v / self.scale)
        return self.corner + self.bend * v

    def slope_inverse(self, slope):
        """Return the v ≥ 0 with ω'(v) = slope, of an entropy."""
        if self.entropy == "Entropy":
            return self.scale * mp.exp(slope / self.alpha)
        return self.scale * mp.sinh(slope / self.alpha)


def _penalty(regularizer):
    name = kind(regularizer)
    if name == "Zero":
        return _Penalty()
    alpha = exact(regularizer.alpha)
    match name:
        case "SquaredL2":
            return _Penalty(bend=real(alpha))
        case "L1":
            return _Penalty(corner=real(alpha))
        case "ElasticNet":
            ratio = exact(regularizer.ratio)
            return _Penalty(real(alpha * ratio), real(alpha * (1 - ratio)))
        case "Entropy":
            return _Penalty(entropy=name, alpha=real(alpha), scale=real(regularizer.prior))
        case "HyperbolicEntropy":
            return _Penalty(entropy=name, alpha=real(alpha), scale=real(regularizer.scale))
    raise NotImplementedError(f"{name} couples weights")


class _Search:
    """The multipliers of min Σ ω(w_j) + ⟨g, w⟩ under constraints.

    τ ≥ 1 multiplies Ω (its ceiling's multiplier is τ − 1), "l1" |w|, "sum" w, "l2" w²/2, "lp"
    |w|^p/p.
    """

    def __init__(self, g, penalty, region):
        self.g, self.penalty, self.region = g, penalty, region

    def maximise(self, names, given):
        """Return the largest number below the minimum, and weights, for what is left to find."""
        if not names:
            return self._below(given)
        (name, bound), *rest = names.items()
        best = [-INFINITY, None]

        def excess(multiplier):
            below, w = self.maximise(dict(rest), {**given, name: (multiplier, bound)})
            if below > best[0] or best[1] is None:
                best[:] = below, w
            return self._excess(name, bound, w)

        start = self._start(name, bound)
        if name == "sum":
            _root_anywhere(excess, start)
            return best
        base = mp.one if name == "ceiling" else mp.zero
        if any(self.g) and not self.penalty.strict and name in ("l2", "lp"):
            base = start * _TINY  # else the minimum need not be unique
        if excess(base) > 0:
            _root_above(excess, base, start)
        return best

    def _start(self, name, bound):
        steepest = max((abs(gj) for gj in self.g), default=mp.zero) or mp.one
        match name:
            case "ceiling":
                return mp.one
            case "l2":
                return steepest / bound
            case "lp":
                return steepest / bound ** (self.region.p - 1)
        return steepest

    def _excess(self, name, bound, w):
        if any(mp.isinf(wj) for wj in w):
            return INFINITY
        match name:
            case "ceiling":
                return mp.fsum(map(self.penalty.value, w)) - bound
            case "l1":
                return norm(w, 1) - bound
            case "sum":
                return mp.fsum(w) - bound
            case "l2":
                return norm(w) - bound
        return norm(w, self.region.p) - bound

    def _below(self, given):
        """Return the sum of the weights' own minima, less what the multipliers cost; and they."""
        multipliers = {name: multiplier for name, (multiplier, _) in given.items()}
        p = self.region.p
        costs = {
            "ceiling": lambda tau, bound: (tau - 1) * bound,
            "l2": lambda mu, bound: mu * bound * bound / 2,
            "lp": lambda nu, bound: nu * bound**p / p,
        }
        w = [self._weight(gj, multipliers) for gj in self.g]
        if any(mp.isinf(wj) for wj in w):
            return -INFINITY, w
        parts = [self._height(gj, wj, multipliers) for gj, wj in zip(self.g, w, strict=True)]
        for name, (multiplier, bound) in given.items():
            parts.append(-costs.get(name, lambda theta, at: theta * at)(multiplier, bound))
        return mp.fsum(parts), w

    def _height(self, g, w, multipliers):
        get, p = multipliers.get, self.region.p
        tau, size = get("ceiling", 1), abs(w)
        return (
            tau * self.penalty.value(w)
            + (g + get("sum", 0)) * w
            + get("l1", 0) * size
            + get("l2", 0) * size * size / 2
            + (get("lp", 0) * size**p / p if size else 0)
        )

    def _weight(self, g, multipliers):
        """Return the minimiser of one weight's terms."""
        get, penalty, region = multipliers.get, self.penalty, self.region
        tau, mu, nu = get("ceiling", mp.one), get("l2", mp.zero), get("lp", mp.zero)
        g, theta = g + get("sum", 0), get("l1", mp.zero)
        if penalty.entropy == "Entropy":
            return min(self._size(-g - theta, tau, mu, nu), region.high)
        pull = abs(g) - theta - tau * penalty.corner
        if pull <= 0:
            return mp.zero
        bound = -region.low if g > 0 else region.high
        if bound == 0:
            return mp.zero
        size = min(self._size(pull, tau, mu, nu), bound)
        return -size if g > 0 else size

    def _size(self, pull, tau, mu, nu):
        """Return the v ≥ 0 with τω'(v) + μv + νv^{p−1} = pull, the corner's share taken away."""
        penalty, p = self.penalty, self.region.p
        if not penalty.entropy:
            bend = tau * penalty.bend + mu
            if nu == 0:
                return pull / bend if bend > 0 else INFINITY
            if bend == 0:
                return (pull / nu) ** (1 / (p - 1))
        elif mu == 0 and nu == 0:
            return penalty.slope_inverse(pull / tau)
        if penalty.entropy == "Entropy" and nu == 0:  # ρ log(v/π) + v = pull/μ
            rho = tau * penalty.alpha / mu
            return rho * mp.lambertw(penalty.slope_inverse(pull / tau) / rho).real

        def short(log):
            v = mp.exp(log)
            smooth = tau * (penalty.slope(v) - penalty.corner)
            return pull - smooth - mu * v - nu * v ** (p - 1)

        # each part alone would reach the pull at a larger v
        ends = [mp.log(penalty.scale)] if penalty.entropy == "Entropy" else []
        if pull > 0:
            ends += [mp.log(pull / mu)] if mu > 0 else []
            ends += [mp.log(pull / nu) / (p - 1)] if nu > 0 else []
        at = min(ends)
        low, high, width = at, at, mp.one
        while short(low) < 0:
            low, width = low - width, 2 * width
        width = mp.one
        while short(high) > 0:
            high, width = high + width, 2 * width
        return mp.exp(_root(short, low, high))


def _root(f, low, high):
    """Return where f, which falls, passes 0 between low (f ≥ 0) and high (f ≤ 0).

    False position (Illinois), with bisection where f is infinite or jumps.
    """
    at_low, at_high = f(low), f(high)
    if at_low <= 0:
        return low
    side, scale = 0, max(abs(low), abs(high))
    for trial in range(_MOST_TRIALS):
        if high - low <= _CLOSE * max(min(abs(low), abs(high)), scale * _CLOSE) or at_high == 0:
            break
        middle = (low + high) / 2
        if trial % 4 < 3 and not mp.isinf(at_low):
            middle = (low * at_high - high * at_low) / (at_high - at_low)
            if not low < middle < high:
                middle = (low + high) / 2
        at = f(middle)
        if at > 0:
            low, at_low = middle, at
            at_high = at_high / 2 if side > 0 else at_high
            side = 1
        else:
            high, at_high = middle, at
            at_low = at_low / 2 if side < 0 else at_low
            side = -1
        if at == 0:
            break
    return high


def _root_above(f, base, start):
    """Look for the root of f, which falls, above `base`, where f > 0."""
    step, high = mp.mpf(2), max(start, 2 * base)
    if f(high) <= 0:  # downwards, if need be as far as to nothing
        low = high / 2
        while low > base and f(low) <= 0 and step < mp.mpf(2) ** 2000:
            high, low, step = low, low / step, step * step
        low = max(low, base)
    else:
        low = high
        while f(high * step) > 0:
            low, high, step = high * step, high * step, step * step
            if step > mp.mpf(2) ** 100_000:
                raise ValueError("no w of the domain has Ω(w) ≤ ceiling")
        high *= step
    if low > 0:
        _root(lambda log: f(mp.exp(log)), mp.log(low), mp.log(high))
    else:
        _root(f, low, high)


def _root_anywhere(f, start):
    """Look for the root of f, which falls, on the whole line."""
    low, high, width = -start, start, start
    while f(low) < 0:
        low, width = low - width, 2 * width
    width = start
    while f(high) > 0:
        high, width = high + width, 2 * width
    _root(f, low, high)


def _in_polytope(regularizer, domain, g, ceiling):
    """Return the least value from all sets of active rows: d and the rows must be few.

    With y ≥ 0 for the rows, −‖g + Aᵀy‖²/(2λ) − ⟨b, y⟩ lies below (without a ridge, −⟨b, y⟩ where
    g + Aᵀy = 0); the largest such number is that of some set of independent rows.
    """
    if kind(regularizer) not in ("SquaredL2", "Zero"):
        raise NotImplementedError(f"{kind(regularizer)} in Polytope")
    A = [[exact(entry) for entry in row] for row in domain.A]
    b = [exact(entry) for entry in domain.b]
    if len(A) > 12:
        raise NotImplementedError("a polytope of more than 12 rows")
    if kind(regularizer) == "Zero":
        return _polytope_linear(A, b, g)
    return _polytope_ridge(A, b, g, exact(regularizer.alpha), ceiling)


def _polytope_linear(A, b, g):
    best = -INFINITY if any(g) else mp.zero
    for size in range(1, len(g) + 1):
        for active in combinations(range(len(A)), size):
            # normal equations: A_S A_Sᵀ y = −A_S g, then g + A_Sᵀ y must be 0
            y = _solve(
                [[_dot(A[i], A[k]) for k in active] for i in active],
                [-_dot(A[i], g) for i in active],
            )
            if y is None or min(y) < 0:
                continue
            if any(_residual(A, active, y, g)):
                continue
            best = max(best, real(-sum(yi * b[i] for yi, i in zip(y, active, strict=True))))
    return best


def _polytope_ridge(A, b, g, alpha, ceiling):
    best = [-INFINITY, None]

    def excess(tau):
        strength = exact(tau) * alpha
        height, w = _polytope_minimum(A, b, g, strength)
        below = height - (tau - 1) * ceiling if ceiling < INFINITY else height
        if below > best[0]:
            best[:] = below, w
        return real(alpha * _dot(w, w) / 2) - ceiling

    if excess(mp.one) > 0:
        before, mp.prec = mp.prec, 300  # fractions of τ need not be that long
        try:
            _root_above(excess, mp.one, mp.one)
        finally:
            mp.prec = before
    return best[0]


def _polytope_minimum(A, b, g, strength):
    best = (-INFINITY, None)
    for size in range(len(g) + 1):
        for active in combinations(range(len(A)), size):
            y = _solve(
                [[_dot(A[i], A[k]) for k in active] for i in active],
                [-_dot(A[i], g) - strength * b[i] for i in active],
            )
            if y is None or min(y, default=0) < 0:
                continue
            rest = _residual(A, active, y, g)
            height = -_dot(rest, rest) / (2 * strength)
            height -= sum((yi * b[i] for yi, i in zip(y, active, strict=True)), Fraction(0))
            if real(height) > best[0]:
                best = real(height), [-r / strength for r in rest]
    return best


def _residual(A, active, y, g):
    return [
        gj + sum((yi * A[i][j] for yi, i in zip(y, active, strict=True)), Fraction(0))
        for j, gj in enumerate(g)
    ]


def _dot(u, v):
    return sum((ui * vi for ui, vi in zip(u, v, strict=True)), Fraction(0))


def _solve(M, v):
    """Return the solution of a small system of fractions, or None if it has not just one."""
    n = len(v)
    M = [[*row, vi] for row, vi in zip(M, v, strict=True)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if M[i][k]), None)
        if pivot is None:
            return None
        M[k], M[pivot] = M[pivot], M[k]
        M[k] = [entry / M[k][k] for entry in M[k]]
        for i in range(n):
            if i != k and M[i][k]:
                M[i] = [u - M[i][k] * w for u, w in zip(M[i], M[k], strict=True)]
    return [row[n] for row in M]
