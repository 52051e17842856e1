"""Projections in the metric of any positive definite matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from stepless.mirrors.inequalities import inequalities
from stepless.objective import Domain, Free, L2Ball
from stepless.objective.active_set import nearest
from stepless.objective.domains.l2_ball import project_l2

_invert = get_lapack_funcs("trtri", dtype=np.float64)


def project_metric(domain: Domain, w: NDArray, H: NDArray) -> NDArray:
    """argmin_v∈S ½(v − w)ᵀH(v − w), H symmetric and positive definite.

    In the coordinates u = Lᵀv, H = LLᵀ, it is the nearest point of what linear inequalities leave.

    Examples
    --------
    >>> from stepless.objective import Simplex
    >>> project_metric(Simplex(1.0), np.array([1.0, 0.5]), np.diag([1.0, 3.0]))
    array([0.625, 0.375])
    """
    if isinstance(domain, Free):
        return w.copy()
    if isinstance(domain, L2Ball):
        heights, axes = np.linalg.eigh(H)
        turned = axes.T @ w
        project_l2(turned, heights, domain.bound)
        return axes @ turned
    A, b = inequalities(domain, w.size)
    if (A @ w <= b).all():
        return w.copy()
    return _nearest_of(A, b, w, H)


def _nearest_of(A: NDArray, b: NDArray, w: NDArray, H: NDArray) -> NDArray:
    L = np.linalg.cholesky(H)
    inverse = _invert(L, lower=1)[0]
    rows = A @ inverse.T
    lengths = np.sqrt(np.einsum("kj,kj->k", rows, rows))
    u = L.T @ w
    active = np.zeros(b.size, dtype=np.bool_)
    if not nearest(u, rows / lengths[:, None], b / lengths, active):
        raise ValueError("no point obeys all inequalities of the domain; loosen them")
    return inverse.T @ u
