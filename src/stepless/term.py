"""How a value with pure methods reaches compiled code.

A :class:`Term` is an immutable tuple of parameters with pure methods. Compiled kernels take it as
an argument and call its methods; numba inlines them. Its numba type is keyed on the class's
qualified name *and a digest of its code*, so that a kernel compiled for it is kept on disk, is
never stale after an edit, and is never confused with that of a namesake.
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

from stepless.cached import cached_property
from stepless.code_digest import code_of
from stepless.given import shown
from stepless.jit import Part

_COERCE: dict[Any, Callable[[Any], Any]] = {"float": float, float: float, "int": int, int: int}


@dataclass_transform(frozen_default=True)
class Term(tuple[Any, ...]):
    """Immutable parameters and pure functions of them, callable from Python and from kernels.

    Fields are declared as in a dataclass; every method whose name does not begin with an
    underscore can be called in compiled code, with positional arguments, provided that it uses only
    what numba knows.

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
        notes = {
            name: note
            for name, note in inspect.get_annotations(cls).items()
            if "ClassVar" not in str(note)
        }
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
            raise ValueError(f"{field} is more than a double can hold: {shown(value)}") from None

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
        """What equal terms of one class have in common; of arrays, which do not compare, bytes."""
        return tuple(self)

    @classmethod
    def _digest(cls) -> str:
        # Kept on the class itself: a subclass has its own digest.
        if "_digested" not in vars(cls):
            seen: set[Any] = set()
            code = [repr(cls._fields)] + [code_of(f, seen) for f in _methods(cls).values()]
            cls._digested = hashlib.sha256("".join(code).encode()).hexdigest()[:16]
        return vars(cls)["_digested"]

    @cached_property
    def _numba_type_(self) -> TermType:
        return _type_of(type(self), *[_typeof(value) for value in self])


class TermType(types.NamedTuple):  # type: ignore[name-defined]
    """Numba's type of a Term: the name of its class, the digest of its code, its fields' types."""

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
        # Of a function that a user compiles, numba keeps one index of versions and reads all of it.
        # By naming no class, an entry for a loss that this process cannot import stays readable.
        return _revive, (self.name, tuple(self.types), tuple(self.fields))


@cache
def _type_of(cls: type[Term], *fieldtypes: types.Type) -> TermType:
    return TermType(fieldtypes, cls)  # which takes as long as learning a few examples


_arrays: dict[Any, types.Type] = {}


def _typeof(value: Any) -> types.Type:
    """Numba's type of a field, at once for arrays of a kind that was seen."""
    if type(value) is not np.ndarray:
        return typeof(value)
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


@infer_getattr
class _Attributes(NamedTupleAttribute):
    """A field comes before a method that other Terms have by that name."""

    key = TermType

    def generic_resolve(self, term: TermType, name: str) -> Any:
        return super().generic_resolve(term, name) or _bound(term, name)


@typeof_impl.register(Term)
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
    """The type of `term.name`, a method of the class; None if it has none of that name."""
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

    @lower_builtin((TermType, name), TermType, types.VarArg(types.Any))  # type: ignore[attr-defined]
    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        part = _part(_methods(signature.args[0].instance_class)[name])
        function = context.get_function(part.fragment(signature.args), signature)
        context.add_linking_libs(function.libs)
        return function(builder, args)
