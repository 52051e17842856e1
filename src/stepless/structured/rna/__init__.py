"""Secondary structure of RNA: foldings learned from examples, as dot-brackets."""

from stepless.structured.rna.accuracy import Accuracy, accuracy
from stepless.structured.rna.dot_bracket import RNARecord, dot_bracket, mates, read_dot_brackets
from stepless.structured.rna.folding import Folding

__all__ = [
    "Accuracy",
    "Folding",
    "RNARecord",
    "accuracy",
    "dot_bracket",
    "mates",
    "read_dot_brackets",
]
