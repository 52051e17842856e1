"""Secondary structure of RNA: foldings learned from examples, as dot-brackets."""

from stepless.structured.rna.accuracy import Accuracy as Accuracy, accuracy as accuracy
from stepless.structured.rna.dot_bracket import (
    RNARecord as RNARecord,
    dot_bracket as dot_bracket,
    mates as mates,
    read_dot_brackets as read_dot_brackets,
)
from stepless.structured.rna.folding import Folding as Folding
