"""Types of arrays, by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]  # weights, predictions, slopes: whatever is computed
Indices = NDArray[np.integer[Any]]  # of examples, features or classes
Mask = NDArray[np.bool_]
AnyArray = NDArray[Any]  # what a user gave: labels, or features of any type
