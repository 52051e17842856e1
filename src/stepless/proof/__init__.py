"""The verifier: proves from the data an objective from above and a lower bound from below."""

from stepless.proof.interval import Interval, total_interval

__all__ = ["Interval", "total_interval"]
