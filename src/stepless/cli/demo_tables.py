"""The fits of `stepless demo`, and their tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

import numpy as np
from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from stepless.arrays import AnyArray, Array
from stepless.cli.progress import line, live_line
from stepless.data import Source
from stepless.estimators import LinearClassifier, LinearRegressor
from stepless.objective import Hinge, Objective, SquaredL2
from stepless.report import Summary, score_model
from stepless.report.text import at_least, at_most, percent_between, percent_up
from stepless.risks.linear_risk import LinearRisk

_ALPHA = 1e-4  # of the comparison
_MANY = 100_000  # iterations for LinearSVC, 100 times its default
# Objective that stepless minimises, name, seconds, and what the method says of itself.
_Answer = tuple[float, str, float, str]


class Split(NamedTuple):
    """A standardised data set, a quarter of it held out."""

    name: str
    X: Array
    X_test: Array
    y: AnyArray
    y_test: AnyArray


def show() -> None:
    """Fit, compare, and say what the numbers mean."""
    console = Console(highlight=False)
    cancer, digits = _split("cancer", load_breast_cancer), _split("digits", load_digits)
    diabetes = _split("diabetes", load_diabetes)
    fits: list[tuple[Split, LinearClassifier | LinearRegressor]] = [
        (cancer, LinearClassifier("hinge", alpha=_ALPHA)),
        (digits, LinearClassifier("hinge", alpha=1e-3)),
        (diabetes, LinearRegressor("absolute", alpha=1e-3)),
        (diabetes, LinearRegressor("quantile(0.9)", alpha=1e-3)),
    ]
    with live_line(True, "compiling, once for each loss on this machine") as live:
        summaries = [_fit(split, model, live) for split, model in fits]
        rivals = _rivals(cancer, live)
    console.print(_fits_table([split for split, _ in fits], summaries))
    console.print(
        "The best possible objective lies between the two numbers: no method, given any time, "
        "gets below the lower bound. So you know when to stop, and no step size was chosen.\n"
    )
    console.print(_rivals_table(cancer, summaries[0], rivals))
    console.print(_verdict(summaries[0], rivals))


def _split(name: str, load: Callable[..., tuple[Array, AnyArray]]) -> Split:
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    scaler = StandardScaler().fit(X)
    return Split(name, scaler.transform(X), scaler.transform(X_test), y, y_test)


def _fit(split: Split, model: LinearClassifier | LinearRegressor, live: Live | None) -> Summary:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = clone(model).fit(split.X, split.y)  # compiles
        if live is not None:
            live.update(line(f"fitting {split.name} with {model.loss} loss"))
        model.fit(split.X, split.y)
    if "interrupt" in (first.stopped_by_, model.stopped_by_):
        raise KeyboardInterrupt
    return Summary.of(model, score_model(model, split.X_test, split.y_test))


def _rivals(split: Split, live: Live | None) -> list[_Answer]:
    if live is not None:
        live.update(line("fitting LinearSVC"))
    objective = Objective(Hinge(), SquaredL2(_ALPHA))
    risk = LinearRisk(objective, Source(split.X, np.where(split.y == 1, 1.0, -1.0)))
    rivals = []
    for name, options in (
        ("LinearSVC", {}),
        (f"LinearSVC, max_iter × {_MANY // 1000}", {"max_iter": _MANY}),
    ):
        svc = LinearSVC(loss="hinge", C=1 / (_ALPHA * len(split.y)), random_state=0, **options)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            began = perf_counter()
            svc.fit(split.X, split.y)
            seconds = perf_counter() - began
        w, b = svc.coef_[0], float(svc.intercept_[0])
        warned = any(issubclass(w.category, ConvergenceWarning) for w in caught)
        says = "did not converge" if warned else "nothing"
        rivals.append((objective.penalty(w) + risk.value(w, b), name, seconds, says))
    return rivals


def _fits_table(splits: list[Split], summaries: list[Summary]) -> Table:
    names = ("data", "loss", "objective", "lower bound", "above best", "time", "held out")
    table = _table("Four fits and their certificates", names, words=2)
    for split, s in zip(splits, summaries, strict=True):
        table.add_row(
            split.name,
            s.loss,
            at_most(s.objective, 5),
            at_least(s.lower_bound, 5),
            "unknown" if s.excess is None else f"≤ {percent_up(s.excess)}",
            _time(s.seconds or 0.0),
            _held_out(s),
        )
    return table


def _held_out(s: Summary) -> str:
    assert s.test is not None
    accuracy, mean_loss = map(s.test.measures.get, ("accuracy", "mean_loss"))
    return f"mean loss {mean_loss:.3g}" if accuracy is None else f"{100 * accuracy:.1f} % right"


def _rivals_table(split: Split, own: Summary, rivals: list[_Answer]) -> Table:
    title = f"One objective, (α/2)‖w‖² + mean hinge with α = {_ALPHA:g}, on {split.name}"
    names = ("answer of", "objective", "above best", "time", "says of itself")
    table = _table(title, names, words=1)
    says = "≤ " + percent_up(own.excess or 0.0)
    answers = [(own.objective, "stepless", own.seconds or 0.0, says), *rivals]
    best = min(objective for objective, *_ in answers)
    for objective, name, seconds, says in answers:
        above = _above(objective, best, own.lower_bound)
        table.add_row(name, f"{objective:.5g}", above, _time(seconds), says)
    return table


def _above(objective: float, best: float, bound: float) -> str:
    """Return how far an answer is above the optimum, which lies between `bound` and `best`."""
    if bound <= 0.0:
        return "unknown"
    return percent_between(objective / best - 1, objective / bound - 1)


def _time(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms"


def _table(title: str, names: tuple[str, ...], words: int) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, title_style="bold", padding=0, pad_edge=False)
    for k, name in enumerate(names):
        right = words <= k < len(names) - (words == 1)
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    return table


def _verdict(own: Summary, rivals: list[_Answer]) -> str:
    best = min(own.objective, *(objective for objective, *_ in rivals))
    return (
        f"LinearSVC's first answer is {_above(rivals[0][0], best, own.lower_bound)} above "
        "the best possible. A lower bound says so of any answer; LinearSVC has none to give.\n"
        "(LinearSVC was given C = 1/(αm). It minimises the same sum with its intercept penalised "
        "as well; all three answers are judged by the sum as it stands above.)"
    )
