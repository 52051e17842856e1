"""A strength chosen by cross-validation: a path in each fold, and scores along it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from stepless.arguments import brief
from stepless.arrays import Array, Indices
from stepless.cross_validation import CrossValidation
from stepless.data import Source
from stepless.data.threads import map_blocks
from stepless.estimators.certificate import one_digit_up, rounds_to_nothing
from stepless.estimators.folds import Examples, Fold, folds_of
from stepless.estimators.left_out_scores import Score, minus_mean_loss, score_by, scorer_of, spelled
from stepless.interrupts import interruptible
from stepless.problem import Problem
from stepless.regularization_path import along_path, path_strengths
from stepless.result import Onward, Start
from stepless.run import Run
from stepless.strength import choose_strength, scaled_strength
from stepless.warning import warn

if TYPE_CHECKING:
    from stepless.estimators.classifier import LinearClassifier
    from stepless.estimators.regressor import LinearRegressor

_BLOCK = 10  # strengths between two looks at the scores
_FINEST = 1e-4  # gap of a fold's fits: less would not be seen in scores of other examples
_SHARE = 0.5  # of the seconds
_KEPT = 10_000_000  # entries of all folds, up to which these stay in memory between blocks
_ACCEPTABLE = 0.5  # relative gap
_WORTH_THREADS = 1_000_000  # entries: of fewer, fits wait for each other's Python, and cost more


class GapMissedInFolds(ConvergenceWarning):
    """Fits in folds missed their gap. The report of a fit says nothing of them."""


def with_strength_chosen(
    estimator: LinearClassifier | LinearRegressor, problem: Problem, run: Run, examples: Examples
) -> Problem:
    """Return the problem with a number as its strength, one for all runs.

    The estimator keeps what cross-validation found: `alphas_` and `cv_scores_`.
    """
    for name in ("alphas_", "cv_scores_"):
        estimator.__dict__.pop(name, None)
    cv, source = problem.cross_validation, examples.source
    if cv is None:
        if examples.groups is not None:
            raise ValueError("groups are for alpha='cv', which keeps them together: leave them out")
        runs = examples.per_run(source, problem.loss) if problem.chooses else []
        if problem.scaled:
            return problem.at_strength(scaled_strength(problem.objective, runs))
        return choose_strength(problem, runs, run)
    if not source.home.here:
        raise ValueError(
            "alpha='cv' cuts examples into folds here, and those of Dask are on its workers; give "
            "alpha a number, or arrays"
        )
    folds = folds_of(cv.cv, examples, int(run.generator().integers(2**31)))
    if cv.one_standard_error and len(folds) < 2:
        raise ValueError("one fold has no standard error: use at least 2 folds")
    alphas, scores = _Search(estimator, problem, run, examples, cv, len(folds)).scores(folds)
    estimator.alphas_, estimator.cv_scores_ = alphas, scores
    return problem.at_strength(float(alphas[_best(scores, cv.one_standard_error)]))


@dataclass(frozen=True)
class _Search:
    """The scores of strengths, by examples that each fold leaves out."""

    estimator: LinearClassifier | LinearRegressor
    problem: Problem
    run: Run
    examples: Examples
    cv: CrossValidation
    folds: int

    def scores(self, folds: list[Fold]) -> tuple[Array, Array]:
        """Return the strengths that were tried, falling, and their scores, a column per fold.

        Folds go along the path together, block by block. Of a grid of our own the weak end is left
        out once all scores of a block are more than a standard error below the best.
        """
        scorer_of(self.cv.scoring, self.examples.classes)  # refuse one before any fit
        source, found, began = self.examples.source, list[tuple[float, ...]](), perf_counter()
        runs = self.examples.per_run(source, self.problem.loss)
        given = path_strengths(self.cv.alphas, self.problem.objective, runs)
        falling = sorted(set(given), reverse=True)
        deadline = math.inf if self.run.seconds is None else began + _SHARE * self.run.seconds
        # Threads go to folds, unless those are so few that blocks keep more threads busy.
        at_once = len(folds) >= min(source.threads, len(source.cuts)) and not source.home.slow
        threads = 1 if at_once else source.threads
        with interruptible() as request:

            def over() -> bool:
                return request.number is not None or perf_counter() >= deadline

            paths = [_FoldPath(self, fold, threads, over) for fold in folds]
            for first in range(0, len(falling), _BLOCK):
                block = falling[first : first + _BLOCK]
                rows = map_blocks(
                    lambda k, block=block: paths[k].walk(block),  # type: ignore[misc]
                    len(paths),
                    source.threads if at_once and source.nnz >= _WORTH_THREADS else 1,
                )
                found += zip(*rows, strict=False)  # as far as all folds have come
                if len(found) < first + len(block):
                    _say_so(len(found), len(falling), request.heed())
                    request.renew()
                    break
                if isinstance(self.cv.alphas, Integral) and _has_passed_the_best(np.array(found)):
                    break
        _warn_of_missed_gaps(paths)
        return np.array(falling[: len(found)]), np.array(found)


class _FoldPath:
    """A fold, and how far along the path it has come."""

    def __init__(self, search: _Search, fold: Fold, threads: int, over: Callable[[], bool]) -> None:
        self._search, self._fold, self._threads, self._over = search, fold, threads, over
        self._starts: Sequence[Start] | None = None
        self._parts: tuple[list[Source], Score] | None = None  # what is learned, and the score
        self.run = replace(
            search.run,
            gap=max(search.run.gap, _FINEST),
            seconds=None,
            random_state=np.random.default_rng(0),
            verbose=0,
            watchers=(lambda event, w, b: over(),),
        )
        self.gaps: list[float] = []

    def walk(self, block: Sequence[float]) -> list[float]:
        """Fit at each of these strengths; return the scores of those that were reached."""
        search, scores = self._search, list[float]()
        runs, score = parts = self._parts or self._cut()
        kept = search.examples.source.nnz * search.folds <= _KEPT
        self._parts = parts if kept else None
        objective = search.problem.objective
        for alpha, results in along_path(objective, runs, self.run, block, self._starts):
            if self._over():
                break
            points = [(result.w, result.b) for result in results]
            self._starts = [Onward(results[0])] if kept and len(results) == 1 else points
            missed = [result.rel_gap for result in results if not rounds_to_nothing(result)]
            self.gaps.append(max(missed, default=0.0))
            scores.append(_number(score(points), search.cv, alpha))
        return scores

    def _cut(self) -> tuple[list[Source], Score]:
        """Return the examples that each run learns, and the score by those left out."""
        examples = self._search.examples
        learned, left_out = self._fold.sources(examples.source, self._threads)
        rows = self._fold.left_out
        score = self._score(left_out, rows[examples.source.s[rows] > 0.0])
        return examples.per_run(learned, self._search.problem.loss), score

    def _score(self, left_out: Source, rows: Indices) -> Score:
        search = self._search
        given = search.problem, search.examples, left_out
        if search.cv.scoring is None:
            return minus_mean_loss(*given)
        return score_by(search.cv.scoring, search.estimator, *given, rows)


def _number(score: object, cv: CrossValidation, alpha: float) -> float:
    """Refuse a score that is none, such as that of a measure that is not defined for a fold."""
    if not (isinstance(score, Real) and math.isfinite(score)):
        raise ValueError(
            f"scoring={spelled(cv.scoring)} gave {brief(score)} at alpha={alpha:.3g}, which is no "
            "score: use fewer folds, or another scoring"
        )
    return float(score)


def _standard_error(scores: Array) -> float:
    """Return that of the mean over folds; infinite if one says nothing of it."""
    return float(scores.std(ddof=1)) / math.sqrt(scores.size) if scores.size > 1 else math.inf


def _best(scores: Array, one_standard_error: bool) -> int:
    """Return the place of the best mean score; of equal ones, and within an error, the first."""
    means = scores.mean(axis=1)
    best = int(means.argmax())
    if one_standard_error:
        best = int((means >= means[best] - _standard_error(scores[best])).argmax())
    return best


def _has_passed_the_best(scores: Array) -> bool:
    means, best = scores.mean(axis=1), _best(scores, False)
    last = means[max(best + 1, len(means) - _BLOCK) :]
    worse = last < means[best] - _standard_error(scores[best])
    return last.size == _BLOCK and bool(worse.all())


def _say_so(reached: int, count: int, interrupted: bool) -> None:
    """Say that strengths were left out; refuse to choose among none."""
    if not reached and interrupted:
        raise KeyboardInterrupt("interrupted before any strength was scored in every fold")
    if not reached:
        raise ValueError(
            "the seconds ended before any strength was scored in every fold: allow more seconds="
        )
    why = "interrupted" if interrupted else "half of the seconds were over"
    rest = "; it is fitted now, which another interrupt ends" if interrupted else ""
    warn(f"{why}: alpha is the best of the {reached} greatest strengths, of {count}{rest}")


def _warn_of_missed_gaps(paths: Sequence[_FoldPath]) -> None:
    gaps, asked = np.concatenate([path.gaps for path in paths]), paths[0].run.gap
    if missed := int(np.count_nonzero(gaps > asked)):
        worst = float(gaps.max())
        accept = f"accept gap={one_digit_up(worst)}, " if worst <= _ACCEPTABLE else ""
        warn(
            f"{missed} of {gaps.size} fits in folds ended with relative gaps of up to "
            f"{worst:.2g}, not {asked:g}, and are scored all the same: {accept}allow more "
            "passes=, or raise the least of alphas",
            GapMissedInFolds,
        )
