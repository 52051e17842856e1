"""Several players on the same costs."""

import numpy as np
import pytest

from stepless.games import Comparison, Game, compare_players
from stepless.games.players import OGD, Constant
from stepless.objective import L2Ball, Simplex

C = np.random.default_rng(0).uniform(size=(80, 3))


def test_each_plays_as_if_alone():
    compared = compare_players(iter(C), ["ogd", "eg", Constant()], Simplex())
    assert isinstance(compared, Comparison)
    assert list(compared) == ["ogd", "eg", "constant"]
    alone = Game(OGD(), Simplex()).run(C)
    np.testing.assert_array_equal(compared["ogd"].plays, alone.plays)
    np.testing.assert_array_equal(compared["ogd"].regret, alone.regret)
    for ledger in compared.values():
        assert ledger.best is compared.best.w
    assert set(compared.seconds) == set(compared)
    assert all(seconds > 0.0 for seconds in compared.seconds.values())


def test_a_table():
    compared = compare_players(C, ["ogd", "constant"], Simplex())
    lines = repr(compared).splitlines()
    assert lines[0].split() == ["player", "loss", "regret", "bound", "seconds", "theorem"]
    assert lines[1].startswith("ogd ")
    assert "∞" in lines[2]
    assert lines[3].startswith("best fixed ")
    frame = compared.to_frame()
    assert list(frame.columns) == ["loss", "regret", "bound", "seconds"]
    assert frame.loc["ogd", "regret"] == compared["ogd"].regret[-1]


def test_a_picture():
    import matplotlib as mpl

    mpl.use("Agg")
    compared = compare_players(C, ["ogd", "constant"], Simplex())
    assert len(compared.plot().get_lines()) == 2
    assert len(compared.plot(bounds=True).get_lines()) == 3  # what has no bound has no line for it


def test_players_of_one_name_are_told_apart():
    compared = compare_players(C, [OGD(), OGD(lipschitz=5.0)], L2Ball(1.0))
    assert list(compared) == ["OGD()", "OGD(lipschitz=5.0)"]
    with pytest.raises(ValueError, match="named twice"):
        compare_players(C, ["ogd", "ogd"], L2Ball(1.0))


def test_values_alone_leave_the_best_of_what_all_played():
    def values(w):
        return float((w[0] - 0.5) ** 2 + w[1] ** 2)

    players = ["bandit-two-point", "bandit-one-point"]
    compared = compare_players([values] * 100, players, L2Ball(1.0), d=2)
    assert compared.best.gap == np.inf
    played = np.vstack([ledger.plays.mean(axis=0) for ledger in compared.values()])
    assert values(compared.best.w) <= min(map(values, played)) + 1e-12


def test_who_does_not_exist():
    with pytest.raises(ValueError, match="there is no player 'ogdd': did you mean 'ogd'"):
        compare_players(C, ["ogdd"], Simplex())
    with pytest.raises(ValueError, match="there is no player 'foo': choose one of uniform, adagr"):
        compare_players(C, ["foo"], Simplex())
    with pytest.raises(TypeError, match=r"a player is an object such as OGD\(\), not int"):
        compare_players(C, [3], Simplex())
    with pytest.raises(ValueError, match="name a player"):
        compare_players(C, [], Simplex())
    with pytest.raises(ValueError, match="empty"):
        compare_players([], ["ogd"], Simplex())


def test_uniform_is_another_name():
    compared = compare_players(C, ["uniform"], Simplex())
    assert list(compared) == ["uniform"]
    np.testing.assert_array_equal(compared["uniform"].plays, np.full((80, 3), 1.0 / 3.0))


def test_a_frame_is_its_rows():
    from pandas import DataFrame

    compared = compare_players(DataFrame(C), ["ogd"], Simplex())
    np.testing.assert_array_equal(compared["ogd"].plays, Game(OGD(), Simplex()).run(C).plays)
