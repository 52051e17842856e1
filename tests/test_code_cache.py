"""Compiled code on disk: found again, never stale, never trusted when damaged, never in the way."""

import importlib.util
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from stepless.code_cache import CodeCache
from stepless.jit import compiled

MODULE = """
from stepless.jit import compiled

UNIT = {unit}

@compiled()
def helper(x):
    return {factor} * x

@compiled("")
def scaled(x):
    return helper(x) * UNIT
"""


class Function:
    """A compiled function in a module of its own, and where its code is kept."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "cache"))
        monkeypatch.setattr("numba.core.config.CACHE_DIR", str(folder / "cache"))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)  # modules change within a second

    def load(self, factor=2.0, unit=1.0):
        """The function as another process would have it: nothing but the files is shared."""
        path = self.folder / "module.py"
        path.write_text(MODULE.format(factor=factor, unit=unit))
        specification = importlib.util.spec_from_file_location("module_of_the_cache", path)
        module = importlib.util.module_from_spec(specification)
        sys.modules[module.__name__] = module  # numba looks there for a function's module
        specification.loader.exec_module(module)
        return module.scaled

    @property
    def files(self):
        return sorted((self.folder / "cache").rglob("*.nbc"))


@pytest.fixture
def function(tmp_path, monkeypatch):
    return Function(tmp_path, monkeypatch)


def hits(loop):
    return sum(loop.dispatcher.stats.cache_hits.values())


def test_code_is_kept_and_found(function):
    assert function.load()(3.0) == 6.0
    again = function.load()
    assert again(3.0) == 6.0
    assert hits(again) == 1
    assert len(function.files) == 1


def test_each_list_of_types_has_a_file(function):
    loop = function.load()
    loop(3.0), loop(3)
    assert len(function.files) == 2
    again = function.load()
    assert (again(3.0), again(3)) == (6.0, 6)
    assert hits(again) == 2


def test_files_that_have_changed_names_are_not_believed(function):
    loop = function.load()
    loop(3.0), loop(3)
    one, other = function.files
    contents = one.read_bytes(), other.read_bytes()
    one.write_bytes(contents[1]), other.write_bytes(contents[0])
    again = function.load()
    assert (again(3.0), again(3)) == (6.0, 6)
    assert hits(again) == 0


@pytest.mark.parametrize("change", [{"factor": 5.0}, {"unit": 2.5}])
def test_a_change_of_a_helper_or_a_constant_is_seen(function, change):
    function.load()(3.0)
    changed = function.load(**change)
    assert changed(3.0) == 15.0
    assert hits(changed) == 0
    assert len(function.files) == 1  # what older code left is gone


@pytest.mark.parametrize("damage", [b"", b"nonsense", "cut", "flipped"])
def test_damaged_files_are_compiled_anew_and_replaced(function, damage):
    function.load()(3.0)
    (path,) = function.files
    whole = path.read_bytes()
    if damage == "cut":
        damage = whole[: len(whole) // 2]
    elif damage == "flipped":
        damage = whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:]
    path.write_bytes(damage)
    again = function.load()
    assert again(3.0) == 6.0
    assert hits(again) == 0
    third = function.load()
    assert (third(3.0), hits(third)) == (6.0, 1)


def test_a_full_disk_is_told_once_and_does_not_matter(function, monkeypatch):
    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(CodeCache, "unkept", False)
    with pytest.warns(UserWarning, match=r"cannot be kept in .*No space left.*NUMBA_CACHE_DIR"):
        assert function.load()(3.0) == 6.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert function.load()(3.0) == 6.0
    assert function.files == []


def test_where_nothing_can_be_written_nothing_is_kept(function, monkeypatch):
    def none(self, py_func):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("stepless.code_cache.CompileResultCacheImpl.__init__", none)
    monkeypatch.setattr(CodeCache, "unkept", False)
    loop = function.load()  # nothing is said before something is compiled
    with pytest.warns(UserWarning, match="no folder for it can be written"):
        assert loop(3.0) == 6.0


def test_what_is_typed_in_is_not_kept_and_not_told_of():
    scope = {"compiled": compiled}
    exec("@compiled('')\ndef typed(x):\n    return x + 1.0", scope)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scope["typed"](1.0) == 2.0


def test_the_package_starts_without_a_folder_to_write_to(tmp_path):
    """As in a container that may not write: the folders that numba would take are files here."""
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "folder")
    script = (
        "import numba.core.caching as c\n"
        "c.CompileResultCacheImpl._locator_classes = []\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "from stepless import LinearRegressor\n"
        "print(LinearRegressor().fit([[0.0], [1.0]], [0.0, 1.0]).stopped_by_)\n"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": nowhere, "HOME": nowhere}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "gap\n"), done.stderr
