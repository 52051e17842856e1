"""Passes of stochastic gradient descent with clipped gradients, in a ball around a centre."""

from __future__ import annotations

import math

from stepless.compiled.rows import AHEAD
from stepless.jit import FAST, compiled
from stepless.term import Term

_SMALL = 1e-9  # scale below which it is folded into the weights
_HAIR = 1.0 + 1e-12  # of a squared radius: what rounding may put outside of a ball is inside

# Positions in the `motion` array: what a pass reads and changes besides the weights.
SCALE, SHIFT, SCALES, SHIFTS, ROUNDS, SQUARES = range(6)


class Stage(Term):
    """The numbers of a stage of MAH Alg. 1."""

    strength: float  # λ
    step: float  # η
    clip: float  # γ_k
    reach: float  # Δ_k, the radius of the ball around the centre
    ball: float  # radius of the domain
    bias: float = 0.0  # the intercept


@compiled("problem[m,d,_] order[_] centre[d] v[d] total[d] motion[6]", fastmath=FAST)
def descend(problem, stage, order, centre, v, total, motion):
    """Write v, `total` and `motion`: the stage goes on over the rows of `order`.

    w_{t+1} = Π(w_t − η(λw_t + clip(γ, g_t))), where g_t is the gradient of the loss of one example
    and Π projects on the domain and on the ball around the centre c, both at once (MAH (3.4),
    (3.5)). The iterate is held as w = (1 + shift)·c + scale·v, and the products of v and c that
    its length is made of are carried along: shrinking and projecting cost O(1), a round O(nnz).

    The sum of the iterates before each round is SHIFTS·c + SCALES·v + total; SQUARES is Σ‖clip‖².
    """
    loss, X, y, s = problem
    scale, shift = motion[SCALE], motion[SHIFT]
    scales, shifts, squares = motion[SCALES], motion[SHIFTS], motion[SQUARES]
    pull = stage.step * stage.strength
    cc, vc, vv = _products(centre, v)
    for t in range(order.size):
        X.fetch(order[min(t + AHEAD, order.size - 1)])
        i = order[t]
        along, fixed = _products_with(X, i, v, centre)
        scales += scale
        shifts += 1.0 + shift
        a = s[i] * loss.slope(scale * along + (1.0 + shift) * fixed + stage.bias, y[i])

        scale *= 1.0 - pull
        shift = (1.0 - pull) * shift - pull
        if scale < _SMALL:
            _fold(total, v, scale, scales)
            vv *= scale * scale
            vc *= scale
            scale, scales = 1.0, 0.0
        if a != 0.0:
            part = -stage.step / scale
            first, last = X.span(i)
            for k in range(first, last):
                j, x = X.entry(i, k)
                g = min(max(a * x, -stage.clip), stage.clip)  # MAH (3.4)
                move = part * g
                squares += g * g
                vv += move * (2.0 * v[j] + move)
                vc += move * centre[j]
                v[j] += move
                total[j] -= scales * move
        scale, shift = _project(scale, shift, vv, vc, cc, stage.reach, stage.ball)  # MAH (3.5)
    motion[SCALE], motion[SHIFT] = scale, shift
    motion[SCALES], motion[SHIFTS], motion[SQUARES] = scales, shifts, squares
    motion[ROUNDS] += order.size


@compiled(fastmath=FAST)
def _products(centre, v):
    """‖c‖², ⟨v, c⟩ and ‖v‖²."""
    cc, vc, vv = 0.0, 0.0, 0.0
    for j in range(v.size):
        cc += centre[j] * centre[j]
        vc += v[j] * centre[j]
        vv += v[j] * v[j]
    return cc, vc, vv


@compiled(fastmath=FAST)
def _products_with(X, i, v, centre):
    """⟨v, x_i⟩ and ⟨c, x_i⟩."""
    along, fixed = 0.0, 0.0
    first, last = X.span(i)
    for k in range(first, last):
        j, x = X.entry(i, k)
        along += v[j] * x
        fixed += centre[j] * x
    return along, fixed


@compiled(fastmath=FAST)
def _fold(total, v, scale, scales):
    """Write v, `scale` times as large, and `total`."""
    for j in range(v.size):
        total[j] += scales * v[j]
        v[j] *= scale


@compiled(fastmath=FAST)
def _project(scale, shift, vv, vc, cc, reach, ball):
    """Return scale and shift of the nearest point to w with ‖w − c‖ ≤ reach and ‖w‖ ≤ ball.

    If the nearest point of one ball lies in the other, it is that; otherwise it lies on both
    spheres, so that ⟨w, c⟩ is known, and the rest is at right angles to c.
    """
    away = _square(scale, shift, vv, vc, cc)
    size = _square(scale, 1.0 + shift, vv, vc, cc)
    near, short = reach * reach * _HAIR, ball * ball * _HAIR
    if away <= near and size <= short:
        return scale, shift
    ratio = min(reach / math.sqrt(away), 1.0) if away > 0.0 else 1.0
    if _square(ratio * scale, 1.0 + ratio * shift, vv, vc, cc) <= short:
        return ratio * scale, ratio * shift
    ratio = min(ball / math.sqrt(size), 1.0)
    if _square(ratio * scale, ratio * (1.0 + shift) - 1.0, vv, vc, cc) <= near:
        return ratio * scale, ratio * (1.0 + shift) - 1.0
    inner = 0.5 * (ball * ball + cc - reach * reach)
    across = scale * math.sqrt(max(vv - vc * vc / cc, 0.0))
    height = math.sqrt(max(ball * ball - inner * inner / cc, 0.0))
    ratio = height / across if across > 0.0 else 0.0
    return ratio * scale, (inner - ratio * scale * vc) / cc - 1.0


@compiled()
def _square(scale, shift, vv, vc, cc):
    """‖scale·v + shift·c‖²."""
    return scale * scale * vv + 2.0 * scale * shift * vc + shift * shift * cc
