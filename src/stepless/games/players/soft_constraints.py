"""Online gradient descent with long-term constraints."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from stepless.arrays import Array
from stepless.games.costs import Cost
from stepless.games.players.player import Player, Run
from stepless.games.players.refusals import refuse_nonpositive
from stepless.jit import compiled

_FIRST = 8  # rounds of the first epoch: enough for δ to exist, for any m
_ALIKE = 1.0 + 2.0**-40  # a larger quotient counts as an increase


@dataclass(frozen=True)
class MultiplierEpoch:
    """Rounds with the same constants: G of the costs, the constraints' unit, η, δ, γ of (9.34).

    Lengths are measured in D, costs in GD, constraints in the unit; so are `multipliers` (λ_1, …,
    one more than rounds) and `pulls` (‖∇_w 𝓛‖²); `excesses` are c as it is.
    """

    steepest: float
    unit: float
    eta: float
    delta: float
    gamma: float
    multipliers: list[Array]
    pulls: list[float] = field(default_factory=list)
    excesses: list[Array] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.pulls)


class SoftConstraints(Player):
    """Online gradient descent with constraints c_i(w) ≤ 0 that must hold in the long run only.

    A decision must lie in S only, which is easy to project onto; each constraint has a multiplier
    that grows while it is violated and pulls decisions back.

    Plays       w_{t+1} = Π_S(w_t − ηD(∇f_t(w_t)/G + Σ_i λ_i ∇c_i(w_t) D/C)),
                λ_{t+1,i} = [λ_{t,i} + η(c_i(w_t)/C − ηδλ_{t,i})]₊; D is the diameter of S, G and C
                are at least all ‖∇f‖ and all D‖∇c_i‖ and |c_i| so far; in an epoch of T rounds
                η = 1/√((3m + 1)T) and δ = m + 1 + 2δ²η², its least root; λ begins with its last
                value, shortened to length 1. With `zero_violation` there is one constraint,
                max_i c_i/C + γ ≤ 0, (9.34), η = 1/√((5 + 3γ²)T), δ = 2 + 3δ²η², and γ is the least
                with 2(T + 3/(2η))(δηT + 1/η) ≤ (γT + γ₀)², and at most 1, because no c_i is
                below −C; Cγ₀ = −Σ max_i c_i before the epoch; without it γ is about 5/2 T^(−1/4)
    Theorem     MAH Th. 9.19, 9.24: in the form of their proofs, against any u of S at most
                Σ_{s≤t} ½(h_s − h_{s−1})‖w_s − u‖² + ‖p_s‖²/(2h_s) − ⟨λ_s, c(w_s) − c(u)⟩, p_s being
                the gradient of the step, h_s = G/(ηD), λ in units of f/c. In an epoch this is at
                most 3/2 GD√((3m + 1)T) if u obeys the constraints; γGD Σλ_s more for 9.24.
                `violation_bound` bounds Σ c_i(w_s): O(T^(3/4)), and in all at most 0 after an
                epoch of 9.24 if S has a point with all c_i ≤ −γC
    Cost        a gradient of every constraint, one projection onto S and O(dm) per round
    Needs       gradients; constraints with `excess` and `outward`
    Differs     the print has one G for costs and constraints: for costs a thousand times steeper,
                λ stays far too small. Here each has its own scale. ‖λ‖²/(2η) is
                Σλ_i²/(2η), so 1/η replaces m/η, and 2δ²η²‖λ‖² replaces 2mδ²η²‖λ‖². T ≥ 4 lets
                δ exist; the print's 2√2η(m + 1) ≤ 1 forgets G, and (9.33) is no solution of
                δ ≥ (m + 1)G² + 2mδ²η². Th. 9.24's a is R√(…), as in 9.19, and a and b need each
                other: γ is solved for instead, and FT ≥ a√T is not needed. Nor is the σ of
                Assumption 9.22: the bound is evaluated at u itself. For unknown T, G, C: the next
                epoch is twice as long, or begins when G or C must grow, which then at least doubles

    Parameters
    ----------
    zero_violation
        Aim inside, at max_i c_i ≤ −γC, so that violations sum to at most 0.
    lipschitz
        G of the costs, if it is known.
    horizon
        T, if it is known: the length of the first epoch.

    Examples
    --------
    >>> from stepless import L1Ball, L2Ball
    >>> from stepless.games import Game
    >>> game = Game(SoftConstraints(), L2Ball(1.0), constraints=[L1Ball(1.0)])
    >>> ledger = game.run(np.tile([-1.0, -0.5], (3000, 1)))
    >>> ledger.holds, bool(ledger.violation[-1, 0] < 0.1 * 3000)
    (True, True)
    """

    name = "soft-constraints"
    takes_penalty = False
    needs_constraints = True

    def __init__(
        self,
        zero_violation: bool = False,
        lipschitz: float | None = None,
        horizon: int | None = None,
    ) -> None:
        refuse_nonpositive(lipschitz=lipschitz)
        if horizon is not None and not 1 <= horizon < math.inf:
            raise ValueError(f"a horizon is at least 1, not {horizon:g}; leave it out if unknown")
        self.zero_violation, self.lipschitz, self.horizon = zero_violation, lipschitz, horizon
        self.theorem = "MAH Theorem 9.24" if zero_violation else "MAH Theorem 9.19"

    def begin(self) -> None:
        for constraint in self.constraints:
            if not constraint.offers("excess", "outward"):
                raise ValueError(
                    f"{self.name} needs constraints with excess and outward, which "
                    f"{type(constraint).__name__} lacks: use it as the domain"
                )
        self.w = self.center()
        self.D = self.diameter
        self.steepest, self.unit = self.lipschitz or 0.0, 0.0
        self.length = max(self.horizon or 0, _FIRST)
        self.slopes = np.zeros((len(self.constraints), self.d))
        self.credit = 0.0
        self.epochs: list[MultiplierEpoch] = []

    def learn(self, g: Array, cost: Cost) -> None:
        c, slopes = self.constrain()
        size = math.sqrt(g @ g)
        unit = max(self.D * math.sqrt(np.sum(slopes**2, axis=1).max()), np.abs(c).max())
        full = bool(self.epochs) and len(self.epochs[-1]) == self.length
        steepest, unit = _raised(self.steepest, size), _raised(self.unit, unit)
        if not self.epochs or full or steepest > self.steepest or unit > self.unit:
            self.length *= 1 + full
            self.steepest, self.unit = steepest, unit
            self.epochs.append(self.epoch())
        now = self.epochs[-1]
        multipliers = now.multipliers[-1]
        # If all gradients have been 0, any scale will do.
        pull = g / (now.steepest or 1.0) + self.D / now.unit * (multipliers @ slopes)
        climb = c / now.unit + now.gamma - now.eta * now.delta * multipliers
        self.w = self.inside(self.w - now.eta * self.D * pull)  # step 7
        now.pulls.append(float(pull @ pull))
        now.excesses.append(c)
        self.credit -= float(c.max())
        now.multipliers.append(np.maximum(multipliers + now.eta * climb, 0.0))

    def constrain(self) -> tuple[Array, Array]:
        """Return c(w) and its subgradients, one per row; with `zero_violation`, of max c only."""
        pairs = zip(self.constraints, self.slopes, strict=True)
        c = np.array([_outward(constraint, self.w, slope) for constraint, slope in pairs])
        if not self.zero_violation:
            return c, self.slopes
        top = slice(c.argmax(), c.argmax() + 1)
        return c[top], self.slopes[top]

    def epoch(self) -> MultiplierEpoch:
        """Return an epoch with new constants; its multipliers are the last, of length at most 1."""
        T = float(self.length)
        m = 1 if self.zero_violation else len(self.constraints)
        start, unit = np.zeros(m), self.unit or 1.0
        if self.epochs and self.steepest > 0.0:
            last = self.epochs[-1]
            start = last.multipliers[-1] * (last.steepest / self.steepest * unit / last.unit)
            start = start / max(math.sqrt(start @ start), 1.0)
        if self.zero_violation:
            gamma, eta, delta = _inset(T, self.credit / unit)
        else:
            gamma, eta = 0.0, 1.0 / math.sqrt((3.0 * m + 1.0) * T)
            delta = _least_root(m + 1.0, 2.0, eta)
        return MultiplierEpoch(self.steepest, unit, eta, delta, gamma, [start])

    def bound(self, run: Run, u: Array) -> Array:
        at_u = np.array([c.excess(u) for c in self.constraints])
        if self.zero_violation:
            at_u = at_u.max(keepdims=True)
        h, sums = [], []
        for e in self.epochs:
            h.append(np.full(len(e), e.steepest / (e.eta * self.D)))
            step = 0.5 * e.eta * np.array(e.pulls)
            slack = np.array(e.excesses) - at_u
            held = np.sum(np.array(e.multipliers[:-1]) * slack, axis=1) / e.unit
            sums.append(e.steepest * self.D * (step - held))
        rises = np.diff(np.concatenate(h), prepend=0.0)
        return np.cumsum(0.5 * rises * run.distances(u) + np.concatenate(sums))

    def violation_bound(self, run: Run) -> Array:
        """Bound Σ_{s≤t} c_i(w_s), one row per round and one column per constraint.

        The steps of λ give it, without a constant of the costs: c_i(w_t) is at most
        C((λ_{t+1,i} − λ_{t,i})/η + ηδλ_{t,i} − γ). If no round's regret is below −F, then
        λ_{t,i}² ≤ 2ηFT/(GD) + 3, and this is within a factor of √(1 + δη²T) < 3/2 of Th. 9.19.
        """
        sums = []
        for e in self.epochs:
            held = np.array(e.multipliers)
            steps = np.diff(held, axis=0) / e.eta + e.eta * e.delta * held[:-1]
            sums.append(e.unit * (steps - e.gamma))
        return np.cumsum(np.concatenate(sums), axis=0) + np.zeros(len(self.constraints))


def _raised(old: float, seen: float) -> float:
    """Return an upper bound on all that was seen, which at least doubles when it must grow."""
    return old if seen <= old * _ALIKE else max(seen, 2.0 * old)


def _least_root(A: float, B: float, eta: float) -> float:
    """Return the least δ with δ = A + Bδ²η²: (9.33) as it follows from Th. 9.19."""
    return 2.0 * A / (1.0 + math.sqrt(1.0 - 4.0 * A * B * eta * eta))


def _inset(T: float, credit: float) -> tuple[float, float, float]:
    """Return γ, η and δ of (9.34) for T rounds, for which (9.38) is at most the credit."""
    gamma = 0.0
    while True:
        eta = 1.0 / math.sqrt((5.0 + 3.0 * gamma * gamma) * T)
        delta = _least_root(2.0, 3.0, eta)
        allowed = math.sqrt(2.0 * (T + 1.5 / eta) * (delta * eta * T + 1.0 / eta))
        better = min(max(allowed - credit, 0.0) / T, 1.0)
        if better <= gamma * _ALIKE:  # it rises to the least solution
            return gamma, eta, delta
        gamma = better


# A method of a Term is fast only if it is compiled.
@compiled("w[d] g[d]")
def _outward(domain, w, g):  # type: ignore[no-untyped-def]
    return domain.outward(w, g)
