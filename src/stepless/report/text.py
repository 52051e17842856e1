"""Descriptions of fits and scores in words."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from itertools import chain

from stepless.report.score import Score
from stepless.report.summary import Summary
from stepless.visible import visible

NO_BOUND = "nothing is known of the best possible except that it is not below 0"
_MOST_CLASSES = 8  # that are named
_MEASURES = {
    "r2": "R²",
    "mean_loss": "mean loss",
    "map": "MAP",
    "mrr": "MRR",
    "chunk_precision": "chunk precision",
    "chunk_recall": "chunk recall",
    "chunk_f1": "chunk F1",
}
# What a model minimises beside its penalty, and the noun for its examples, by its kind.
_AIMS = {
    "MetricClassifier": "bound of 1 − {}",
    "LinearRanker": "{} loss of rankings",
    "ChainClassifier": "{} loss of sequences",
    "StructuredClassifier": "hinge of the structures of a {}",
    "KernelClassifier": "{}",
    "NuClassifier": "adaptive margin, {}",
    "OneClass": "distance from the origin, {}",
}
_EXAMPLES = {"LinearRanker": "documents", "ChainClassifier": "sequences"}


def describe(summary: Summary, more: dict[str, str] | None = None) -> str:
    """Describe a fit in a few aligned rows, followed by the rows in `more`.

    Examples
    --------
    >>> from stepless import LinearClassifier
    >>> clf = LinearClassifier(alpha=0.1).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> print(describe(Summary.of(clf)).splitlines()[0])
    problem      hinge loss, l2 penalty with alpha 0.1, intercept not penalised
    """
    s = summary
    rows = {
        "problem": _problem(s),
        "data": _data(s),
        "objective": at_most(s.objective) + _over_classes(s),
        "lower bound": at_least(s.lower_bound),
        "gap": f"{s.gap:.3g}: {gap_in_words(s)}",
        "ended by": ended_by(s),
        "solver": _run(s),
        "weights": _weights(s),
    }
    if optimum := _optimum(s):
        rows["optimum"] = optimum
    if s.test is not None:
        rows["test"] = score_in_words(s.test)
    if s.stopped_by == "stream":
        for name in ("objective", "lower bound"):
            del rows[name]
        rows["gap"] = gap_in_words(s)
    rows |= more or {}
    width = max(map(len, rows)) + 2
    return "\n".join(f"{name:{width}}{visible(value)}" for name, value in rows.items())


def gap_in_words(s: Summary) -> str:
    """Return what is proven of the distance to the optimum, and no more."""
    if s.stopped_by == "stream":
        return "unknown, because the examples of a stream are not kept"
    if s.excess is None:
        return NO_BOUND
    if s.excess == 0.0:
        return "the best possible, up to rounding"
    if s.excess >= 1.0:
        return f"at most {_two_digits(1.0 + s.excess, ROUND_CEILING)} times the best possible"
    return f"at most {percent_up(s.excess)} above the best possible"


def ended_by(s: Summary) -> str:
    """Return what ended the run."""
    asked = f"{100 * s.gap_asked:.3g} %"
    words = {
        "gap": f"the gap asked for, {asked}, is proven",
        "passes": f"the {'default ' if s.passes_asked is None else ''}limit of "
        + counted(s.passes_asked or s.passes or 0, "pass", "passes"),
        "seconds": f"the limit of {duration(s.seconds_asked or 0.0)}",
        "solver": "the solver, whose own stopping rule holds",
        "rounding": "rounding errors, which are all that is left of the gap",
        "watcher": "a watcher",
        "interrupt": "an interrupt",
        "stream": "the end of the stream",
    }
    return words.get(s.stopped_by, s.stopped_by)


def score_in_words(score: Score) -> str:
    """Return a score and the number of examples."""
    text = ", ".join(_measure(name, value) for name, value in score.measures.items())
    text += f" on {_counts(score.counts)}"
    if score.unseen:
        have = "has a label" if score.unseen == 1 else "have labels"
        text += f", of which {score.unseen:,} {have} that the model does not know"
    return text


def _counts(counts: dict[str, int]) -> str:
    ones = {noun: "query" if noun == "queries" else noun.removesuffix("s") for noun in counts}
    return " of ".join(counted(n, ones[noun], noun) for noun, n in counts.items())


def _measure(name: str, value: float | None) -> str:
    if value is None:
        return f"no {_MEASURES.get(name, name)} for a single example"
    if name == "accuracy":
        return f"accuracy {100 * value:.2f} %"
    digits = f"{value:.6g}" if name == "mean_loss" else f"{value:.4f}"
    return f"{_MEASURES.get(name, name.replace('ndcg', 'NDCG'))} {digits}"


def percent_up(share: float) -> str:
    """Return two digits of a percentage, rounded up so that "at most" stays true.

    Examples
    --------
    >>> percent_up(0.000841), percent_up(2.5), percent_up(3.21e-9)
    ('0.085 %', '250 %', '3.3e-7 %')
    """
    return f"{_two_digits(100 * share, ROUND_CEILING)} %"


def percent_between(least: float, most: float) -> str:
    """Return a range of percentages, rounded outwards.

    Examples
    --------
    >>> percent_between(0.000762, 0.000931), percent_between(0.0, 0.25)
    ('0.076–0.094 %', '0–25 %')
    """
    return f"{_two_digits(100 * least, ROUND_FLOOR)}–{_two_digits(100 * most, ROUND_CEILING)} %"


def at_most(number: float, digits: int = 6) -> str:
    """Return an objective with at most `digits` digits, rounded up.

    Examples
    --------
    >>> at_most(0.12345649), at_least(0.12345651), at_least(2.0)
    ('0.123457', '0.123456', '2')
    """
    return _spelled(number, digits, ROUND_CEILING)


def at_least(number: float, digits: int = 6) -> str:
    """Return a lower bound with at most `digits` digits, rounded down."""
    return _spelled(number, digits, ROUND_FLOOR)


def _spelled(number: float, digits: int, rounding: str) -> str:
    if not math.isfinite(number):
        return f"{number:g}"
    return f"{float(Context(digits, rounding).create_decimal(number)):.{digits}g}"


def _two_digits(number: float, rounding: str) -> str:
    if not 0.0 < number < math.inf:
        return "0" if number == 0.0 else "∞"
    digits = Context(prec=2, rounding=rounding).create_decimal(repr(number))
    return f"{digits:f}" if number > 1e-4 else f"{digits:e}"


def duration(seconds: float) -> str:
    """Return a time as people say it.

    Examples
    --------
    >>> duration(0.034), duration(59.6), duration(200), duration(7500)
    ('0.034 s', '1 min', '3 min 20 s', '2 h 5 min')
    """
    if seconds < 10 or seconds == math.inf:
        return f"{seconds:.2g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    if hours == 0:
        return f"{minutes} min" + (f" {rest} s" if rest else "")
    return f"{hours} h" + (f" {minutes} min" if minutes else "")


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number and its noun.

    Examples
    --------
    >>> counted(1, "pass", "passes"), counted(32561, "example")
    ('1 pass', '32,561 examples')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(classes: list[object]) -> str:
    """Return the names of classes, or of the first if there are many."""
    names = [str(label) for label in classes]
    if len(names) > _MOST_CLASSES:
        return f"{', '.join(names[:_MOST_CLASSES])}, … ({len(names)} in all)"
    return ", ".join(names[:-1]) + f" and {names[-1]}"


def _problem(s: Summary) -> str:
    penalty = "no penalty" if s.penalty == "none" else f"{s.penalty} penalty with alpha {s.alpha:g}"
    if s.cross_validation is not None:
        tried, folds = s.cross_validation["strengths"], s.cross_validation["folds"]
        penalty += f" (one of {tried} by the scores of {folds} folds)"
    elif s.alpha_by == "scaled":
        penalty += " (scaled)"
    elif s.alpha_by is not None:
        penalty += " (chosen from the data)"
    domain = "" if s.domain == "free" else f", weights in {s.domain}"
    free = ", intercept" if s.penalty == "none" else ", intercept not penalised"
    intercept = {True: free, False: ", no intercept", None: ""}[s.fit_intercept]
    aim = _AIMS.get(s.kind, "{} loss").format(s.loss)
    return f"{aim}, {penalty}{domain}{intercept}"


def _data(s: Summary) -> str:
    counts = {_EXAMPLES.get(s.kind, "examples"): s.examples, "queries": s.queries}
    known = {noun: number for noun, number in counts.items() if number is not None}
    examples = [_counts(known)] if known else []
    classes = [] if s.classes is None else [f"classes {listed(s.classes)}"]
    return ", ".join([*examples, counted(s.features, "feature"), *classes])


def _over_classes(s: Summary) -> str:
    many = s.classes is not None and len(s.classes) > 2 and not s.joint
    return f" (the sum of {len(s.classes or [])} problems, each class against the rest)" * many


def _run(s: Summary) -> str:
    each = " (of the slowest class)" if len(s.classes or []) > 2 and not s.joint else ""
    passes = [] if s.passes is None else [counted(s.passes, "pass", "passes") + each]
    seconds = [] if s.seconds is None else [duration(s.seconds)]
    return ", ".join([s.solver, *passes, *seconds])


def _optimum(s: Summary) -> str:
    """Return how far the optimum's weights and intercepts can be; for classes, the worst."""
    parts = []
    if s.coef_error and math.isfinite(max(s.coef_error)):
        parts.append(f"its weights within {_two_digits(max(s.coef_error), ROUND_CEILING)} of these")
        known = s.fit_intercept and s.intercept_range
        if known and all(map(math.isfinite, chain(*known))):
            pairs = list(zip(known, s.intercept, strict=True))
            lower, higher = (
                _two_digits(max(side), ROUND_CEILING)
                for side in zip(*((b - low, high - b) for (low, high), b in pairs), strict=True)
            )
            parts.append(f"its intercept at most {lower} lower or {higher} higher")
        parts += ["for the worst class"] * (len(s.coef_error) > 1)
    if s.certain_zeros is not None:
        parts.append(f"{s.certain_zeros:,} of {s.weights:,} weights are certainly 0")
    return ", ".join(parts)


def _weights(s: Summary) -> str:
    intercept = f", intercept {s.intercept[0]:.4g}" if len(s.intercept) == 1 else ""
    return (
        f"norm {s.norm:.4g}, {s.nonzeros:,} of {s.weights:,} not zero"
        f"{intercept if s.fit_intercept else ''}"
    )
