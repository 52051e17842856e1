"""When a run ends."""

import math

import pytest

from stepless import Stopping
from stepless.trace import Event


def _event(passes=1, seconds=0.1, objective=0.5, lower_bound=0.4):
    return Event(passes, 100 * passes, seconds, objective, lower_bound, 1.0, 7)


def test_nothing_ends_a_run_too_early():
    assert Stopping(gap=0.1, passes=5, seconds=2.0).reason(_event(4, 1.9)) is None


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (_event(1, lower_bound=0.46), "gap"),
        (_event(1, lower_bound=0.45), "gap"),
        (_event(5), "passes"),
        (_event(9), "passes"),
        (_event(1, seconds=2.0), "seconds"),
        (_event(5, seconds=2.0), "passes"),
        (_event(5, seconds=2.0, lower_bound=0.5), "gap"),
    ],
)
def test_the_first_reason_is_given(event, reason):
    assert Stopping(gap=0.1 + 1e-12, passes=5, seconds=2.0).reason(event) == reason


def test_by_default_only_the_gap_ends_a_run():
    assert Stopping().reason(_event(10**9, seconds=1e9)) is None
    assert Stopping().reason(_event(lower_bound=0.5 * (1 - 0.99e-3))) == "gap"


def test_an_optimum_met_exactly_ends_a_run_of_gap_zero():
    assert Stopping(gap=0.0).reason(_event(objective=0.0, lower_bound=0.0)) == "gap"
    assert Stopping(gap=0.0).reason(_event(objective=0.0, lower_bound=-1e-300)) is None


@pytest.mark.parametrize("objective", [math.nan, math.inf])
def test_an_objective_that_is_no_number_never_meets_the_gap(objective):
    assert Stopping(gap=1.0).reason(_event(objective=objective)) is None


@pytest.mark.parametrize("name", ["gap", "passes", "seconds"])
@pytest.mark.parametrize("value", [-1.0, math.nan, -math.inf])
def test_impossible_limits_get_one_clear_sentence(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be at least [01], not {value:g}$"):
        Stopping(**{name: value})


@pytest.mark.parametrize("name", ["gap", "passes", "seconds"])
@pytest.mark.parametrize("value", ["1", None, [1]])
def test_limits_are_numbers(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be a number, not "):
        Stopping(**{name: value})


def test_no_pass_at_all_is_refused_and_no_part_of_one():
    with pytest.raises(ValueError, match="passes must be at least 1, not 0"):
        Stopping(passes=0)
    with pytest.raises(ValueError, match=r"passes must be a whole number, not 1\.5"):
        Stopping(passes=1.5)
    assert Stopping(passes=2.0).reason(_event(2)) == "passes"


@pytest.mark.parametrize("name", ["gap", "passes", "seconds"])
@pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000], ids=["large", "low", "long"])
def test_limits_that_no_double_holds_are_refused(name, value):
    with pytest.raises(ValueError, match=f"^{name} is more than a double can hold: ") as told:
        Stopping(**{name: value})
    assert len(str(told.value)) < 120
