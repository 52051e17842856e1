"""The penalties that every mirror map knows."""

from __future__ import annotations

from stepless.objective import L1, ElasticNet, Regularizer, SquaredL2, Zero


def elastic_shares(penalty: Regularizer | None, weight: float = 1.0) -> tuple[float, float] | None:
    """α and β of weight·Ω(w) = α‖w‖₁ + β‖w‖²/2; None where Ω is no such penalty.

    Examples
    --------
    >>> elastic_shares(ElasticNet(1.0, 0.25), 2.0), elastic_shares(None)
    ((0.5, 1.5), (0.0, 0.0))
    """
    match penalty:
        case None | Zero():
            return 0.0, 0.0
        case L1(alpha=alpha):
            return weight * alpha, 0.0
        case SquaredL2(alpha=alpha):
            return 0.0, weight * alpha
        case ElasticNet(alpha=alpha, ratio=ratio):
            return weight * alpha * ratio, weight * alpha * (1.0 - ratio)
    return None


def lasso_share(penalty: Regularizer) -> float:
    """α of Ω(w) = α‖w‖₁ + β‖w‖²/2, which Ω must be."""
    shares = elastic_shares(penalty)
    assert shares is not None
    return shares[0]
