"""The strength of a penalty, chosen from the data."""

from stepless.strength.choice import (
    best_strength as best_strength,
    choose_strength as choose_strength,
)
from stepless.strength.scale import lacks as lacks
