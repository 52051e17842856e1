"""Readers and streams of examples, and the source that solvers iterate over."""

from stepless.data.block import Block as Block
from stepless.data.chunks import Chunk as Chunk, Chunks as Chunks, Skipped as Skipped
from stepless.data.column import Column as Column, apply_numpy as apply_numpy
from stepless.data.columns import (
    Columns as Columns,
    column_features as column_features,
    read_columns as read_columns,
)
from stepless.data.csv_stream import csv_chunks as csv_chunks
from stepless.data.cuts import sum_blocks as sum_blocks
from stepless.data.errors import DataError as DataError, ZeroIndex as ZeroIndex
from stepless.data.hashing import Hashing as Hashing
from stepless.data.sequences import Sequences as Sequences, Vocabulary as Vocabulary
from stepless.data.source import Source as Source
from stepless.data.store import Store as Store
from stepless.data.svmlight import SvmlightData as SvmlightData, read_svmlight as read_svmlight
from stepless.data.svmlight_stream import svmlight_chunks as svmlight_chunks
from stepless.data.templates import (
    window_features as window_features,
    word_features as word_features,
)
