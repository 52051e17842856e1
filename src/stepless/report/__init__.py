"""Model files, summaries, scores and verification of fits."""

from stepless.report.chunk_scores import ChunkScores, chunk_scores
from stepless.report.model_file import load_model, read_header, save_model
from stepless.report.score import Score, score_model
from stepless.report.summary import Summary
from stepless.report.text import describe
from stepless.report.verification import Verification, verify

__all__ = [
    "ChunkScores",
    "Score",
    "Summary",
    "Verification",
    "chunk_scores",
    "describe",
    "load_model",
    "read_header",
    "save_model",
    "score_model",
    "verify",
]
