"""Triangular factors of the centred rows of a source."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.linalg import qr, solve_triangular

from stepless.arrays import Array, Indices
from stepless.compiled import products
from stepless.data.block import Block
from stepless.data.column import Column
from stepless.data.source import Source

_NUMBERS = 2**19  # in the rows that are made dense at a time, unless there are very many features
_WORTH = 4  # rows per column, to be factored at a time
_PLAIN = 1e-6  # of a column's length: a larger remainder shows that it is independent
_FAINT = 1e-14  # of a column's length: the remainder of a dependent one, by rounding


def chunks(source: Source, centre: Array, ones: bool) -> Iterator[tuple[int, slice, Block, Array]]:
    """Yield a block's number, a range of its rows, these rows, and their dense x_i − centre.

    With `ones`, a 1 follows each. Each entry is rounded once.
    """
    n = source.shape[1] + ones
    most = max(n, _NUMBERS // n)
    for k, block in enumerate(source.blocks()):
        for first in range(0, block.shape[0], most):
            rows = slice(first, min(first + most, block.shape[0]))
            part = block.part(rows.start, rows.stop)
            A = np.zeros((part.shape[0], n))
            products.spread(part, A)
            A[:, : centre.size] -= centre
            A[:, centre.size :] = 1.0
            yield k, rows, part, A


def triangle(source: Source, h: Column, ones: bool) -> tuple[Array, Array]:
    """Return a centre, and the factor R of QR = the rows h_i(x_i − centre, 1), Q orthogonal.

    Without `ones`, the centre is 0 and there is no last column.

    Examples
    --------
    >>> source = Source(np.array([[1.0], [3.0]]), np.zeros(2))
    >>> centre, R = triangle(source, Column([np.ones(2)]), True)
    >>> centre, np.abs(R.T @ R).round(12).tolist()
    (array([2.]), [[2.0, 0.0], [0.0, 2.0]])
    """
    n, centre = source.shape[1] + ones, np.zeros(source.shape[1])
    squares = Column([part * part for part in h.parts])
    mass = math.fsum(float(part.sum()) for part in squares.parts)
    if ones and mass > 0.0:
        centre = source.combination(squares) / mass
    waiting = [np.zeros((n, n))]  # rows, until they are worth a factor
    for k, rows, _, A in chunks(source, centre, ones):
        waiting.append(h.parts[k][rows, None] * A)
        if sum(map(len, waiting)) >= _WORTH * n:
            waiting = [upper(np.vstack(waiting))]
    return centre, upper(np.vstack(waiting))


def upper(A: Array) -> Array:
    """Return the triangular factor of a matrix with at least as many rows as columns."""
    if A.shape[0] == A.shape[1] and not np.tril(A, -1).any():
        return A
    R: Array = qr(A, mode="r", check_finite=False)[0][: A.shape[1]]
    return R


def independent(R: Array, free: bool) -> tuple[Indices, Indices, Array]:
    """Return independent features, the dependent ones, and the coefficients of these in those.

    Numerically; independent also of the intercept, R's last column, if it is free.
    """
    d = R.shape[0] - free
    whole = np.linalg.norm(R, axis=0)
    scale = np.where(whole > 0.0, whole, 1.0)[:d]
    columns = R[:, :d] / scale
    if free:
        columns = upper(np.column_stack((R[:, d], columns)))[1:, 1:]
    if d and (np.abs(columns.diagonal()) > _PLAIN).all():  # no need to look for the best order
        return np.arange(d), np.arange(0), np.zeros((d, 0))
    turned, order = qr(columns, mode="r", pivoting=True, check_finite=False)
    rank = int((np.abs(turned.diagonal()) > _FAINT * math.sqrt(d + 1)).sum())
    kept, left = order[:rank], order[rank:]
    if not rank:
        return kept, left, np.zeros((0, left.size))
    shares = solve_triangular(turned[:rank, :rank], turned[:rank, rank:])
    return kept, left, shares * scale[left] / scale[kept, None]
