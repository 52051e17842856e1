"""Portfolios: relatives, wealth, and what trading costs."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from stepless.games import Game, growths, relatives, wealth
from stepless.games.players import OGD, Constant
from stepless.objective import Simplex

RNG = np.random.default_rng(0)
PRICES = np.exp(np.cumsum(0.05 * RNG.normal(size=(40, 3)), axis=0))


def test_relatives():
    R = relatives(PRICES)
    np.testing.assert_allclose(PRICES[0] * np.cumprod(R, axis=0)[-1], PRICES[-1])


def test_wealth_is_what_the_game_lost():
    R = relatives(PRICES)
    ledger = Game(OGD(), Simplex()).run(growths(R))
    np.testing.assert_allclose(wealth(ledger.plays, R), np.exp(-ledger.loss), rtol=1e-12)


def test_who_does_not_trade_pays_nothing():
    R = relatives(PRICES)
    held = np.cumprod(R, axis=0)
    held = np.vstack([np.ones(3), held[:-1]])  # bought once, then left alone
    plays = held / held.sum(axis=1, keepdims=True)
    expected = np.cumprod(R, axis=0).mean(axis=1)
    np.testing.assert_allclose(wealth(plays, R, cost=0.1), expected, rtol=1e-12)


def test_costs_are_paid_out_of_the_portfolio():
    R, cost = relatives(PRICES), 0.02
    plays = RNG.dirichlet(np.ones(3), size=len(R))
    now, holdings, course = 1.0, plays[0].copy(), []
    for t, r in enumerate(R):
        if t:

            def unpaid(after, t=t, now=now, holdings=holdings):
                return after + cost * np.abs(after * plays[t] - holdings).sum() - now

            now = brentq(unpaid, 0.0, now, xtol=1e-16, rtol=1e-15)
            holdings = now * plays[t]
        holdings = holdings * r
        now = holdings.sum()
        course.append(now)
    np.testing.assert_allclose(wealth(plays, R, cost), course, rtol=1e-12)
    assert (wealth(plays, R, cost)[1:] < wealth(plays, R)[1:]).all()


def test_a_switch_of_everything():
    # sell 1/(1+c) … all of one, buy all of the other: ω = (1 − c)/(1 + c)
    w = wealth([[1.0, 0.0], [0.0, 1.0]], np.ones((2, 2)), cost=0.01)
    np.testing.assert_allclose(w, [1.0, 0.99 / 1.01], rtol=1e-14)


@pytest.mark.parametrize("bad", [0.0, -3.0, math.nan, math.inf])
def test_a_bad_price_is_named(bad):
    prices = PRICES.copy()
    prices[7, 2] = bad
    with pytest.raises(ValueError, match=f"row 7, asset 2: a price must be .*, not {bad:g}"):
        relatives(prices)
    with pytest.raises(ValueError, match="row 7, asset 'C': a price"):
        relatives(prices, names=["A", "B", "C"])
    with pytest.raises(ValueError, match="row 7, asset 2: a price relative"):
        growths(prices)


def test_a_frame_names_its_assets():
    from pandas import DataFrame

    frame = DataFrame(PRICES, columns=["A", "B", "C"])
    np.testing.assert_array_equal(relatives(frame), relatives(PRICES))
    frame.loc[3, "B"] = -1.0
    with pytest.raises(ValueError, match="row 3, asset 'B'"):
        relatives(frame)


def test_too_little():
    with pytest.raises(ValueError, match="two days"):
        relatives(PRICES[:1])
    with pytest.raises(ValueError, match="one row per day"):
        relatives(PRICES[0])
    with pytest.raises(ValueError, match="shapes"):
        wealth(np.ones((2, 2)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="share"):
        wealth(np.ones((2, 2)), np.ones((2, 2)), cost=1.0)


@pytest.mark.parametrize("plays", [[[3.0, 4.0]], [[1.5, -0.5]], [[math.nan, 1.0]]])
def test_weights_are_shares(plays):
    with pytest.raises(ValueError, match="must not be negative, and their sum must be 1"):
        wealth(plays, [[1.0, 1.0]])


def test_wealth_needs_positive_relatives():
    with pytest.raises(ValueError, match=r"row 0, asset 1: a price relative must be .*, not -1"):
        wealth([[0.5, 0.5]], [[1.0, -1.0]])


@pytest.mark.parametrize(("before", "after"), [(1e300, 1e-300), (1e-300, 1e300)])
def test_quotients_are_numbers(before, after):
    with pytest.raises(
        ValueError, match=r"row 1, asset 1: the quotient of .* is more or less than a float can"
    ):
        relatives([[1.0, before], [1.0, after]])


def test_uniform_rebalancing():
    ledger = Game(Constant(), Simplex()).run(growths(relatives(PRICES)))
    assert math.exp(-ledger.loss[-1]) == pytest.approx(np.prod(relatives(PRICES).mean(axis=1)))
