"""The error of a round that cannot be played."""

from __future__ import annotations


class GameError(ValueError):
    """A round that cannot be played; the message is one sentence with the round's number.

    Examples
    --------
    >>> raise GameError(17, "the gradient is not finite")
    Traceback (most recent call last):
    ...
    stepless.games.errors.GameError: round 17: the gradient is not finite
    """

    def __init__(self, round_: int, sentence: str) -> None:
        super().__init__(f"round {round_}: {sentence}")
        self.round = round_
