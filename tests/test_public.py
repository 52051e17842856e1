"""The public surface: all of it importable, documented, and nothing else."""

import inspect
import subprocess
import sys
from types import ModuleType

import pytest

import stepless

PUBLIC = [getattr(stepless, name) for name in stepless.__all__]


def test_all_is_what_is_importable():
    reachable = {
        name
        for name, value in vars(stepless).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert reachable == set(stepless.__all__)
    assert len(set(stepless.__all__)) == len(stepless.__all__)


def test_all_is_sorted_as_ruff_sorts_it():
    constants = [name for name in stepless.__all__ if name.isupper()]
    classes = [name for name in stepless.__all__ if name[0].isupper() and not name.isupper()]
    functions = [name for name in stepless.__all__ if name[0].islower()]
    assert stepless.__all__ == sorted(constants) + sorted(classes) + sorted(functions)


@pytest.mark.parametrize("name", stepless.__all__)
def test_everything_public_is_documented(name):
    member = getattr(stepless, name)
    if name.isupper():
        return
    assert inspect.getdoc(member)
    assert member.__doc__  # its own, not inherited
    if not inspect.isclass(member):
        assert ">>>" in member.__doc__
        return
    for attribute, value in vars(member).items():
        if not attribute.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            documented = inspect.getdoc(getattr(member, attribute)) or member in (
                stepless.Regularizer,  # whose class says what each method of a coordinate is
            )
            assert documented, f"{name}.{attribute} has no docstring"


def test_every_solver_follows_the_template():
    for name, kind in stepless.SOLVERS.items():
        assert kind.name == name
        for heading in ("Solves", "Algorithm", "Guarantee", "Cost", "Needs", "Differs", ">>>"):
            assert heading in kind.__doc__, f"{name} does not say: {heading}"


def test_every_loss_regularizer_and_domain_has_an_example():
    from stepless.objective import DOMAINS, LOSSES, SquaredL2, Zero

    for kind in (*LOSSES.values(), *DOMAINS.values(), SquaredL2, Zero):
        assert ">>>" in kind.__doc__, kind


def test_importing_brings_in_nothing_that_is_only_sometimes_needed():
    heavy = {"matplotlib", "dask", "clarabel", "liblinear", "pytest"}
    script = "import sys, stepless; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())
