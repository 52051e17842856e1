"""Random sequences of calls, good and bad: what is refused leaves no trace, what is done is whole.

`walk(name, seed, steps)` is made from its seed alone, and counts what happened; a fault is an
AssertionError. Signals are raised on the way, so it must run in the main thread.
"""

import pickle
import signal
import warnings
from collections import Counter
from unittest.mock import patch
from zlib import crc32

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from contracts.estimators import changes, examples, quick, said
from signals import sends, usual
from stepless.estimators.chain_stream import ChainStream
from stepless.estimators.stream import StreamLearner
from stepless.trace import Trace

ENDS = {"gap", "passes", "seconds", "rounding", "solver", "watcher", "interrupt", "stream"}


class Broken(Exception):
    """What a watcher of ours raises."""


REFUSED = (ValueError, TypeError, KeyboardInterrupt, Broken)  # nothing else may be raised
BAD_SETTINGS = {
    "gap": [-1.0, None, 10**400, "small", np.ones(2)],
    "passes": [0, "many", 10**400],
    "seconds": [-1.0, "long"],
    "alpha": ["strong", -1.0, 10**400, [1.0]],
    "loss": ["hing", 5],
    "penalty": ["l3", 3],
    "domain": ["bal", 2],
    "solver": ["newtron", 7],
    "n_jobs": [0, 1.5],
    "random_state": [-1, "seed"],
    "fit_intercept": ["no", 2],
    "warm_start": [None],
    "nu": [0.0, 2.0, "half"],
    "sigma": [0.0, "wide"],
    "variance": [0.0, "big"],
}


def walk(name, seed, steps=25):
    """Take a sequence of so many steps; return how many calls did what."""
    with warnings.catch_warnings(), usual():
        warnings.simplefilter("ignore")
        machine = Machine(name, seed)
        for _ in range(steps):
            machine.step()
        return machine.counts


class Machine:
    """An estimator, what it has been asked, and the examples of its last success."""

    def __init__(self, name, seed):
        self.name, self.rng = name, np.random.default_rng([seed, crc32(name.encode())])
        self.estimator = quick(name)
        self.twin = quick(name)  # does what succeeds, and nothing else
        self.seen = None
        self.astray = False  # planes that a run had begun with are lost with it
        self.counts = Counter()
        kinds = [self.fits, self.fits, self.breaks_off, self.is_refused, self.is_refused]
        kinds += [self.is_set, self.is_set_wrongly, self.is_copied, self.predicts, self.is_spoiled]
        if hasattr(self.estimator, "partial_fit"):
            kinds += [self.learns, self.learns, self.learns_while_signals_come]
        self.kinds = kinds

    def step(self):
        kind = self.kinds[self.rng.integers(len(self.kinds))]
        kind()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL

    # -- what is asked --------------------------------------------------------------------------

    def draw(self):
        width = int(self.rng.choice([4, 4, 3]))
        several = self.name in ("LinearClassifier", "KernelClassifier", "StructuredClassifier")
        classes = int(self.rng.choice([2, 3])) if several else 2
        return examples(self.name, self.rng, width, classes=classes)

    def fits(self):
        given = self.draw()
        sent = self.watched and self.rng.random() < 0.3
        watchers = (lambda: {"watchers": [sends(1)]}) if sent else dict
        error = self.ask("fit", given, watchers)
        free = (
            not getattr(self.estimator, "warm_start", False) and self.name != "StructuredClassifier"
        )
        assert error is None or not free, error
        if error is None and sent:
            assert self.estimator.stopped_by_ == "interrupt"
            self.counts["interrupted"] += 1

    def breaks_off(self):
        """By a second signal, or by a watcher that raises."""
        if not self.watched:
            return
        twice = bool(self.rng.random() < 0.5)

        def broken(event, w, b):
            raise Broken

        error = self.ask(
            "fit", self.draw(), lambda: {"watchers": [sends(1), sends(1)] if twice else [broken]}
        )
        assert error is not None
        self.astray = getattr(self.estimator, "warm_start", False)

    def learns(self):
        given = self.draw()
        self.ask("partial_fit", given, lambda: {} if self.fitted else given.first)

    def learns_while_signals_come(self):
        """A chunk is learned whole: the signal is raised at the end."""
        kind = ChainStream if self.name == "ChainClassifier" else StreamLearner
        learn = kind.learn

        def interrupted(stream, *chunk):
            signal.raise_signal(signal.SIGINT)
            return learn(stream, *chunk)

        given, fitted = self.draw(), self.fitted
        more = {} if fitted else given.first
        before = self.snapshot()
        with patch.object(kind, "learn", interrupted):
            try:
                self.estimator.partial_fit(given.X, given.y, **given.more, **more)
                raise AssertionError("a signal was lost")
            except REFUSED as error:
                learned = isinstance(error, KeyboardInterrupt)
        if not learned:
            assert self.snapshot() == before
            return
        self.twin.partial_fit(given.X, given.y, **given.more, **more)
        self.counts["interrupted"] += 1
        self.succeeded(given)

    def is_refused(self):
        given = self.draw()
        spoil = self.rng.choice(["X", "y", "width", "weights"])
        method = "partial_fit" if hasattr(self.estimator, "partial_fit") else "fit"
        method = method if self.rng.random() < 0.5 else "fit"
        more = dict(given.first) if method == "partial_fit" and not self.fitted else {}
        if spoil == "X":
            given.X = self.spoiled(given.X)
        elif spoil == "y" and given.y is not None:
            given.y = self.spoiled(given.y)
        elif spoil == "width":
            given.X = given.X[:-1]
        else:
            more["sample_weight"] = [-1.0] + [1.0] * (len(given.X) - 1)
        self.ask(method, given, lambda: more)

    def spoiled(self, values):
        """Make values of any kind unfit to learn from, in one of many ways."""
        ways = [lambda v: None, lambda v: v[:0], lambda v: "text", lambda v: 3.0, lambda v: [[]]]
        if isinstance(values, np.ndarray):
            hole = float(self.rng.choice([np.nan, np.inf]))
            ways += [
                lambda v: np.where(np.arange(v.size).reshape(v.shape) == 1, hole, v),
                lambda v: v.astype(str),
                lambda v: np.ma.array(v, mask=np.arange(v.size).reshape(v.shape) == 2),
                lambda v: np.zeros(v.shape) if v.ndim == 1 else v[:, :0],
                lambda v: v + 1j,
                lambda v: np.where(np.arange(v.size).reshape(v.shape) == 0, None, v),
            ]
        return ways[self.rng.integers(len(ways))](values)

    def is_set(self):
        known = changes(self.name)
        key = str(self.rng.choice(list(known)))
        value = known[key][self.rng.integers(len(known[key]))]
        for estimator in (self.estimator, self.twin):
            estimator.set_params(**{key: value})

    def is_set_wrongly(self):
        wrong = {key: v for key, v in BAD_SETTINGS.items() if key in self.estimator.get_params()}
        key = str(self.rng.choice(list(wrong)))
        before, kept, given = self.snapshot(), getattr(self.estimator, key), self.draw()
        self.estimator.set_params(**{key: wrong[key][self.rng.integers(len(wrong[key]))]})
        with pytest.raises((ValueError, TypeError)) as refused:
            self.estimator.fit(given.X, given.y, **given.more)
        assert "\n" not in str(refused.value)
        self.estimator.set_params(**{key: kept})
        assert self.snapshot() == before
        self.counts["refused"] += 1

    def is_copied(self):
        if self.rng.random() < 0.5:
            self.estimator, self.twin = clone(self.estimator), clone(self.twin)
            self.seen = None
            self.snapshot()
            return
        before = self.snapshot()
        before.pop("proof_", None)  # it is as large as the data: no copy has it
        self.estimator = pickle.loads(pickle.dumps(self.estimator))
        assert self.snapshot() == before

    def predicts(self):
        before = self.snapshot()
        for X in (self.draw().X, self.spoiled(self.draw().X)):
            try:
                said(self.estimator, X)
            except REFUSED:
                self.counts["refused"] += 1
        assert self.snapshot() == before

    def is_spoiled(self):
        """A user sets weights of another size."""
        if self.seen is None or not hasattr(self.estimator, "coef_"):
            return
        kept = self.estimator.coef_
        self.estimator.coef_ = kept[..., :-1]
        with pytest.raises(ValueError, match="coef_ has shape"):
            said(self.estimator, self.seen.X)
        self.estimator.coef_ = kept

    # -- what must hold -------------------------------------------------------------------------

    @property
    def watched(self):
        return self.name != "GaussianExpansion"

    @property
    def fitted(self):
        return self.seen is not None

    def ask(self, method, given, more=dict):
        """Call a method; return the error that it raises, having seen that nothing has changed."""
        before = self.snapshot()
        try:
            getattr(self.estimator, method)(given.X, given.y, **given.more, **more())
        except REFUSED as error:
            self.counts["refused"] += 1
            assert self.snapshot() == before, f"{method} was refused, but something has changed"
            return error
        getattr(self.twin, method)(given.X, given.y, **given.more, **more())
        self.succeeded(given)
        return None

    def succeeded(self, given):
        self.seen = given
        self.counts["done"] += 1
        estimator = self.estimator
        if hasattr(estimator, "coef_") and hasattr(estimator, "n_features_in_"):
            assert estimator.coef_.shape[-1] == estimator.n_features_in_
        if hasattr(estimator, "stopped_by_"):
            assert estimator.stopped_by_ in ENDS
            assert not estimator.objective_ < estimator.lower_bound_
        assert len(said(estimator, given.X)) == len(said(self.twin, given.X))
        self.astray = self.astray and getattr(estimator, "warm_start", False)
        if not self.astray:
            for key in ("coef_", "transition_", "dual_coef_", "intercept_"):
                here, there = getattr(estimator, key, 0.0), getattr(self.twin, key, 0.0)
                np.testing.assert_allclose(here, there, rtol=1e-6, atol=1e-9)

    def snapshot(self):
        """All that a user can see, to the last bit."""
        public = {
            key: seen_as(v)
            for key, v in vars(self.estimator).items()
            if not key.startswith("_") and key != "model"
        }
        if self.seen is None:
            try:
                said(self.estimator, examples(self.name, np.random.default_rng(0)).X)
            except NotFittedError:
                return public
            raise AssertionError("an estimator that was never fitted predicts")
        return public | {"said": seen_as(said(self.estimator, self.seen.X))}


def seen_as(value):
    """Spell a value so that two are equal if they are, to the last bit."""
    if sparse.issparse(value):
        value = value.tocsr()
        return [seen_as(part) for part in (value.data, value.indices, value.indptr)]
    if isinstance(value, np.ndarray):
        return (
            str(value.dtype),
            value.shape,
            value.tolist() if value.dtype == "O" else value.tobytes(),
        )
    if isinstance(value, Trace):
        return [seen_as(event.as_dict()) for event in value]
    if isinstance(value, list):
        return [seen_as(part) for part in value]
    return repr(value)
