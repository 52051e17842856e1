"""Names that a user may write."""

import pickle
import re

import pytest

from stepless.kernels import kernel_of
from stepless.objective import DOMAINS, LOSSES, Hinge, Huber, L2Ball, Quantile, penalty_of
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
        ("huber(1, 2)", "loss 'huber(1, 2)' has at most 1 number in brackets, not 2"),
        ("hinge(1)", "loss 'hinge(1)' has no numbers in brackets; write 'hinge'"),
        ("huber(-1)", "delta must be positive, not -1"),
        ("quantile(nan)", "tau must lie between 0 and 1, not nan"),
    ],
)
def test_wrong_names_get_one_clear_sentence(name, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}") as caught:
        named("loss", name, LOSSES)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("made", "name", "message"),
    [
        (penalty_of, "lp(1.5,3)", "penalty 'lp(1.5,3)' has at most 1 number in brackets, not 2"),
        (penalty_of, "l2(3)", "penalty 'l2(3)' has no numbers in brackets; write 'l2'"),
        (penalty_of, "none(3)", "penalty 'none(3)' has no numbers in brackets; write 'none'"),
        (kernel_of, "gaussian(2)", "kernel 'gaussian(2)' has no numbers in brackets; write"),
        (kernel_of, "polynomial(2,1,5)", "has at most 2 numbers in brackets, not 3"),
    ],
)
def test_only_what_stands_in_brackets_is_counted(made, name, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        made(name, 0.5)


def test_what_has_no_name_is_given_as_an_object():
    sentence = "there is no domain 'polytope': in Python, give the object domain=Polytope.of(A, b)"
    with pytest.raises(UnknownName, match=f"^{re.escape(sentence)}$"):
        named("domain", "polytope", DOMAINS)


def test_an_unknown_name_crosses_to_another_process():
    error = pickle.loads(pickle.dumps(UnknownName("loss", "hing", LOSSES)))
    assert isinstance(error, UnknownName)
    assert str(error) == "there is no loss 'hing': did you mean 'hinge'?"
