"""Compiled functions: called from Python and from each other, checked, and the same everywhere."""

import pkgutil
from importlib import import_module
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.compiler import compile_extra
from numba.core.errors import TypingError

import stepless
from stepless import jit
from stepless.jit import FAST, compiled
from stepless.term import Term


@compiled()
def _square(x):
    return x * x


@compiled("x[n] y[n]", fastmath=FAST)
def _squares(x, y):
    total = 0.0
    for i in range(x.size):
        y[i] = _square(x[i])
        total += y[i]
    return total


def test_python_calls_and_compiled_code_calls():
    y = np.empty(3)
    assert _squares(np.arange(3.0), y) == 5.0
    assert y.tolist() == [0.0, 1.0, 4.0]
    with pytest.raises(TypeError, match="_square is for compiled code"):
        _square(2.0)

    @njit
    def of_numbas_own(x):
        return _square(x) + 1.0

    assert of_numbas_own(3.0) == 10.0


def test_arrays_that_do_not_fit_never_reach_the_loop():
    with pytest.raises(ValueError, match=r"_squares: arrays do not fit together: x\[n\] y\[n\]"):
        _squares(np.ones(3), np.ones(2))


def test_an_array_that_lengths_forget_is_refused():
    @compiled("x[n]")
    def forgetful(x, y):
        return x[0] + y[0]

    with pytest.raises(TypeError, match="forgetful: `lengths` does not declare y"):
        forgetful(np.ones(2), np.ones(1))
    assert forgetful(np.ones(2), (1.0,)) == 2.0
    with pytest.raises(TypeError, match=r"forgetful: `lengths` does not declare y\.0"):
        forgetful(np.ones(2), (np.ones(1),))


class _Pair(NamedTuple):
    first: object
    second: object


@pytest.mark.parametrize(
    "lengths", ["pair.first[n] pair.second[n]", "pair.0[n] pair.1[n]", "pair.*[2]"]
)
def test_arrays_within_tuples_are_declared(lengths):
    def add(pair):
        return pair.first[0] + pair.second[0]

    assert compiled(lengths)(add)(_Pair(np.ones(2), np.ones(2))) == 2.0
    with pytest.raises(TypeError, match=r"add: `lengths` does not declare pair\.second"):
        compiled("pair.first[n]")(add)(_Pair(np.ones(2), np.ones(2)))


def test_wrong_arguments_are_typing_errors():
    @compiled("")
    def too_many(x):
        return _square(x, x)

    with pytest.raises(TypingError, match="takes 1 argument, but 2 were given"):
        too_many(1.0)


def test_errors_of_fragments_come_through():
    @compiled()
    def refuse(x):
        if x < 0.0:
            raise ValueError("it is negative")
        return x

    @compiled("")
    def ask(x):
        return refuse(x) + 1.0

    assert ask(1.0) == 2.0
    with pytest.raises(ValueError, match="it is negative"):
        ask(-1.0)


def test_fragments_of_fragments_and_of_terms():
    class Scale(Term):
        by: float = 2.0

        def times(self, x):
            return self.by * _square(x)

    @compiled()
    def twice(term, x):
        return term.times(x) + term.times(-x)

    @compiled("")
    def outer(term, x):
        return twice(term, x) + _square(x)

    assert outer(Scale(3.0), 2.0) == 28.0
    assert outer(Scale(0.5), 2.0) == 8.0


def test_a_division_by_zero_is_infinite():
    @compiled("")
    def inverse(x):
        return 1.0 / x

    assert inverse(0.0) == np.inf


def _sums_over_layouts(function):
    """What a loop that sums and writes returns, its arrays lying in every order, close together."""
    m, rng = 569, np.random.default_rng(0)
    values = [rng.normal(size=m), rng.normal(size=m), np.zeros(m), np.zeros(m)]
    found = set()
    for gap in (0, 1, 8, 1000):
        for order in permutations(range(4)):
            room = np.empty(4 * (m + gap))
            arrays = [None] * 4
            for place, k in enumerate(order):
                arrays[k] = room[place * (m + gap) : place * (m + gap) + m]
                arrays[k][:] = values[k]
            found.add(function(*arrays, 0, m))
    return found


def _sum_and_write(x, y, u, v, lo, hi):
    total = 0.0
    for i in range(lo, hi):
        z = x[i] * y[i]
        u[i] = z
        v[i] = x[i] + y[i]
        total += z * z
    return total


def test_sums_do_not_depend_on_where_arrays_lie():
    lengths = "x[m] y[m] u[m] v[m] lo:hi[m]"
    assert len(_sums_over_layouts(compiled(lengths, fastmath=FAST)(_sum_and_write))) == 1


def test_it_is_the_promise_of_no_overlap_that_makes_them_so(monkeypatch):
    """Without it the last test must fail: else it proves nothing."""
    monkeypatch.setattr(jit, "_Apart", jit.Compiler)
    loop = compiled("x[m] y[m] u[m] v[m] lo:hi[m]", fastmath=FAST)(_sum_and_write)
    loop.dispatcher._cache.disable()  # it holds what the last test compiled
    if len(_sums_over_layouts(loop)) == 1:
        pytest.skip("this processor's vectors sum as its scalars do")


@compiled(fastmath=FAST)
def _multiply(x, y, u):
    total = 0.0
    for i in range(x.size):
        u[i] = x[i] * y[i]
        total += u[i] * u[i]
    return total


def _multiply_twice(x, y):
    u = np.empty(x.size)
    v = np.empty(x.size)
    return _multiply(x, y, u) + _multiply(u, x, v) + v.sum()


def _distance_checks():
    """How often compiled code asks how far apart two arrays lie that a function allocates."""
    loop = compiled("x[m] y[m]", fastmath=FAST)(_multiply_twice)
    loop.dispatcher._cache.disable()
    vars(_multiply).pop("_numba_type_", None)  # a part that was compiled is not compiled again
    assert loop(np.ones(5), np.ones(5)) == 15.0
    (code,) = loop.dispatcher.inspect_llvm().values()
    return code.count("diff.check") + code.count("memcheck")


def test_parts_do_not_ask_how_far_apart_arrays_lie():
    assert _distance_checks() == 0


def test_it_is_the_promise_of_no_overlap_that_keeps_parts_from_asking(monkeypatch):
    """Without it the last test must fail: else it proves nothing."""

    def promising_nothing(typing, target, function, args, returns, flags, *rest):
        flags.noalias = False
        return compile_extra(typing, target, function, args, returns, flags, *rest)

    monkeypatch.setattr(jit, "compile_extra", promising_nothing)
    if _distance_checks() == 0:
        pytest.skip("no such loop is put into this processor's vectors")


class Adder(Term):
    def add(self, total, lost, term):
        """Neumaier's: what rounding takes away is kept, to be added in the end."""
        grown = total + term
        rest = (total - grown) + term if abs(total) >= abs(term) else (term - grown) + total
        return grown, lost + rest


def _sum_by_method(adder, x):
    total, lost = 0.0, 0.0
    for i in range(x.size):
        total, lost = adder.add(total, lost, x[i])
    return total + lost


def _sums(loop, first, *args):
    """Of a function that may reorder sums, and of one that may not, compiled in this order."""
    found = {}
    for flags in (FAST, None) if first == "fast" else (None, FAST):
        entry = compiled("x[n]", fastmath=flags)(loop)
        entry.dispatcher._cache.disable()
        found["exact" if flags is None else "fast"] = entry(*args)
    return found


CANCELLING = np.array([1.0, 1e100, 1.0, -1e100])


@pytest.mark.parametrize("first", ["fast", "exact"])
def test_an_exact_part_is_exact_whoever_compiles_it_first(first):
    @compiled()
    def add(total, lost, term):
        grown = total + term
        rest = (total - grown) + term if abs(total) >= abs(term) else (term - grown) + total
        return grown, lost + rest

    def exact(x):
        sum_, lost = 0.0, 0.0
        for i in range(x.size):
            sum_, lost = add(sum_, lost, x[i])
        return sum_ + lost

    assert _sums(exact, first, CANCELLING)["exact"] == 2.0


@pytest.mark.parametrize("first", ["fast", "exact"])
def test_a_method_follows_its_own_caller_whoever_compiles_it_first(first):
    class Fresh(Adder):
        """One of which nothing is compiled yet."""

    assert _sums(_sum_by_method, first, Fresh(), CANCELLING)["exact"] == 2.0


def test_the_lengths_of_every_compiled_function_can_be_read():
    names = [module.name for module in pkgutil.walk_packages(stepless.__path__, "stepless.")]
    modules = [import_module(name) for name in names if not name.endswith("__main__")]
    loops = {o for m in modules for o in vars(m).values() if isinstance(o, jit.Loop)}
    assert len(loops) > 100
    for loop in loops:
        loop._entry
