"""The help lists what the registries hold, and its defaults are the estimators'."""

import inspect

import pytest

from cli.commands import run
from stepless.cli import names
from stepless.cli.fit import fit
from stepless.cli.fit_options import ProblemOptions, RunOptions, StreamOptions
from stepless.cli.options import given_options, option_name
from stepless.estimators import LinearClassifier, LinearRanker, LinearRegressor
from stepless.objective import DOMAINS, LOSSES, REGULARIZERS
from stepless.registry import UnknownName, _most_numbers
from stepless.risks.chains import CHAIN_LOSSES
from stepless.risks.metrics import metric_of
from stepless.risks.ranking import RANKING_LOSSES
from stepless.run import PATIENCE
from stepless.solvers import SOLVERS

CLASSES = [name for name, loss in LOSSES.items() if loss.targets == "signs"]


def metrics():
    with pytest.raises(UnknownName) as caught:
        metric_of("none")
    return caught.value._parts[2]


@pytest.mark.parametrize(
    ("listed", "known"),
    [
        (names.CLASS_LOSSES, CLASSES),
        (names.NUMBER_LOSSES, LOSSES.keys() - CLASSES),
        (names.RANKING_LOSSES, RANKING_LOSSES),
        (names.CHAIN_LOSSES, CHAIN_LOSSES),
        (names.METRICS, metrics()),
        (names.PENALTIES, REGULARIZERS),
        (names.DOMAINS, DOMAINS),
    ],
)
def test_help_lists_the_registry(listed, known):
    found = [name.partition("(")[0] for name in listed.split(", ")]
    assert sorted(found) == sorted(known)


@pytest.mark.parametrize(
    ("listed", "registry", "given"),
    [
        (names.CLASS_LOSSES, LOSSES, 0),
        (names.NUMBER_LOSSES, LOSSES, 0),
        (names.PENALTIES, REGULARIZERS, 1),  # the strength
        (names.DOMAINS, DOMAINS, 0),
    ],
)
def test_help_shows_the_parameters_in_brackets(listed, registry, given):
    for name in listed.split(", "):
        bare, _, inside = name.rstrip(")").partition("(")
        shown = inside.split(",") if inside else []
        assert len(shown) == _most_numbers(registry[bare]) - given, name


def test_numbers_in_help_are_those_of_the_library():
    assert names.MOST_PASSES == PATIENCE
    assert LinearRanker.k == names.RANKED_DOCUMENTS
    assert "proximal-bundle" in SOLVERS
    assert (LinearClassifier.loss, LinearRegressor.loss) == ("hinge", "squared")
    shared = [
        (options, name)
        for options in (ProblemOptions, RunOptions)
        for name in options.__dataclass_fields__
        if name not in ("loss", "alpha") and hasattr(LinearClassifier, name)
    ]
    assert len(shared) == 7
    for options, name in shared:
        assert getattr(options, name) == getattr(LinearClassifier, name), name


def test_an_option_is_a_field():
    shown = run("fit", "--help").stdout
    parameters = inspect.signature(fit).parameters.values()
    assert len(parameters) == 37
    for parameter in parameters:
        assert parameter.name == "data" or option_name(parameter) in shown
    assert given_options(StreamOptions()) == []
    assert given_options(StreamOptions(bits=3, names=True)) == ["--hash", "--names"]
