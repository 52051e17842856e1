"""Rows of examples, dense or sparse, which compiled loops read by `span` and `entry`."""

from stepless.design.dense import Dense
from stepless.design.outer import Outer
from stepless.design.sparse import Sparse

Design = Dense | Sparse | Outer

__all__ = ["Dense", "Design", "Outer", "Sparse"]
