"""`stepless game`: what it prints, what it draws, and what it refuses."""

import json
import lzma
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from stepless.cli import app
from stepless.games import relatives

RNG = np.random.default_rng(0)
PRICES = np.exp(np.cumsum(0.03 * RNG.normal(size=(60, 3)), axis=0))
FAST = ("--players", "uniform,eg,ogd")


def table(prices=PRICES, header="KO,IBM,GE", dates=False):
    lines = [("date," if dates else "") + header]
    for day, row in enumerate(prices.tolist()):
        lines.append(",".join([f"2020-01-{day:02d}"] * dates + [repr(p) for p in row]))
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.csv").write_text(table())
    return tmp_path


def run(*arguments, code=0, **options):
    result = CliRunner().invoke(app, ["game", *map(str, arguments)], **options)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def refused(*arguments):
    result = run(*arguments, code=1)
    assert result.stdout == ""
    assert result.stderr.startswith("stepless: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("stepless: ").rstrip("\n")


def test_a_table(folder):
    lines = run("prices.csv", *FAST).stdout.splitlines()
    assert lines[0] == "59 days, 3 assets. A unit of wealth becomes:"
    assert lines[2].split() == ["player", "wealth", "per", "day", "regret", "bound", "seconds"]
    assert [line.split()[0] for line in lines[3:7]] == ["uniform", "eg", "ogd", "best"]
    assert float(lines[3].split()[1]) == pytest.approx(
        np.prod(relatives(PRICES).mean(axis=1)), rel=1e-5
    )
    assert lines[-2].startswith("The best portfolio of constant weights, all days known: ")
    assert "and in no other more than" in lines[-1]


def test_json(folder):
    told = json.loads(run("prices.csv", *FAST, "--json").stdout)
    assert (told["days"], told["assets"], told["cost"]) == (59, ["KO", "IBM", "GE"], 0.0)
    assert list(told["players"]) == ["uniform", "eg", "ogd"]
    uniform, best = told["players"]["uniform"], told["best"]
    assert uniform["bound"] is None
    assert uniform["wealth"] == pytest.approx(math.exp(-uniform["loss"]))
    assert best["wealth"] >= max(player["wealth"] for player in told["players"].values())
    assert best["gap"] < 1e-9
    assert sum(best["weights"].values()) == pytest.approx(1.0)
    assert uniform["regret"] == pytest.approx(uniform["loss"] - best["loss"])


def test_trading_costs(folder):
    free, dear = (
        json.loads(run("prices.csv", *FAST, "--json", "--cost", cost).stdout)
        for cost in (0.0, 0.01)
    )
    for player in free["players"]:
        assert dear["players"][player]["wealth"] < free["players"][player]["wealth"]
        assert dear["players"][player]["regret"] == free["players"][player]["regret"]
    assert "1 % of all bought and sold" in run("prices.csv", *FAST, "--cost", 0.01).stdout


@pytest.mark.parametrize("way", ["dates", "quoted", "semicolons", "xz", "index", "stdin", "bom"])
def test_ways_to_write_a_table(folder, way):
    expected = json.loads(run("prices.csv", *FAST, "--json").stdout)
    text = table(dates=way == "dates", header='"KO","IBM","GE"' if way == "quoted" else "KO,IBM,GE")
    if way == "semicolons":
        text = text.replace(",", ";")
    if way == "index":
        first, *rest = text.splitlines()
        text = "\n".join(["," + first, *(f"{i},{line}" for i, line in enumerate(rest))])
    data = text.encode("utf-8-sig" if way == "bom" else "utf-8")
    (folder / "other.csv").write_bytes(lzma.compress(data) if way == "xz" else data)
    name, options = ("-", {"input": data}) if way == "stdin" else ("other.csv", {})
    told = json.loads(run(name, *FAST, "--json", **options).stdout)
    assert told["assets"] == expected["assets"]
    assert told["best"] == expected["best"]


def test_relatives_are_taken_as_they_are(folder):
    (folder / "relatives.csv").write_text(table(relatives(PRICES)))
    told = json.loads(run("relatives.csv", *FAST, "--relatives", "--json").stdout)
    expected = json.loads(run("prices.csv", *FAST, "--json").stdout)
    assert told["days"] == 59
    assert told["best"]["wealth"] == pytest.approx(expected["best"]["wealth"], rel=1e-12)


def test_a_picture(folder):
    result = run("prices.csv", *FAST, "--plot", "wealth.png")
    assert result.stdout.endswith("The picture is in wealth.png.\n")
    assert (folder / "wealth.png").read_bytes().startswith(b"\x89PNG")
    run("prices.csv", *FAST, "--plot", "wealth.svg", "--json")
    assert "<svg" in (folder / "wealth.svg").read_text()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("A,B\n1,2\n3,-4\n", "bad.csv, line 3, column 'B': expected a positive price, found '-4'"),
        ("A,B\n1,2\n3,0\n", "bad.csv, line 3, column 'B': expected a positive price, found '0'"),
        ("A,B\n1,2\n3,\n", "bad.csv, line 3, column 'B': expected a positive price, found nothing"),
        ("A,B\n1,nan\n", "bad.csv, line 2, column 'B': expected a positive price, found 'nan'"),
        ("A,B\n1,2\n3,x\n", "bad.csv, line 3, column 'B': expected a positive price, found 'x'"),
        ("A,B\n1,2\n3\n", "bad.csv, line 3: has 1 cells, but the header names 2 columns"),
        ("A,B\n1,2\n", "bad.csv: prices of at least two days are needed, not of one"),
        ("A,B\n", "bad.csv: has a header, but no row of prices"),
        ("", "bad.csv: is empty, but a header of asset names is needed"),
        ("1,2\n3,4\n", "bad.csv, line 1: expected the names of assets, found numbers only"),
        ("A,B,A\n1,2,3\n", "bad.csv, line 1: column 'A' stands twice in the header"),
        ("date\n2020-01-01\n", "bad.csv: has dates, but no column of prices"),
    ],
)
def test_bad_tables(folder, text, sentence):
    (folder / "bad.csv").write_text(text)
    assert refused("bad.csv", *FAST) == sentence


@pytest.mark.parametrize("header", ["date", "Day", "TIME", "timestamp", ""])
def test_dates_that_are_numbers_are_left_out(folder, header):
    expected = json.loads(run("prices.csv", *FAST, "--json").stdout)
    first, *rest = table().splitlines()
    dated = [f"{header},{first}", *(f"{20200102 + day},{row}" for day, row in enumerate(rest))]
    (folder / "dated.csv").write_text("\n".join(dated))
    told = json.loads(run("dated.csv", *FAST, "--json").stdout)
    assert told["assets"] == ["KO", "IBM", "GE"]
    assert told["best"] == expected["best"]
    assert (told["left_out"], expected["left_out"]) == (header, None)
    words = run("dated.csv", *FAST).stdout
    assert words.startswith(
        f"The first column, {header or 'without a name'}, is left out.\n59 days"
    )


def test_a_quotient_that_is_no_number(folder):
    (folder / "huge.csv").write_text("A,B\n1,1e300\n\n1,1e-300\n")
    sentence = "huge.csv, line 4, column 'B': 1e-300 after 1e+300 is a quotient that no number can"
    assert refused("huge.csv", *FAST) == f"{sentence} hold"


def test_nothing_has_no_sign(folder):
    (folder / "flat.csv").write_text("A,B\n" + "1,1\n" * 30)
    words = run("flat.csv", *FAST).stdout
    assert "-0.0000" not in words
    assert "+0.0000" not in words
    assert words.splitlines()[3].split()[2:5] == ["0.0000", "%", "0.0000"]


@pytest.mark.parametrize(
    ("players", "sentence"),
    [
        ("eg,eg", "--players has eg twice: name it once"),
        ("soft-constraints", "soft-constraints holds no portfolio: it needs constraints"),
        (
            "saddle-mirror-prox",
            "saddle-mirror-prox holds no portfolio: it needs costs of class Saddle",
        ),
        (",", "--players needs a name: uniform, adagrad"),
        ("foo", "there is no player 'foo': choose one of uniform, adagr"),
    ],
)
def test_who_cannot_play(folder, players, sentence):
    told = refused("prices.csv", "--players", players)
    assert told.startswith(sentence)
    if players == ",":
        assert "soft-constraints" not in told


def test_a_cost_is_below_1(folder):
    assert refused("prices.csv", "--cost", 1) == "--cost is a share from 0 to below 1, not 1"
    run("prices.csv", *FAST, "--cost", 0.75)


def test_bad_bytes(folder):
    (folder / "bad.csv").write_bytes(b"A,B\n\xff\xfe,1\n")
    assert refused("bad.csv") == "bad.csv, line 2: is not UTF-8 text"
    (folder / "bad.csv").write_bytes(lzma.compress(table().encode())[:-40])
    assert "cut short" in refused("bad.csv")


def test_what_else_is_refused(folder):
    assert refused("none.csv") == "none.csv: no such file"
    assert "there is no player 'onz'" in refused("prices.csv", "--players", "onz")
    assert (
        refused("prices.csv", "--plot", "a.txt") == "a.txt: a picture is a .png, .pdf or .svg file"
    )
    assert "no directory" in refused("prices.csv", "--plot", "no/where.png")
    run("prices.csv", "--cost", -1, code=2)
    (folder / "prices.png").write_text(table())
    assert "overwrite" in refused("prices.png", "--plot", "prices.png")
