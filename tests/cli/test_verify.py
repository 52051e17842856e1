"""Claims held against data through the shell."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

from cli.commands import refused, run
from cli.test_tasks import written
from stepless import load_model, read_svmlight
from stepless.report.proof_file import FILE

FAST = ("--alpha", "1e-2", "--gap", "1e-2", "--jobs", "1", "--solver", "bundle")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted")
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)[:, :4].round(2)
    written(X, y, folder / "cancer.svm")
    written(load_iris().data, load_iris().target, folder / "iris.svm")
    (folder / "weights").write_text("\n".join(["1", "2", "3"] * 190).rsplit("\n", 1)[0] + "\n")
    for name in ("cancer", "iris"):
        to = ("-o", folder / name, "--proof", folder / f"{name}.proof")
        run("fit", folder / f"{name}.svm", *to, *FAST)
    return folder


@pytest.fixture
def folder(fitted, tmp_path, monkeypatch):
    shutil.copytree(fitted, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["cancer", "iris"])
def test_claims_that_hold(folder, name):
    said = run("verify", name, f"{name}.svm", "--proof", f"{name}.proof").stdout
    assert said.startswith("what the model claims holds: on these data its objective is ")
    assert said.count("\n") == 1
    told = json.loads(
        run("verify", name, f"{name}.svm", "--proof", f"{name}.proof", "--json").stdout
    )
    model = load_model(name)
    assert (told["model"], told["data"], told["proof"]) == (name, f"{name}.svm", f"{name}.proof")
    assert told["holds"] is True
    assert told["objective"] <= model.objective_ * (1.0 + 1e-12)
    assert told["lower_bound"] >= model.lower_bound_ * (1.0 - 1e-12)
    assert told["rel_gap"] <= 1e-2


def test_without_a_proof(folder):
    said = run("verify", "cancer", "cancer.svm").stdout
    assert said.startswith("the objective holds: ")
    assert "without a proof the lower bound, 0." in said
    told = json.loads(run("verify", "cancer", "cancer.svm", "--json").stdout)
    assert told["lower_bound"] is None
    assert told["proof"] is None


def test_claims_that_do_not_hold(folder):
    text = Path("cancer.svm").read_text()
    flipped = [f"{1 - int(line[0])}{line[1:]}" for line in text.splitlines()]
    Path("worse.svm").write_text("\n".join(flipped) + "\n")
    result = run("verify", "cancer", "worse.svm", code=1)
    assert result.stdout.startswith("what the model claims does not hold: its objective on these")
    assert " above the 0." in result.stdout
    assert result.stderr == ""
    assert (
        json.loads(run("verify", "cancer", "worse.svm", "--json", code=1).stdout)["holds"] is False
    )
    # of an example that is far on the right side, many copies
    model = load_model("cancer")
    X, y, _ = read_svmlight("cancer.svm")
    margins = model.decision_function(X) * (2 * y - 1)
    easy = text.splitlines()[int(margins.argmax())]
    Path("better.svm").write_text(text + f"{easy}\n" * 100)
    told = run("verify", "cancer", "better.svm", code=1).stdout
    assert "below the lower bound that it claims, 0." in told


def test_weights(folder):
    fit = ("fit", "cancer.svm", "-o", "m", "--proof", "p", *FAST)
    run(*fit, "--weights", "weights")
    verify = ("verify", "m", "cancer.svm", "--proof", "p")
    run(*verify, "--weights", "weights")
    assert "p: is a proof of other weights of examples (569 #" in refused(*verify)


def test_what_is_said_of_the_proof(folder):
    said = run("fit", "cancer.svm", "-o", "m", "--proof", "p", *FAST).stdout
    assert "written to m, its proof to p" in said
    told = json.loads(run("fit", "cancer.svm", "-o", "m", "--proof", "p", *FAST, "--json").stdout)
    assert told["proof"] == "p"
    assert "proof        p, sha256 " in run("info", "m").stdout
    assert json.loads(run("info", "m", "--json").stdout)["proof"]["file"] == "p"
    run("fit", "cancer.svm", "-o", "m", *FAST)
    assert "proof" not in run("info", "m").stdout
    assert "--proof" in run("verify", "--help").stdout


def test_refusals(folder):
    verify = ("verify", "cancer", "cancer.svm", "--proof")
    proof = Path("cancer.proof").read_bytes()
    Path("cut").write_bytes(proof[:-1])
    Path("bit").write_bytes(proof[:-20] + bytes([proof[-20] ^ 1]) + proof[-19:])
    header, arrays = FILE.read("cancer.proof")
    Path("short").write_bytes(FILE.packed(header, {"slopes.0": arrays["slopes.0"][:-1]}))
    Path("new").write_bytes(FILE.packed(header | {"format": 99}, arrays))
    said = {name: refused(*verify, name) for name in ("cut", "bit", "short", "new", "cancer", "no")}
    assert said["cut"].startswith("cut: is not a proof file, or was cut short (")
    assert said["bit"] == "bit: is damaged, as its checksum does not match its content"
    assert said["short"] == "short: has slopes of shape (568,), but (569,) are needed"
    assert "in format 99, but stepless" in said["new"]
    assert said["cancer"] == "cancer: is a safetensors file, but holds no stepless proof"
    assert said["no"] == "no: no such file"
    assert refused(*verify, "cancer.svm").startswith("cancer.svm: is not a proof file, or was cut")
    for other, sentence in {
        ("--alpha", "2e-2"): "for the penalty SquaredL2(alpha=0.02), but the model's is Squared",
        ("--loss", "logistic"): "for the loss Logistic(), but the model's is Hinge()",
        ("--gap", "1e-1"): "is a proof of another claim about these weights",
        ("--no-intercept",): "for the intercept none, but the model's is free",
    }.items():
        run("fit", "cancer.svm", "-o", "m", "--proof", "p", *FAST, *other)
        told = refused(*verify, "p")
        assert told.startswith("p: is a proof ")
        assert sentence in told
    assert "is a proof of other examples (150 × 4 #" in refused(*verify, "iris.proof")


def test_other_data(folder):
    rows = Path("cancer.svm").read_text().splitlines()
    given = ("--proof", "cancer.proof")

    def told(*lines):
        Path("other.svm").write_text("\n".join(lines) + "\n")
        return refused("verify", "cancer", "other.svm", *given)

    assert "(569 × 4 #" in told(*rows[:-1])
    assert "not 568 × 4 #" in told(*rows[:-1])
    assert "is a proof of other examples" in told(rows[0].replace("1:", "1:9"), *rows[1:])
    assert "is a proof of other examples" in told(rows[1], rows[0], *rows[2:])
    assert told(f"7{rows[0][1:]}", *rows[1:]) == "label 7 is none of the model's classes"
    assert "has 5 features, but the model knows 4" in told(f"{rows[0]} 5:1", *rows[1:])


def test_streams(folder):
    assert refused("fit", "cancer.svm", "--stream", "-o", "s", "--proof", "p") == (
        "a stream is not kept, so it has no --proof: leave it out"
    )
    run("fit", "cancer.svm", "--stream", "-o", "s", "--features", "4", "--quiet")
    told = refused("verify", "s", "cancer.svm", "--proof", "cancer.proof")
    assert told.startswith("a model that learned from a stream claims no objective")


def test_outputs_that_clash(folder):
    for place in ("m", "./m"):
        told = refused("fit", "cancer.svm", "-o", "m", "--proof", place, *FAST)
        assert "--output and --proof cannot both go there" in told
    assert "overwrite an input" in refused("fit", "cancer.svm", "-o", "m", "--proof", "cancer.svm")
    assert "there is no directory" in refused("fit", "cancer.svm", "-o", "m", "--proof", "no/p")
    old = np.array([Path("cancer").read_bytes(), Path("cancer.proof").read_bytes()])
    assert refused("verify", "cancer", "-", "--proof", "-").startswith("DATA and --proof cannot")
    assert (old == [Path("cancer").read_bytes(), Path("cancer.proof").read_bytes()]).all()
