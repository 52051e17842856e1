"""The program itself, with signals at any time, and standard files closed, full or unread."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Thread
from time import perf_counter, sleep
from typing import Any

import stepless
from benchmarks.fuzzing import samples
from benchmarks.fuzzing.shell import refuse_end, shell
from stepless.report import load_model

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# The program as the shell starts it, whoever has started us; it says when signals may come: before,
# it is Python that answers them.
PROGRAM = f"""
import os, signal
for number in {tuple(map(int, SIGNALS))}: signal.signal(number, signal.SIG_DFL)
from stepless.cli import main
from stepless.cli.interrupts import end_by_interrupt
end_by_interrupt()
os.close(int(os.environ["READY"]))
main()
"""
MOST_SECONDS = 50  # that a program may take, less than a case may
STREAM = ["--hash", "10", "-q", "-o", "new"]
ENDLESS = {
    "stream": ["fit", "-", *STREAM, "--predictions", "lines"],
    "batch": ["fit", "two.svm", "-o", "new", "--gap", "0", "--passes", "1" + "0" * 9]
    + ["--solver", "pegasos"],
    "predict": ["predict", "model", "big.svm", "-o", "lines"],
}
TALKING = [
    ["predict", "model", "big.svm"],
    ["predict", "model", "-"],
    ["score", "model", "two.svm"],
    ["info", "model", "--json"],
    ["fit", "big.svm", "--stream", *STREAM, "--predictions", "-"],
    ["fit", "two.svm", "-o", "-", "--json"],
    ["fit", "two.svm", "-o", "-"],
]


class Signals:
    """Cases of programs that something happens to."""

    def __init__(self, folder: Path) -> None:
        os.chdir(folder)
        samples.write(folder)
        self._text = Path("two.svm").read_bytes() * 300
        Path("big.svm").write_bytes(self._text)
        shell(["fit", "two.svm", "--stream", "--hash", "10", "-q", "-o", "model"])
        self._kept: dict[str, bytes] = {}
        began = perf_counter()
        self._run(["info", "model"])
        self._pace = perf_counter() - began  # of a machine that may be busy
        self._kept = {path.name: path.read_bytes() for path in folder.iterdir()}

    def case(self, seed: int) -> bool:
        """Run one program; return whether it came to its end, or kept what it had."""
        rng = Random(seed)
        try:
            return self._signalled(rng) if rng.random() < 0.6 else self._unheard(rng)
        finally:
            for name in set(os.listdir()) - set(self._kept):
                os.unlink(name)

    def _signalled(self, rng: Random) -> bool:
        arguments = ENDLESS[rng.choice(list(ENDLESS))]
        number, twice = rng.choice(SIGNALS), rng.random() < 0.2
        after, again = rng.uniform(0.05, 3.0) * self._pace, rng.uniform(0.0, 0.05)

        def act(process: Any) -> None:
            sleep(after)
            process.send_signal(number)
            if twice:
                sleep(again)
                process.send_signal(number)

        code, stderr = self._run(arguments, act, stdin=subprocess.PIPE)
        told = re.search(r"of ([\d,]+) examples", stderr)
        if told and Path("lines").exists():
            count = Path("lines").read_bytes().count(b"\n")
            assert count == int(told[1].replace(",", "")), f"{count} predictions: {stderr}"
        assert Path("new").exists() == Path("lines").exists() or arguments[1] != "-", stderr
        return code == 0 or Path("new").exists()

    def _unheard(self, rng: Random) -> bool:
        arguments = rng.choice(TALKING)
        read = rng.choice([0, 1, 5000])

        def close(process: Any) -> None:
            process.stdout.read(read)
            process.stdout.close()

        way = rng.choice(["closed", "full", "unread", "no input"])
        if way == "unread":
            code, _ = self._run(arguments, close, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        elif way == "full":
            with open("/dev/full", "wb") as full:
                code, stderr = self._run(arguments, stdin=subprocess.DEVNULL, stdout=full)
            assert code != 0, f"a full disk is taken for a written one: {stderr}"
        else:
            descriptor = 1 if way == "closed" else 0
            code, stderr = self._run(arguments, preexec_fn=lambda: os.close(descriptor))
            assert code != 0 or way != "closed", f"nothing is taken for standard output: {stderr}"
        kept = Path("new").exists()
        assert kept or way not in ("unread", "full") or "new" not in arguments, "the model is lost"
        return code == 0 or kept

    def _run(
        self, arguments: list[str], act: Callable[[Any], None] | None = None, **files: Any
    ) -> tuple[int, str]:
        """Run the program; see that it ended well, and that what it has written is whole."""
        ready, theirs = os.pipe()
        folder = str(Path(stepless.__file__).parents[1])
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, *arguments],
                stderr=errors,
                pass_fds=(theirs,),
                env=os.environ | {"READY": str(theirs), "PYTHONPATH": folder},
                **{"stdout": subprocess.DEVNULL} | files,
            )
            os.close(theirs)
            if process.stdin:
                Thread(target=self._feed, args=(process.stdin,), daemon=True).start()
            os.read(ready, 1)
            os.close(ready)
            try:
                if act is not None:
                    act(process)
                process.wait(MOST_SECONDS)
            finally:
                process.kill()
                process.wait()
            errors.seek(0)
            stderr = errors.read().decode()
        unread = files.get("stdout") == subprocess.PIPE
        if stderr or not unread:  # who is not listened to any more may end without a word
            refuse_end(process.returncode, stderr)
        self._check(stderr)
        return process.returncode, stderr

    def _feed(self, pipe: Any) -> None:
        """Write examples for as long as somebody reads them."""
        try:
            while True:
                pipe.write(self._text)
        except (BrokenPipeError, ValueError):
            return

    def _check(self, stderr: str) -> None:
        """See that nothing is lost, half written or left over."""
        for name, data in self._kept.items():
            assert Path(name).read_bytes() == data, f"{name} has changed"
        left = set(os.listdir()) - {*self._kept, "new", "lines"}
        assert not left or not self._kept, f"{left} are left over: {stderr}"
        if Path("new").exists():
            load_model("new")
        if Path("lines").exists():
            assert Path("lines").read_bytes().endswith(b"\n"), "half a line"
