"""Values with pure methods that compiled loops can take as arguments and call.

A :class:`Term` is a tuple of parameters; losses, regularizers, domains, designs and rules are
Terms. To numba it is a named tuple with methods: :class:`TermType` holds its fields' types, and a
method becomes a fragment (see `stepless.jit`) that is inlined where it is called. The type is named
after the class *and a digest of its code*, so a loop compiled for it can be kept on disk, is never
stale after an edit, and is never confused with that of a namesake. This module and
`stepless.design.prefetch` are the only ones that extend numba.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from operator import itemgetter
from types import FunctionType
from typing import Any, ClassVar, Self, dataclass_transform
from weakref import WeakValueDictionary

import numpy as np
from numba import typeof
from numba.core import types
from numba.core.datamodel.models import TupleModel
from numba.core.datamodel.registry import register_default
from numba.core.typing.collections import NamedTupleAttribute
from numba.core.typing.templates import AbstractTemplate, infer_getattr
from numba.extending import lower_builtin, typeof_impl

from stepless.arguments import brief
from stepless.cached import cached_property
from stepless.code_digest import code_of
from stepless.jit import Part

_COERCE: dict[Any, Callable[[Any], Any]] = {"float": float, float: float, "int": int, int: int}


@dataclass_transform(frozen_default=True)
class Term(tuple[Any, ...]):
    """Immutable parameters and pure functions of them, callable from Python and from loops.

    Fields are declared as in a dataclass. Every method whose name does not begin with an underscore
    can be called in compiled code, with positional arguments, if numba can compile it.

    Examples
    --------
    >>> class Power(Term):
    ...     exponent: float = 2.0
    ...     def value(self, z, y):
    ...         return abs(z - y) ** self.exponent
    >>> Power(3).value(1.0, 3.0)
    8.0
    >>> Power(3)
    Power(exponent=3.0)
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}
    _digested: ClassVar[str]
    _coerce: ClassVar[dict[str, Callable[[Any], Any]]] = {}

    def __init_subclass__(cls) -> None:
        notes = inspect.get_annotations(cls)
        notes = {name: note for name, note in notes.items() if "ClassVar" not in str(note)}
        # A field declared again keeps its place and gets a new default.
        cls._fields = cls._fields + tuple(f for f in notes if f not in cls._fields)
        cls._defaults = cls._defaults | {f: vars(cls)[f] for f in notes if f in vars(cls)}
        cls._coerce = cls._coerce | {f: _COERCE[n] for f, n in notes.items() if n in _COERCE}
        for k, name in enumerate(cls._fields):
            setattr(cls, name, property(itemgetter(k)))

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if len(args) > len(cls._fields):
            raise TypeError(f"{cls.__name__} takes {len(cls._fields)} values, not {len(args)}")
        given = dict(zip(cls._fields, args, strict=False))
        if twice := given.keys() & kwargs.keys():
            raise TypeError(f"{cls.__name__} got {', '.join(sorted(twice))} twice")
        if unknown := kwargs.keys() - set(cls._fields):
            raise TypeError(f"{cls.__name__} has no field {', '.join(sorted(unknown))}")
        values = cls._defaults | given | kwargs
        if missing := [f for f in cls._fields if f not in values]:
            raise TypeError(f"{cls.__name__} needs {', '.join(missing)}")
        term = tuple.__new__(cls, (cls._coerced(f, values[f]) for f in cls._fields))
        term._check()
        return term

    @classmethod
    def _coerced(cls, field: str, value: Any) -> Any:
        if field not in cls._coerce:
            return value
        try:
            return cls._coerce[field](value)
        except OverflowError:
            raise ValueError(f"{field} is more than a double can hold: {brief(value)}") from None

    def _check(self) -> None:
        """Raise ValueError where the parameters make no sense."""

    def __reduce__(self) -> Any:
        return type(self), tuple(self)

    def __repr__(self) -> str:
        pairs = zip(self._fields, self, strict=True)
        return f"{type(self).__name__}({', '.join(f'{f}={v!r}' for f, v in pairs)})"

    # Two empty tuples are equal, two losses without parameters are not.
    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    # Without it, tuple's own `!=` would call two losses without parameters equal.
    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def _key(self) -> tuple[Any, ...]:
        """Return what `==` and `hash` compare; arrays, which do neither, are given as bytes."""
        return tuple(self)

    @classmethod
    def _digest(cls) -> str:
        # Kept on the class itself: a subclass has its own digest.
        if "_digested" not in vars(cls):
            seen: set[Any] = set()
            code = [repr(cls._fields)] + [code_of(f, seen) for f in _methods(cls).values()]
            cls._digested = hashlib.sha256("".join(code).encode()).hexdigest()[:16]
        return cls._digested

    @cached_property
    def _numba_type_(self) -> TermType:
        return _type_of(type(self), *[_typeof(value) for value in self])


class TermType(types.NamedTuple):  # type: ignore[name-defined]
    """The numba type of a Term: name of its class, digest of its code, types of its fields."""

    _living: ClassVar[WeakValueDictionary[str, TermType]] = WeakValueDictionary()

    def __init__(self, fieldtypes: tuple[types.Type, ...], cls: type[Term]) -> None:
        super().__init__(fieldtypes, cls)
        self.name = f"{cls.__module__}.{cls.__qualname__}@{cls._digest()}{self.types}"
        self._living.setdefault(self.name, self)

    @property
    def key(self) -> str:
        return self.name

    def __bool__(self) -> bool:
        return True  # an empty tuple type is falsy, and numba would drop `self`

    def __reduce__(self) -> Any:
        # For a function that a user compiles, numba reads one index of all versions. An entry names
        # no class, so it stays readable even if this process cannot import that class.
        return _revive, (self.name, tuple(self.types), tuple(self.fields))


@cache
def _type_of(cls: type[Term], *fieldtypes: types.Type) -> TermType:
    return TermType(fieldtypes, cls)  # cached: it takes as long as learning a few examples


_arrays: dict[Any, types.Type] = {}


def _typeof(value: Any) -> types.Type:
    """Return numba's type of a field; arrays of a known kind are looked up."""
    if type(value) is not np.ndarray:
        other: types.Type = typeof(value)
        return other
    kind = value.dtype, value.ndim, value.flags.num
    if kind not in _arrays:
        _arrays[kind] = typeof(value)
    return _arrays[kind]


def _revive(name: str, fieldtypes: tuple[types.Type, ...], fields: tuple[str, ...]) -> TermType:
    """Return the living type of that name, or a stand-in that compares equal to it."""
    living = TermType._living.get(name)
    if living is not None:
        return living
    stand_in = object.__new__(TermType)
    stand_in.__dict__.update(
        name=name, types=fieldtypes, fields=fields, count=len(fields), instance_class=None
    )
    return stand_in


register_default(TermType)(TupleModel)


@infer_getattr  # type: ignore[untyped-decorator, unused-ignore]
class _Attributes(NamedTupleAttribute):
    """Attributes in compiled code: fields first, then methods."""

    key = TermType

    def generic_resolve(self, term: TermType, name: str) -> Any:
        return super().generic_resolve(term, name) or _bound(term, name)


@typeof_impl.register(Term)  # type: ignore[untyped-decorator, unused-ignore]
def _typeof_term(term: Term, context: object) -> TermType:
    return term._numba_type_


@cache
def _methods(cls: type[Term]) -> dict[str, FunctionType]:
    return {
        name: function
        for c in reversed(cls.__mro__)
        if issubclass(c, Term) and c is not Term
        for name, function in vars(c).items()
        if inspect.isfunction(function) and not name.startswith("_")
    }


@cache
def _part(method: FunctionType) -> Part:
    return Part(method, {"nopython": True, "error_model": "numpy", "forceinline": True})


def _bound(term: TermType, name: str) -> Any:
    """Return the type of the method `term.name`, or None if the class has none of that name."""
    method = term.instance_class and _methods(term.instance_class).get(name)
    if method is None:
        return None
    _lower(name)

    class Method(AbstractTemplate):
        key = (TermType, name)

        def generic(self, args: Any, kws: Any) -> Any:
            return _part(method).signature(term, *args, **kws).as_method()

    return types.BoundFunction(Method, term)


@cache
def _lower(name: str) -> None:
    """Let compiled code call `term.name(...)`, whatever the term's class."""

    @lower_builtin((TermType, name), TermType, types.VarArg(types.Any))  # type: ignore[attr-defined, untyped-decorator, unused-ignore]
    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        part = _part(_methods(signature.args[0].instance_class)[name])
        function = context.get_function(part.fragment(signature.args), signature)
        context.add_linking_libs(function.libs)
        return function(builder, args)
