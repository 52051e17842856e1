"""Proves what a model claims, from the data: an objective from above and a bound from below."""

from stepless.proof.interval import Interval, added

__all__ = ["Interval", "added"]
