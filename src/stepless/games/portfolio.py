"""Portfolios as a game: prices, price relatives, wealth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import Array
from stepless.games.costs import Growth

_ROUNDING = 1e-9  # how far weights and their sum may be off
_ITERATIONS = 60  # at most, of a Newton's method that ends after a few


def relatives(prices: ArrayLike, names: Sequence[str] | None = None) -> Array:
    """Return price relatives p_{t+1}/p_t, one row per day and one column per asset.

    Parameters
    ----------
    prices
        One row per day, one column per asset: an array, or a DataFrame whose columns are the names.
    names
        Names of the assets, for error messages.

    Examples
    --------
    >>> relatives([[1.0, 4.0], [2.0, 3.0], [1.0, 3.0]])
    array([[2.  , 0.75],
           [0.5 , 1.  ]])
    """
    table, assets = _table(prices, names, "price")
    if len(table) < 2:
        raise ValueError(f"prices of at least two days are needed, not of {len(table)}")
    with np.errstate(over="ignore", under="ignore"):
        quotients: Array = table[1:] / table[:-1]
    good = (quotients > 0.0) & np.isfinite(quotients)
    if not good.all():
        t, j = np.argwhere(~good)[0]
        raise ValueError(
            f"row {t + 1}, {assets[j]}: the quotient of {table[t + 1, j]:g} and {table[t, j]:g} "
            "is more or less than a float can hold"
        )
    return quotients


def growths(table: ArrayLike, names: Sequence[str] | None = None) -> list[Growth]:
    """Return one cost −log⟨r_t, w⟩ per row of a table of price relatives.

    Examples
    --------
    >>> from stepless import Simplex
    >>> from stepless.games import Game
    >>> from stepless.games.players import Constant
    >>> ledger = Game(Constant(), Simplex()).run(growths([[1.1, 0.9], [0.9, 1.2]]))
    >>> round(float(np.exp(-ledger.loss[-1])), 3)
    1.05
    """
    return [Growth(r) for r in _table(table, names, "price relative")[0]]


def wealth(plays: ArrayLike, relatives: ArrayLike, cost: float = 0.0) -> Array:
    """Return what one unit has become after each day, if the weights of day t are w_t.

    Trading costs a share of what is bought and of what is sold, paid out of the portfolio itself.
    Price changes have turned the weights into v; rebalancing them to w leaves the share ω of the
    wealth that solves ω + cost·Σ_j |ωw_j − v_j| = 1, exactly. The first purchase is free.

    Parameters
    ----------
    plays
        Weights, nonnegative and of sum 1, one row per day.
    relatives
        Price relatives, one row per day.
    cost
        The share, at least 0 and below 1: 0.001 for a tenth of a percent.

    Examples
    --------
    >>> w, r = [[0.5, 0.5], [0.5, 0.5]], [[2.0, 0.5], [0.5, 2.0]]
    >>> wealth(w, r), wealth(w, r, cost=0.01).round(4)
    (array([1.25  , 1.5625]), array([1.25  , 1.5531]))
    """
    W, R = np.asarray(plays, dtype=np.float64), np.asarray(relatives, dtype=np.float64)
    if W.shape != R.shape or W.ndim != 2:
        raise ValueError(
            f"weights and price relatives need one row per day, not shapes {W.shape} and {R.shape}"
        )
    if not 0.0 <= cost < 1.0:
        raise ValueError(f"a cost is a share of at least 0 and below 1, not {cost:g}")
    off = np.abs(W.sum(axis=1) - 1.0).max(initial=0.0)
    if not (W >= -_ROUNDING).all() or not off <= _ROUNDING:
        raise ValueError("weights of a day must not be negative, and their sum must be 1")
    _table(R, None, "price relative")
    grown = np.einsum("tj,tj->t", W, R)
    left = np.ones(len(W))
    if cost > 0.0:
        drifted = W * R / grown[:, None]
        left[1:] = [_share_left(v, w, cost) for v, w in zip(drifted[:-1], W[1:], strict=True)]
    return np.cumprod(grown * left)


def _share_left(v: Array, w: Array, cost: float) -> float:
    """Return the root ω of ω + cost·Σ|ωw − v| − 1, which is convex, rising, piecewise linear."""
    share = 1.0
    for _ in range(_ITERATIONS):
        bought = share * w - v
        excess = share + cost * float(np.abs(bought).sum()) - 1.0
        slope = 1.0 + cost * float(np.sign(bought) @ w)
        after = share - excess / slope  # from the right, Newton's method falls to the root
        if not after < share:
            break
        share = after
    return share


def _table(table: ArrayLike, names: Sequence[str] | None, what: str) -> tuple[Array, list[str]]:
    """Return a table of positive numbers and its columns' names; refuse any other."""
    if names is None:
        names = getattr(table, "columns", None)
    numbers = np.asarray(table, dtype=np.float64)
    if numbers.ndim != 2 or not numbers.size:
        raise ValueError(
            f"{what}s need one row per day and one column per asset, not shape {numbers.shape}"
        )
    columns = range(numbers.shape[1]) if names is None else names
    assets = [f"asset {name!r}" for name in columns]
    good = (numbers > 0.0) & np.isfinite(numbers)
    if not good.all():
        t, j = np.argwhere(~good)[0]
        raise ValueError(
            f"row {t}, {assets[j]}: a {what} must be a positive number, not {numbers[t, j]:g}"
        )
    return numbers, assets
