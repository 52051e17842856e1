"""What kernels read: rows of examples, dense or sparse, behind `span` and `entry`."""

from stepless.design.dense import Dense
from stepless.design.outer import Outer
from stepless.design.sparse import Sparse

Design = Dense | Sparse | Outer

__all__ = ["Dense", "Design", "Outer", "Sparse"]
