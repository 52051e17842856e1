"""Losses, their slopes and their conjugates, from the formulas of their docstrings."""

from fractions import Fraction

from proof.arithmetic import INFINITY, add, entropy, exact, mp, real, vector

JOINT = ("Softmax", "MulticlassHinge")
_STEEP = 80


def kind(term):
    return type(term).__name__


def joint(loss):
    return kind(loss) in JOINT


def _softplus(t):
    """log(1 + eᵗ) of a fraction t."""
    t = real(t)
    return max(t, mp.zero) + mp.log1p(mp.exp(-abs(t)))


def _sigmoid(t):
    t = real(t)
    return mp.exp(min(t, mp.zero)) / (1 + mp.exp(-abs(t)))


def value(loss, z, y):
    """ℓ(z, y); of a joint loss z is K numbers and y a class; of a sum over outputs, K too."""
    if kind(loss) == "SumOverOutputs":
        return mp.fsum(value(loss.loss, *pair) for pair in zip(z, y, strict=True))
    if joint(loss):
        return _joint_value(loss, vector(z), int(y))
    z, y = exact(z), exact(y)
    r = z - y
    match kind(loss):
        case "Hinge":
            return real(max(Fraction(0), 1 - y * z))
        case "SquaredHinge":
            return real(max(Fraction(0), 1 - y * z) ** 2)
        case "SmoothedHinge":
            gamma = exact(loss.gamma)
            return _softplus(gamma * (1 - y * z)) / real(gamma)
        case "Logistic":
            return _softplus(-y * z)
        case "Squared":
            return real(r * r / 2)
        case "Absolute":
            return real(abs(r))
        case "EpsilonInsensitive":
            return real(max(Fraction(0), abs(r) - exact(loss.epsilon)))
        case "Quantile":
            tau = exact(loss.tau)
            return real(exact(1.0 - loss.tau) * r if r > 0 else -tau * r)
        case "Huber":
            delta = exact(loss.delta)
            return real(r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2))
        case "Poisson":
            below = min(z, Fraction(_STEEP))
            return add(
                lambda: [
                    mp.exp(real(below)) * (1 + real(z - below)),
                    -y * z,
                    entropy(y),
                    -y,
                ]
            )
    raise NotImplementedError(f"no exact value of {kind(loss)}")


def _joint_value(loss, z, y):
    if kind(loss) == "MulticlassHinge":
        return real(max((c != y) + z[c] - z[y] for c in range(len(z))))
    top = z.index(max(z))
    others = mp.fsum(mp.exp(real(zc - z[top])) for c, zc in enumerate(z) if c != top)
    return real(z[top] - z[y]) + mp.log1p(others)


def slope_interval(loss, z, y):
    """Return the least and the largest element of ∂ℓ(·, y) at z."""
    z, y = exact(z), exact(y)
    r = z - y
    match kind(loss):
        case "Hinge":
            ends = [-y] if y * z < 1 else ([0] if y * z > 1 else [-y, 0])
        case "SquaredHinge":
            ends = [-2 * y * max(Fraction(0), 1 - y * z)]
        case "SmoothedHinge":
            ends = [-real(y) * _sigmoid(exact(loss.gamma) * (1 - y * z))]
        case "Logistic":
            ends = [-real(y) * _sigmoid(-y * z)]
        case "Squared":
            ends = [r]
        case "Absolute":
            ends = [1] if r > 0 else ([-1] if r < 0 else [-1, 1])
        case "EpsilonInsensitive":
            over, sign = abs(r) - exact(loss.epsilon), 1 if r > 0 else -1
            ends = [sign] if over > 0 else ([0] if over < 0 else [0, sign])
            if over == 0 and r == 0:
                ends = [-1, 1]
        case "Quantile":
            low, high = -exact(loss.tau), exact(1.0 - loss.tau)
            ends = [high] if r > 0 else ([low] if r < 0 else [low, high])
        case "Huber":
            delta = exact(loss.delta)
            ends = [min(max(r, -delta), delta)]
        case "Poisson":
            ends = [add(lambda: [mp.exp(real(min(z, Fraction(_STEEP)))), -y])]
        case _:
            raise NotImplementedError(f"no exact slopes of {kind(loss)}")
    return real(min(ends)), real(max(ends))


def shares(loss, z, y):
    """Return the p with p − e_y in the subdifferential of a joint loss at z.

    Where several classes are worst, they share equally.
    """
    z, y = vector(z), int(y)
    if kind(loss) == "MulticlassHinge":
        heights = [(c != y) + zc for c, zc in enumerate(z)]
        worst = [height == max(heights) for height in heights]
        return [Fraction(int(at), sum(worst)) for at in worst]
    powers = [mp.exp(real(zc - max(z))) for zc in z]
    return [power / mp.fsum(powers) for power in powers]


def conjugate(loss, a, y):
    """ℓ*(a, y), perhaps infinite; of a joint loss a is p − e_y, and a_y is not looked at."""
    if joint(loss):
        p = vector(a)
        p[int(y)] = 0
        p[int(y)] = 1 - sum(p)
        return -base(loss, p, int(y))
    a, y = exact(a), exact(y)
    match kind(loss):
        case "Hinge":
            return real(a * y) if -1 <= a * y <= 0 else INFINITY
        case "SquaredHinge":
            return real(a * y + a * a / 4) if a * y <= 0 else INFINITY
        case "SmoothedHinge":
            u = -a * y
            return _negentropy(u) / real(loss.gamma) - real(u) if 0 <= u <= 1 else INFINITY
        case "Logistic":
            return _negentropy(-a * y) if 0 <= -a * y <= 1 else INFINITY
        case "Squared":
            return real(a * a / 2 + a * y)
        case "Absolute":
            return real(a * y) if abs(a) <= 1 else INFINITY
        case "EpsilonInsensitive":
            return real(a * y + exact(loss.epsilon) * abs(a)) if abs(a) <= 1 else INFINITY
        case "Quantile":
            tau = exact(loss.tau)
            return real(a * y) if -tau <= a <= exact(1.0 - loss.tau) else INFINITY
        case "Huber":
            return real(a * a / 2 + a * y) if abs(a) <= exact(loss.delta) else INFINITY
        case "Poisson":
            u = a + y
            if u < 0 or real(u) > mp.exp(_STEEP):
                return INFINITY
            return add(lambda: [entropy(u), -u, -entropy(y), y])
    raise NotImplementedError(f"no exact conjugate of {kind(loss)}")


def _negentropy(u):
    return entropy(u) + entropy(1 - u)


def base(loss, p, y):
    """−ℓ*(p − e_y, y) of a joint loss and a whole p that sums to 1 exactly."""
    if min(p) < 0:
        return -INFINITY
    if kind(loss) == "MulticlassHinge":
        return real(1 - p[y])
    return -mp.fsum(entropy(share) for share in p)
