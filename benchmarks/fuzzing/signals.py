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
BATCH = ["--gap", "0", "--passes", "1000000000", "--solver", "pegasos"]
ENDLESS = [
    ["fit", "-", *STREAM, "--predictions", "lines"],
    ["fit", "two.svm", "-o", "new", *BATCH],
    ["predict", "model", "big.svm", "-o", "lines"],
]
TALKING = [
    ["predict", "model", "big.svm"],
    ["score", "model", "two.svm"],
    ["info", "model", "--json"],
    ["fit", "big.svm", "--stream", *STREAM, "--predictions", "-"],
    ["fit", "two.svm", "-o", "-", "--json"],
    ["fit", "two.svm", "-o", "-"],
]


class Signals:
    """Cases of programs that something happens to."""

    def __init__(self) -> None:
        samples.write()
        self._text = Path("two.svm").read_bytes() * 300
        Path("big.svm").write_bytes(self._text)
        shell(["fit", "two.svm", "--stream", *STREAM])
        os.rename("new", "model")
        self._kept = {path.name: path.read_bytes() for path in Path().iterdir()}
        began = perf_counter()
        self._run(["info", "model"])
        self._pace = perf_counter() - began  # of a machine that may be busy

    def case(self, seed: int) -> bool:
        """Run one program; return whether it came to its end, or kept what it had."""
        rng = Random(seed)
        try:
            return self._signalled(rng) if rng.random() < 0.6 else self._unheard(rng)
        finally:
            for name in set(os.listdir()) - set(self._kept):
                os.unlink(name)

    def _signalled(self, rng: Random) -> bool:
        arguments, number = rng.choice(ENDLESS), rng.choice(SIGNALS)
        waits = [rng.uniform(0.05, 3.0) * self._pace]
        waits += [rng.uniform(0.0, 0.05)] * (rng.random() < 0.2)

        def act(process: Any) -> None:
            for wait in waits:
                sleep(wait)
                process.send_signal(number)

        code, stderr = self._run(arguments, act, stdin=subprocess.PIPE)
        told = re.search(r"of ([\d,]+) examples", stderr)
        if told:
            count = Path("lines").read_bytes().count(b"\n")
            assert count == int(told[1].replace(",", "")), f"{count} predictions: {stderr}"
        both = Path("new").exists() == Path("lines").exists()
        assert both or arguments[1] != "-", f"model or predictions alone: {stderr}"
        return code == 0 or Path("new").exists()

    def _unheard(self, rng: Random) -> bool:
        arguments, count = rng.choice(TALKING), rng.choice([0, 1, 5000])

        def close(process: Any) -> None:
            process.stdout.read(count)
            process.stdout.close()

        match way := rng.choice(["unread", "full", "closed"]):
            case "unread":
                code, stderr = self._run(arguments, close, stdout=subprocess.PIPE)
            case "full":
                with open("/dev/full", "wb") as full:
                    code, stderr = self._run(arguments, stdout=full)
            case _:
                code, stderr = self._run(arguments, preexec_fn=lambda: os.close(1))
        assert code != 0 or way == "unread", f"what was not written counts as written: {stderr}"
        kept = Path("new").exists()
        assert kept or way == "closed" or "new" not in arguments, f"the model is lost: {stderr}"
        return code == 0 or kept

    def _run(
        self, arguments: list[str], act: Callable[[Any], None] = lambda _: None, **files: Any
    ) -> tuple[int, str]:
        """Run the program; see that it ended well, and that what it has written is whole."""
        ready, theirs = os.pipe()
        source = str(Path(stepless.__file__).parents[1])
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, *arguments],
                stderr=errors,
                pass_fds=(theirs,),
                env=os.environ | {"READY": str(theirs), "PYTHONPATH": source},
                **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL} | files,
            )
            os.close(theirs)
            if process.stdin:
                Thread(target=self._feed, args=(process.stdin,), daemon=True).start()
            os.read(ready, 1)
            os.close(ready)
            try:
                act(process)
                code = process.wait(MOST_SECONDS)
            finally:
                process.kill()
                process.wait()
            errors.seek(0)
            stderr = errors.read().decode()
        if stderr or process.stdout is None:  # who is not listened to may end without a word
            refuse_end(code, stderr)
        lost = [name for name, data in self._kept.items() if Path(name).read_bytes() != data]
        assert not lost, f"{lost} have changed: {stderr}"
        left = set(os.listdir()) - {*self._kept, "new", "lines"}
        assert not left, f"{left} are left over: {stderr}"
        if Path("new").exists():
            load_model("new")
        if Path("lines").exists():
            assert Path("lines").read_bytes().endswith(b"\n"), "half a line"
        return code, stderr

    def _feed(self, pipe: Any) -> None:
        """Write examples for as long as somebody reads them."""
        try:
            while True:
                pipe.write(self._text)
        except (BrokenPipeError, ValueError):
            return
