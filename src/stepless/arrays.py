"""Types of arrays, by what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy import sparse

Array = NDArray[np.float64]  # weights, predictions, slopes: whatever is computed
Indices = NDArray[np.integer[Any]]  # of examples, features or classes
Mask = NDArray[np.bool_]
AnyArray = NDArray[Any]  # what a user gave: labels, or features of any type
Weights: TypeAlias = "ArrayLike | None"  # one per example, or None for equal ones
# Features, one row per example: as a user gives them, and once they are validated.
MatrixLike: TypeAlias = "ArrayLike | sparse.spmatrix | sparse.sparray"
Matrix: TypeAlias = "AnyArray | sparse.csr_matrix | sparse.csr_array"
