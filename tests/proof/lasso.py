"""The minimiser of α‖w‖₁ + (1/m) Σ s_i ℓ(⟨w, x_i⟩ + b, y_i), ℓ smooth, in 320 bits.

Newton's method on weights whose signs are held: one that would pass 0 is put there and let go, and
of the others that one is taken in which breaks |g_j| ≤ α most. What comes of it is not trusted:
`Optimum` bounds J* by J(w, b) and by the dual of its slopes, evaluated in `proof.exact`.
"""

from dataclasses import dataclass

from proof.arithmetic import PRECISION, mp, real, rounded, rows
from proof.exact import dual, objective
from proof.losses import kind

BITS = 320
CLOSE = mp.mpf("1e-40")  # relative: the conditions of optimality are to hold to this
_CLOSER = mp.mpf("1e-43")  # … and Newton's method ends where they hold to this
_SHIFT = mp.mpf("1e-60")  # relative, of the Hessian: no step is unique along dependent columns
_ENOUGH = mp.mpf("0.5")  # of the slope along a step: what may be left of it
_REACH = 10  # of a step: times the largest prediction
_STEPS, _TRIALS = 100, 60


@dataclass(frozen=True)
class Optimum:
    """J* lies in [lowest, highest], and all optima have the slopes g ± errors of the risk."""

    w: list
    b: object
    g: list
    errors: list | None  # None where the loss is not smooth
    lowest: object
    highest: object
    violation: object  # of the conditions of optimality, relative

    def certain(self, alpha):
        """Return for which weights |g_j| < α for sure: they are 0 in every optimum."""
        pairs = zip(self.g, self.errors, strict=True)
        return [abs(gj) + error < real(alpha) for gj, error in pairs]


def minimum(given, w, b):
    """Return the optimum of a problem; the search begins at (w, b)."""
    with mp.workprec(BITS):
        lasso = _Lasso(given)
        v = lasso.solved([real(vj) for vj in [*w, b][: len(lasso.columns)]])
        return lasso.judged(v)


def slope_and_curvature(loss, z, y):
    """ℓ'(z, y) and ℓ''(z, y)."""
    match kind(loss):
        case "Squared":
            return z - y, mp.one
        case "Huber":
            r, delta = z - y, real(loss.delta)
            return (r, mp.one) if abs(r) <= delta else (mp.sign(r) * delta, mp.zero)
        case "SquaredHinge":
            short = 1 - y * z
            return (-2 * y * short, mp.mpf(2)) if short > 0 else (mp.zero, mp.zero)
        case "Logistic":
            return _sigmoid(-y * z, -y, mp.one)
        case "SmoothedHinge":
            return _sigmoid(real(loss.gamma) * (1 - y * z), -y, real(loss.gamma))
        case "Poisson":
            return mp.exp(z) - y, mp.exp(z)
    raise NotImplementedError(f"no slopes of {kind(loss)}")


def _sigmoid(t, sign, gamma):
    e = mp.exp(-abs(t))
    return sign * (1 if t > 0 else e) / (1 + e), gamma * e / (1 + e) ** 2


class _Lasso:
    """The problem in reals. A free intercept is the last column, of 1s."""

    def __init__(self, given):
        self.given, (self.m, self.d) = given, given.X.shape
        self.alpha = real(given.regularizer.alpha)
        examples = rows(given.X)
        self.columns = [[real(x.get(j, 0)) for x in examples] for j in range(self.d)]
        self.columns += [[mp.one] * self.m] * given.intercept
        self.examples = list(zip(*self.columns, strict=True))
        s = [1.0] * self.m if given.s is None else given.s
        self.y, self.s = [real(yi) for yi in given.y], [real(si) / self.m for si in s]
        self.squares = [mp.fdot(self.s, [xi * xi for xi in x]) for x in self.columns]

    def slopes(self, v):
        """Return slopes and curvatures of the losses, and the risk's slopes in all of v."""
        z = [mp.fdot(v, x) for x in self.examples]
        pairs = zip(z, self.y, strict=True)
        a, c = zip(*(slope_and_curvature(self.given.loss, zi, yi) for zi, yi in pairs), strict=True)
        sa = [si * ai for si, ai in zip(self.s, a, strict=True)]
        return a, c, [mp.fdot(sa, x) for x in self.columns]

    def solved(self, v):
        signs = {j: mp.sign(vj) for j, vj in enumerate(v[: self.d]) if vj}
        for _ in range(_STEPS):
            a, c, g = self.slopes(v)
            if self._violation(a, g, signs) <= _CLOSER:
                far = [0 if j in signs else abs(g[j]) / self.alpha - 1 for j in range(self.d)]
                worst = max(range(self.d), key=far.__getitem__)
                if far[worst] <= _CLOSER:
                    break
                signs[worst] = -mp.sign(g[worst])
            free = [*signs, *range(self.d, len(v))]
            force = [g[j] + self.alpha * signs.get(j, 0) for j in free]
            step = dict(zip(free, self._step(free, force, c), strict=True))
            v = self._moved(v, self._shortened(step, v), signs)
        return v

    def _violation(self, a, g, signs):
        """How far the slopes of J are from 0, relative to α; that of the intercept to Σ s_i |a_i|/m.

        Or, where that vanishes, to slopes of the losses that would make up an α.
        """
        of_weights = [abs(g[j] / self.alpha + sign) for j, sign in signs.items()]
        longest = mp.sqrt(max(self.squares[: self.d])) or self.alpha
        steep = max(mp.fdot(self.s, [abs(ai) for ai in a]), self.alpha / longest)
        return max([*of_weights, *(abs(gj) / steep for gj in g[self.d :])], default=mp.zero)

    def _step(self, free, force, c):
        """Return Newton's step, by a Cholesky factor of the Hessian."""
        sc = [si * ci for si, ci in zip(self.s, c, strict=True)]
        scaled = [[w * xi for w, xi in zip(sc, self.columns[j], strict=True)] for j in free]
        rows_, roots = [], []
        smooth = max(c) or mp.one
        for k, j in enumerate(free):
            row = []
            for n in range(k):
                entry = mp.fdot(scaled[k], self.columns[free[n]])
                row.append((entry - mp.fdot(row, rows_[n])) / roots[n])
            shift = _SHIFT * smooth * (self.squares[j] or 1)
            pivot = mp.fdot(scaled[k], self.columns[j]) - mp.fdot(row, row)
            roots.append(mp.sqrt(max(pivot, mp.zero) + shift))
            rows_.append(row)
        p = []
        for k, row in enumerate(rows_):
            p.append((-force[k] - mp.fdot(row, p)) / roots[k])
        for k in reversed(range(len(p))):
            above = [rows_[n][k] for n in range(k + 1, len(p))]
            p[k] = (p[k] - mp.fdot(above, p[k + 1 :])) / roots[k]
        return p

    def _shortened(self, step, v):
        """Return a step that changes no prediction to many times the largest one.

        Next to where a loss is linear the curvature, and with it a step's length, says nothing.
        """
        largest = max(1, *(abs(mp.fdot(v, x)) for x in self.examples))
        change = max(abs(mp.fsum(pj * x[j] for j, pj in step.items())) for x in self.examples)
        share = min(_REACH * largest / change, mp.one) if change else mp.one
        return {j: share * pj for j, pj in step.items()}

    def _moved(self, v, step, signs):
        """Go along a step as far as no held sign changes, and J falls."""
        crossings = {j: -v[j] / step[j] for j, sign in signs.items() if step[j] * sign < 0}
        first = min(crossings, key=crossings.get, default=None)
        t = high = mp.one if first is None else min(crossings[first], mp.one)
        low, before = mp.zero, -self._along(v, step, signs)
        for _ in range(_TRIALS):  # rounding may leave no root
            there = list(v)
            for j, pj in step.items():
                there[j] += t * pj
            after = self._along(there, step, signs)
            if after > _ENOUGH * before > 0:
                high = t
            elif after < -_ENOUGH * before < 0 and t < high:
                low = t
            else:
                break
            t = (low + high) / 2 if low else high / 16
        if first is not None and t == crossings[first]:
            there[first] = mp.zero
            del signs[first]
        return there

    def _along(self, v, step, signs):
        """The slope of J along a step."""
        g = self.slopes(v)[2]
        return mp.fsum(pj * (g[j] + self.alpha * signs.get(j, 0)) for j, pj in step.items())

    def judged(self, v):
        given = self.given
        v = [real(rounded(vj)) for vj in v]
        a, _, g = self.slopes(v)
        w, b = v[: self.d], v[self.d] if given.intercept else None
        broken = [max(abs(gj) / self.alpha - 1, mp.zero) for gj in g[: self.d]]
        signs = {j: mp.sign(wj) for j, wj in enumerate(w) if wj}
        terms, s = (given.loss, given.regularizer), given.s
        with mp.workprec(PRECISION):
            highest = objective(*terms, given.X, given.y, s, w, b)
            slopes = [rounded(ai) for ai in a]
            examples = given.X, given.y, s
            lowest = dual(*terms, given.domain, *examples, slopes, given.intercept, highest)
        beta, errors = real(given.loss.smoothness()), None
        if mp.isfinite(beta):
            # the dual is 1/β-strongly concave; the second part is for the levelling of the slopes
            spread = mp.sqrt(2 * beta * max(highest - lowest, mp.zero))
            spread += CLOSE * mp.sqrt(mp.fdot(self.s, [ai * ai for ai in a]))
            errors = [spread * mp.sqrt(square) for square in self.squares[: self.d]]
        violation = max(*broken, self._violation(a, g, signs))
        return Optimum(w, b, g[: self.d], errors, lowest, highest, violation)
