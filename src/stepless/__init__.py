"""Regularized risk minimisation with no step size to choose and a certificate on every fit.

The public names are listed once, in `__init__.pyi`, which type checkers read. Each is imported when
it is first used: scikit-learn alone takes longer to import than all the rest of this package.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any
from warnings import warn

__version__ = "0.1.0"

_HOMES = {
    name.name: str(line.module)
    for line in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    if isinstance(line, ast.ImportFrom)
    for name in line.names
}
_RENAMED = {"WholeRisk": "OracleRisk"}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        new = _RENAMED[name]
        warn(f"stepless.{name} is called {new} now", DeprecationWarning, stacklevel=2)
        return __getattr__(new)
    if name not in _HOMES:
        raise AttributeError(f"module 'stepless' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
