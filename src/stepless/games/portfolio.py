"""Portfolios as a game: prices, price relatives, wealth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stepless.arrays import Array
from stepless.games.costs import Growth

_OFF = 1e-9  # what weights may be off by
_TRIALS = 60  # of a Newton's method that ends after a few


def relatives(prices: Any, names: Sequence[str] | None = None) -> Array:
    """What a unit held in each asset is worth a day later: p_{t+1}/p_t, a row a day.

    Parameters
    ----------
    prices
        A row a day, a column an asset: an array or a DataFrame, whose columns are the names.
    names
        Of the assets, for what is said of a bad price.

    Examples
    --------
    >>> relatives([[1.0, 4.0], [2.0, 3.0], [1.0, 3.0]])
    array([[2.  , 0.75],
           [0.5 , 1.  ]])
    """
    prices, names = _table(prices, names, "price")
    if len(prices) < 2:
        raise ValueError(f"prices of two days at least are needed, not of {len(prices)}")
    with np.errstate(over="ignore", under="ignore"):
        quotients = prices[1:] / prices[:-1]
    good = (quotients > 0.0) & np.isfinite(quotients)
    if not good.all():
        t, j = np.argwhere(~good)[0]
        raise ValueError(
            f"row {t + 1}, {names[j]}: {prices[t + 1, j]:g} after {prices[t, j]:g} is a quotient "
            "that no number can hold"
        )
    return quotients


def growths(table: Any, names: Sequence[str] | None = None) -> list[Growth]:
    """A game of price relatives: a cost −log⟨r_t, w⟩ a day.

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
    """What a unit has become after each day, if the weights of day t are w_t.

    Trading costs a share of what is bought and of what is sold. From the weights v into which the
    last day has turned the portfolio, a share ω of the wealth is left after rebalancing to w, the
    exact solution of ω + cost·Σ_j |ωw_j − v_j| = 1: the costs are paid out of the portfolio itself.
    The first purchase is free.

    Parameters
    ----------
    plays
        Weights, not negative and of sum 1, a row a day.
    relatives
        Price relatives, a row a day.
    cost
        The share, from 0 to below 1: 0.001 for a tenth of a percent.

    Examples
    --------
    >>> w, r = [[0.5, 0.5], [0.5, 0.5]], [[2.0, 0.5], [0.5, 2.0]]
    >>> wealth(w, r), wealth(w, r, cost=0.01).round(4)
    (array([1.25  , 1.5625]), array([1.25  , 1.5531]))
    """
    W, R = np.asarray(plays, dtype=np.float64), np.asarray(relatives, dtype=np.float64)
    if W.shape != R.shape or W.ndim != 2:
        raise ValueError(
            f"weights and price relatives need a row a day, not shapes {W.shape} and {R.shape}"
        )
    if not 0.0 <= cost < 1.0:
        raise ValueError(f"a cost is a share from 0 to below 1, not {cost:g}")
    if not (W >= -_OFF).all() or not np.abs(W.sum(axis=1) - 1.0).max(initial=0.0) <= _OFF:
        raise ValueError("weights of a day must not be negative, and their sum must be 1")
    _table(R, None, "price relative")
    grown = np.einsum("tj,tj->t", W, R)
    left = np.ones(len(W))
    if cost > 0.0:
        drifted = W * R / grown[:, None]
        left[1:] = [_left(v, w, cost) for v, w in zip(drifted[:-1], W[1:], strict=True)]
    return np.cumprod(grown * left)


def _left(v: Array, w: Array, cost: float) -> float:
    """The root ω of ω + cost·Σ|ωw − v| − 1, which is convex, rising and piecewise linear."""
    share = 1.0
    for _ in range(_TRIALS):
        bought = share * w - v
        excess = share + cost * float(np.abs(bought).sum()) - 1.0
        slope = 1.0 + cost * float(np.sign(bought) @ w)
        after = share - excess / slope  # from the right, Newton's method falls to the root
        if not after < share:
            break
        share = after
    return share


def _table(table: Any, names: Sequence[str] | None, what: str) -> tuple[Array, list[str]]:
    """Refuse what is no table of positive numbers, and say where."""
    if names is None:
        names = getattr(table, "columns", None)
    numbers = np.asarray(table, dtype=np.float64)
    if numbers.ndim != 2 or not numbers.size:
        raise ValueError(
            f"{what}s need a row a day and a column an asset, not shape {numbers.shape}"
        )
    columns = range(numbers.shape[1]) if names is None else names
    called = [f"asset {name!r}" for name in columns]
    good = (numbers > 0.0) & np.isfinite(numbers)
    if not good.all():
        t, j = np.argwhere(~good)[0]
        raise ValueError(
            f"row {t}, {called[j]}: a {what} must be a positive number, not {numbers[t, j]:g}"
        )
    return numbers, called
