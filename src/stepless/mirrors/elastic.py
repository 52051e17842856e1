"""The penalties that every mirror map knows."""

from __future__ import annotations

from stepless.objective import Regularizer


def elastic_shares(penalty: Regularizer | None, weight: float = 1.0) -> tuple[float, float] | None:
    """Return α and β of weight·Ω(w) = α‖w‖₁ + β‖w‖²/2; None where Ω is no such penalty.

    Examples
    --------
    >>> from stepless.objective import ElasticNet
    >>> elastic_shares(ElasticNet(1.0, 0.25), 2.0), elastic_shares(None)
    ((0.5, 1.5), (0.0, 0.0))
    """
    shares = (0.0, 0.0) if penalty is None else penalty.elastic_shares
    return None if shares is None else (weight * shares[0], weight * shares[1])
