"""Checks of parameters by name, shared by estimators, problems and runs."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from stepless.arguments import as_float, brief
from stepless.cross_validation import CrossValidation

_NUMBERS = {"alpha", "gap", "passes", "seconds", "nu", "gamma", "variance", "sigma"}
_FLAGS = {"fit_intercept", "warm_start", "shuffle"}
_BOOLEANS = bool, np.bool_
_ARRAYS = ("cost",)  # which may be an array


def refuse_settings(holder: Any) -> None:
    """Refuse parameters of a wrong type; their values are checked elsewhere.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> refuse_settings(LinearClassifier(fit_intercept="no"))
    Traceback (most recent call last):
    ValueError: fit_intercept must be True or False, not 'no'
    """
    for name, value in vars(holder).items():  # `get_params` is slower than a small chunk
        if name[0] == "_" or name[-1] == "_":
            continue
        if isinstance(value, np.ndarray) and name not in _ARRAYS:
            raise ValueError(f"{name} must be one value, not an array: {brief(value)}")
        if name in _NUMBERS:
            if not (value is None or isinstance(value, str | CrossValidation)):
                as_float(name, value)
        elif name in _FLAGS:
            if not isinstance(value, _BOOLEANS):
                raise ValueError(f"{name} must be True or False, not {brief(value)}")
        elif name == "verbose":
            if not (isinstance(value, Integral | np.bool_) and int(value) >= 0):
                raise ValueError(f"verbose must be a whole number, at least 0, not {brief(value)}")
        elif name == "random_state":
            _refuse_seed(value)


def _refuse_seed(value: Any) -> None:
    if value is None or isinstance(value, np.random.RandomState | np.random.Generator):
        return
    if not (isinstance(value, Integral) and 0 <= int(value) < 2**32):
        raise ValueError(
            "random_state must be None, a whole number from 0 to 2**32 − 1, or a generator, not "
            f"{brief(value)}"
        )
