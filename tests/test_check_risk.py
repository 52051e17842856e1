"""`check_risk`: every risk of ours passes, and one that breaks the contract is told so in one line."""

import numpy as np
import pytest

from stepless import (
    ContractError,
    Nonnegative,
    OffsetRisk,
    OracleRisk,
    Source,
    SquaredL2,
    check_risk,
)
from stepless.risks.metrics.f_risk import FRisk
from stepless.risks.metrics.pair_risk import PairRisk
from stepless.risks.metrics.top_risk import TopRisk
from stepless.risks.ranking import Pairwise, RankingRisk

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3)) + 0.5
y = np.where(X[:, 0] + rng.normal(size=30) > 0.5, 1.0, -1.0)
RIDGE = SquaredL2(0.1)


class Distance(OracleRisk):
    """‖w − 1‖²/2; each of the others has one fault."""

    smooth = True

    def value_and_gradient(self, w):
        return 0.5 * float((w - 1.0) @ (w - 1.0)), w - 1.0


class Section:
    def __init__(self, z):
        self.z = z

    def cut(self, b):
        margins = 1.0 - y * (self.z + b)
        return np.maximum(margins, 0.0).mean(), -(y * (margins > 0.0)).mean()

    def gradient(self, b):
        return -((y * (1.0 - y * (self.z + b) > 0.0)) @ X) / len(y)


class MeanHinge(OffsetRisk):
    def section(self, w):
        return Section(X @ w)


@pytest.mark.parametrize(
    "risk",
    [
        Distance(3, RIDGE),
        Distance(3, RIDGE, Nonnegative()),
        MeanHinge(3, RIDGE, m=30),
        MeanHinge(3, RIDGE, m=30, intercept=True),
        FRisk(Source(X, y), RIDGE, 1.0, True),
        PairRisk(Source(X, y), RIDGE),
        TopRisk(Source(X, y), RIDGE, 5, 5),
        RankingRisk(Pairwise(), X, y, RIDGE, qid=np.arange(30) // 6),
    ],
    ids=lambda risk: type(risk).__name__,
)
def test_risks_pass(risk):
    check_risk(risk)


class Negative(Distance):
    def value_and_gradient(self, w):
        return super().value_and_gradient(w)[0] - 5.0, w - 1.0


class Column(Distance):
    def value_and_gradient(self, w):
        return super().value_and_gradient(w)[0], (w - 1.0)[:, None]


class Infinite(Distance):
    def value_and_gradient(self, w):
        return np.inf, w - 1.0


class Broken(Distance):
    def value_and_gradient(self, w):
        return {}["w"]


class Saddle(Distance):
    smooth = False

    def value_and_gradient(self, w):
        return 1e4 + float(w[0] * w[1]), np.array([w[1], w[0], 0.0])


class Steep(Distance):
    def value_and_gradient(self, w):
        return super().value_and_gradient(w)[0], 1.5 * (w - 1.0)


class Backwards(Distance):
    smooth = False

    def value_and_gradient(self, w):
        return super().value_and_gradient(w)[0], 1.0 - w


class Restless(Distance):
    calls = 0

    def value_and_gradient(self, w):
        self.calls += 1
        return super().value_and_gradient(w)[0] + 0.1 * (self.calls % 3), w - 1.0


class Careless(Distance):
    def value_and_gradient(self, w):
        value = super().value_and_gradient(w)[0]
        w -= 1.0
        return value, w.copy()


class Reused(Distance):
    def value_and_gradient(self, w):
        room = vars(self).setdefault("room", np.empty(3))
        room[:] = w - 1.0
        return super().value_and_gradient(w)[0], room


class Small(Distance):
    @property
    def sizes(self):
        return np.full(3, 1e-3)


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (Negative, "Negative at weights of length 0 raises ValueError: .* at least 0"),
        (Column, "raises ValueError: .* a gradient of shape"),
        (Infinite, "R of Infinite at weights of length 0 is inf"),
        (Broken, "raises KeyError"),
        (Saddle, "Saddle is not convex: half way between"),
        (Steep, "the gradient of Steep at .* says that R rises by .* but it rises by"),
        (Backwards, "the gradient of Backwards at .* is no subgradient: its plane lies"),
        (Restless, "and when asked again"),
        (Careless, "changes the weights that it is given"),
        (Reused, "changes a gradient that it has returned"),
        (Small, "Small.sizes is 0.001 for weight 0, but the gradient at .* is -1"),
    ],
)
def test_a_fault_is_told_in_one_line(kind, complaint):
    with pytest.raises(ContractError, match=complaint) as caught:
        check_risk(kind(3, RIDGE))
    assert "\n" not in str(caught.value)


def test_what_is_no_risk_is_refused():
    with pytest.raises(ContractError, match="needs a OracleRisk with its penalty, not the class"):
        check_risk(Distance)
