"""`stepless fit -`: a stream through the shell, what it prints, and how it ends."""

import json
import os
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from stepless.cli import app
from stepless.report import load_model, read_header

M = 2500


def run(*arguments, text=None, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=text)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def lines():
    """Words that tell two classes apart, and others."""
    rng = np.random.default_rng(0)
    out = []
    for _ in range(M):
        label = rng.choice([-1, 1])
        telling = rng.choice(["good", "fine", "great"] if label > 0 else ["bad", "poor", "dull"])
        words = {telling, *(f"w{j}" for j in rng.integers(200, size=6))}
        if rng.random() < 0.1:
            label = -label
        out.append(f"{label} " + " ".join(sorted(words)))
    return out


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_stream_from_standard_input(folder, lines):
    text = "\n".join(lines) + "\n"
    result = run(
        "fit", "-", "-o", "m", "--passes", 1, "--penalty", "l1", "--alpha", 1e-4, text=text
    )
    assert "2,500 examples in" in result.stdout
    assert "each scored before it was learned" in result.stdout
    table = [line.split() for line in result.stderr.splitlines()]
    assert table[0][:3] == ["examples", "loss", "since"]
    assert [row[0] for row in table[1:]] == ["1,000", "2,000"]
    model = load_model("m")
    assert model.solver_ == "adagrad"
    assert model.n_features_in_ == 2**18
    assert model.stopped_by_ == "stream"

    (folder / "again").write_text(text)
    run("fit", "again", "--stream", "-o", "n", "--penalty", "l1", "--alpha", 1e-4)
    np.testing.assert_array_equal(load_model("n").coef_, model.coef_)
    score = json.loads(run("score", "m", "again", "--json").stdout)
    assert score["accuracy"] > 0.85
    predicted = run("predict", "m", "again").stdout.splitlines()
    assert len(predicted) == M
    assert set(predicted) == {"-1", "1"}


def test_facts_as_json(folder, lines):
    text = "\n".join([*lines[:1200], "oops", *lines[1200:]])
    facts = json.loads(run("fit", "-", "-o", "m", "--on-error", "skip", "--json", text=text).stdout)
    assert facts["examples"] == M
    assert facts["skipped"] == 1
    assert ", line 1201, column 1:" in facts["skipped_because"][0]
    assert 0.0 < facts["progressive_error"] < 0.3
    assert facts["examples_per_second"] > 0.0
    assert facts["progressive_loss"] > 0.0


def test_progressive_predictions(folder, lines):
    text = "\n".join(lines)
    run("fit", "-", "-o", "m", "--predictions", "p", text=text)
    predicted = np.array([int(line) for line in (folder / "p").read_text().split()])
    truth = np.array([int(line.split()[0]) for line in lines])
    facts = json.loads(run("fit", "-", "-o", "m", "--json", text=text).stdout)
    assert np.mean(predicted != truth) == pytest.approx(facts["progressive_error"])
    both = run("fit", "-", "-o", "m", "--predictions", "-", text=text)
    assert both.stdout.split() == [str(p) for p in predicted]
    assert "written to m" in both.stderr


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("1 good:x", "expected a number"),
        ("1 good:nan", "must be finite"),
        ("what good", "as label"),
        ("7 good", "the label 7 is new"),
    ],
)
def test_a_bad_line_stops_and_the_model_so_far_is_kept(folder, lines, bad, reason):
    text = "\n".join([*lines[:1700], bad, *lines[1700:]])
    result = run("fit", "-", "-o", "m", "--quiet", text=text, code=1)
    assert result.stdout == ""
    [sentence] = result.stderr.splitlines()
    # the runner's standard input bears no name
    assert re.match(r"stepless: <(stdin|stream)>, line 1701\b", sentence)
    assert reason in sentence
    assert sentence.endswith("the model so far, of 1,700 examples, is in m")
    run("fit", "-", "-o", "n", "--quiet", text="\n".join(lines[:1700]))
    np.testing.assert_array_equal(load_model("m").coef_, load_model("n").coef_)

    run("fit", "-", "-o", "m", "--quiet", "--on-error", "skip", text=text)
    run("fit", "-", "-o", "n", "--quiet", text="\n".join(lines))
    np.testing.assert_array_equal(load_model("m").coef_, load_model("n").coef_)


def test_nothing_is_written_where_nothing_was_learned(folder, lines):
    for text, reason in (
        ("oops\n", "as label"),
        ("", "holds no examples"),
        ("1 a\n1 b\n", "hold one class only (1); name all of them with --classes"),
    ):
        result = run("fit", "-", "-o", "m", text=text, code=1)
        assert reason in result.stderr
        assert os.listdir() == []
    run("fit", "-", "-o", "m", "--classes", "-1,1", text="1 a\n1 b\n")


def test_names_are_told(folder, lines):
    run("fit", "-", "-o", "m", "--names", "--penalty", "l1", "--alpha", 1e-3, text="\n".join(lines))
    [heaviest] = [
        line for line in run("info", "m").stdout.splitlines() if line.startswith("heaviest")
    ]
    for word in ("good", "fine", "great", "bad", "poor", "dull"):
        assert word in heaviest
    names = read_header("m")["about"]["names"]
    assert len(names) <= np.count_nonzero(load_model("m").coef_)


def test_a_table_with_categories(folder):
    rng = np.random.default_rng(1)
    jobs, ages = rng.choice(["cook", "smith", "clerk"], 900), rng.integers(20, 60, 900)
    rich = np.where((jobs == "clerk") ^ (rng.random(900) < 0.05), "yes", "no")
    rows = [f"{a},{j},{i},{r}" for a, j, i, r in zip(ages, jobs, range(900), rich, strict=True)]
    table = "age,job,id,rich\n" + "\n".join(rows) + "\n"
    (folder / "people.csv").write_text(table)
    options = ["--target", "rich", "--ignore", "id", "--categorical", "age", "--hash", 12]
    run("fit", "people.csv", "--stream", "-o", "m", *options)
    assert json.loads(run("score", "m", "people.csv", "--json").stdout)["accuracy"] > 0.9
    # a table to predict need not have the labels
    bare = "age,job,id\n" + "\n".join(row.rsplit(",", 1)[0] for row in rows[:5]) + "\n"
    (folder / "new.csv").write_text(bare)
    assert run("predict", "m", "new.csv").stdout.split() == [
        "yes" if job == "clerk" else "no" for job in jobs[:5]
    ]
    run("fit", "-", "--format", "csv", "-o", "n", *options, text=table)
    np.testing.assert_array_equal(load_model("m").coef_, load_model("n").coef_)


def test_numbers_are_streamed_too(folder):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 3)).round(3)
    y = (X @ [1.0, -2.0, 0.5] + 4.0).round(3)
    text = "".join(
        f"{t} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row)) + "\n"
        for t, row in zip(y, X, strict=True)
    )
    result = run("fit", "-", "-o", "m", "--loss", "squared", "--features", 3, text=text)
    assert "% wrong" not in result.stdout
    np.testing.assert_allclose(load_model("m").coef_, [1.0, -2.0, 0.5], atol=0.3)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--passes", 3], "a stream is passed over once"),
        (["--hash", 8, "--features", 9], "choose one of --hash and --features"),
        (["--target", "y"], "are for tables: say --format csv"),
        (["--format", "csv"], "needs --target"),
        (["--solver", "newton", "--loss", "logistic"], "cannot learn from a stream"),
        (["--penalty", "l3"], "there is no penalty 'l3'"),
    ],
)
def test_what_makes_no_sense_is_refused(folder, lines, options, reason):
    result = run("fit", "-", "-o", "m", *options, text="\n".join(lines[:20]), code=1)
    assert reason in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert os.listdir() == []


def test_a_column_needs_a_stream(folder, lines):
    (folder / "d").write_text("\n".join(lines))
    result = run("fit", "d", "-o", "m", "--target", "y", code=1)
    assert "--target is for a stream: add --stream" in result.stderr
