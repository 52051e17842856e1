"""Random command lines: they end with one of five codes, and no file is lost, half or left over."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

from benchmarks.fuzzing import samples
from benchmarks.fuzzing.shell import refuse_controls, shell
from stepless.report import load_model

NUMBERS = ["0", "1", "-1", "2", "1e-3", "0.5", "3.7", "1e9", "1e400", "1e-400", "1" + "0" * 400]
NUMBERS += ["nan", "inf", "x", ""]
LOSSES = ["hinge", "squared_hinge", "logistic", "squared", "absolute", "huber(1)", "huber(0)"]
LOSSES += ["smoothed_hinge(0.5)", "quantile(0.3)", "quantile(3)", "epsilon_insensitive(0.1)"]
LOSSES += ["poisson", "crf", "ndcg", "map", "pairwise", "hinge(1)", "nope", "\x1b[31m", ""]
DEVICES = ["-", "/dev/null", "/dev/full", "/dev/stdout"]
PLACES = [
    "new",
    "new.txt",
    "new.txt",
    "model",
    "two.svm",
    "link.svm",
    "hard.svm",
    "tags.txt",
    "folder",
]
PLACES += ["none/new", "weights", *DEVICES]
ODD = ["none", "folder", "-", "/dev/null", "link.svm", "hard.svm"]
FIT = {
    "--task": ["auto", "classify", "regress", "rank", "tag", "x"],
    "--loss": LOSSES,
    "--metric": ["f1", "fbeta(2)", "fbeta(-1)", "roc_auc", "precision_at_k", "prbep", "x"],
    "--k": NUMBERS,
    "--penalty": ["l2", "l1", "none", "elasticnet(0.5)", "elasticnet(7)", "lp(1.5)", "l1/l2", "x"],
    "--alpha": ["auto", *NUMBERS],
    "--domain": ["free", "ball(1)", "ball(-1)", "box(0,1)", "box(1,0)", "simplex(1)", "polytope"],
    "--multi-class": ["ovr", "joint", "x"],
    "--no-intercept": [],
    "--weights": ["weights", "bad_weights", "none", "-"],
    "--zero-based": [],
    "--gap": NUMBERS,
    "--passes": NUMBERS,
    "--seconds": ["0", "0.1", "nan", "inf", "-1", "1e400"],
    "--solver": ["auto", "newton", "bundle", "adagrad", "pegasos", "dual-ascent", "emgd", "x"],
    "--seed": NUMBERS,
    "--jobs": ["1", "2", "0", "x"],
    "--stream": [],
    "--format": ["csv", "svmlight", "auto", "x"],
    "--hash": ["1", "8", "0", "31", "x"],
    "--features": ["1", "4", "60", "0", "x"],
    "--names": [],
    "--classes": ["-1,1", "p,q", "1", "a,a", ""],
    "--target": ["y", "a", "z", ""],
    "--categorical": ["a", "z"],
    "--ignore": ["a", "a,b", "z", "y"],
    "--on-error": ["skip", "stop", "x"],
    "--predictions": PLACES,
    "--json": [],
    "--quiet": [],
    "--test": ["two.svm", "bad.svm", "three.svm", "table.csv", *ODD],
}
PREDICT = {"--proba": [], "--decision": [], "--zero-based": [], "-o": PLACES}
GAME = {
    "--players": ["uniform,eg", "uniform", "x", "eg,eg"],
    "--relatives": [],
    "--cost": NUMBERS,
    "--plot": ["new.png", "new.txt", "prices.csv", "-"],
    "--json": [],
}
READ = ("--test", "--weights")
WRITTEN = ("-o", "--predictions", "--plot")
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
        files = [*self._kept, *ODD]
        way = rng.random()
        if way < 0.75:
            data = rng.choice(files)
            given = ["fit", data, "-o", "new" if rng.random() < 0.7 else rng.choice(PLACES)]
            if data.endswith(".csv") and rng.random() < 0.8:
                given += ["--stream", "--target", "y"]
            if data in ("tags.txt", "query.svm") and rng.random() < 0.8:
                given += ["--task", "tag" if data == "tags.txt" else "rank"]
            elif rng.random() < 0.3:
                given += ["--stream"]
            given += _options(rng, FIT, rng.choice([0, 0, 1, 1, 1, 2, 3]))
            # what is to be tried is not how long a fit takes
            limited = {"--stream", "--passes", "--seconds"} & set(given)
            return given if limited else [*given, "--seconds", "0.3"]
        if way < 0.95:
            model = rng.choice(["model", "model", "table.model", rng.choice(files)])
            command = rng.choice(["predict", "predict", "score", "info"])
            if command == "info":
                return ["info", model, *_options(rng, {"--json": []}, rng.randrange(2))]
            given = [command, model, rng.choice(["two.svm", "table.csv", rng.choice(files)])]
            return given + (
                _options(rng, PREDICT, rng.randrange(3)) if command == "predict" else []
            )
        data = rng.choice(["prices.csv", "prices.csv", rng.choice(files)])
        given = ["game", data, "--players", "uniform,eg"]
        return given + _options(rng, GAME, rng.randrange(3))

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


def _options(rng: Random, known: dict[str, list[str]], count: int) -> list[str]:
    names = rng.sample(list(known), count)
    return [word for name in names for word in (name, *rng.sample(known[name], bool(known[name])))]


def _contents() -> dict[str, bytes]:
    """All files but the other names of one."""
    found = [path for path in Path().iterdir() if path.is_file()]
    return {path.name: path.read_bytes() for path in found if path.name not in ONE_FILE[1:]}


def _refuse_half(arguments: list[str], names: set[str], path: str, data: bytes) -> None:
    """Raise where what a command has written is no whole model, picture or text of lines."""
    option = next(arguments[i] for i, word in enumerate(arguments[1:]) if word in names)
    if option == "--plot":
        assert data.endswith(b"IEND\xaeB`\x82"), f"{path} is half a picture"
    elif option == "-o" and arguments[0] == "fit":
        load_model(path)
    else:
        assert data.endswith(b"\n"), f"{path} ends in the middle of a line"
