"""What kernels read: rows of examples, dense or sparse, behind `span` and `entry`."""

from stepless.design.dense import Dense
from stepless.design.sparse import Sparse

Design = Dense | Sparse

__all__ = ["Dense", "Design", "Sparse"]
