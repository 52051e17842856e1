"""The public surface: all of it importable, documented, and nothing else."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import stepless


def test_all_is_what_is_importable():
    namespace = {}
    exec("from stepless import *", namespace)
    assert namespace.keys() - {"__builtins__"} == set(stepless.__all__)
    assert set(dir(stepless)) == {*stepless.__all__, "__version__"}
    assert len(set(stepless.__all__)) == len(stepless.__all__)


def test_the_stub_names_real_homes():
    """Each name of `__init__.pyi` is what its module has under that name, and re-exported."""
    tree = ast.parse(Path(stepless.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    lines = [line for line in tree.body if isinstance(line, ast.ImportFrom)]
    assert {name.name for line in lines for name in line.names} == set(stepless.__all__)
    for line in lines:
        for name in line.names:
            assert name.asname == name.name
            home = importlib.import_module(line.module)
            assert getattr(stepless, name.name) is getattr(home, name.name)


def test_what_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'stepless' has no attribute 'nothing'"):
        _ = stepless.nothing
    with pytest.raises(ImportError):
        exec("from stepless import nothing")


@pytest.mark.parametrize("name", stepless.__all__)
def test_everything_public_is_documented(name):
    member = getattr(stepless, name)
    if name.isupper():  # a registry
        assert member
        return
    assert member.__doc__, f"{name} has no docstring"  # its own: it is not inherited
    if inspect.isclass(member):
        for attribute, value in vars(member).items():
            if not attribute.startswith("_") and inspect.isfunction(value):
                assert inspect.getdoc(getattr(member, attribute)), f"{name}.{attribute}"


def test_every_solver_follows_the_template():
    for name, kind in stepless.SOLVERS.items():
        assert kind.name == name
        for heading in ("Solves", "Algorithm", "Guarantee", "Cost", "Needs", "Differs", ">>>"):
            assert heading in kind.__doc__, f"{name} does not say: {heading}"


def test_every_loss_regularizer_and_domain_has_an_example():
    from stepless import DOMAINS, LOSSES, REGULARIZERS, GroupsL2, GroupsLInf

    regularizers = (type(make(1.0)) for make in REGULARIZERS.values())
    for kind in (*LOSSES.values(), *DOMAINS.values(), *regularizers, GroupsL2, GroupsLInf):
        assert ">>>" in kind.__doc__, kind


@pytest.mark.parametrize(
    ("script", "absent"),
    [
        ("import stepless", {"numba", "numpy", "scipy", "sklearn"}),
        ("from stepless import Stopping, Loss, check_loss", {"sklearn", "matplotlib"}),
        (
            "from stepless import LinearClassifier",
            {"matplotlib", "clarabel", "liblinear", "pytest"},
        ),
    ],
)
def test_nothing_is_imported_before_it_is_needed(script, absent):
    script += "; import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not absent & set(done.stdout.split())
