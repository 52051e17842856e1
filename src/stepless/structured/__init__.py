"""Structured outputs: labels with costs, trees of labels, foldings, or a user-defined model."""

from stepless.structured.label_risk import (
    LabelRisk as LabelRisk,
    structured_risk as structured_risk,
)
from stepless.structured.label_tree import LabelTree as LabelTree
from stepless.structured.labels import Labels as Labels
from stepless.structured.model import Features as Features, StructuredModel as StructuredModel
from stepless.structured.multiclass import Multiclass as Multiclass
from stepless.structured.structured_risk import StructuredRisk as StructuredRisk
