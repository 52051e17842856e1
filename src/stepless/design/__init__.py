"""Rows of examples, dense or sparse, which compiled loops read by `span` and `entry`."""

from stepless.design.dense import Dense as Dense
from stepless.design.outer import Outer as Outer
from stepless.design.sparse import Sparse as Sparse

Design = Dense | Sparse | Outer
