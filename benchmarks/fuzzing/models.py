"""Damaged and forged model files: they are refused in one sentence, or predict finite numbers."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Collection, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from benchmarks.fuzzing import samples
from benchmarks.fuzzing.mutation import mutated
from benchmarks.fuzzing.shell import refuse_controls, shell
from stepless import KernelClassifier, NuClassifier, OneClass, StructuredClassifier
from stepless.data import DataError, read_svmlight
from stepless.report import load_model, save_model
from stepless.report.tensors import digest_of
from stepless.structured import LabelTree, Multiclass

# What they are fitted to, and how.
SHELL = {
    "linear": ["two.svm"],
    "several": ["three.svm", "--loss", "logistic"],
    "joint": ["three.svm", "--multi-class", "joint"],
    "numbers": ["number.svm", "--loss", "squared"],
    "metric": ["two.svm", "--metric", "f1"],
    "ranks": ["query.svm", "--task", "rank"],
    "crf": ["tags.txt", "--task", "tag"],
    "margin": ["tags.txt", "--task", "tag", "--loss", "hinge"],
    "stream": ["two.svm", "--stream", "--hash", "8", "--names"],
    "table": ["table.csv", "--stream", "--hash", "8", "--names", "--target", "y"],
}
PYTHON = {
    "kernel": lambda X, y: KernelClassifier(gap=0.1, passes=3).fit(X, y),
    "one": lambda X, y: OneClass(gap=0.1).fit(X),
    "nu": lambda X, y: NuClassifier(gap=0.1, nu=0.1).fit(X, y),
    "costs": lambda X, y: StructuredClassifier(Multiclass.of(X, y), gap=0.1).fit(X, y),
    "tree": lambda X, y: StructuredClassifier(LabelTree.of(X, {-1: "a", 1: "b"}), gap=0.1).fit(
        X, y
    ),
}
MARK = "ran"  # a folder that is there if code of a file's was run
CODE = f"__import__('os').mkdir('{MARK}')"
JUNK = [None, True, 0, -1, 1, 2, 3.7, 10**30, 10**400, 1e308, -1e-308, "", "x", "7", "auto", CODE]
JUNK += ["NaN", "Infinity", "\x1b[31m\n\u202e", "\ud800", "hinge(1)", "quantile(0.5)", "logistic"]
JUNK += ["l1", [], {}, [[]], [{}], [1, 2, 3], {"name": "hinge"}, {"name": "gaussian", "gamma": -1}]
JUNK += [{"a": {"b": [1]}}, {"name": CODE}, "os.system", "builtins.eval", "object", "V8", "M8[s]"]
KEYS = ["x", "loss", "classes", "positive", "trace", "solver", "n_features", "feature_names"]
ARRAYS = ["coef", "intercept", "extra", "names", "cost", "ends", "seen", "vectors", "indptr"]
TYPES = ["f2", "f4", "i8", "i4", "u1", "u2", "u8", "?"]


class Models:
    """Cases of model files; the models are fitted once."""

    def __init__(self, names: Collection[str] = (*SHELL, *PYTHON)) -> None:
        samples.write()
        X, y, _ = read_svmlight("two.svm")
        for name in names:
            if name in SHELL:
                fitted = shell(["fit", *SHELL[name], "-o", name, "-q", "--gap", "0.1"])
                assert fitted.exit_code in (0, 3), fitted.output
            else:
                save_model(PYTHON[name](X.toarray(), y), name)
        self._names = list(names)
        self._parts = {name: _parts(name) for name in names}

    def case(self, seed: int) -> bool:
        """Forge one file, and ask of it what can be asked; return whether it is accepted."""
        rng = Random(seed)
        name = rng.choice(self._names)
        if rng.random() < 0.3:
            data = mutated(rng, Path(name).read_bytes())
        else:
            data = self._forged(rng, *copy.deepcopy(self._parts[name]))
        Path("forged").write_bytes(data)
        sentence = _refusal("forged")
        accepted = sentence is None
        if sentence is not None:
            assert sentence.startswith("forged: "), f"no file is named: {sentence}"
            assert "\n" not in sentence, f"more than one line: {sentence}"
        examples = SHELL.get(name, ["two.svm"])[0]
        self._ask(["info", "forged"], accepted)
        self._ask(["info", "forged", "--json"], accepted)
        if accepted:
            self._ask(["predict", "forged", examples])
            self._ask(["predict", "forged", examples, "--proba"])
            self._ask(["score", "forged", examples])
            for word in self._ask(["predict", "forged", examples, "--decision"]).split():
                assert math.isfinite(float(word)), f"a decision is {word}"
        assert not Path(MARK).exists(), "code of a file was run"
        return accepted

    def _ask(self, arguments: list[str], accepted: bool | None = None) -> str:
        result = shell(arguments)
        assert result.exit_code in (0, 1), f"exit code {result.exit_code}: {result.stderr}"
        assert accepted is not False or result.exit_code == 1, "load refuses it, info does not"
        refuse_controls(result.stdout + result.stderr)
        return result.stdout

    def _forged(self, rng: Random, header: Any, arrays: dict[str, Any]) -> bytes:
        """Change a few things, and make the checksum right."""
        for _ in range(rng.choice([0, 1, 1, 1, 2, 4])):
            other = self._parts[rng.choice(self._names)]
            if rng.random() < 0.7 or not arrays:
                _change_header(rng, header, other[0])
            else:
                _change_arrays(rng, arrays, other[1])
        text = json.dumps(header)
        arrays = {key: np.ascontiguousarray(value) for key, value in arrays.items()}
        return save(arrays, metadata={"stepless": text, "sha256": digest_of(text, arrays)})


def _refusal(path: str) -> str | None:
    try:
        load_model(path)
    except DataError as error:
        return str(error)
    return None


def _parts(path: str) -> tuple[Any, dict[str, Any]]:
    with safe_open(path, framework="np") as file:
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        return json.loads(file.metadata()["stepless"]), arrays


def _places(tree: Any, owner: Any = None, key: Any = None) -> Iterator[tuple[Any, Any]]:
    """Yield each thing in a header as what holds it, and under which key."""
    if owner is not None:
        yield owner, key
    items = tree.items() if isinstance(tree, dict) else ()
    for part, value in enumerate(tree[:6]) if isinstance(tree, list) else items:
        yield from _places(value, tree, part)


def _change_header(rng: Random, header: Any, other: Any) -> None:
    if not header:
        return
    places = list(_places(header))
    owner, key = rng.choice(places)
    match rng.randrange(6):
        case 0:
            del owner[key]
        case 1:
            giver, its = rng.choice(places)
            owner[key] = copy.deepcopy(giver[its])
        case 2:
            key = rng.choice(list(other))
            header[key] = copy.deepcopy(other[key])
        case 3 if isinstance(owner, dict):
            owner[rng.choice(KEYS)] = copy.deepcopy(rng.choice(JUNK))
        case _:
            owner[key] = copy.deepcopy(rng.choice(JUNK))


def _change_arrays(rng: Random, arrays: dict[str, Any], others: dict[str, Any]) -> None:
    key = rng.choice(list(arrays))
    value = arrays[key].copy()
    at = rng.randrange(value.size) if value.size else None
    match rng.randrange(8):
        case 0:
            arrays[key] = value.astype(rng.choice(TYPES))
        case 1:
            arrays[key] = rng.choice([value.reshape(-1), value[None], value.reshape(-1)[:0]])
        case 2 if value.ndim:
            arrays[key] = value[:-1]
        case 3:
            del arrays[key]
        case 4:
            arrays[rng.choice(ARRAYS)] = value
        case 5 if others:
            its = rng.choice(list(others))
            arrays[its] = others[its].copy()
        case _ if at is not None and value.dtype.kind == "f":
            value.flat[at] = rng.choice([np.nan, np.inf, -np.inf, 1e100, -0.0])
            arrays[key] = value
        case _ if at is not None and value.dtype.kind in "iu":
            limits = np.iinfo(value.dtype)
            value.flat[at] = rng.choice([0, 1, limits.max, limits.min])
            arrays[key] = value
