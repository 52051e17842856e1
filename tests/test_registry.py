"""Names that a user may write."""

import pickle
import re

import pytest

from stepless.objective import DOMAINS, LOSSES, Hinge, Huber, L2Ball, Quantile
from stepless.registry import UnknownName, named


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("hinge", Hinge()),
        ("  hinge  ", Hinge()),
        ("hinge()", Hinge()),
        ("huber", Huber()),
        ("huber(2)", Huber(2.0)),
        ("huber ( 2.5 )", Huber(2.5)),
        ("huber(1e-3)", Huber(1e-3)),
        ("quantile(0.9)", Quantile(0.9)),
    ],
)
def test_names_with_and_without_parameters(name, loss):
    assert named("loss", name, LOSSES) == loss


@pytest.mark.parametrize("name", LOSSES)
def test_every_name_can_be_written(name):
    assert type(named("loss", name, LOSSES)) is LOSSES[name]


def test_domains_have_names_too():
    assert named("domain", "ball(0.5)", DOMAINS) == L2Ball(0.5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hing", "there is no loss 'hing': did you mean 'hinge'?"),
        ("Hinge", "there is no loss 'Hinge': did you mean 'hinge'?"),
        ("squared hinge", "there is no loss 'squared hinge': did you mean 'squared_hinge'?"),
        ("squared-hinge", "there is no loss 'squared-hinge': did you mean 'squared_hinge'?"),
        ("xyz", "there is no loss 'xyz': choose one of absolute, epsilon_insensitive, hinge,"),
        ("", "there is no loss '': choose one of"),
        ("hinge(", "there is no loss 'hinge(': did you mean 'hinge'?"),
        ("huber(a)", "the parameters of loss 'huber(a)' must be numbers"),
        ("huber(delta=1)", "the parameters of loss 'huber(delta=1)' must be numbers"),
        ("huber(1, 2)", "loss 'huber(1, 2)': Huber takes 1 values, not 2"),
        ("hinge(1)", "loss 'hinge(1)': Hinge takes 0 values, not 1"),
        ("huber(-1)", "delta must be positive, not -1"),
        ("quantile(nan)", "tau must lie between 0 and 1, not nan"),
    ],
)
def test_wrong_names_get_one_clear_sentence(name, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}") as caught:
        named("loss", name, LOSSES)
    assert "\n" not in str(caught.value)


def test_an_unknown_name_crosses_to_another_process():
    error = pickle.loads(pickle.dumps(UnknownName("loss", "hing", LOSSES)))
    assert isinstance(error, UnknownName)
    assert str(error) == "there is no loss 'hing': did you mean 'hinge'?"
