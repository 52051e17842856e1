"""The verifier: proves from the data an objective from above and a lower bound from below."""

from stepless.proof.interval import Interval as Interval, total_interval as total_interval
