"""Metrics, rankings and tags through the shell, beside the estimators themselves."""

from __future__ import annotations

import gzip
import json
import os
import threading

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score
from sklearn.preprocessing import scale
from typer.testing import CliRunner

from cli.commands import refused, run
from stepless import (
    ChainClassifier,
    KernelClassifier,
    LinearRanker,
    MetricClassifier,
    OneClass,
    StructuredClassifier,
    mean_average_precision,
    mean_reciprocal_rank,
    ndcg_at_k,
    precision_at_k,
)
from stepless.cli import app
from stepless.data import word_features
from stepless.report import load_model, read_header, save_model
from stepless.structured import Multiclass

FAST = ("--alpha", "1e-2", "--gap", "1e-2", "--jobs", "1")
SAME = {"alpha": 1e-2, "gap": 1e-2, "n_jobs": 1, "passes": 1000}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:, :6].round(2), 2 * y - 1


def written(X, y, path, qid=None):
    with open(path, "w") as file:
        for i, row in enumerate(X.tolist()):
            query = "" if qid is None else f"qid:{qid[i]} "
            entries = " ".join(f"{j}:{value!r}" for j, value in enumerate(row, 1) if value)
            file.write(f"{y[i]} {query}{entries}\n")


# -- metrics ---------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch, cancer):
    monkeypatch.chdir(tmp_path)
    written(*cancer, "cancer.svm")
    return tmp_path


def test_a_metric(folder, cancer):
    X, y = cancer
    said = run("fit", "cancer.svm", "-o", "m", "--metric", "f1", "--test", "cancer.svm", *FAST)
    same = MetricClassifier("f1", **SAME).fit(X, y)
    model = load_model("m")
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-9)
    assert "bound of 1 − f1, l2 penalty with alpha 0.01" in said.stdout
    assert f"f1 {same.score(X, y):.4f} on 569 examples" in said.stdout
    labels = [int(line) for line in run("predict", "m", "cancer.svm").stdout.split()]
    score = json.loads(run("score", "m", "cancer.svm", "--json").stdout)
    assert score["examples"] == 569
    assert score["f1"] == pytest.approx(f1_score(y, labels))
    assert "bound of 1 − f1" in run("info", "m").stdout
    decisions = [float(z) for z in run("predict", "m", "cancer.svm", "--decision").stdout.split()]
    np.testing.assert_array_equal(np.where(np.array(decisions) > 0, 1, -1), labels)


@pytest.mark.parametrize(
    ("options", "metric", "k", "name"),
    [
        (("precision_at_k", "--k", "20"), "precision_at_k", 20, "precision@20"),
        (("recall_at_k", "--k", "0.1"), "recall_at_k", 0.1, "recall@0.1"),
    ],
)
def test_metrics_at_k(folder, options, metric, k, name):
    run("fit", "cancer.svm", "-o", "m", "--metric", *options, "-q", "--passes", "3", *FAST, code=3)
    model = load_model("m")
    assert (model.metric, model.k) == (metric, k)
    assert name in json.loads(run("score", "m", "cancer.svm", "--json").stdout)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--metric", "f2"), "there is no metric 'f2': did you mean 'f1'?"),
        (("--metric", "precision_at_k"), "needs --k:"),
        (("--metric", "f1", "--k", "3"), "has no k"),
        (("--metric", "recall_at_k", "--k", "-1"), "k must be a whole number of examples"),
        (("--metric", "f1", "--loss", "hinge"), "--loss does not go with --metric f1"),
        (("--metric", "f1", "--task", "rank"), "--task rank does not go with --metric f1"),
        (("--metric", "f1", "--domain", "ball(1)"), "--domain does not go with --metric f1"),
        (("--metric", "f1", "--multi-class", "joint"), "--multi-class does not go with"),
        (("--metric", "f1", "--alpha", "auto"), "--alpha auto does not go with --metric f1"),
        (("--metric", "f1", "--solver", "newton"), "choose one of bundle, proximal-bundle"),
        (("--metric", "f1", "--solver", "bundel"), "did you mean 'bundle'?"),
        (("--metric", "f1", "--penalty", "l3"), "there is no penalty 'l3'"),
        (("--metric", "f1", "--stream"), "a stream is for losses of single examples"),
        (("--k", "3"), "--k is for --metric and --task rank"),
        (("--task", "rank", "--loss", "hinge"), "there is no loss 'hinge'"),
        (("--task", "rank", "--k", "0.5"), "--k must be a whole number of documents"),
        (("--task", "rank", "--no-intercept"), "--no-intercept does not go with --task rank"),
        (("--task", "rank", "--weights", "w"), "--weights does not go with --task rank"),
        (("--task", "tag", "--loss", "logistic"), "there is no loss 'logistic'"),
        (("--task", "tag", "--k", "3"), "--k is for --metric and --task rank"),
        (("--task", "tag", "--zero-based"), "--zero-based does not go with --task tag"),
    ],
)
def test_what_does_not_go_together(folder, options, sentence):
    # the data do not exist, and yet they are not what is complained of
    assert sentence in refused("fit", "none", "-o", "m", *options)


def test_data_that_a_metric_does_not_take(folder):
    (folder / "three.svm").write_text("1 1:1\n2 1:2\n3 1:3\n")
    assert "Only binary" in refused("fit", "three.svm", "-o", "m", "--metric", "f1")
    (folder / "one.svm").write_text("1 1:1\n1 1:2\n")
    assert "all labels are 1" in refused("fit", "one.svm", "-o", "m", "--metric", "f1")
    (folder / "w").write_text("1\n" * 569)
    sentence = refused("fit", "cancer.svm", "-o", "m", "--metric", "f1", "--weights", "w")
    assert "has no sample_weight" in sentence
    assert "k is a number, not 'x'" in run("fit", "a", "-o", "m", "--k", "x", code=2).stderr


# -- rankings --------------------------------------------------------------------------------------


@pytest.fixture
def ranking(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(80, 3)).round(3), np.repeat(np.arange(8), 10)
    y = np.digitize(X @ [1.0, -1.0, 0.0] + 0.3 * rng.normal(size=80), [0.5, 1.5])
    written(X, y, "docs.svm", qid)
    written(X, y, "plain.svm")
    return X, y, qid


def test_a_ranker(ranking):
    X, y, qid = ranking
    options = ("--task", "rank", "--loss", "ndcg", "--k", "5", *FAST)
    said = run("fit", "docs.svm", "-o", "m", "--test", "docs.svm", *options).stdout
    same = LinearRanker("ndcg", k=5, **SAME).fit(X, y, qid=qid)
    np.testing.assert_allclose(load_model("m").coef_, same.coef_, rtol=1e-9)
    z = same.predict(X)
    lines = run("predict", "m", "docs.svm").stdout.split()
    np.testing.assert_allclose([float(line) for line in lines], z, rtol=1e-9)
    assert run("predict", "m", "plain.svm").stdout.split() == lines  # scores need no queries
    assert json.loads(run("score", "m", "docs.svm", "--json").stdout) == {
        "model": "m",
        "data": "docs.svm",
        "documents": 80,
        "queries": 8,
        "ndcg@5": pytest.approx(ndcg_at_k(y, z, 5, qid=qid)),
        "map": pytest.approx(mean_average_precision(y, z, qid=qid)),
        "mrr": pytest.approx(mean_reciprocal_rank(y, z, qid=qid)),
        "precision@5": pytest.approx(precision_at_k(y, z, 5, qid=qid)),
    }
    assert f"NDCG@5 {ndcg_at_k(y, z, 5, qid=qid):.4f}, MAP 0." in said
    assert "80 documents of 8 queries, 3 features" in said
    assert "ndcg loss of rankings" in run("info", "m").stdout
    assert "a LinearRanker has no probabilities" in refused("predict", "m", "docs.svm", "--proba")
    assert "has no query ids" in refused("score", "m", "plain.svm")


def test_a_ranker_needs_queries(ranking):
    sentence = refused("fit", "plain.svm", "-o", "m", "--task", "rank")
    assert sentence.startswith("plain.svm: has no query ids")


# -- tags ------------------------------------------------------------------------------------------

CHUNKED = "He PRP B-NP\nreckons VBZ B-VP\n\nthe DT B-NP\ndeficit NN I-NP\nnarrows VBZ B-VP\n. . O\n"
WORDS = "a\tD\ndog\tN\nbarks\tV\n\nthe\tD\ncat\tN\nsleeps\tV\n\n"


@pytest.fixture
def sentences(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chunks.txt").write_text(CHUNKED)
    (tmp_path / "words.txt").write_text(WORDS)
    return tmp_path


def test_chunks(sentences):
    said = run(
        "fit", "chunks.txt", "-o", "m", "--task", "tag", "--test", "chunks.txt", *FAST
    ).stdout
    assert "crf loss of sequences, l2 penalty with alpha 0.01\n" in said
    assert "accuracy 100.00 %, chunk precision 1.0000, chunk recall 1.0000" in said
    assert "chunk F1 1.0000 on 6 positions of 2 sequences" in said
    assert read_header("m")["about"] == {
        "data": "chunks.txt",
        "template": "columns",
        "columns": 3,
    }
    assert {"w+0=He", "t+0=PRP"} <= load_model("m").vocabulary_.keys()
    # with tags and without, the tag that is predicted is one more column
    rows = CHUNKED.splitlines()
    tagged = [f"{row} {row.split()[-1]}" if row else "" for row in rows]
    assert run("predict", "m", "chunks.txt").stdout.splitlines() == tagged
    bare = "\n".join(" ".join(row.split()[:2]) for row in rows)
    (sentences / "bare.txt").write_text(bare)
    assert run("predict", "m", "bare.txt").stdout == CHUNKED
    assert "6 positions of 2 sequences" in run("score", "m", "chunks.txt").stdout
    assert "classes B-NP, B-VP, I-NP and O" in run("info", "m").stdout
    (sentences / "one.txt").write_text("He\n")
    assert "have 3, or 2 without tags" in refused("predict", "m", "one.txt")
    assert refused("score", "m", "bare.txt").endswith("the model's sentences have 3")


def test_sentences_are_read_once(sentences):
    """From a pipe, which cannot be read again."""
    run("fit", "chunks.txt", "-o", "m", "--task", "tag", "-q", *FAST)
    expected = run("predict", "m", "chunks.txt").stdout
    text = (sentences / "chunks.txt").read_bytes()
    for command in ("predict", "score"):
        os.mkfifo("pipe")
        thread = threading.Thread(target=(sentences / "pipe").write_bytes, args=(text,))
        thread.start()
        assert run(command, "m", "pipe").stdout == run(command, "m", "chunks.txt").stdout
        thread.join()
        os.unlink("pipe")
    piped = CliRunner().invoke(app, ["predict", "m", "-"], input=text)
    assert piped.stdout == expected
    arguments = ["fit", "-", "-o", "n", "--task", "tag", "-q", *FAST]
    assert CliRunner().invoke(app, arguments, input=text).exit_code == 0
    np.testing.assert_array_equal(load_model("n").emission_.data, load_model("m").emission_.data)
    assert run("predict", "n", "chunks.txt").stdout == expected


def test_tags_do_nothing_to_a_terminal(sentences):
    (sentences / "odd.txt").write_text("a \x1b[31m\nb D\n")
    run("fit", "odd.txt", "-o", "m", "--task", "tag", "-q", *FAST)
    (sentences / "bare.txt").write_text("a\nb\n")
    assert run("predict", "m", "bare.txt").stdout == "a \\x1b[31m\nb D\n"


def test_words_alone(sentences):
    (sentences / "w").write_text("1\n2\n")
    options = ("--task", "tag", "--loss", "hinge", "--weights", "w", *FAST)
    run("fit", "words.txt", "-o", "m", "-q", *options)
    X = [word_features(words) for words in (["a", "dog", "barks"], ["the", "cat", "sleeps"])]
    same = ChainClassifier("hinge", **SAME).fit(X, [list("DNV"), list("DNV")], [1, 2])
    model = load_model("m")
    assert model.vocabulary_ == same.vocabulary_
    np.testing.assert_allclose(model.transition_, same.transition_, rtol=1e-9)
    assert json.loads(run("score", "m", "words.txt", "--json").stdout) == {
        "model": "m",
        "data": "words.txt",
        "positions": 6,
        "sequences": 2,
        "accuracy": 1.0,
        "unseen_labels": 0,
    }
    lines = run("predict", "m", "words.txt").stdout
    assert lines.startswith("a\tD\tD\ndog\tN\tN\nbarks\tV\tV\n\nthe\tD\tD\n")
    with gzip.open("new.gz", "wt") as file:
        file.write("the\r\ndog\r\n")
    assert run("predict", "m", "new.gz").stdout == "the D\ndog N\n"
    assert "has no probabilities" in refused("predict", "m", "words.txt", "--proba")
    assert "have no --decision" in refused("predict", "m", "words.txt", "--decision")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a D\ndog\n", "bad.txt, line 2: has 1 column, but the lines before have 2"),
        ("\n\n", "bad.txt: holds no words"),
        ("a\nb\n", "bad.txt: has one column, but a word and, last, its tag are needed"),
        ("a D\nb D\n", "bad.txt: y holds one tag only (D): a tagger needs two"),
    ],
)
def test_bad_sentences(sentences, text, sentence):
    (sentences / "bad.txt").write_text(text)
    assert refused("fit", "bad.txt", "-o", "m", "--task", "tag") == sentence


# -- models of Python's ----------------------------------------------------------------------------


def test_models_that_python_saved(folder, cancer):
    X, y = cancer
    detector = OneClass(nu=0.2, gap=1e-1).fit(X + 10.0)
    save_model(detector, "one")
    said = run("predict", "one", "cancer.svm").stdout.split()
    assert [int(line) for line in said] == detector.predict(X).tolist()
    assert "distance from the origin, nu(0.2)" in run("info", "one").stdout
    kernel = KernelClassifier(alpha=0.1, gap=0.1).fit(X, y)
    save_model(kernel, "kernel")
    assert f"{100 * kernel.score(X, y):.2f} %" in run("score", "kernel", "cancer.svm").stdout
    assert "hinge loss, gaussian(" in run("info", "kernel").stdout
    structured = StructuredClassifier(Multiclass.of(X, y), alpha=0.1, gap=0.1).fit(X, y)
    save_model(structured, "some")
    assert "hinge of the structures of a Multiclass" in run("info", "some").stdout
    chain = ChainClassifier(alpha=0.1, gap=0.1).fit([[["a"], ["b"]]], [["A", "B"]])
    save_model(chain, "chain")
    for model in ("some", "chain"):
        for command in ("predict", "score"):
            assert "in Python" in refused(command, model, "cancer.svm")
