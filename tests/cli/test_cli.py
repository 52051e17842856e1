"""The command line: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread, stack_size

import numpy as np
import pytest
from rich.console import Console
from rich.live import Live
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.preprocessing import scale
from typer.testing import CliRunner

import stepless
from cli.commands import refused, run
from signals import sends, usual_handlers  # noqa: F401  a fixture
from stepless import LinearClassifier, __version__
from stepless.cli import app, progress
from stepless.report import load_model, read_header, save_model
from stepless.stopping import Stopping
from stepless.trace import Event


def svmlight(X, y, base=1):
    rows = (
        " ".join(f"{j + base}:{value!r}" for j, value in enumerate(row) if value)
        for row in X.tolist()
    )
    return "".join(f"{label} {row}\n" for label, row in zip(y.tolist(), rows, strict=True))


@pytest.fixture(scope="module")
def texts():
    cancer = load_breast_cancer(return_X_y=True)
    wine = load_wine(return_X_y=True)
    diabetes = load_diabetes(return_X_y=True)
    return {
        "cancer": svmlight(scale(cancer[0])[:, :8].round(2), 2 * cancer[1] - 1),
        "wine": svmlight(scale(wine[0]).round(2), wine[1]),
        "diabetes": svmlight(scale(diabetes[0]).round(2), diabetes[1].astype(int)),
    }


@pytest.fixture
def folder(tmp_path, monkeypatch, texts):
    """A working directory with the data sets in it."""
    monkeypatch.chdir(tmp_path)
    for name, text in texts.items():
        (tmp_path / f"{name}.svm").write_text(text)
    return tmp_path


def labels_of(path):
    with open(path) as file:
        return np.array([int(line.split()[0]) for line in file])


FAST = ("--alpha", "1e-2", "--gap", "1e-2")


def fitted(name, *options):
    run("fit", f"{name}.svm", "-o", f"{name}.model", "-q", *FAST, *options)
    return load_model(f"{name}.model")


# -- fit -------------------------------------------------------------------------------------------


def test_fit_predict_score_info(folder):
    result = run("fit", "cancer.svm", "-o", "cancer.model", "--test", "cancer.svm", *FAST)
    assert sorted(os.listdir()) == ["cancer.model", "cancer.svm", "diabetes.svm", "wine.svm"]
    for words in ("above the best possible", "the gap asked for", "accuracy", "cancer.model"):
        assert words in result.stdout
    told = [line for line in result.stderr.splitlines() if not line.startswith("compiled for")]
    assert told[0].startswith("pass 1  ")  # no terminal: a line a pass
    model = load_model("cancer.model")
    assert len(told) == model.n_passes_
    assert model.classes_.tolist() == [-1, 1]
    assert model.verbose == 0
    assert model.rel_gap_ <= 1e-2

    lines = run("predict", "cancer.model", "cancer.svm").stdout.splitlines()
    assert set(lines) == {"-1", "1"}
    y = labels_of("cancer.svm")
    accuracy = np.mean([int(line) == label for line, label in zip(lines, y, strict=True)])
    assert json.loads(run("score", "cancer.model", "cancer.svm", "--json").stdout) == {
        "model": "cancer.model",
        "data": "cancer.svm",
        "examples": 569,
        "accuracy": accuracy,
        "unseen_labels": 0,
    }
    assert (
        f"{100 * accuracy:.2f} % on 569 examples"
        in run("score", "cancer.model", "cancer.svm").stdout
    )

    text = run("info", "cancer.model").stdout
    assert f"made         by stepless {__version__} from cancer.svm" in text
    facts = json.loads(run("info", "cancer.model", "--json").stdout)
    assert facts["lower_bound"] == model.lower_bound_
    assert len(facts["trace"][0]) == model.n_passes_


def test_fit_is_what_the_estimator_does(folder):
    model = fitted("cancer", "--seed", "3", "--jobs", "1", "--no-intercept")
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X)[:, :8].round(2), 2 * y - 1
    same = LinearClassifier(
        alpha=1e-2, gap=1e-2, random_state=3, n_jobs=1, fit_intercept=False
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-9)
    assert model.intercept_ == [0.0]


def test_json_is_all_that_is_said(folder):
    result = run("fit", "cancer.svm", "-o", "cancer.model", "--test", "cancer.svm", "--json", *FAST)
    facts = json.loads(result.stdout)
    assert result.stderr == ""
    assert facts["model"] == "cancer.model"
    assert facts["gap_met"] is True
    assert facts["classes"] == [-1, 1]
    assert 0.9 < facts["test"]["accuracy"] <= 1.0
    assert facts["lower_bound"] <= facts["objective"]


def test_quiet_says_nothing(folder):
    result = run("fit", "cancer.svm", "-o", "cancer.model", "-q", *FAST)
    assert result.output == ""


@pytest.mark.parametrize("opener", [gzip.open, bz2.open, lzma.open])
def test_compressed_data(folder, texts, opener):
    with opener("cancer.packed", "wt") as file:
        file.write(texts["cancer"])
    run("fit", "cancer.packed", "-o", "x.model", "-q", *FAST)
    assert load_model("x.model").rel_gap_ <= 0.01


def test_more_than_two_classes(folder):
    model = fitted("wine", "--loss", "logistic")
    assert model.classes_.tolist() == [0, 1, 2]
    probabilities = run("predict", "wine.model", "wine.svm", "--proba").stdout.splitlines()
    rows = np.array([[float(p) for p in line.split()] for line in probabilities])
    assert rows.shape == (178, 3)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    decisions = run("predict", "wine.model", "wine.svm", "--decision").stdout.splitlines()
    assert len(decisions[0].split()) == 3
    result = run("fit", "wine.svm", "-o", "wine.model", "--loss", "logistic", *FAST)
    assert result.stderr.startswith("class 0: pass 1 ")
    assert "the sum of 3 problems" in result.stdout


def test_regression(folder):
    model = fitted("diabetes", "--loss", "quantile(0.9)")
    y = labels_of("diabetes.svm")
    predictions = [
        float(p) for p in run("predict", "diabetes.model", "diabetes.svm").stdout.split()
    ]
    assert np.mean(predictions > y) == pytest.approx(0.9, abs=0.05)
    assert model.loss == "quantile(0.9)"
    decisions = run("predict", "diabetes.model", "diabetes.svm", "--decision").stdout.split()
    np.testing.assert_allclose([float(z) for z in decisions], predictions)
    score = json.loads(run("score", "diabetes.model", "diabetes.svm", "--json").stdout)
    assert score["examples"] == 442
    assert score["mean_loss"] > 0
    assert "R² " in run("score", "diabetes.model", "diabetes.svm").stdout


def test_task_chooses_the_loss(folder):
    assert fitted("diabetes", "--task", "regress").loss == "squared"
    assert fitted("cancer", "--task", "classify").loss == "hinge"


def test_weights(folder):
    (folder / "weights").write_text("0\n" + "1\n" * 568)
    weighted = fitted("cancer", "--weights", "weights")
    lines = (folder / "cancer.svm").read_text().splitlines(keepends=True)
    (folder / "cancer.svm").write_text("".join(lines[1:]))
    without = fitted("cancer")
    assert weighted.objective_ == pytest.approx(without.objective_, rel=2e-2)


def test_files_of_one_data_set_need_not_have_the_same_features(folder):
    (folder / "train.svm").write_text("1 1:1\n-1 1:-1 2:1\n" * 5)
    (folder / "test.svm").write_text("1 1:1 7:3\n")
    run("fit", "train.svm", "-o", "x.model", "--test", "test.svm", "-q", *FAST)
    assert load_model("x.model").n_features_in_ == 7
    (folder / "fewer.svm").write_text("0 1:1\n0 1:-1\n")
    assert run("predict", "x.model", "fewer.svm").stdout == "1\n-1\n"


def test_features_counted_from_zero(folder):
    text = svmlight(np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 1.0], [-1.0, 1.0]] * 3),
                    np.array([1, 0, 1, 0] * 3), base=0)  # fmt: skip
    (folder / "zero.svm").write_text(text)
    sentence = refused("fit", "zero.svm", "-o", "zero.model")
    assert sentence.startswith("zero.svm, line 1, column 3: index 0")
    assert sentence.endswith("for features counted from 0 say --zero-based")
    model = fitted("zero", "--zero-based")
    assert model.n_features_in_ == 2
    assert read_header("zero.model")["about"] == {"data": "zero.svm", "zero_based": True}
    # no index 0 in this file, and still it is counted from 0
    (folder / "no0.svm").write_text("0 1:5\n")
    decision = float(run("predict", "zero.model", "no0.svm", "--decision").stdout)
    assert decision == pytest.approx(5 * model.coef_[0, 1] + model.intercept_[0])


# -- stopped before the gap was met ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (("--passes", "2"), ("the limit of 2 passes", "allow more --passes")),
        (("--seconds", "0"), ("the limit of 0 s", "allow more --seconds")),
    ],
)
def test_exit_3_says_what_ended_the_run_and_writes_the_model(folder, limit, words):
    result = run("fit", "cancer.svm", "-o", "x.model", "-q", "--gap", "1e-9", *limit, code=3)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    for part in (*words, "before the gap of 1e-07 % was met", "the best possible"):
        assert part in result.stderr
    assert load_model("x.model").n_passes_ <= 2


def test_exit_3_with_json(folder):
    result = run(
        "fit", "cancer.svm", "-o", "x.model", "--json", "--gap", "1e-9", "--passes", "10", code=3
    )
    facts = json.loads(result.stdout)
    assert facts["gap_met"] is False
    assert facts["stopped_by"] == "passes"
    accepted = result.stderr.split("accept --gap ")[1].split(",")[0]
    assert facts["rel_gap"] <= float(accepted) <= 2 * facts["rel_gap"]


def test_gaps_that_folds_missed_are_told_and_that_of_the_fit_is_told_once(folder):
    given = "fit", "cancer.svm", "-o", "cancer.model", "--alpha", "cv", "--solver", "subgradient"
    said = run(*given, "--passes", "2", code=3).stderr
    assert re.search(r"note: \d+ of \d+ fits in folds ended .*: .*allow more --passes, or", said)
    assert said.count("note:") == 1


def test_limits_that_are_none(folder):
    assert fitted("cancer", "--seconds", "inf").seconds == np.inf
    for option in ("--gap", "--seconds"):
        run("fit", "cancer.svm", "-o", "x.model", "--alpha", "1e-2", option, "1" + "0" * 400)
        run("info", "x.model")
    said = refused("fit", "cancer.svm", "-o", "x.model", "--passes", "1" + "0" * 400)
    assert "passes is more than a double can hold" in said
    run("fit", "cancer.svm", "-o", "x.model", "--seconds", "nan", code=2)


def test_a_small_limit_of_memory(folder, monkeypatch):
    monkeypatch.setattr("resource.getrlimit", lambda what: (600_000 << 10, -1))
    said = refused("fit", "none.svm", "-o", "x.model")
    assert said.startswith("memory is limited to 585 MiB (ulimit -v), but at least ")


def test_no_more_threads(folder, monkeypatch):
    monkeypatch.setattr("stepless.cli.batch.read_examples", lambda *args: Thread().start())
    before = stack_size(1 << 46)  # bytes, of which no system has so many
    try:
        said = refused("fit", "cancer.svm", "-o", "x.model", "-q")
    finally:
        stack_size(before)
    assert said.startswith("the system allows no more threads")


def test_other_errors_of_a_run_are_not_hidden(folder, monkeypatch):
    def fail(*args):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("stepless.cli.batch.read_examples", fail)
    with pytest.raises(RuntimeError):
        run("fit", "cancer.svm", "-o", "x.model", "-q")


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 1:1\n-1 2:x\n", "bad.svm, line 2, column 6: "),
        ("1 1:1\nred 2:1\n", "bad.svm, line 2, column 1: expected a number as label"),
        ("1 1:nan\n-1 1:1\n", "bad.svm, line 1, column 5: "),
        ("", "bad.svm: holds no examples"),
        ("1 1:1\n1 2:1\n", "bad.svm: all labels are 1, but a classifier needs two classes"),
        ("1 1:1\n2.5 2:1\n", "bad.svm: the label 2.5 of example 2 is not a whole number"),
        ("1\n-1\n", "bad.svm: "),  # no features at all
    ],
)
def test_bad_data(folder, text, words):
    (folder / "bad.svm").write_text(text)
    assert refused("fit", "bad.svm", "-o", "x.model").startswith(words)


def test_bad_test_data_is_found_before_the_fit(folder, monkeypatch):
    (folder / "bad.svm").write_text("1 1:1\n-1 2:x\n")

    def fit(*args, **kwargs):
        raise AssertionError("the fit began")

    monkeypatch.setattr(LinearClassifier, "fit", fit)
    sentence = refused("fit", "cancer.svm", "-o", "x.model", "--test", "bad.svm")
    assert sentence.startswith("bad.svm, line 2, column 6: ")


def test_missing_data(folder):
    assert refused("fit", "none.svm", "-o", "x.model") == "none.svm: no such file"
    message = refused("fit", ".", "-o", "x.model")
    assert message.startswith(".: is no store, or half of one: it has no header.json")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--loss", "hinje"), "there is no loss 'hinje': did you mean 'hinge'?"),
        (("--loss", "quantile(2)"), "tau must lie between 0 and 1"),
        (("--loss", "quantile(a)"), "must be numbers"),
        (("--loss", "hinge(1)"), "loss 'hinge(1)' has no numbers in brackets"),
        (("--solver", "bundel"), "there is no solver 'bundel': did you mean 'bundle'?"),
        (("--solver", "pegasos", "--penalty", "none"), "needs a strongly convex penalty"),
        (("--penalty", "l22"), "there is no penalty 'l22': did you mean 'l2'?"),
        (("--domain", "bal(2)"), "there is no domain 'bal': did you mean 'ball'?"),
        (("--domain", "ball(-2)"), "positive radius"),
        (("--alpha", "-1"), "alpha must be positive"),
        (("--alpha", "nan"), "alpha must be positive"),
        (("--task", "regress", "--loss", "hinge"), "loss 'hinge' is not for --task regress"),
        (("--task", "classify", "--loss", "poisson"), "choose one of hinge, "),
    ],
)
def test_bad_names_and_numbers_are_refused_before_any_reading(folder, options, words):
    # the data do not exist, and yet they are not what is complained of
    assert words in refused("fit", "none.svm", "-o", "x.model", *options)


def test_a_strength_is_a_number_or_auto(folder):
    result = run("fit", "cancer.svm", "-o", "x.model", "--alpha", "nonsense", code=2)
    assert "α is a number, or one of" in result.stderr


def test_targets_that_the_loss_does_not_take(folder):
    (folder / "negative.svm").write_text("1 1:1\n-1 2:1\n")
    sentence = refused("fit", "negative.svm", "-o", "x.model", "--loss", "poisson")
    assert sentence.startswith("negative.svm: Poisson needs targets ≥ 0")


def test_bad_weights(folder):
    (folder / "weights").write_text("1\nx\n")
    sentence = refused("fit", "cancer.svm", "-o", "x.model", "--weights", "weights")
    assert sentence.startswith("weights, line 2, column 1: expected a weight")
    (folder / "weights").write_text("1\n1\n")
    sentence = refused("fit", "cancer.svm", "-o", "x.model", "--weights", "weights")
    assert sentence == "weights: holds 2 weights, but there are 569 examples"
    (folder / "weights").write_text("1\n" * 569 + "\n1\n")
    sentence = refused("fit", "cancer.svm", "-o", "x.model", "--weights", "weights")
    assert sentence == "weights: holds more weights than the 569 examples"
    for text, found in ((b"\xff\xfe", r"found '\\xff\\xfe'"), (b"1_0\n", "found '1_0'")):
        (folder / "weights").write_bytes(text)
        assert refused("fit", "cancer.svm", "-o", "x", "--weights", "weights").endswith(found)
    sentence = refused("fit", "cancer.svm", "-o", "x.model", "--weights", "none")
    assert sentence == "none: no such file"


def test_weights_without_end(folder, monkeypatch):
    monkeypatch.setattr("stepless.data.byte_stream.LONGEST_LINE", 1 << 20)
    sentence = refused("fit", "cancer.svm", "-o", "x.model", "--weights", "/dev/zero")
    assert sentence.startswith("/dev/zero, after line 0: a line is longer than 1 MiB")


def test_weights_from_standard_input(folder):
    arguments = ["fit", "cancer.svm", "-o", "m", "-q", "--weights", "-"]
    result = CliRunner().invoke(app, arguments, input="1\n" * 568)
    assert result.stderr == "stepless: <stdin>: holds 568 weights, but there are 569 examples\n"
    assert CliRunner().invoke(app, arguments, input="1\n" * 569).exit_code == 0


def test_too_many_features(folder, monkeypatch):
    def fit(*args, **kwargs):
        raise MemoryError("Unable to allocate\n7 TiB")

    monkeypatch.setattr(LinearClassifier, "fit", fit)
    sentence = refused("fit", "cancer.svm", "-o", "x.model", "-q")
    assert sentence == "the data do not fit into memory (Unable to allocate 7 TiB)"


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("no/such/x.model", "there is no directory 'no/such'"),
        (".", "is a directory, not a file"),
        ("x" * 300, "cannot be written"),
        ("cancer.svm", "the output would overwrite an input"),
    ],
)
def test_bad_outputs_are_found_before_the_fit(folder, output, words, monkeypatch):
    def read(*args, **kwargs):
        raise AssertionError("reading began")

    monkeypatch.setattr("stepless.cli.reading.read_svmlight", read)
    before = (folder / "cancer.svm").read_bytes()
    assert words in refused("fit", "cancer.svm", "-o", output)
    assert (folder / "cancer.svm").read_bytes() == before


def test_a_directory_without_permission(folder, monkeypatch):
    def deny(path, *args):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.open", deny)
    sentence = refused("fit", "cancer.svm", "-o", "x.model")
    assert sentence == "x.model: cannot be written (Permission denied)"


def test_a_disk_that_fills_up(folder, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    sentence = refused("fit", "cancer.svm", "-o", "x.model", "-q", *FAST)
    assert sentence == "x.model: No space left on device"


@pytest.mark.parametrize("where", ["stepless.LinearClassifier.fit", "os.replace"])
def test_interrupted(folder, monkeypatch, where):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupt)
    before = sorted(os.listdir())
    result = run("fit", "cancer.svm", "-o", "x.model", "-q", *FAST, code=130)
    assert result.stderr == "stepless: interrupted: nothing was written\n"
    assert sorted(os.listdir()) == before


@pytest.mark.usefixtures("usual_handlers")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_and_the_model_so_far_is_written(folder, monkeypatch, number):
    monkeypatch.setattr("stepless.run.Progress", lambda label: sends(2, number=number))
    hard = "--alpha", "1e-9", "--gap", "1e-9", "--solver", "proximal-bundle"
    result = run("fit", "cancer.svm", "-o", "x.model", *hard, code=130)
    assert result.stderr.startswith("stepless: interrupted: the model so far is in x.model; ")
    assert result.stderr.count("\n") == 1
    assert re.search(r"ended by +an interrupt", result.stdout)
    model = load_model("x.model")
    assert (model.stopped_by_, model.n_passes_) == ("interrupt", 2)


@pytest.mark.usefixtures("usual_handlers")
def test_a_second_signal_writes_nothing(folder, monkeypatch):
    def twice(event, w, b):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("stepless.run.Progress", lambda label: twice)
    before = sorted(os.listdir())
    result = run("fit", "cancer.svm", "-o", "x.model", *FAST, code=130)
    assert result.stderr == "stepless: interrupted: nothing was written\n"
    assert sorted(os.listdir()) == before


# -- predict, score, info --------------------------------------------------------------------------


@pytest.fixture
def model(folder):
    fitted("cancer")
    return folder / "cancer.model"


def test_predictions_into_a_file(model):
    result = run("predict", model, "cancer.svm", "-o", "out.txt")
    assert result.output == ""
    with open("out.txt") as file:
        assert file.read() == run("predict", model, "cancer.svm").stdout


def test_predictions_that_cannot_be_written(model, monkeypatch):
    assert "there is no directory" in refused("predict", model, "cancer.svm", "-o", "no/out")
    assert "overwrite" in refused("predict", model, "cancer.svm", "-o", "cancer.model")
    assert "overwrite" in refused("predict", model, "cancer.svm", "-o", "cancer.svm")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert refused("predict", model, "cancer.svm", "-o", "out") == "out: No space left on device"


def test_more_features_than_the_model_knows(model, folder):
    (folder / "wide.svm").write_text("1 1:1 9:1\n")
    for command in ("predict", "score"):
        sentence = refused(command, model, "wide.svm")
        assert sentence.startswith("wide.svm: has 9 features, but the model knows 8")


def test_no_probabilities(model, folder):
    assert "hinge loss has no probabilities" in refused("predict", model, "cancer.svm", "--proba")
    fitted("diabetes", "--task", "regress")
    sentence = refused("predict", "diabetes.model", "diabetes.svm", "--proba")
    assert "squared loss has no probabilities" in sentence


def test_labels_that_are_settled(model, folder):
    plain = run("predict", model, "cancer.svm").stdout.split()
    rows = [
        line.split()
        for line in run("predict", model, "cancer.svm", "--settled").stdout.splitlines()
    ]
    assert [label for label, _ in rows] == plain
    assert {word for _, word in rows} <= {"settled", "open"}
    rows = [
        line.split()
        for line in run(
            "predict", model, "cancer.svm", "--settled", "--decision"
        ).stdout.splitlines()
    ]
    certain = [abs(float(z)) for z, word in rows if word == "settled"]
    assert len(certain) > 100
    assert min(certain) > 0.0
    assert "optimum  " in run("info", model).stdout
    facts = json.loads(run("info", model, "--json").stdout)
    assert facts["coef_error"][0] > 0.0
    assert facts["intercept_range"][0][0] <= facts["intercept"][0] <= facts["intercept_range"][0][1]
    fitted("diabetes", "--task", "regress")
    sentence = refused("predict", "diabetes.model", "diabetes.svm", "--settled")
    assert "--settled is for a LinearClassifier, and this is a LinearRegressor" in sentence
    fitted("wine", "--penalty", "l1")
    sentence = refused("predict", "wine.model", "wine.svm", "--settled")
    assert sentence.startswith("wine.model: how far the optimum is, only")


def test_labels_that_the_model_does_not_know(model, folder):
    (folder / "other.svm").write_text("1 1:1\n5 1:1\n")
    said = run("score", model, "other.svm").stdout
    assert "of which 1 has a label that the model does not know" in said
    (folder / "other.svm").write_text("0.5 1:1\n")
    assert "is not a whole number" in refused("score", model, "other.svm")


def test_string_labels_of_a_saved_estimator(folder):
    clf = LinearClassifier(alpha=0.1).fit([[0.0], [1.0], [2.0]], ["no", "no", "yes"])
    save_model(clf, "words.model")
    (folder / "x.svm").write_text("0 1:0\n0 1:2\n")
    assert run("predict", "words.model", "x.svm").stdout == "no\nyes\n"
    assert "classes no and yes" in run("info", "words.model").stdout
    assert (
        "2 have labels that the model does not know" in run("score", "words.model", "x.svm").stdout
    )


def test_counts_below_zero_have_no_score(folder):
    (folder / "counts.svm").write_text("1 1:1\n3 1:2\n0 1:-1\n" * 3)
    fitted("counts", "--loss", "poisson")
    (folder / "negative.svm").write_text("-1 1:1\n")
    assert "Poisson needs targets ≥ 0" in refused("score", "counts.model", "negative.svm")


@pytest.mark.parametrize("command", ["predict", "score", "info"])
def test_files_that_are_no_models(folder, command):
    data = [] if command == "info" else ["cancer.svm"]
    assert refused(command, "none.model", *data) == "none.model: no such file"
    assert "is not a model file" in refused(command, "wine.svm", *data)


# -- usage -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit"],
        ["fit", "cancer.svm"],
        ["fit", "cancer.svm", "-o", "x", "--passes", "0"],
        ["fit", "cancer.svm", "-o", "x", "--gap", "-1"],
        ["fit", "cancer.svm", "-o", "x", "--gap", "nan"],
        ["fit", "cancer.svm", "-o", "x", "--jobs", "0"],
        ["fit", "cancer.svm", "-o", "x", "--task", "dream"],
        ["fit", "cancer.svm", "-o", "x", "--stepsize", "1"],
        ["predict", "a", "b", "--proba", "--decision"],
        ["nonsense"],
    ],
)
def test_wrong_usage(folder, arguments):
    result = run(*arguments, code=2)
    assert "Usage: " in result.stderr
    assert "Traceback" not in result.stderr


def test_help_and_version():
    for command in ([], ["fit"], ["predict"], ["score"], ["info"], ["demo"]):
        assert "Usage: " in run(*command, "--help").stdout
    assert "Exit codes: 0 done" in run("--help").stdout
    assert run("--version").stdout == f"stepless {__version__}\n"


# -- the live line ---------------------------------------------------------------------------------


def shown(width, problems=1):
    console = Console(file=io.StringIO(), force_terminal=True, width=width)
    live = Live(console=console, auto_refresh=False)
    line = progress.LiveLine(live, Stopping(gap=1e-3, seconds=100), problems)
    for t in range(1, 10):
        line(Event(t, t, float(t), 1.0, 1.0 - 0.1 / t, 1.0, 1), np.zeros(1), 0.0)
    return live._renderable.plain


def test_the_live_line():
    assert shown(120) == (
        "pass 9 · objective 1 · lower bound 0.988888 · gap 1.2 % · 9 s · "
        "at most about 1 min 31 s left"
    )
    assert shown(80).startswith("pass 9 · gap 1.2 % · at most about 1 min 31 s left · objective 1")
    assert shown(120, problems=3).startswith("class 1 of 3 · pass 9 · ")
    assert "left for this class" in shown(120, problems=3)


def test_a_terminal_gets_the_live_line_and_loses_it_again(folder, monkeypatch):
    monkeypatch.setattr(progress, "on_terminal", lambda: True)
    seen = []
    shows = progress.LiveLine.__call__

    def watch(self, event, w, b):
        shows(self, event, w, b)
        seen.append(self._live._renderable.plain)

    monkeypatch.setattr(progress.LiveLine, "__call__", watch)
    result = run("fit", "wine.svm", "-o", "wine.model", *FAST)
    assert seen[0].startswith("class 1 of 3 · pass 1 · ")
    assert seen[-1].startswith("class 3 of 3 · ")
    assert "pass 1  " not in result.stderr
    assert "above the best possible" in result.stdout


# -- the program -----------------------------------------------------------------------------------


def test_demo():
    said = run("demo").stdout
    for words in ("cancer", "digits", "quantile(0.9)", "LinearSVC", "lower bound", "C = 1/(αm)"):
        assert words in said
    assert max(map(len, said.splitlines())) <= 80
    assert "…" not in said  # nothing is cut


def test_the_console_script_and_a_closed_pipe(folder):
    fitted("cancer")
    command = [sys.executable, "-c", "from stepless.cli import main; main()"]
    one = subprocess.run([*command, "info", "none.model"], capture_output=True, text=True)
    assert (one.returncode, one.stdout) == (1, "")
    assert one.stderr == "stepless: none.model: no such file\n"
    pipe = f"{sys.executable} -c '{command[-1]}' predict cancer.model cancer.svm | true"
    assert subprocess.run(pipe, shell=True, capture_output=True, text=True).stderr == ""


def test_help_waits_for_nothing_heavy():
    code = "import stepless.cli, sys; print({'numpy', 'sklearn', 'numba'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert said == "set()\n"


def test_only_the_command_line_imports_typer_and_rich():
    root = Path(stepless.__file__).parent
    for path in root.rglob("*.py"):
        if root / "cli" not in path.parents:
            assert not re.search(r"^\s*(from|import) (typer|rich)\b", path.read_text(), re.M), path


def test_the_command_is_a_module_too():
    found = subprocess.run(
        [sys.executable, "-m", "stepless", "--version"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
