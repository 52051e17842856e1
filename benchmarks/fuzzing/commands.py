"""Random command lines: they end with one of five codes, and no file is lost, half or left over."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from inspect import signature
from pathlib import Path
from random import Random
from typing import get_args

from typer.models import OptionInfo

from benchmarks.fuzzing import samples
from benchmarks.fuzzing.shell import refuse_controls, shell
from stepless.cli.fit import fit
from stepless.cli.game import game
from stepless.cli.info import info
from stepless.cli.options import option_name
from stepless.cli.predict import predict
from stepless.cli.score import score
from stepless.report import Checkpoint, load_model
from stepless.report.proof_file import read_proof

NUMBERS = ["0", "1", "-1", "2", "1e-3", "0.5", "3.7", "1e9", "1e400", "1e-400", "1" + "0" * 400]
NUMBERS += ["nan", "inf", "x", ""]
PLACES = ["new", "new.txt", "new.png", "model", "two.svm", "link.svm", "hard.svm", "folder"]
PLACES += ["none/new", "weights", "bad_weights", "-", "/dev/null", "/dev/full", "/dev/stdout"]
ODD = ["none", "folder", "-", "/dev/null", "link.svm", "hard.svm"]
# Of options that take words, some; numbers, places and names of a few are taken for all others.
WORDS = {
    "--loss": "hinge squared_hinge logistic squared absolute huber(1) huber(0) quantile(3) poisson "
    "smoothed_hinge(0.5) epsilon_insensitive(0.1) crf ndcg map pairwise hinge(1) \x1b[31m",
    "--metric": "f1 fbeta(2) fbeta(-1) roc_auc precision_at_k prbep x",
    "--penalty": "l2 l1 none elasticnet(0.5) elasticnet(7) lp(1.5) l1/l2 x",
    "--domain": "free ball(1) ball(-1) box(0,1) box(1,0) simplex(1) nonnegative polytope",
    "--multi-class": "ovr joint x",
    "--solver": "auto newton bundle adagrad pegasos dual-ascent emgd frank-wolfe x",
    "--classes": "-1,1 p,q 1 a,a ,",
    "--target": "y a z",
    "--categorical": "a z",
    "--ignore": "a a,b z y",
    "--players": "uniform,eg uniform x eg,eg",
    "--test": "two.svm three.svm bad.svm table.csv number.svm none folder - /dev/null /dev/full",
    "--weights": "weights bad_weights two.svm none folder - /dev/null /dev/full",
    "--seconds": "0 0.1 nan inf -1 1e400",  # not how long a fit takes is to be tried
}


def _options_of(command: Callable[..., None]) -> dict[str, list[str]]:
    """Return the options of a command, and values to try; a flag has none."""
    found = {}
    for parameter in signature(command, eval_str=True).parameters.values():
        kind, told = get_args(parameter.annotation)
        if isinstance(told, OptionInfo):
            option = option_name(parameter)
            is_path = Path in (kind, *get_args(kind))
            is_name = isinstance(kind, type) and issubclass(kind, StrEnum)
            others = [*kind, "x"] if is_name else PLACES if is_path else NUMBERS
            words = WORDS[option].split(" ") if option in WORDS else others
            found[option] = [] if kind is bool else words
    return found


OPTIONS = {command: _options_of(command) for command in (fit, predict, score, info, game)}
READ = ("--test", "--weights")
WRITTEN = ("--output", "--predictions", "--plot", "--proof", "--checkpoint", "--resume")
ONE_FILE = ("two.svm", "link.svm", "hard.svm")


class Commands:
    """Cases of command lines, all in one folder, which is as it was after each."""

    def __init__(self) -> None:
        samples.write()
        shell(["fit", "two.svm", "-o", "model", "-q"])
        shell(["fit", "table.csv", "--stream", "--target", "y", "-o", "table.model", "-q"])
        os.mkdir("folder")
        self._kept = _contents()
        os.symlink("two.svm", "link.svm")
        os.link("two.svm", "hard.svm")

    def case(self, seed: int) -> bool:
        """Run one command line; return whether it did what it says."""
        rng = Random(seed)
        arguments = self._arguments(rng)
        stdin = rng.choice(list(self._kept.values()))
        try:
            result = shell(arguments, stdin)
            written = {arguments[i + 1] for i, word in enumerate(arguments) if word in WRITTEN}
            if not written & {"-", "/dev/stdout"} and arguments[0] != "predict":
                refuse_controls(result.stdout + result.stderr)
            self._check(arguments, written, result.exit_code)
        except Exception as error:
            raise AssertionError(f"{error!r} of {arguments}") from error
        finally:
            self._restore()
        return result.exit_code in (0, 3)

    def _arguments(self, rng: Random) -> list[str]:
        command = rng.choice([fit, fit, fit, fit, predict, predict, score, info, game])
        files = [*self._kept, *ODD]
        model = rng.choice(["model", "table.model", rng.choice(files)])
        data = rng.choice(["two.svm", "table.csv", rng.choice(files), rng.choice(files)])
        known = dict(OPTIONS[command])
        given = {predict: [model, data], score: [model, data], info: [model]}.get(command, [data])
        if command is fit:
            output = rng.choice(known.pop("--output")) if rng.random() < 0.3 else "new"
            given += ["--output", output]
            if data.endswith(".csv") and rng.random() < 0.8:
                given += ["--stream", "--target", "y"]
            elif data in ("tags.txt", "query.svm") and rng.random() < 0.8:
                given += ["--task", "tag" if data == "tags.txt" else "rank"]
            elif rng.random() < 0.3:
                given += ["--stream"]
            if "--stream" not in given and rng.random() < 0.9:
                given += ["--seconds", "0.3"]
        for option in rng.sample(list(known), min(len(known), rng.choice([0, 0, 1, 1, 1, 2, 3]))):
            given += [option, *rng.sample(known[option], bool(known[option]))]
        return [command.__name__, *given]

    def _check(self, arguments: list[str], written: set[str], code: int) -> None:
        after = _contents()
        read = {arguments[i + 1] for i, word in enumerate(arguments) if word in READ}
        read |= set(arguments[1 : 3 if arguments[0] in ("predict", "score") else 2])
        left = set(after) - set(self._kept) - written
        assert not left, f"{left} are left over"
        for name in self._kept.keys() | after.keys():
            assert name in after, f"{name} is lost"
            if after[name] != self._kept.get(name):
                names = set(ONE_FILE) if name in ONE_FILE else {name}
                assert not names & read, f"{name}, which is read, has changed"
                assert names & written, f"{name} has changed"
                assert code != 2, f"wrong usage, but {name} is written"
                _refuse_half(arguments, names, name, after[name])

    def _restore(self) -> None:
        for name in set(_contents()) - set(self._kept):
            os.unlink(name)
        for name in ONE_FILE:
            Path(name).unlink(missing_ok=True)
        for name, data in self._kept.items():
            Path(name).write_bytes(data)
        os.symlink("two.svm", "link.svm")
        os.link("two.svm", "hard.svm")


def _contents() -> dict[str, bytes]:
    """All files but the other names of one."""
    found = [path for path in Path().iterdir() if path.is_file()]
    return {path.name: path.read_bytes() for path in found if path.name not in ONE_FILE[1:]}


def _refuse_half(arguments: list[str], names: set[str], path: str, data: bytes) -> None:
    """Raise where what a command has written is no whole model, picture or text of lines."""
    option = next(arguments[i] for i, word in enumerate(arguments[1:]) if word in names)
    if option == "--plot":
        assert data.endswith(b"IEND\xaeB`\x82"), f"{path} is half a picture"
    elif option == "--output" and arguments[0] == "fit":
        load_model(path)
    elif option == "--proof":
        read_proof(path)
    elif option in ("--checkpoint", "--resume"):
        Checkpoint(path, resume=True)
    else:
        assert data.endswith(b"\n"), f"{path} ends in the middle of a line"
