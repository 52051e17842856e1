"""The strength of a penalty, found from the data."""

from stepless.strength.choice import (
    best_strength as best_strength,
    choose_strength as choose_strength,
)
from stepless.strength.scale import lacks as lacks
from stepless.strength.scaled import scaled_strength as scaled_strength
