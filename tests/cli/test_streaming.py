"""`stepless fit -`: a stream through the shell, what it prints, and how it ends."""

import json
import os
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from stepless.cli import app
from stepless.report import load_model, read_header, save_model

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


@pytest.mark.parametrize("solver", ["adagrad", "pegasos", "pgs"])
def test_later_labels_do_not_change_predictions(folder, lines, solver):
    t = 1400  # in the second chunk
    flipped = [("-" + line).removeprefix("--") for line in lines[t:]]
    options = ("fit", "-", "--solver", solver, "--alpha", "1e-3", "-o", "m", "--predictions", "-")
    before, after = (
        run(*options, text="\n".join([*lines[:t], *rest])).stdout.split()
        for rest in (lines[t:], flipped)
    )
    assert after[: t + 1] == before[: t + 1]
    assert after != before


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("1 good:x", "expected a number"),
        ("1 good:nan", "must be finite"),
        ("what good", "as label"),
        ("7 good", "the label 7 is new"),
        ("1 good:1e60", "has a number beyond 1e+50"),
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


def people(names, rows=200):
    """A table of which the second column tells the target, if there is one."""
    rng = np.random.default_rng(0)
    ages = rng.integers(20, 60, rows).tolist()
    lines = [
        f"{age},{'cook' if age < 40 else 'smith'},{'no' if age < 40 else 'yes'}" for age in ages
    ]
    return "\n".join([*names, *lines]) + "\n"


@pytest.fixture
def table(folder):
    (folder / "people.csv").write_text(people(["age,job,rich"]))
    run("fit", "people.csv", "--stream", "-o", "m", "-q", "--target", "rich", "--hash", 10)
    return folder


def test_a_table_that_is_no_stream_is_told_how_it_is_read(table):
    remedy = "only streams read tables, so fit with --stream and --target COLUMN"
    (table / "d.svm").write_text("1 1:1\n-1 1:-1\n")
    run("fit", "d.svm", "-o", "n", "-q")
    for command in (
        ["fit", "people.csv", "-o", "x"],
        ["fit", "people.csv", "-o", "x", "--metric", "f1"],
        ["fit", "d.svm", "--test", "people.csv", "-o", "x", "-q"],
        ["predict", "n", "people.csv"],
    ):
        result = run(*command, code=1)
        assert "found 'age,job,rich'; this looks like a table (CSV); LIBSVM text" in result.stderr
        assert result.stderr.endswith(f"{remedy}\n")


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (["age,work,rich"], "(missing: 'job'; new: 'work')"),
        (["years,work,rich"], "(missing: 'age', 'job'; new: 'years', 'work')"),
        ([], "(missing: 'age', 'job'; new: "),
    ],
)
@pytest.mark.parametrize("command", ["predict", "score"])
def test_a_hashed_model_refuses_a_table_of_other_columns(table, command, header, said):
    (table / "other.csv").write_text(people(header))
    result = run(command, "m", "other.csv", code=1)
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("stepless: other.csv: has not the columns of the table that")
    assert said in result.stderr


def test_columns_may_come_in_any_order_and_without_labels(table):
    expected = run("predict", "m", "people.csv").stdout
    rows = [line.split(",") for line in people(["age,job,rich"]).splitlines()]
    for order in ([1, 2, 0], [1, 0]):
        text = "\n".join(",".join(row[k] for k in order) for row in rows)
        (table / "other.csv").write_text(text)
        assert run("predict", "m", "other.csv").stdout == expected
        assert run("predict", "m", "-", text=text).stdout == expected
    (table / "fewer.csv").write_text("job,rich\ncook,no\n")
    result = run("fit", "people.csv", "--stream", "-o", "n", "-q", "--target", "rich",
                 "--test", "fewer.csv", code=1)  # fmt: skip
    assert "(missing: 'age')" in result.stderr


def test_models_that_do_not_know_their_columns_are_still_read(table, monkeypatch):
    expected = run("predict", "m", "people.csv").stdout
    facts = read_header("m")["about"]
    assert facts["form"]["columns"] == ["age", "job"]
    del facts["form"]["columns"]
    save_model(load_model("m"), "old", facts)
    assert run("predict", "old", "people.csv").stdout == expected
    (table / "new.csv").write_text("job\ncook\n")
    assert run("predict", "old", "new.csv").stdout == "no\n"


@pytest.mark.parametrize(
    "form",
    [
        {"bits": 9},
        {"bits": "10"},
        {"bits": 10**30},
        {"columns": 7},
        {"columns": [7]},
        {"ignore": "ab"},
        {"target": 3},
        {"csv": "yes"},
        {"unknown": 1},
    ],
)
def test_a_form_that_makes_no_sense(table, form):
    about = read_header("m")["about"]
    save_model(load_model("m"), "forged", about | {"form": about["form"] | form})
    result = run("predict", "forged", "people.csv", code=1)
    assert result.stderr.startswith("stepless: forged: is damaged, as what it says makes no sense")


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


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--target", ["y"]),
        ("--categorical", ["y"]),
        ("--ignore", ["y"]),
        ("--predictions", ["p"]),
        ("--classes", ["1,2"]),
        ("--hash", [8]),
        ("--features", [8]),
        ("--names", []),
        ("--on-error", ["skip"]),
        ("--format", ["csv"]),
    ],
)
def test_what_is_for_streams_needs_one(folder, lines, option, value):
    (folder / "d").write_text("1 1:1\n-1 1:-1\n")
    result = run("fit", "d", "-o", "m", option, *value, code=1)
    assert result.stderr == f"stepless: {option} is for a stream: add --stream\n"
    assert os.listdir() == ["d"]


def test_what_is_not_for_streams(folder, lines):
    result = run("fit", "-", "-o", "m", "--seconds", 3, text="\n".join(lines), code=1)
    assert result.stderr == "stepless: a stream ends where its data do: leave --seconds out\n"


def test_more_columns_than_there_is_memory(folder, monkeypatch):
    monkeypatch.setattr("os.sysconf", lambda name: 1 << 12)  # 16 MiB
    result = run("fit", "-", "-o", "m", "--hash", 30, text="1 a\n-1 b\n", code=1)
    assert result.stderr == (
        "stepless: the data do not fit into memory "
        "(1,073,741,824 features take 32,768 MiB, there are 16 MiB)\n"
    )


def test_names_and_labels_move_no_cursor(folder):
    rows = "".join(f"{word},{label}\n" for word, label in [("a", "x\x1b[2J"), ("b", "y\x9b")] * 30)
    (folder / "t.csv").write_text("wo\x1b[31mrd,y\n" + rows)
    options = ("--target", "y", "--names")
    said = [run("fit", "t.csv", "--stream", "-o", "m", *options)]
    said.append(run("info", "m"))
    said.append(run("info", "m", "--json"))
    said.append(run("predict", "m", "t.csv"))
    said.append(run("fit", "t.csv", "--stream", "-o", "m", "--target", "z", code=1))
    (folder / "t.csv").write_text("w,y\na,x\nb,y\n" * 600 + "c,\x1b[2J\n")
    said.append(run("fit", "t.csv", "--stream", "-o", "m", "--target", "y", code=1))
    for result in said:
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", result.stdout + result.stderr)
    assert "wo\\x1b[31mrd=a" in said[1].stdout
    assert "x\\x1b[2J and y\\x9b" in said[1].stdout
