"""Model files, summaries, scores and verification of fits."""

from stepless.report.checkpoint import Checkpoint as Checkpoint
from stepless.report.chunk_scores import ChunkScores as ChunkScores, chunk_scores as chunk_scores
from stepless.report.model_file import (
    load_model as load_model,
    read_header as read_header,
    save_model as save_model,
)
from stepless.report.score import Score as Score, score_model as score_model
from stepless.report.summary import Summary as Summary
from stepless.report.text import describe as describe
from stepless.report.verification import Verification as Verification, verify as verify
