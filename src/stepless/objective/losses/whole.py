"""What stands for a loss where no example has one of its own."""

from __future__ import annotations

from stepless.objective.losses.loss import Loss


class Whole(Loss):
    """The loss of a risk that is no sum over examples: all that is asked of it is its size.

    Examples
    --------
    >>> Whole().outputs()
    1
    """


class SmoothWhole(Whole):
    """The same, of a risk that has a gradient everywhere.

    Examples
    --------
    >>> isinstance(SmoothWhole(), Whole)
    True
    """
