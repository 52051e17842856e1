"""The decorator of compiled loops: one for what Python calls and for what compiled code calls.

A function with `lengths` is an *entry*: Python may call it, its arrays are checked first, and its
machine code is kept on disk. A function without is a *fragment*: only compiled code calls it.
Numba would optimise such a function as a program of its own before linking it into its caller,
which takes most of the time of compiling. Here it is typed and lowered only, and optimised as a
part of each caller.

A fragment that takes arrays and branches may cost two atomic operations per array and call: numba
counts references, and does not see through every branch. In an inner loop, keep the branch in the
caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from numba.core import config, types, typing
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags, compile_extra
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.sigutils import normalize_signature
from numba.core.targetconfig import ConfigStack
from numba.core.typing.templates import AbstractTemplate
from numba.core.utils import pysignature

from stepless.cached import cached_property
from stepless.code_cache import CodeCache
from stepless.lengths import checked, declared

P = ParamSpec("P")
R = TypeVar("R")

# Sums may be reordered and fused, so that they use the processor's vectors; infinities and NaN keep
# their meaning, because certificates and checks rely on it.
FAST = {"reassoc", "contract", "arcp", "nsz"}
_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "boundscheck": None,
    # Explicit, because numba would take the options of whoever compiles a function first.
    "fastmath": False,
    "forceinline": False,
}


def compiled(
    lengths: str | None = None,
    *,
    fastmath: set[str] | None = None,
    inline: bool | None = None,
    plain: Callable[..., bool] | None = None,
) -> Callable[[Callable[P, R]], Loop[P, R]]:
    """Compile a function when it is first called, for the types that it is called with.

    It releases the GIL, divides by 0 as IEEE 754 says, and is kept on disk. `lengths` declares the
    shapes of its arrays (see `stepless.lengths`; empty if it has none), checked whenever Python
    calls: compiled code checks no index. Without `lengths`, only compiled code can call it, with
    arrays that were checked. Set `inline=False` for a long function that others call in several
    places: it would be optimised in each; and True for one without which its callers' loops would
    not use vector instructions. Where `plain` is true of the arguments, Python runs the
    function uncompiled: for one that does little but call other compiled functions.

    No array that it writes to may overlap another argument: whether a loop uses vector
    instructions, and so the last bits of its sums, must not depend on where arrays lie in memory.

    Examples
    --------
    >>> import numpy as np
    >>> @compiled("x[d] y[d]", fastmath=FAST)
    ... def dot(x, y):
    ...     sum_ = 0.0
    ...     for j in range(x.size):
    ...         sum_ += x[j] * y[j]
    ...     return sum_
    >>> dot(np.ones(3), np.arange(3.0))
    3.0
    >>> dot(np.ones(3), np.ones(2))
    Traceback (most recent call last):
        ...
    ValueError: dot: arrays do not fit together: x[d] y[d], but x has shape (3,), y (2,)
    """

    def decorate(function: Any) -> Any:
        return function if config.DISABLE_JIT else Loop(function, lengths, fastmath, inline, plain)

    return decorate


class Loop(Generic[P, R]):
    """A compiled function: to Python a callable that checks lengths, to compiled code a part."""

    def __init__(
        self,
        function: Callable[P, R],
        lengths: str | None,
        fastmath: set[str] | None,
        inline: bool | None,
        plain: Callable[..., bool] | None,
    ) -> None:
        self.py_func = function
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self._options = _OPTIONS | {"fastmath": fastmath or False, "forceinline": inline or False}
        self._lengths, self._inline, self._plain = lengths, inline is not False, plain

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    else:  # a call with keywords costs more, and no loop has any

        def __call__(self, *args):
            return self._entry(*args)

    def __reduce__(self) -> str:
        return self.__qualname__  # by name, as pickle does with functions

    @cached_property
    def _entry(self) -> Callable[P, R]:
        run, plain = self.dispatcher, self._plain
        function: Callable[..., R] = self.py_func

        def either(*args: Any) -> R:
            return function(*args) if plain and plain(*args) else run(*args)

        return checked(function, self._lengths, either if plain else run)

    @cached_property
    def dispatcher(self) -> CPUDispatcher:
        """The entry that Python calls."""
        dispatcher = _Entry(self.py_func, {}, self._options, _Apart)
        dispatcher.declared = declared(self._lengths)
        flags = sorted(self._options["fastmath"] or ())
        dispatcher._cache = CodeCache(self.py_func, f"fastmath {flags}")
        return dispatcher

    @cached_property
    def _numba_type_(self) -> types.Type:
        return Part(self.py_func, self._options, self._inline).type


class _Entry(CPUDispatcher):
    """A function that Python calls; it refuses an array whose length is not declared."""

    declared: set[str]

    def compile(self, sig: Any) -> Any:
        args, _ = normalize_signature(sig)
        for name, kind in zip(pysignature(self.py_func).parameters, args, strict=True):
            for array in _undeclared(name, kind, self.declared):
                raise TypeError(f"{self.py_func.__name__}: `lengths` does not declare {array}")
        return super().compile(sig)


# Not Terms: they check their own arrays.
_TUPLES = {getattr(types, name) for name in ("Tuple", "UniTuple", "NamedTuple", "NamedUniTuple")}


def _undeclared(path: str, kind: Any, declared: set[str]) -> Iterator[str]:
    """Arrays, and arrays within tuples, that have no declared length."""
    if path in declared or f"{path.rpartition('.')[0]}.*" in declared:
        return
    if isinstance(kind, types.Array):
        yield path
    elif type(kind) in _TUPLES:
        names = getattr(kind, "fields", range(len(kind.types)))
        for k, (name, member) in enumerate(zip(names, kind.types, strict=True)):
            if f"{path}.{k}" not in declared:
                yield from _undeclared(f"{path}.{name}", member, declared)


class Part:
    """A function as compiled code sees it, with one fragment per list of argument types.

    If its options leave out `fastmath`, as a Term's methods do, it follows its caller.
    """

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], inline: bool = True
    ) -> None:
        self.function, self.inline = function, inline
        self.options = options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        self._fragments: dict[Any, Fragment] = {}

    @cached_property
    def type(self) -> types.Type:
        """Numba's type of the function."""
        part = self

        class Template(AbstractTemplate):
            key = part

            def generic(self, args: Any, kws: Any) -> Any:
                return part.signature(*args, **kws)

            def get_impl_key(self, sig: Any) -> Any:
                return part.fragment(sig.args)

        return types.Function(Template)

    def signature(self, *args: types.Type, **kws: types.Type) -> Any:
        """Type the function for these arguments, and make its fragment."""
        takes = self.function.__code__.co_argcount
        if kws or len(args) != takes:
            name, plural = self.function.__qualname__, "s" * (takes != 1)
            raise TypingError(
                f"{name}() takes {takes} argument{plural}, but {len(args)} were given"
            )
        found = typing.signature(self.fragment(args).return_type, *args)
        return found.replace(pysig=pysignature(self.function))

    def fragment(self, args: tuple[types.Type, ...]) -> Fragment:
        """Return the code for these arguments."""
        key = args, self._fastmath()
        if key not in self._fragments:
            flags = _Flags()
            cpu_target.options.parse_as_flags(flags, self.options)
            flags.no_compile = flags.noalias = True
            context = cpu_target.target_context
            library = _Parts(context.codegen(), self.function.__qualname__)
            result = compile_extra(
                cpu_target.typing_context, context, self.function, args, None, flags, {}, library
            )
            if not self.inline:
                code = library._final_module.get_function(result.fndesc.llvm_func_name)
                code.add_function_attribute("noinline")
            self._fragments[key] = Fragment(result.signature.return_type)
            context.insert_user_function(self._fragments[key], result.fndesc, [library])
        return self._fragments[key]

    def _fastmath(self) -> frozenset[str]:
        """Return the fastmath flags, its own or its caller's."""
        if "fastmath" in self.options:
            return frozenset(self.options["fastmath"] or ())
        caller = ConfigStack.top_or_none()
        return frozenset(caller.fastmath.flags if caller else ())


class Fragment:
    """The key under which numba finds a compiled fragment."""

    def __init__(self, return_type: types.Type) -> None:
        self.return_type = return_type


class _Parts(JITCodeLibrary):
    """The code of a fragment and of those that it calls, to be linked into a caller unoptimised."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


class _Apart(Compiler):
    """Numba's pipeline, with the promise that no two arrays overlap."""

    def __init__(self, *state: Any) -> None:
        *before, flags, names = state
        flags = _Flags(flags)
        flags.noalias = True
        super().__init__(*before, flags, names)


class _Flags(Flags):
    """Numba's flags, compared fast: numba does so some thousand times per function."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and self._values == other._values

    def __hash__(self) -> int:
        return len(self._values)
