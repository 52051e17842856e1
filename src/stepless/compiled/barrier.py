"""Steps of a primal-dual interior point method on terms σ_i max(0, p_i − k_i).

The term's slope is σβ with 0 < β < 1; α, γ > 0 are the multipliers of these bounds, and
p − k + α − γ = 0. On the central path βα = (1 − β)γ = μ. Arrays are (corners, rows); Σσ/Θ over a
row's corners, Θ = α/β + γ/(1 − β), is the row's weight in the Hessian. Loops take `terms` =
(k, σ), and β, α, γ and the moves of each together, as `point`.
"""

from __future__ import annotations

from stepless.compiled.light import rowless
from stepless.jit import FAST, compiled


@rowless
@compiled("p[m] terms.0[n,m] terms.1[n,m] point.*[n,m] c[m] h[m]", fastmath=FAST)
def weigh(block, c, h, terms, point, p, target):
    """Write c, h: each row's weight in the Hessian, and its part of the right-hand side.

    `target` is (μ, trust): second-order terms of the moves are counted in up to `trust`.
    """
    k, sigma = terms
    beta, alpha, gamma, dbeta, dalpha, dgamma = point
    mu, trust = target
    for i in range(p.size):
        c[i] = h[i] = 0.0
    for n in range(k.shape[0]):
        for i in range(p.size):
            b = beta[n, i]
            low = mu - min(max(dalpha[n, i] * dbeta[n, i], -trust), trust)
            high = mu + min(max(dgamma[n, i] * dbeta[n, i], -trust), trust)
            share = sigma[n, i] / (alpha[n, i] / b + gamma[n, i] / (1.0 - b))
            c[i] += share
            h[i] += share * (p[i] - k[n, i] + low / b - high / (1.0 - b))


@rowless
@compiled("p[m] terms.0[n,m] terms.1[n,m] point.*[n,m] dp[m]", fastmath=FAST)
def push(block, point, terms, p, dp, target):
    """Write the moves of β, α, γ that follow the predictions' move dp.

    Return the largest of −Δx/x for β and 1 − β, and for α and γ: their inverses are the longest
    steps; and A, B, C of Σσ(βα + (1 − β)γ) + Ar + Bt + Crt after steps r of β and t of the others.
    """
    k, sigma = terms
    beta, alpha, gamma, dbeta, dalpha, dgamma = point
    mu, trust = target
    dual = primal = A = B = C = 0.0
    for n in range(k.shape[0]):
        for i in range(p.size):
            b = beta[n, i]
            rest = 1.0 - b
            al = alpha[n, i]
            ga = gamma[n, i]
            low = mu - min(max(dalpha[n, i] * dbeta[n, i], -trust), trust)
            high = mu + min(max(dgamma[n, i] * dbeta[n, i], -trust), trust)
            db = (dp[i] + p[i] - k[n, i] + low / b - high / rest) / (al / b + ga / rest)
            da = low / b - al - al / b * db
            dg = high / rest - ga + ga / rest * db
            dual = max(dual, -db / b, db / rest)
            primal = max(primal, -da / al, -dg / ga)
            A += sigma[n, i] * db * (al - ga)
            B += sigma[n, i] * (b * da + rest * dg)
            C += sigma[n, i] * db * (da - dg)
            dbeta[n, i], dalpha[n, i], dgamma[n, i] = db, da, dg
    return dual, primal, A, B, C


@rowless
@compiled("p[m] terms.0[n,m] terms.1[n,m] point.*[n,m] slopes[m] give[m]", fastmath=FAST)
def advance(block, point, slopes, give, terms, p, steps):
    """Write point: steps of these lengths, of β and of α, γ. Write slopes, give: what is there.

    Slopes are each row's Σσβ, and `give` Σσβ(1 − β), by which it may give way. Return
    Σσ(βα + (1 − β)γ), Σσ(max(0, t) − βt) with t = p − k, and the sums of slopes, of `give`, and of
    give·t.
    """
    k, sigma = terms
    beta, alpha, gamma, dbeta, dalpha, dgamma = point
    dual, primal = steps
    product = gap = tilt = room = cost = 0.0
    for i in range(p.size):
        slopes[i] = give[i] = 0.0
    for n in range(k.shape[0]):
        for i in range(p.size):
            b = beta[n, i] + dual * dbeta[n, i]
            al = alpha[n, i] + primal * dalpha[n, i]
            ga = gamma[n, i] + primal * dgamma[n, i]
            beta[n, i], alpha[n, i], gamma[n, i] = b, al, ga
            t = p[i] - k[n, i]
            product += sigma[n, i] * (b * al + (1.0 - b) * ga)
            gap += sigma[n, i] * (max(0.0, t) - b * t)
            way = sigma[n, i] * b * (1.0 - b)
            slopes[i] += sigma[n, i] * b
            give[i] += way
            tilt += sigma[n, i] * b
            room += way
            cost += way * t
    return product, gap, tilt, room, cost
