"""Outputs: whole or not at all, of files, pipes and devices, and nothing left behind."""

import io
import os
import subprocess
import sys

import pytest

from stepless.report import atomic
from stepless.report.atomic import Output, descriptor_of, refuse_output, write_atomically

DATA = bytes(range(256)) * 400


class Sparing(io.RawIOBase):
    """A file that takes 1000 bytes at a time and, like a disk, no more than it has room for."""

    def __init__(self, room=10**9):
        super().__init__()
        self.taken = b""
        self.room = room

    def writable(self):
        return True

    def write(self, data):
        if len(self.taken) == self.room:
            raise OSError(28, "No space left on device")
        part = bytes(data[: min(1000, self.room - len(self.taken))])
        self.taken += part
        return len(part)


@pytest.fixture
def stdout(monkeypatch):
    """What PYTHONUNBUFFERED=1 makes of standard output: nothing is kept, writes may be short."""

    def replace(raw):
        text = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
        monkeypatch.setattr(sys, "stdout", text)
        return raw

    return replace


def test_a_file_appears_when_it_is_finished(tmp_path):
    path = tmp_path / "some"
    path.write_bytes(b"old")
    with Output(path) as output:
        assert not output.direct
        output.write(DATA)
        assert path.read_bytes() == b"old"
        output.write(DATA)
        output.finish()
        assert path.read_bytes() == DATA + DATA
    assert os.listdir(tmp_path) == ["some"]


@pytest.mark.parametrize("old", [None, b"old"])
def test_a_file_that_is_not_finished_changes_nothing(tmp_path, old):
    path = tmp_path / "some"
    if old is not None:
        path.write_bytes(old)
    with Output(path) as output:
        output.write(DATA)
    output = Output(path)
    output.discard()
    output.discard()
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if old is None else [old])


def test_writes_that_are_short_are_made_whole(stdout):
    raw = stdout(Sparing())
    write_atomically("/dev/stdout", DATA)
    assert raw.taken == DATA
    raw = stdout(Sparing(room=5500))
    with pytest.raises(OSError, match="No space left") as caught:
        write_atomically("/dev/stdout", DATA)
    assert caught.value.filename == "/dev/stdout"


def test_standard_output_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OSError, match="standard output is closed"):
        write_atomically("/dev/stdout", DATA)
    with pytest.raises(OSError, match="standard output is closed"):
        refuse_output("/dev/stdout")


def test_a_pipe_is_written_directly():
    receiving, sending = os.pipe()
    with open(receiving, "rb") as reader, open(sending, "wb") as writer:
        for name in (f"/dev/fd/{sending}", f"/proc/self/fd/{sending}"):
            refuse_output(name)
            with Output(name) as output:
                assert output.direct
                output.write(b"all of it\n")
                output.finish()
        writer.close()
        assert reader.read() == b"all of it\n" * 2


def test_what_is_open_already_is_not_replaced(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"before\n")
    inode = path.stat().st_ino
    with open(path, "ab") as file:
        write_atomically(f"/dev/fd/{file.fileno()}", b"and after\n")
    assert path.read_bytes() == b"before\nand after\n"
    assert path.stat().st_ino == inode
    assert descriptor_of(tmp_path / "log") is None


def test_a_named_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    refuse_output(path)  # without waiting for a reader
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as reader:
        write_atomically(path, DATA)
        assert reader.communicate()[0] == DATA
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_full_disk(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
        with pytest.raises(OSError, match="too large") as caught:
            write_atomically(tmp_path / "some", DATA)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.filename == str(tmp_path / "some")
    assert os.listdir(tmp_path) == []


KILLED = """
import os, runpy, signal, sys
Output = runpy.run_path(sys.argv[1])["Output"]  # alone, for it is there at once
output = Output(sys.argv[2])
output.write(b"half")
print("written", flush=True)
sys.stdin.read()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_leaves_is_removed_by_the_next_and_no_other_is(tmp_path):
    path = tmp_path / "some"
    mine = {"some.tmp", "some.stepless-x.tmp", "some2.stepless-0123abcd.tmp", "some.0123abcd.tmp"}
    for name in mine:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "some.stepless-01234567.tmp").write_bytes(b"left by a kill long ago")
    writer = subprocess.Popen(
        [sys.executable, "-c", KILLED, atomic.__file__, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert writer.stdout.readline() == b"written\n"
    write_atomically(path, b"one")
    [left] = set(os.listdir(tmp_path)) - mine - {"some"}  # the writer is alive
    assert left.startswith("some.stepless-")
    writer.communicate()
    assert left in os.listdir(tmp_path)
    write_atomically(path, b"two")
    assert set(os.listdir(tmp_path)) == mine | {"some"}
    assert path.read_bytes() == b"two"
