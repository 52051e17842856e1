"""DHS's Tables 1, 3 and 4 on the sets at hand: `python -m benchmarks.dhs_tables [table1] [...]`.

One pass of each learner, then its error on the test part. Its one number, the *knob* (η; PA's C,
AROW's r), is what its own early look at the stream finds, or what the paper would choose: of
some powers of 2 around, the one with the fewest mistakes on the examples that the paper chooses on.
Weights are those after the last round; "share" is that of non-zero weights or, of a matrix, rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import datasets
from benchmarks.features import adult_products, imdb_bigrams, mnist_kernel
from benchmarks.tables import table, timed
from stepless import L1, Objective, RowsL2, Source, Zero
from stepless.objective import Hinge, MulticlassHinge
from stepless.risks.joint_risk import risk_of
from stepless.solvers import AROW, FOBOS, RDA, AdaGrad, PassiveAggressive

LEARNERS: dict[str, Callable[[float | None], Any]] = {
    "RDA": RDA,
    "FB": FOBOS,
    "Ada-RDA": lambda eta: AdaGrad("rda", eta=eta),
    "Ada-FB": lambda eta: AdaGrad("cmd", eta=eta),
    "PA": lambda C: PassiveAggressive(C=C),
    "AROW": lambda r: AROW(r=r),
}
WITHOUT_PENALTY = ("PA", "AROW")
SPAN = range(-7, 8)
STRENGTHS = tuple(digit * 10.0**power for power in (-5, -4, -3, -2) for digit in (1, 2, 3, 5, 7))

# set: error and share of RDA, FB, Ada-RDA, Ada-FB, PA, AROW
TABLE_1 = {
    "ECAT": ((0.051, 0.099), (0.058, 0.194), (0.044, 0.086), (0.044, 0.238), (0.059,), (0.049,)),
    "CCAT": ((0.064, 0.123), (0.111, 0.226), (0.053, 0.105), (0.053, 0.276), (0.107,), (0.061,)),
    "GCAT": ((0.046, 0.092), (0.056, 0.183), (0.040, 0.080), (0.040, 0.225), (0.066,), (0.044,)),
    "MCAT": ((0.037, 0.074), (0.056, 0.146), (0.035, 0.063), (0.034, 0.176), (0.053,), (0.039,)),
}
# learner, λ: error and share
TABLE_3 = {
    ("PA", 0.0): (0.062, 1.0),
    ("Ada-RDA", 0.0): (0.066, 1.0),
    ("RDA", 0.0): (0.108, 1.0),
    ("Ada-RDA", 5e-4): (0.100, 0.569),
    ("RDA", 5e-4): (0.138, 0.878),
    ("Ada-RDA", 1e-3): (0.137, 0.144),
    ("RDA", 1e-3): (0.192, 0.532),
}
PARTS = (0.05, 0.1, 0.25, 0.5, 1.0)
# learner, whether ℓ₁: error and share for each part of the training set
TABLE_4 = {
    ("AROW", False): ((0.049,), (0.048,), (0.046,), (0.045,), (0.044,)),
    ("PA", False): ((0.055,), (0.052,), (0.050,), (0.049,), (0.048,)),
    ("RDA", False): ((0.055,), (0.054,), (0.052,), (0.051,), (0.050,)),
    ("Ada-RDA", False): ((0.053,), (0.051,), (0.049,), (0.048,), (0.047,)),
    ("RDA", True): ((0.056, 0.075), (0.054, 0.066), (0.053, 0.058), (0.052, 0.053), (0.051, 0.050)),
    ("Ada-RDA", True): (
        (0.052, 0.062),
        (0.051, 0.053),
        (0.050, 0.044),
        (0.050, 0.040),
        (0.049, 0.037),
    ),
}
SHUFFLES = 5


@dataclass(frozen=True)
class Pass:
    """What one pass came to."""

    mistakes: float  # each example predicted before it was learned
    error: float  # on the test part
    share: float
    knob: float
    seconds: float


class Task:
    """Examples to learn, examples to be tested on, and a loss."""

    def __init__(self, X: Any, y: NDArray, X_test: Any, y_test: NDArray) -> None:
        self.source, self.X_test, self.y_test = Source(X, y), X_test, y_test
        classes = np.unique(y).size
        self.loss = Hinge() if classes == 2 else MulticlassHinge(classes)
        self.order = np.arange(len(y), dtype=np.uint32)

    def one_pass(
        self, who: str, strength: float, order: NDArray | None = None, knob: float | None = None
    ) -> Pass:
        """Learn the examples in this order, with ℓ₁ or, of several classes, ℓ₁/ℓ₂ of a strength."""
        order = self.order if order is None else order
        lasso = RowsL2 if self.loss.outputs() > 1 else L1
        objective = Objective(self.loss, lasso(strength) if strength else Zero())
        learner, risk = LEARNERS[who](knob), risk_of(objective, self.source)
        course = learner.start(risk, np.zeros(risk.d), 0.0)
        seconds, scores = timed(lambda: learner.learn(risk, course, order))
        w, b = learner.weights(objective, course)
        z = self.X_test @ w.astype(self.X_test.dtype) + b
        return Pass(
            mistakes=self._wrong(scores, self.source.y[order]),
            error=self._wrong(z, self.y_test),
            share=np.count_nonzero(w.any(axis=1)) / len(w),
            knob=course.parameter,
            seconds=seconds,
        )

    def _wrong(self, z: NDArray, y: NDArray) -> float:
        label = z.argmax(axis=1) if z.shape[1] > 1 else np.where(z[:, 0] > 0, 1, -1)
        return float(np.mean(label != y))

    def knob(self, who: str, strength: float, order: NDArray | None = None) -> float:
        """Return the knob that makes the fewest mistakes in a pass."""
        found = self.one_pass(who, strength, order).knob
        knobs = [found * 2.0**k for k in SPAN]
        return min(knobs, key=lambda knob: self.one_pass(who, strength, order, knob).mistakes)

    def strength(self, share: float, order: NDArray | None = None) -> float:
        """Return the strength with which RDA comes closest to a share of non-zero weights."""
        return min(STRENGTHS, key=lambda s: abs(self.one_pass("RDA", s, order).share - share))


def table1() -> None:
    """Text: words and pairs of them, ℓ₁."""
    if not datasets.present("imdb-raw"):
        return
    task = Task(*imdb_bigrams())
    strength = task.strength(0.1)
    print(f"## DHS Table 1: imdb, words and pairs 0/1, ℓ₁ with λ = {strength:g}; error (share)\n")
    strengths = {who: 0.0 if who in WITHOUT_PENALTY else strength for who in LEARNERS}
    table(("", *LEARNERS), _rows_of_table1(task, strengths))


def _rows_of_table1(task: Task, strengths: dict[str, float]) -> Iterator[tuple[str, ...]]:
    for name, cells in TABLE_1.items():
        yield f"paper, {name}", *(_cell(*cell) for cell in cells)
    tuned = {who: task.one_pass(who, at, knob=task.knob(who, at)) for who, at in strengths.items()}
    # After the others, so that nothing is compiled while the clock runs.
    look = {who: task.one_pass(who, at) for who, at in strengths.items()}
    for how, passes in (("early look", look), ("fewest mistakes of a pass", tuned)):
        yield how, *(_ours(one, who not in WITHOUT_PENALTY) for who, one in passes.items())
        yield "its knob", *(f"{one.knob:.3g}" for one in passes.values())
    yield "seconds, early look", *(f"{one.seconds:.2f}" for one in look.values())


def table3() -> None:
    """Digits: Gaussian kernels, ℓ₁/ℓ₂."""
    if not (datasets.present("mnist") and datasets.present("mnist", "t")):
        return
    print(
        "## DHS Table 3: mnist, 3000 kernels, ten classes jointly, ℓ₁/ℓ₂; error (share of rows)\n"
    )
    head = ("", "λ", "paper", "early look", "knob", "s", "fewest mistakes of 5000", "knob")
    table(head, _rows_of_table3(Task(*mnist_kernel())))


def _rows_of_table3(task: Task) -> Iterator[tuple[str, ...]]:
    for (who, strength), cell in TABLE_3.items():
        tuned = task.one_pass(who, strength, knob=task.knob(who, strength, task.order[:5000]))
        look = task.one_pass(who, strength)
        ours = _ours(look), f"{look.knob:.3g}", f"{look.seconds:.1f}"
        yield who, f"{strength:g}", _cell(*cell), *ours, _ours(tuned), f"{tuned.knob:.3g}"


def table4() -> None:
    """Census: products of 0/1 features, parts of the training set."""
    if not (datasets.present("adult") and datasets.present("adult", "t")):
        return
    task = Task(*adult_products())
    orders = [np.random.default_rng(seed).permutation(task.order) for seed in range(SHUFFLES)]
    strength = task.strength(0.05, orders[0])
    what = f"adult, products, ℓ₁ with λ = {strength:g}, mean of {SHUFFLES} shuffles; error (share)"
    print(f"## DHS Table 4: {what}\n")
    head = ("", *(f"{part:g}" for part in PARTS), "knobs of 1")
    table(head, _rows_of_table4(task, orders, strength))


def _rows_of_table4(
    task: Task, orders: list[NDArray], strength: float
) -> Iterator[tuple[str, ...]]:
    for (who, sparse), cells in TABLE_4.items():
        at = strength if sparse else 0.0
        yield f"paper, {'ℓ₁ ' if sparse else ''}{who}", *(_cell(*cell) for cell in cells), ""
        chosen = task.knob(who, at, task.order[:10_000])
        for how, knob in (("early look", None), ("fewest mistakes of 10000", chosen)):
            row = []
            for part in PARTS:
                first = round(part * task.order.size)
                passes = [task.one_pass(who, at, order[:first], knob) for order in orders]
                row.append(_ours(_mean(passes), sparse))
            knobs = [one.knob for one in passes]
            yield how, *row, f"{min(knobs):.3g} to {max(knobs):.3g}"


def _mean(passes: list[Pass]) -> Pass:
    return Pass(*np.mean([astuple(one) for one in passes], axis=0).tolist())


def _cell(error: float, share: float | None = None) -> str:
    return f"{error:.3f}" if share is None else f"{error:.3f} ({share:.3f})"


def _ours(one: Pass, sparse: bool = True) -> str:
    return f"{one.error:.4f}" + (f" ({one.share:.3f})" if sparse else "")


TABLES = {"table1": table1, "table3": table3, "table4": table4}


def main(names: tuple[str, ...] = tuple(TABLES)) -> None:
    for name in names:
        TABLES[name]()


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or tuple(TABLES))
