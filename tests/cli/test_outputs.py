"""What commands write, and to where: never over what they read, never half of it."""

import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from cli.commands import refused, run
from grids import SOAK
from report.test_atomic import Sparing
from stepless.cli import app, outputs
from stepless.cli.errors import print_message
from stepless.cli.interrupts import end_by_interrupt
from stepless.cli.outputs import refuse_outputs
from stepless.cli.standard_files import prepare_standard_files
from stepless.data import DataError
from stepless.estimators import LinearClassifier
from stepless.report import load_model

M = 2500


@pytest.fixture(scope="module")
def text():
    rng = np.random.default_rng(0)
    rows = zip(rng.choice([-1, 1], M).tolist(), rng.integers(1, 6, M).tolist(), strict=True)
    return "".join(f"{y} {j}:{y if j < 4 else -1}\n" for y, j in rows)


@pytest.fixture
def folder(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.svm").write_text(text)
    (tmp_path / "t.svm").write_text(text[:200].rpartition("\n")[0] + "\n")
    (tmp_path / "weights").write_text("1\n" * M)
    os.symlink("b.svm", "link.svm")
    os.link("b.svm", "hard.svm")
    return tmp_path


@pytest.fixture
def model(folder):
    run("fit", "b.svm", "--stream", "-o", "m", "-q")
    return "m"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


STREAM = ("fit", "b.svm", "--stream", "-q")


@pytest.mark.parametrize(
    "arguments",
    [
        (*STREAM, "-o", "m", "--predictions", "b.svm"),
        (*STREAM, "-o", "m", "--predictions", "link.svm"),
        (*STREAM, "-o", "m", "--predictions", "hard.svm"),
        (*STREAM, "-o", "m", "--predictions", "../{here}/b.svm"),
        (*STREAM, "-o", "m", "--predictions", "t.svm", "--test", "t.svm"),
        (*STREAM, "-o", "hard.svm"),
        ("fit", "b.svm", "-q", "-o", "weights", "--weights", "weights"),
        ("fit", "b.svm", "-q", "-o", "t.svm", "--test", "t.svm"),
    ],
)
def test_no_input_is_overwritten(folder, arguments):
    before = contents(folder)
    here = folder.name
    assert "would overwrite an input" in refused(*(a.format(here=here) for a in arguments))
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "m", "--predictions", "m"), "m: --output and --predictions cannot both go there"),
        (("-o", "m", "--predictions", "./m"), "--output and --predictions cannot both"),
        (("-o", "-", "--predictions", "-"), "--output and --predictions cannot both"),
        (("-o", "/dev/stdout", "--predictions", "-"), "--output and --predictions cannot both"),
        (("-o", "m", "--predictions", "-", "--json"), "--predictions and --json cannot both"),
        (("-o", "m", "--test", "-", "--weights", "-"), "cannot both be read from standard input"),
    ],
)
def test_no_two_outputs_go_to_one_place(folder, arguments, words):
    assert words in refused(*STREAM, *arguments)


def test_nothing_may_be_written_twice(folder):
    run(*STREAM, "-o", "/dev/null", "--predictions", "/dev/null")


def test_standard_input_is_an_input(folder):
    with open("b.svm") as data:
        kept = os.dup(0)
        try:
            os.dup2(data.fileno(), 0)
            for path in ("b.svm", "hard.svm"):
                for source in ("-", "/dev/stdin"):
                    with pytest.raises(DataError, match="would overwrite an input"):
                        refuse_outputs({"--output": folder / path}, {"DATA": type(folder)(source)})
        finally:
            os.dup2(kept, 0)
            os.close(kept)


def test_predictions_are_not_touched_before_there_are_others(folder):
    (folder / "p").write_text("old")
    refused("fit", "none.svm", "--stream", "-o", "m", "--predictions", "p")
    assert (folder / "p").read_text() == "old"
    (folder / "bad.svm").write_text("x\n")
    refused("fit", "bad.svm", "--stream", "-o", "m", "--predictions", "p")
    assert (folder / "p").read_text() == "old"
    run(*STREAM, "-o", "m", "--predictions", "p")
    assert (folder / "p").read_text().count("\n") == M


def test_a_model_on_standard_output(folder, model):
    plain = run("fit", "b.svm", "--stream", "-o", "-")
    assert "written to /dev/stdout" in plain.stderr
    (folder / "n").write_bytes(plain.stdout_bytes)
    np.testing.assert_array_equal(load_model("n").coef_, load_model("m").coef_)


# -- what ends a stream ----------------------------------------------------------------------------


@pytest.fixture
def at_second_chunk(monkeypatch):
    """Do something while the second thousand of examples is learned."""

    def when(act):
        learn, chunks = LinearClassifier.predict_and_learn, []

        def learn_and_act(self, X, y, *args, **kwargs):
            chunks.append(len(y))
            if len(chunks) == 2:
                act()
            return learn(self, X, y, *args, **kwargs)

        monkeypatch.setattr(LinearClassifier, "predict_and_learn", learn_and_act)

    return when


@pytest.fixture
def handlers():
    asked = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
    kept = {number: signal.signal(number, signal.SIG_DFL) for number in asked}
    end_by_interrupt()
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def so_far(folder, text, examples):
    """The model of the first examples, and their predictions."""
    (folder / "first").write_text("".join(text.splitlines(keepends=True)[:examples]))
    run("fit", "first", "--stream", "-o", "expected", "-q", "--predictions", "expected.txt")
    return load_model("expected").coef_, (folder / "expected.txt").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_stream_with_model_and_predictions_in_step(
    folder, text, at_second_chunk, handlers, number
):
    coef, predictions = so_far(folder, text, 2000)
    at_second_chunk(lambda: os.kill(os.getpid(), number))
    result = run(*STREAM, "-o", "m", "--predictions", "p", code=130)
    assert result.stderr == (
        "stepless: interrupted: the model so far, of 2,000 examples, is in m\n"
    )
    np.testing.assert_array_equal(load_model("m").coef_, coef)
    assert (folder / "p").read_text() == predictions


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    ("command", "files"),
    [
        ([*STREAM, "-o", "m", "--predictions", "p"], ["m", "p"]),
        (["fit", "b.svm", "-q", "-o", "m"], ["m"]),
    ],
    ids=["stream", "batch"],
)
def test_signals_while_files_are_written_leave_all_of_them(
    folder, text, handlers, monkeypatch, command, files, times
):
    run(*command)
    coef, replace = load_model("m").coef_, os.replace

    def replace_under_fire(source, target):
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGTERM)
        replace(source, target)

    monkeypatch.setattr(os, "replace", replace_under_fire)
    for name in files:
        os.unlink(name)
    result = run(*command, code=130)
    assert result.stderr.startswith("stepless: interrupted: the model so far")
    assert all((folder / name).exists() for name in files)
    np.testing.assert_array_equal(load_model("m").coef_, coef)


def test_what_a_stream_cannot_use_keeps_the_model(folder, text, at_second_chunk):
    coef, predictions = so_far(folder, text, 1000)

    def fail():
        raise MemoryError("Unable to allocate 7 TiB")

    at_second_chunk(fail)
    result = run(*STREAM, "-o", "m", "--predictions", "p", code=1)
    assert result.stderr == (
        "stepless: the data do not fit into memory (Unable to allocate 7 TiB); "
        "the model so far, of 1,000 examples, is in m\n"
    )
    np.testing.assert_array_equal(load_model("m").coef_, coef)
    assert (folder / "p").read_text() == predictions


def test_a_full_disk_of_predictions_keeps_the_model(folder, text):
    coef, _ = so_far(folder, text, 1000)
    result = run(*STREAM, "-o", "m", "--predictions", "/dev/full", code=1)
    assert result.stderr == (
        "stepless: /dev/full: No space left on device; "
        "the model so far, of 1,000 examples, is in m\n"
    )
    np.testing.assert_array_equal(load_model("m").coef_, coef)


@pytest.mark.parametrize("where", ["write", "fsync"])
def test_a_full_disk_of_a_predictions_file(folder, monkeypatch, where):
    (folder / "p").write_text("old")
    full = OSError(28, "No space left on device", "p")

    def fail(*args):
        if where == "write" or len(calls) == 1:  # the first is the model's
            raise full
        calls.append(args)

    calls = []
    if where == "write":
        monkeypatch.setattr("stepless.cli.streaming.prediction_lines", fail)
    else:
        monkeypatch.setattr(os, "fsync", fail)
    result = run(*STREAM, "-o", "m", "--predictions", "p", code=1)
    assert result.stderr.startswith("stepless: p: No space left on device; the model so far, of ")
    assert result.stderr.endswith(" is in m, but its predictions are not kept\n")
    assert (folder / "p").read_text() == "old"
    assert load_model("m").n_features_in_ == 2**18
    assert not [name for name in os.listdir() if name.endswith(".tmp")]


def test_a_reader_that_goes_away_keeps_the_model(folder, monkeypatch, capfd):
    receiving, sending = os.pipe()
    os.close(receiving)
    with open(sending, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        with pytest.raises(SystemExit) as ended:
            app([*STREAM, "-o", "m", "--predictions", "-"])
    assert ended.value.code == 1
    assert capfd.readouterr().err == (
        "stepless: /dev/stdout: Broken pipe; the model so far, of 1,000 examples, is in m\n"
    )
    assert load_model("m").n_features_in_ == 2**18


def test_lines_left_out_are_counted_and_a_few_of_them_told(folder):
    (folder / "odd.svm").write_text(("1 1:1\n-1 2:1\n" * 600) + "7 1:1\nx\n" * 4000)
    result = run("fit", "odd.svm", "--stream", "-o", "m", "--on-error", "skip", "--json")
    facts = json.loads(result.stdout)
    assert facts["skipped"] == 8000
    assert len(facts["skipped_because"]) == len(set(facts["skipped_because"])) == 5


# -- standard output -------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [10**9, 5500])
@pytest.mark.parametrize("command", ["predict", "info"])
def test_writes_that_are_short(folder, model, monkeypatch, capfd, command, room):
    arguments = {"predict": ["predict", "m", "b.svm"], "info": ["info", "m", "--json"]}[command]
    expected = run(*arguments).stdout_bytes
    raw = Sparing(min(room, len(expected) - 1) if room < 10**9 else room)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="utf-8", write_through=True))
    with pytest.raises(SystemExit) as ended:
        app(arguments)
    assert ended.value.code == (0 if room == 10**9 else 1)
    assert expected.startswith(raw.taken)
    assert (raw.taken == expected) == (room == 10**9)
    said = capfd.readouterr().err
    assert said == ("" if room == 10**9 else "stepless: /dev/stdout: No space left on device\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_standard_output_cannot_spell(monkeypatch, encoding):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    outputs.write_text("≤ größe\tx\ny")
    assert raw.getvalue() == "\\u2264 größe\\tx\ny\n".encode(encoding, "backslashreplace")


PROGRAM = f'"{sys.executable}" -c "from stepless.cli import main; main()"'


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("fit - -o n <&-", "stepless: <stdin>: standard input is closed, so there is nothing"),
        ("info m >&-", "stepless: /dev/stdout: standard output is closed"),
    ],
)
def test_standard_files_that_are_closed(folder, model, command, said):
    result = subprocess.run(
        ["bash", "-c", f"{PROGRAM} {command}"], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith(said)
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("command", "done"),
    [
        ("--help", ""),
        pytest.param("fit --help", "", marks=SOAK),
        ("--version", ""),
        ("fit b.svm -o m", "; the model is written to m"),
        pytest.param("fit b.svm -o m --json", "; the model is written to m", marks=SOAK),
        pytest.param("fit b.svm -o m --stream", "; the model is written to m", marks=SOAK),
        ("fit b.svm -o m --stream --json", "; the model is written to m"),
    ],
)
def test_a_full_standard_output(folder, command, done):
    result = subprocess.run(
        ["bash", "-c", f"{PROGRAM} {command} > /dev/full"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 1
    said = f"stepless: /dev/stdout: No space left on device{done}\n"
    assert result.stderr.endswith(said)
    assert "Traceback" not in result.stderr
    assert bool(done) == (folder / "m").exists()


def test_nobody_need_listen_to_what_is_said(monkeypatch):
    """Standard error that is closed, or full, ends no run."""
    kept = os.dup(2)
    monkeypatch.setattr(sys, "stderr", None)
    try:
        with open("/dev/full", "w") as full:
            os.dup2(full.fileno(), 2)
        prepare_standard_files()
        print_message("something")
        os.close(2)
        prepare_standard_files()
        print_message("something")
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def test_a_stream_is_ended_by_sigterm_with_its_model(folder, text):
    process = subprocess.Popen(
        ["bash", "-c", f"exec {PROGRAM} fit - -o m --predictions p"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write(text)
    process.stdin.flush()
    for line in process.stderr:
        if line.split()[0] == "2,000":
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)  # while it waits for more
    assert process.wait(timeout=60) == 130
    assert process.stderr.read() == (
        "stepless: interrupted: the model so far, of 2,500 examples, is in m\n"
    )
    coef, predictions = so_far(folder, text, 2500)
    np.testing.assert_array_equal(load_model("m").coef_, coef)
    assert (folder / "p").read_text() == predictions
    process.stdin.close()
    process.stderr.close()


def test_a_signal_before_a_command_begins_is_told(folder):
    script = """
        import signal
        from stepless.cli import app, main
        app.callback()(lambda: signal.raise_signal(signal.SIGTERM))
        main()
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), "fit", "b.svm", "-o", "m"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (result.returncode, result.stderr) == (130, "stepless: interrupted\n")
    assert not (folder / "m").exists()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/stderr", "/dev/fd/1", "/proc/self/fd/2"])
def test_outputs_are_no_data(folder, model, name):
    for command in (
        ("fit", "b.svm", "-o", "n", "--test", name),
        ("fit", "b.svm", "-o", "n", "--weights", name),
        ("fit", name, "-o", "n", "--stream"),
        ("predict", model, name, "-o", "p"),
        ("score", model, name),
    ):
        assert refused(*command) == f"{name}: is for output, so there is nothing to read"
