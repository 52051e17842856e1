"""One decision for ever."""

import numpy as np
import pytest

from games.rounds import D, played, random
from stepless.games import ExampleLoss, Game
from stepless.games.players import Constant
from stepless.objective import Box, L2Ball, Logistic, Simplex


def test_it_stays_where_it_is():
    run, _, _ = played(Constant(), Simplex(2.0), D, random, 20)
    np.testing.assert_array_equal(run.plays, np.full((20, D), 0.5))
    assert np.isinf(Constant().bound(run, np.zeros(D))).all()
    w = np.array([1.0, -0.5])
    run, _, _ = played(Constant(w), Box(-1.0, 1.0), 2, random, 5)
    np.testing.assert_array_equal(run.plays, np.tile(w, (5, 1)))


def test_it_says_what_it_plays():
    assert repr(Constant()) == "Constant()"
    assert repr(Constant([0.5, 0.5])) == "Constant(w=[0.5, 0.5])"


def test_a_decision_outside_of_the_domain_is_refused():
    with pytest.raises(ValueError, match="outside of L2Ball, by 1 in a weight"):
        Constant([2.0, 0.0]).enter(L2Ball(1.0), 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_decision_that_is_not_finite_is_refused(bad):
    with pytest.raises(ValueError, match="a decision needs finite numbers"):
        Constant([bad, 0.0])


def test_a_decision_of_another_game_is_refused():
    with pytest.raises(ValueError, match="but there are 2 weights"):
        Constant([1.0, 0.0, 0.0]).enter(L2Ball(1.0), 2)


def test_values_alone_will_do():
    ledger = Game(Constant([0.5, 0.0]), L2Ball(1.0), d=2).run([lambda w: float(w @ w)] * 3)
    np.testing.assert_allclose(ledger.loss, [0.25, 0.5, 0.75])


def test_a_first_gradient_of_next_to_nothing_will_do():
    sure = ExampleLoss(Logistic(), [690.0, 0.0], 1.0)
    ledger = Game(Constant([1.0, 0.0]), L2Ball(1.0)).run([sure, sure])
    assert 0.0 < ledger.loss[-1] < 1e-290


@pytest.mark.parametrize("scale", [1e-170, 1e-320])
def test_gradients_of_next_to_nothing_leave_a_ledger(scale):
    ledger = Game(Constant(), L2Ball(1.0)).run(scale * np.eye(3))
    assert ledger.gap >= 0.0
    assert not np.isnan(ledger.regret).any()
