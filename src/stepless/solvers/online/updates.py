"""Ways to compute argmin η⟨u, x⟩ + ηcφ(x) + ½⟨x, Hx⟩ (DHS eq. (21)) round by round."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np

from stepless.arrays import Array, Indices
from stepless.cached import cached_property
from stepless.compiled import dual_averaging, eager, forward_backward, mirror_descent
from stepless.compiled.forward_backward import ElasticRule
from stepless.compiled.metrics import DiagonalMetric, StepRule
from stepless.objective import Domain, FiniteSum, Regularizer


@dataclass(frozen=True)
class Setting:
    """The penalty, and pairs of metrics and η: for the weights and for the intercept."""

    penalty: tuple[Regularizer, Domain]
    metrics: tuple[DiagonalMetric, DiagonalMetric]
    etas: tuple[float, float]

    @cached_property
    def rules(self) -> tuple[StepRule, StepRule]:
        """The rules of mirror descent and of dual averaging, as compiled loops take them."""
        how = *self.penalty, *self.metrics, *self.etas
        return StepRule(*how, False), StepRule(*how, True)

    def pulls(self, w: Array, b: Array) -> tuple[Array, Array]:
        """Return the Σg that puts dual averaging at these weights before the first round.

        They count less as the examples add curvature.
        """
        heights = [metric.height(0.0, 0) for metric in self.metrics]
        bias_pull = heights[1] / self.etas[1] if self.etas[1] > 0.0 else 0.0
        return -w * (heights[0] / self.etas[0]), -b * bias_pull


@dataclass
class Memory:
    """The arrays of an update: each update defines what they hold."""

    kept: Array
    bias: Array
    common: Array = field(default_factory=lambda: np.zeros(0))
    clock: int = 0


class Update(Protocol):
    """An empty memory; learning; the current weights (d × K) and intercepts (K)."""

    def fresh(self, setting: Setting, w: Array, b: Array) -> Memory: ...

    def run(
        self, problem: FiniteSum, setting: Setting, memory: Memory, order: Indices, scores: Array
    ) -> None: ...

    def weights(self, setting: Setting, memory: Memory) -> tuple[Array, Array]: ...


class Averaging:
    """Lazy dual averaging: any penalty of rows, a domain that is a product of intervals."""

    def fresh(self, setting: Setting, w: Array, b: Array) -> Memory:
        memory = Memory(np.zeros((*w.shape, 2)), np.zeros((b.size, 2)))
        at = dual_averaging.SUM
        if w.any() or b.any():
            memory.kept[:, :, at], memory.bias[:, at] = setting.pulls(w, b)
        return memory

    def run(
        self, problem: FiniteSum, setting: Setting, memory: Memory, order: Indices, scores: Array
    ) -> None:
        arrays = memory.kept, memory.bias
        dual_averaging.average(problem, setting.rules[True], order, *arrays, memory.clock, scores)

    def weights(self, setting: Setting, memory: Memory) -> tuple[Array, Array]:
        (metric, bias_metric), (eta, bias_eta) = setting.metrics, setting.etas
        w = np.empty(memory.kept.shape[:2])
        dual_averaging.averaged(setting.penalty, metric, eta, memory.kept, memory.clock, w)
        pulls, grown = memory.bias.T
        heights = [bias_metric.height(g, memory.clock) for g in grown.tolist()]
        return w, 0.0 - bias_eta * pulls / np.array(heights)  # no −0


class Mirror:
    """Lazy composite mirror descent: a separable penalty and domain."""

    def fresh(self, setting: Setting, w: Array, b: Array) -> Memory:
        memory = Memory(np.zeros((*w.shape, 3)), np.zeros((b.size, 3)))
        at = mirror_descent.VALUE
        memory.kept[:, :, at], memory.bias[:, at] = w, b
        return memory

    def run(
        self, problem: FiniteSum, setting: Setting, memory: Memory, order: Indices, scores: Array
    ) -> None:
        arrays = memory.kept, memory.bias
        mirror_descent.descend(problem, setting.rules[False], order, *arrays, memory.clock, scores)

    def weights(self, setting: Setting, memory: Memory) -> tuple[Array, Array]:
        w = np.empty(memory.kept.shape[:2])
        rule = setting.penalty[0], setting.metrics[0], setting.etas[0]
        mirror_descent.descended(*rule, memory.kept, memory.clock, w)
        return w, memory.bias[:, mirror_descent.VALUE].copy()


@lru_cache(maxsize=64)
def _elastic_rule(
    elastic: tuple[float, float], domain: Domain, etas: tuple[float, float]
) -> ElasticRule:
    """Make what compiled loops take: once, for a chunk of a stream may be small."""
    return ElasticRule(*elastic, domain, *etas)


class Splitting:
    """Lazy forward-backward splitting with steps η/√t: Ω(w) = α‖w‖₁ + β‖w‖²/2."""

    def __init__(self, elastic: tuple[float, float]) -> None:
        self.elastic = elastic

    def fresh(self, setting: Setting, w: Array, b: Array) -> Memory:
        return Memory(w.copy(), b.copy(), np.array([1.0, 0.0, 0.0]))

    def run(
        self, problem: FiniteSum, setting: Setting, memory: Memory, order: Indices, scores: Array
    ) -> None:
        rule = _elastic_rule(self.elastic, setting.penalty[1], setting.etas)
        forward_backward.split(
            problem, rule, order, memory.kept, memory.bias, memory.common, scores
        )

    def weights(self, setting: Setting, memory: Memory) -> tuple[Array, Array]:
        v, (scale, shift, _) = memory.kept, memory.common
        w = np.copysign(np.maximum(scale * np.abs(v) - shift, 0.0), v)
        return w, memory.bias.copy()


class Eager:
    """Both updates of all weights in every round: for any penalty and domain."""

    def __init__(self, averaging: bool) -> None:
        self.averaging = averaging

    def fresh(self, setting: Setting, w: Array, b: Array) -> Memory:
        memory = Memory(np.zeros((2, *w.shape)), np.zeros((3, b.size)), w.copy())
        eager.enter(setting.penalty[1], memory.common)
        memory.bias[0] = b
        if self.averaging and (w.any() or b.any()):
            memory.kept[0], memory.bias[1] = setting.pulls(w, b)
        return memory

    def run(
        self, problem: FiniteSum, setting: Setting, memory: Memory, order: Indices, scores: Array
    ) -> None:
        rule, kept = setting.rules[self.averaging], (memory.common, *memory.kept)
        eager.proceed(problem, rule, order, kept, memory.bias, memory.clock, scores)

    def weights(self, setting: Setting, memory: Memory) -> tuple[Array, Array]:
        return memory.common.copy(), memory.bias[0].copy()
