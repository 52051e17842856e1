"""Readers and streams of examples, and the source that solvers iterate over."""

from stepless.data.block import Block
from stepless.data.chunks import Chunk, Chunks, Skipped
from stepless.data.column import Column, apply_numpy
from stepless.data.columns import Columns, column_features, read_columns
from stepless.data.csv_stream import csv_chunks
from stepless.data.cuts import sum_blocks
from stepless.data.errors import DataError, ZeroIndex
from stepless.data.hashing import Hashing
from stepless.data.sequences import Sequences, Vocabulary
from stepless.data.source import Source
from stepless.data.svmlight import SvmlightData, read_svmlight
from stepless.data.svmlight_stream import svmlight_chunks
from stepless.data.templates import window_features, word_features

__all__ = [
    "Block",
    "Chunk",
    "Chunks",
    "Column",
    "Columns",
    "DataError",
    "Hashing",
    "Sequences",
    "Skipped",
    "Source",
    "SvmlightData",
    "Vocabulary",
    "ZeroIndex",
    "apply_numpy",
    "column_features",
    "csv_chunks",
    "read_columns",
    "read_svmlight",
    "sum_blocks",
    "svmlight_chunks",
    "window_features",
    "word_features",
]
