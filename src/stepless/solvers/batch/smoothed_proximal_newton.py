"""Proximal Newton steps on a smoothed risk, certified by the exact one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from stepless.arrays import Array
from stepless.compiled import smooth
from stepless.compiled.light import light, rowless
from stepless.data import Block, Column, sum_blocks
from stepless.objective import Loss, Objective
from stepless.objective.losses.bisected import Bisected
from stepless.objective.losses.envelope import Envelope
from stepless.proof.witness import Slopes
from stepless.risks.linear_risk import LinearRisk
from stepless.risks.risk import RowRisk
from stepless.solvers.batch import newton_step
from stepless.solvers.batch.dual_point import DualPoint
from stepless.solvers.batch.proximal_newton import ProximalNewton, ProximalNewtonState, _look, _survey
from stepless.solvers.solver import Finding, needs_one_output

_LEAST_AIM = 1e-12
_SETTLED = 0.25
DEBUG = False

@dataclass
class SmoothedProximalNewtonState:
    inner: ProximalNewtonState  # on the smoothed risk
    offset: Column
    width: float
    aim: float


class SmoothedProximalNewton:
    name: ClassVar[str] = "smoothed-proximal-newton"
    online: ClassVar[bool] = False
    needs: ClassVar[type] = RowRisk

    def __init__(self, aim: float = 1e-3) -> None:
        self.aim = aim
        self.newton = ProximalNewton()

    def lacks(self, objective):
        return None

    def start(self, risk, w, b, width=None):
        inner = self.newton.start(risk, w, b)
        inner.fresh = False
        offset = risk.source.column(_zeros)
        inner.kept.offset = offset
        if width is None:
            t = risk.cut_at_zero(0.0).value
            width = 2.0 * t / risk.objective.loss.lipschitz()
        return SmoothedProximalNewtonState(inner, offset, width, self.aim)

    def smoothed(self, risk, width):
        loss = risk.objective.loss
        return LinearRisk(replace(risk.objective, loss=Envelope(loss, width)), risk.source)

    def step(self, risk, state, rng):
        inner, loss = state.inner, risk.objective.loss
        near = self.smoothed(risk, state.width)
        if inner.dual is None:
            _survey(near, inner)
            dual = _look(near, inner)
        else:
            dual = self.newton._improve(near, inner, inner.dual)
        inner.dual = dual
        value, conj = (sum_blocks(risk.source.map(_exact, loss, inner.slopes, inner.kept.p, state.offset, state.width)) / risk.m).tolist()
        height = risk.objective.penalty(inner.w) + value
        cost = value + conj - float(0.0)
        pa = sum_blocks(risk.source.map(_pair, inner.slopes, inner.kept.p, state.offset))/risk.m
        cost -= pa
        if dual.slopes is not inner.slopes:
            conj = float(sum_blocks(risk.source.map(smooth.conjugates, loss, dual.slopes, 1.0))) / risk.m
        bound, slopes = replace(dual, conjugates=conj).bound(risk, height)
        gap = height - bound
        if DEBUG:
            share = np.max(np.abs(dual.g))/risk.objective.regularizer.elastic_shares[0]
            print(f"w {state.width:.2e} J {height:.8g} bound {bound:.8g} rel {gap/height:.1e} cost {cost/height:.1e} promise {inner.promise/height:.1e} share {share:.6f} nnz {np.count_nonzero(inner.w)} chosen {inner.chosen.features.size if inner.chosen else 0} damp {inner.damping:.1e} tilt {dual.tilt:.1e} band {np.count_nonzero(inner.c.whole)} {type(inner.model).__name__} ahead {dual.slopes is not inner.slopes}")
        finding = Finding(inner.w, inner.b, height, lower_bound=bound, claim=Slopes(slopes))
        if gap <= state.aim * height:
            state.aim = max(0.1 * state.aim, _LEAST_AIM)
        if cost > 0.5 * state.aim * height and inner.promise <= _SETTLED * cost:
            state.width /= 2.0
            offset = risk.source.column(_offset, inner.slopes, state.width)
            risk.source.update(inner.kept.p, _move, state.offset, offset)
            state.offset = inner.kept.offset = offset
            inner.slopes, inner.c = risk.source.empty(), risk.source.empty()
            inner.model = inner.ahead = None
            inner.promise = math.inf
            _survey(self.smoothed(risk, state.width), inner)
        return finding

@light
def _zeros(block):
    return np.zeros(block.s.size)

@rowless
def _exact(block, loss, slopes, z, offset, width):
    return np.array(smooth.exact(block, loss, slopes, z, offset, width))

@light
def _pair(block, slopes, z, offset):
    return float(slopes @ (z - offset))

@light
def _offset(block, slopes, width):
    return newton_step.unweighted(block, slopes, width)

@light
def _move(block, p, before, now):
    p += now - before
