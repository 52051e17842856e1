"""A few problems of the soak, of every family."""

import pytest

from proof.soak import GROUP, Group, Tally


@pytest.mark.parametrize("number", [0, 1, 8, 9])
@pytest.mark.filterwarnings("ignore")  # overflows of diverging runs, which are refused or told
def test_intervals_hold_the_truth(number, capsys):
    tally, group = Tally(), Group.of(number)
    for seed in range(number * GROUP, number * GROUP + 5):
        tally.hold(group, seed, exactly=True)
    assert tally.faults == 0, capsys.readouterr().out
    assert sum(count["J"] for count in tally.counts.values()) >= 10
