"""Structured outputs: labels with costs, trees of labels, foldings, or a user-defined model."""

from stepless.structured.label_risk import LabelRisk, structured_risk
from stepless.structured.label_tree import LabelTree
from stepless.structured.labels import Labels
from stepless.structured.model import Features, StructuredModel
from stepless.structured.multiclass import Multiclass
from stepless.structured.structured_risk import StructuredRisk

__all__ = [
    "Features",
    "LabelRisk",
    "LabelTree",
    "Labels",
    "Multiclass",
    "StructuredModel",
    "StructuredRisk",
    "structured_risk",
]
