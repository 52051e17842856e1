"""Terms: values in Python, types in compiled code, entries in a cache on disk."""

import copy
import math
import operator
import os
import pickle
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
from numba import njit, typeof
from numba.core.errors import TypingError
from sklearn.base import clone

from stepless import LinearClassifier
from stepless.objective import Hinge, Huber, Logistic, SmoothedHinge, SquaredL2
from stepless.term import Term, TermType


class Line(Term):
    slope: float
    offset: float = 0.5
    count: int = 3

    def at(self, x):
        return self.slope * x + self.offset


class Pair(Term):
    first: Line
    second: Line

    def gap(self, x):
        return self.first.at(x) - self.second.at(x)


class Empty(Term):
    def at(self, x):
        return -x


class OtherEmpty(Term):
    def at(self, x):
        return 2.0 * x


@njit
def _at(term, x):
    return term.at(x)


# -- a value in Python ---------------------------------------------------------------------------


def test_fields_come_by_position_by_name_or_by_default():
    assert Line(1, 2, 3) == Line(slope=1, count=3, offset=2) == Line(1, offset=2)
    assert Line(1).offset == 0.5
    assert Line._fields == ("slope", "offset", "count")


def test_numbers_become_the_type_that_is_declared():
    line = Line(1, np.float32(2.0), 4.0)
    assert [type(value) for value in line] == [float, float, int]
    assert isinstance(Line("2.5").slope, float)


@pytest.mark.parametrize(
    ("arguments", "names", "message"),
    [
        ((), {}, "Line needs slope"),
        ((1, 2, 3, 4), {}, "Line takes 3 values, not 4"),
        ((1,), {"slope": 2}, "Line got slope twice"),
        ((1,), {"height": 2, "width": 3}, "Line has no field height, width"),
    ],
)
def test_wrong_fields_are_named(arguments, names, message):
    with pytest.raises(TypeError, match=f"^{message}$"):
        Line(*arguments, **names)


def test_numbers_that_no_double_holds_are_refused_by_the_fields_name():
    with pytest.raises(ValueError, match=r"^alpha is more than a double can hold: 1000"):
        SquaredL2(10**400)


def test_fields_cannot_be_changed():
    with pytest.raises(AttributeError):
        Line(1).slope = 2.0


def test_equality_and_hash_go_by_type():
    same = [(Empty(), Empty()), (Line(1), Line(1.0))]
    other = [(Empty(), OtherEmpty()), (Empty(), ()), (Line(1), Line(2)), (Line(1), (1.0, 0.5, 3))]
    for one, two in same + other:
        assert operator.eq(one, two) is ((one, two) in same) is operator.eq(two, one)
        assert operator.ne(one, two) is not operator.eq(one, two)
    assert len({Empty(), OtherEmpty(), Empty(), Line(1), Line(1.0)}) == 3


def test_repr_can_be_evaluated():
    assert repr(Line(1)) == "Line(slope=1.0, offset=0.5, count=3)"
    assert eval(repr(Pair(Line(1), Line(2)))) == Pair(Line(1), Line(2))
    assert repr(Empty()) == "Empty()"


@pytest.mark.parametrize("term", [Line(1), Pair(Line(1), Line(2)), Empty()], ids=repr)
@pytest.mark.parametrize(
    "twin", [lambda t: pickle.loads(pickle.dumps(t)), copy.copy, copy.deepcopy]
)
def test_copies_are_equal_and_of_the_same_type(term, twin):
    typeof(term)  # what numba has found out must not be in the way
    assert twin(term) == term
    assert type(twin(term)) is type(term)
    assert twin(term).at is not None if hasattr(term, "at") else True


def test_an_estimator_that_holds_a_term_can_be_cloned():
    estimator = LinearClassifier(loss=SmoothedHinge(5), alpha=0.1)
    twin = clone(estimator)
    assert twin.loss == SmoothedHinge(5.0)
    assert twin.get_params() == estimator.get_params()
    assert "SmoothedHinge(gamma=5.0)" in repr(twin)


def test_subclasses_inherit_fields_and_methods():
    class Steep(Line):
        power: float = 2.0

        def at(self, x):
            return (self.slope * x) ** self.power

    class Steeper(Steep):
        power: float = 3.0  # declared again: the same field, another default

    assert Steep._fields == ("slope", "offset", "count", "power")
    assert Steeper._fields == Steep._fields
    assert Steeper(2).at(1.0) == 8.0 == _at(Steeper(2), 1.0)
    assert _at(Steep(2), 1.0) == 4.0


def test_parameters_are_checked_when_the_term_is_made():
    with pytest.raises(ValueError, match="delta"):
        Huber(-1)
    with pytest.raises(ValueError, match="delta"):
        pickle.loads(pickle.dumps(Huber(1)).replace(b"?\xf0", b"\xbf\xf0"))  # 1.0 becomes -1.0


# -- a type in compiled code ---------------------------------------------------------------------


def test_compiled_methods_equal_plain_ones():
    for term in (Line(2), Empty(), OtherEmpty()):
        assert _at(term, 1.5) == term.at(1.5)


def test_terms_nest():
    @njit
    def gap(pair, x):
        return pair.gap(x) + pair.second.offset

    pair = Pair(Line(3), Line(1, 0.25))
    assert gap(pair, 2.0) == pair.gap(2.0) + 0.25 == 4.5


def test_kernels_can_unpack_a_term():
    @njit
    def total(line):
        slope, offset, count = line
        return slope + offset + count

    assert total(Line(1, 2, 3)) == 6.0


def test_one_type_a_class_whatever_the_values():
    assert typeof(Line(1)) is typeof(Line(2))
    assert typeof(Empty()) != typeof(OtherEmpty())
    assert typeof(Pair(Line(1), Line(2))) == typeof(Pair(Line(3), Line(4)))
    assert bool(typeof(Empty()))


def test_methods_of_one_name_may_differ_in_their_parameters():
    class Wide(Term):
        def at(self, x, y, z):
            return x + y + z

    @njit
    def call(term):
        return term.at(1.0, 2.0, 3.0)

    assert call(Wide()) == 6.0
    assert _at(Empty(), 1.0) == -1.0
    with pytest.raises(TypingError):
        _at(Wide(), 1.0)
    with pytest.raises(TypingError):
        call(Empty())


def test_a_method_that_a_class_lacks_is_a_typing_error():
    class Lacking(Term):
        def away(self, x):
            return x

    with pytest.raises(TypingError):
        _at(Lacking(), 1.0)


def test_loss_and_regularizer_fit_into_one_kernel():
    from stepless.objective import SquaredL2

    @njit
    def both(loss, regularizer, z):
        return loss.value(z, 1.0) + regularizer.value(z) + regularizer.conjugate(z)

    assert both(Hinge(), SquaredL2(2.0), 0.5) == 0.5 + 0.25 + 0.0625


# -- digests: no two pieces of code share a type -----------------------------------------------

SOURCE = """
from numba import njit
from stepless.term import Term

FACTOR = 2.0
TABLE = (1.0, 2.0)

@njit
def helper(x):
    return x + 1.0

class Made(Term):
    a: float = 1.0
    b: float = 5.0

    def at(self, x):
        return FACTOR * helper(x) + TABLE[0] + self.a
"""


def _made(*edits):
    """Run the source, edited, as a module that always bears the same name."""
    source = SOURCE
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    namespace = {"__name__": "made_up"}
    exec(source, namespace)
    return namespace["Made"]


EDITS = {
    "code": [("+ self.a", "- self.a")],
    "constant": [("x + 1.0", "x + 1.5")],
    "global": [("FACTOR = 2.0", "FACTOR = 3.0")],
    "table": [("(1.0, 2.0)", "(4.0, 2.0)")],
    "helper": [("return x + 1.0", "return x * 1.0")],
    "order of fields": [
        ("a: float = 1.0\n    b: float = 5.0", "b: float = 5.0\n    a: float = 1.0")
    ],
    "another field": [("b: float", "c: float")],
}


@pytest.mark.parametrize("edits", EDITS.values(), ids=EDITS)
def test_every_edit_makes_another_type(edits):
    one, other = _made()(), _made(*edits)()
    assert type(one)._digest() != type(other)._digest()
    assert typeof(one) != typeof(other)
    # and no kernel confuses the namesakes, whichever comes first
    assert (_at(one, 2.0), _at(other, 2.0)) == (one.at(2.0), other.at(2.0))
    assert (_at(one, 3.0), _at(other, 3.0)) == (one.at(3.0), other.at(3.0))


def test_the_same_code_is_the_same_type():
    assert _made()._digest() == _made()._digest()
    assert typeof(_made()()) == typeof(_made()())
    assert _made(("FACTOR = 2.0", "FACTOR = 2.0  # a comment"))._digest() == _made()._digest()


def test_enclosed_values_are_part_of_the_code():
    def family(scale):
        class Scaled(Term):
            def at(self, x):
                return scale * x

        return Scaled()

    assert [_at(family(scale), 1.0) for scale in (1.0, 5.0, 7.0)] == [1.0, 5.0, 7.0]


def test_arrays_are_part_of_the_code():
    def family(weights):
        class Weighed(Term):
            def at(self, x):
                return weights[1] * x

        return Weighed()

    assert [_at(family(np.array([0.0, v])), 1.0) for v in (1.0, 5.0)] == [1.0, 5.0]


def test_what_a_module_holds_is_part_of_the_code():
    source = "class Scaled(Term):\n    def at(self, x):\n        return held.SCALE * x\n"
    digests = set()
    for scale in (1.0, 2.0):
        held = ModuleType("held")
        held.SCALE = scale
        namespace = {"__name__": "made_up", "Term": Term, "held": held}
        exec(source, namespace)
        digests.add(namespace["Scaled"]._digest())
    assert len(digests) == 2


def test_methods_with_inner_code_have_a_stable_digest():
    source = """
from stepless.term import Term
class Made(Term):
    def at(self, x):
        return sum([x * k for k in range(3)])
"""
    digests = set()
    for _ in range(2):
        namespace = {"__name__": "made_up"}
        exec(source, namespace)
        digests.add(namespace["Made"]._digest())
    assert len(digests) == 1


# -- entries of a cache on disk ------------------------------------------------------------------

LOSS = """
import math
from stepless.objective.losses.loss import Loss

LEFT, RIGHT, UP, DOWN = 1.0, 2.0, 3.0, 4.0  # many names: their order must not depend on the process

class Own(Loss):
    width: float = 1.0
    def value(self, z, y):
        return UP * abs(z - y) * self.width + DOWN * LEFT - RIGHT * 2.0
    def slope(self, z, y):
        return UP if z > y else -UP
"""
KERNEL = """
from numba import njit

@njit(cache=True)
def total(loss, y):
    return loss.value(0.5, y) + loss.slope(0.5, y)
"""
PREAMBLE = "from kernel import total\n"
REPORT = "\nprint(sum(total.stats.cache_hits.values()), sum(total.stats.cache_misses.values()))"
USE_OWN = "from own import Own\nassert total(Own(2.0), 1.0) == 0.0, total(Own(2.0), 1.0)"
USE_HINGE = "from stepless.objective.losses.hinge import Hinge\nassert total(Hinge(), 1.0) == -0.5"


class Disk:
    """Processes that share a cache of kernels; `own` says whether the user's module is at hand."""

    def __init__(self, folder):
        self.folder = folder
        for name, text in (("here/kernel", KERNEL), ("there/own", LOSS)):
            path = folder / f"{name}.py"
            path.parent.mkdir()
            path.write_text(text)

    def run(self, script, own, before="", seed=0):
        path = [self.folder / "here"] + ([self.folder / "there"] if own else [])
        path += os.environ.get("PYTHONPATH", "").split(os.pathsep)
        environment = os.environ | {
            "NUMBA_CACHE_DIR": str(self.folder / "cache"),
            "PYTHONPATH": os.pathsep.join(map(str, path)),
            "PYTHONHASHSEED": str(seed),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return subprocess.run(
            [sys.executable, "-c", f"{PREAMBLE}{before}\n{script}{REPORT}"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def counts(self, *arguments, **names):
        done = self.run(*arguments, **names)
        assert done.returncode == 0, done.stderr
        return tuple(map(int, done.stdout.split()))


def test_kernels_are_kept_on_disk(tmp_path):
    disk = Disk(tmp_path)
    assert disk.counts(USE_OWN, own=True, seed=1) == (0, 1)
    # The index names Own, which cannot be imported here, and yet it is read and written:
    assert disk.counts(USE_HINGE, own=False) == (0, 1)
    # and Own's kernel is found, in a process in which sets have another order.
    assert disk.counts(f"{USE_HINGE}\n{USE_OWN}", own=True, seed=2) == (2, 0)
    # An edited Own does not get the old kernel.
    edited = LOSS.replace("UP, DOWN = 1.0", "UP, DOWN = 7.0")
    assert edited != LOSS
    (tmp_path / "there/own.py").write_text(edited)
    use = "from own import Own\nassert total(Own(2.0), 1.0) == 24.0, total(Own(2.0), 1.0)"
    assert disk.counts(f"{USE_HINGE}\n{use}", own=True) == (1, 1)


def test_it_is_the_nameless_entry_that_keeps_the_index_readable(tmp_path):
    """Without `TermType.__reduce__` the last test must fail: else it proves nothing."""
    disk = Disk(tmp_path)
    nameful = "from stepless.term import TermType\ndel TermType.__reduce__"
    assert disk.run(USE_OWN, own=True, before=nameful).returncode == 0
    done = disk.run(USE_HINGE, own=False, before=nameful)
    assert done.returncode != 0
    assert "No module named 'own'" in done.stderr


def test_a_type_survives_pickling():
    for term in (Line(1), Empty(), Pair(Line(1), Line(2)), Hinge(), Logistic()):
        own = typeof(term)
        assert pickle.loads(pickle.dumps(own)) is own


def test_a_stand_in_equals_the_type_it_stands_for():
    class Fleeting(Term):
        a: float = 1.0

        def at(self, x):
            return self.a * x

    own = typeof(Fleeting())
    packed = pickle.dumps(own)
    assert b"Fleeting" in packed  # its name is text there, not a class to import
    living = TermType._living.pop(own.name)
    stand_in = pickle.loads(packed)
    TermType._living[own.name] = living
    assert stand_in is not own
    assert stand_in == own
    assert hash(stand_in) == hash(own)
    assert stand_in != typeof(Empty())
    assert pickle.loads(pickle.dumps(stand_in)) is own


def test_infinities_are_fields_like_others():
    assert _at(Line(math.inf), 1.0) == math.inf
    assert Line(math.inf) == pickle.loads(pickle.dumps(Line(math.inf)))


def test_a_field_may_bear_the_name_of_another_terms_method():
    class Method(Term):
        def reach(self, x):
            return 2.0 * x

    class Field(Term):
        reach: float = 3.0

        def at(self, x):
            return self.reach * x

    @njit
    def call(term):
        return term.reach(5.0)

    assert call(Method()) == 10.0  # from now on numba knows `reach` as a method of Terms
    assert _at(Field(), 2.0) == 6.0
    assert _at(Field(4.0), 2.0) == 8.0
