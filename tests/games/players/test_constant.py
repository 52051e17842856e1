"""One decision for ever."""

import numpy as np
import pytest

from games.rounds import D, played, random
from stepless.games.players import Constant
from stepless.objective import Box, L2Ball, Simplex


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
