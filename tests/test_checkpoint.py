"""Checkpoints: what goes on from a file ends as what was never broken off."""

import json
import math
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

from contracts.problems import OF_ONE_OUTPUT
from contracts.test_solvers import fitting
from signals import sends
from stepless import (
    ChainClassifier,
    Checkpoint,
    DataError,
    GaussianProcessClassifier,
    KernelClassifier,
    LinearClassifier,
    LinearRanker,
    LinearRegressor,
    MetricClassifier,
    Objective,
    OracleRisk,
    Source,
    SquaredL2,
    Stopping,
    minimize,
    save_model,
)
from stepless.objective import L1, Hinge, L2Ball, Logistic, SquaredHinge
from stepless.report import checkpoint as module
from stepless.risks.joint_risk import risk_of
from stepless.solvers import LBFGS, SOLVERS, Bundle, DualAscent, InteriorPoint, Newton
from stepless.solvers.batch.mirror_descent import MirrorDescent
from stepless.solvers.online.in_order import InOrder
from stepless.solvers.solver_sequence import SolverSequence

STEPS = 9


def case_of(name):
    return fitting(
        name, "hinge", "logistic", seed=1, strength=1e-2, intercept=True, layout="sparse", m=450
    )


def assert_same(one, other):
    """To the last bit, but for the seconds."""
    np.testing.assert_array_equal(one.w, other.w)
    assert np.array_equal(one.b, other.b)
    for name in ("objective", "lower_bound", "stopped_by", "risk", "at_zero", "remark"):
        assert getattr(one, name) == getattr(other, name), name
    still = [[replace(event, seconds=0.0) for event in result.trace] for result in (one, other)]
    assert still[0] == still[1]
    witnesses = [result.witness and result.witness.arrays() for result in (one, other)]
    np.testing.assert_equal(*witnesses)


def run(case, solver, passes, gap=0.0, **more):
    rng = np.random.default_rng(7)
    return minimize(case.risk, solver, Stopping(gap, passes), rng=rng, **more)


@pytest.mark.parametrize("name", OF_ONE_OUTPUT)
def test_every_solver_goes_on_to_the_same_bits(name, tmp_path):
    path, case = tmp_path / "run.ck", case_of(name)
    whole = run(case, SOLVERS[name](), STEPS)
    for at in (1, 4):
        run(case, SOLVERS[name](), at, watchers=[Checkpoint(path)])
        fresh = case_of(name)  # nothing but the file is left of the first run
        resumed = run(fresh, SOLVERS[name](), STEPS, watchers=[Checkpoint(path, resume=True)])
        assert_same(resumed, whole)


SOLVING = {
    "in-order": lambda: InOrder(SOLVERS["adagrad"]()),
    "full matrix": lambda: SOLVERS["adagrad"](matrix="full"),
    "theory": lambda: SOLVERS["emgd"]("theory"),
    "sequence": lambda: SolverSequence((DualAscent(), 1), (InteriorPoint(), 3), (Bundle(), 1)),
}


@pytest.mark.parametrize("name", SOLVING)
@pytest.mark.parametrize("at", [1, 2, 5])
def test_so_do_their_variants_and_sequences(name, at, tmp_path):
    path = tmp_path / "run.ck"
    loss, free = ("logistic", False) if name == "theory" else ("hinge", True)
    case = fitting("bundle", loss, seed=1, strength=1e-2, intercept=free, m=60)
    whole = run(case, SOLVING[name](), STEPS)
    run(case, SOLVING[name](), at, watchers=[Checkpoint(path)])
    resumed = run(case, SOLVING[name](), STEPS, watchers=[Checkpoint(path, resume=True)])
    assert_same(resumed, whole)


EXAMPLES = np.random.default_rng(3).normal(size=(80, 4))
CLASSES = (EXAMPLES @ [1.0, -1.0, 0.5, 0.0] > 0.3).astype(int) + (EXAMPLES[:, 1] > 0.5)


def risk(loss=Logistic(), regularizer=SquaredL2(0.01), X=EXAMPLES, **more):
    objective = Objective(loss, regularizer, **more)
    return risk_of(objective, Source(X, np.where(CLASSES > 0, 1.0, -1.0), threads=1))


@pytest.mark.parametrize(
    ("regularizer", "solver"),
    [
        (L1(0.01), Bundle()),
        (L1(0.01), LBFGS()),
        (L1(0.01), SOLVERS["emgd"]()),
        (L1(0.01), SOLVERS["adagrad"]()),
        (SquaredL2(0.01), MirrorDescent()),
    ],
)
def test_other_penalties_have_other_planes(regularizer, solver, tmp_path):
    path, limits = tmp_path / "run.ck", Stopping(0.0, STEPS)
    whole = minimize(risk(regularizer=regularizer), solver, limits)
    keeper = Checkpoint(path)
    minimize(risk(regularizer=regularizer), solver, Stopping(0.0, 3), watchers=[keeper])
    keeper = Checkpoint(path, resume=True)
    assert_same(minimize(risk(regularizer=regularizer), solver, limits, watchers=[keeper]), whole)


def begun(path, passes=2, **more):
    minimize(risk(**more), Newton(), Stopping(1e-9, passes), watchers=[Checkpoint(path)])


def goes_on(path, of=None, solver=None, gap=1e-9, **more):
    keeper = Checkpoint(path, resume=True)
    return minimize(of or risk(), solver or Newton(), Stopping(gap), watchers=[keeper], **more)


OTHERS = {
    "examples": lambda: {"of": risk(X=EXAMPLES + 1e-9)},
    "loss: Logistic(), not Squared": lambda: {"of": risk(loss=SquaredHinge())},
    "penalty: SquaredL2(alpha=0.01), not SquaredL2(alpha=0.02)": lambda: {
        "of": risk(regularizer=SquaredL2(0.02))
    },
    "domain: Free(), not L2Ball": lambda: {"of": risk(domain=L2Ball(9.0)), "solver": Bundle()},
    "intercept: True, not False": lambda: {"of": risk(intercept=False)},
    "solver: 'newton', not 'bundle'": lambda: {"solver": Bundle()},
    "gap: 1e-09, not 0.001": lambda: {"gap": 1e-3},
    "random generator: 'PCG64', not 'MT19937'": lambda: {
        "rng": np.random.Generator(np.random.MT19937(0))
    },
}


@pytest.mark.parametrize("words", OTHERS)
def test_another_run_is_refused(words, tmp_path):
    path = tmp_path / "run.ck"
    begun(path)
    before = path.read_bytes()
    with pytest.raises(DataError) as refused:
        goes_on(path, **OTHERS[words]())
    assert words in str(refused.value)
    assert "this run was begun" in str(refused.value)
    assert path.read_bytes() == before


def test_other_parameters_of_a_solver_are_refused(tmp_path):
    path, solver = tmp_path / "run.ck", SOLVERS["adagrad"]
    limits = Stopping(0.0, 2)
    minimize(risk(), solver(eta=0.1), limits, watchers=[Checkpoint(path)])
    with pytest.raises(DataError, match="another solver's parameters"):
        minimize(risk(), solver(eta=0.2), limits, watchers=[Checkpoint(path, resume=True)])


def changed(path, **header):
    """Rewrite a checkpoint with another header."""
    text, arrays = module._FILE.read(path)
    path.write_bytes(module._FILE.packed(text | header, arrays))


def spoil(path):
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(bytes(data))


def model(path):
    save_model(LinearClassifier().fit(EXAMPLES, CLASSES > 0), path)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (spoil, "is damaged, as its checksum does not match"),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "is not a checkpoint file, or was"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.unlink(), "there is no checkpoint to go on from"),
        (model, "holds no stepless checkpoint"),
        (lambda path: changed(path, format=2), "in format 2, but stepless"),
        (lambda path: changed(path, stepless="0.0.9"), "only that version can go on from it"),
        (lambda path: changed(path, runs=[{}]), "is damaged, as what it says makes no sense"),
        (lambda path: changed(path, runs=3), "is damaged, as what it says makes no sense"),
    ],
)
def test_a_file_that_is_none_is_refused(act, words, tmp_path):
    path = tmp_path / "run.ck"
    begun(path)
    act(path)
    with pytest.raises(DataError) as refused:
        goes_on(path)
    assert words in str(refused.value)


def test_a_file_names_no_class_but_those_of_states(tmp_path):
    path = tmp_path / "run.ck"
    begun(path)
    header, _ = module._FILE.read(path)
    text = json.dumps(header["runs"])
    for name in ("os.system", "subprocess.Popen", "stepless.report.atomic.Output"):
        evil = text.replace("stepless.solvers.batch.newton.NewtonState", name)
        assert evil != text
        changed(path, runs=json.loads(evil))
        with pytest.raises(DataError, match="makes no sense"):
            goes_on(path)


def test_a_state_that_lacks_a_field_is_refused(tmp_path):
    path = tmp_path / "run.ck"
    begun(path)
    header, _ = module._FILE.read(path)
    changed(path, runs=json.loads(json.dumps(header["runs"]).replace('"kept"', '"other"')))
    with pytest.raises(DataError, match="NewtonState has no kept"):
        goes_on(path)


# -- what cannot be kept ---------------------------------------------------------------------------


class Own(Newton):
    name = "own"


class Plain(OracleRisk):
    def __init__(self):
        super().__init__(2, SquaredL2(0.1))

    def value_and_gradient(self, w):
        return float((w - 1.0) @ (w - 1.0)), 2.0 * (w - 1.0)


def test_a_solver_of_the_users_own_is_refused_before_the_first_step(tmp_path):
    told = []
    watchers = [Checkpoint(tmp_path / "run.ck"), lambda *event: told.append(event)]
    with pytest.raises(ValueError, match=r"cannot hold the solver 'own', which has a .*Own"):
        minimize(risk(), Own(), Stopping(), watchers=watchers)
    assert not told
    assert not list(tmp_path.iterdir())


def test_a_risk_of_the_users_own_must_say_what_it_is(tmp_path):
    path, own, limits = tmp_path / "run.ck", Plain(), Stopping(0.0, 2)
    with pytest.raises(ValueError, match="set the risk's `origin`"):
        minimize(own, Bundle(), limits, watchers=[Checkpoint(path)])
    own.origin = "two weights at 1"
    minimize(own, Bundle(), limits, watchers=[Checkpoint(path)])
    other = Plain()
    other.origin = "two weights at 1"
    more = Stopping(0.0, 6)
    resumed = minimize(other, Bundle(), more, watchers=[Checkpoint(path, resume=True)])
    assert_same(resumed, minimize(Plain(), Bundle(), more))
    minimize(own, Bundle(), limits, watchers=[Checkpoint(path)])
    other.origin = "two weights at 2"
    with pytest.raises(DataError, match="other examples"):
        minimize(other, Bundle(), Stopping(0.0, 3), watchers=[Checkpoint(path, resume=True)])


def test_two_checkpoints_are_refused(tmp_path):
    watchers = [Checkpoint(tmp_path / name) for name in "ab"]
    with pytest.raises(ValueError, match="a run has one checkpoint"):
        minimize(risk(), Newton(), Stopping(), watchers=watchers)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"path": "/dev/null"}, "no regular file"),
        ({"path": "run.ck", "every": -1.0}, "seconds ≥ 0"),
        ({"path": "run.ck", "every": math.nan}, "seconds ≥ 0"),
    ],
)
def test_a_checkpoint_says_what_is_wrong_with_it(given, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=words):
        Checkpoint(**given)


# -- fits ------------------------------------------------------------------------------------------


def fitted(estimator, *watchers, **data):
    given = {"X": EXAMPLES, "y": CLASSES} | data
    return estimator.fit(**given, watchers=list(watchers))


def alike(one, other):
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)
    assert (one.objective_, one.lower_bound_) == (other.objective_, other.lower_bound_)


@pytest.mark.parametrize("solver", ["auto", "bundle", "adagrad"])
def test_one_against_the_rest_goes_on_in_its_run(solver, tmp_path):
    path = tmp_path / "run.ck"
    known = {"gap": 1e-4, "solver": solver, "passes": 40}
    whole = fitted(LinearClassifier("logistic", **known))
    total = sum(len(trace) for trace in whole.trace_)
    for at in range(1, total, max(1, total // 6)):
        told = []

        def breaks(event, w, b, told=told, at=at):
            told.append(event)
            if len(told) == at:
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fitted(LinearClassifier("logistic", **known), breaks, Checkpoint(path, every=0.0))
        if at == 1:
            assert not path.exists()
            continue
        steps = []
        again = LinearClassifier("logistic", **known)
        told[:] = told[: at - 2]
        with pytest.raises(RuntimeError):  # at the second step from here
            fitted(again, breaks, Checkpoint(path, every=0.0, resume=True))
        fitted(again, lambda *event, steps=steps: steps.append(1), Checkpoint(path, resume=True))
        alike(again, whole)
        assert len(steps) == total - at  # no run is done twice


def test_an_interrupted_fit_goes_on(tmp_path):
    path = tmp_path / "run.ck"
    known = {"gap": 1e-4, "solver": "bundle"}
    whole = fitted(LinearClassifier("logistic", **known))
    with pytest.warns(match="interrupted"):
        first = fitted(LinearClassifier("logistic", **known), sends(5), Checkpoint(path))
    assert first.stopped_by_ == "interrupt"
    alike(fitted(LinearClassifier("logistic", **known), Checkpoint(path, resume=True)), whole)


def test_limits_count_from_the_beginning_of_a_run(tmp_path):
    path = tmp_path / "run.ck"
    known = {"gap": 1e-9, "solver": "bundle"}
    first = fitted(LinearClassifier("logistic", passes=5, **known), Checkpoint(path))
    again = fitted(LinearClassifier("logistic", passes=5, **known), Checkpoint(path, resume=True))
    alike(first, again)
    more = fitted(LinearClassifier("logistic", passes=8, **known), Checkpoint(path, resume=True))
    assert [len(trace) for trace in more.trace_] == [8, 8, 8]
    alike(more, fitted(LinearClassifier("logistic", passes=8, **known)))


ORACLES = {
    "metric": lambda **limits: (MetricClassifier("roc_auc", **limits), {"y": CLASSES > 0}),
    "ranking": lambda **limits: (
        LinearRanker("ndcg", k=3, **limits),
        {"y": CLASSES, "qid": np.arange(80) // 8},
    ),
}


@pytest.mark.parametrize("name", ORACLES)
def test_risks_of_estimators_are_known_again(name, tmp_path):
    path = tmp_path / "run.ck"
    whole, data = ORACLES[name](gap=1e-3)
    fitted(whole, **data)
    first, data = ORACLES[name](gap=1e-3, passes=3)
    fitted(first, Checkpoint(path), **data)
    code = f"""
import sys; sys.path[:] = {sys.path!r}
import test_checkpoint as t
again, data = t.ORACLES[{name!r}](gap=1e-3)
t.fitted(again, t.Checkpoint({str(path)!r}, resume=True), **data)
print(again.objective_.hex(), again.lower_bound_.hex(), again.trace_[-1].passes)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    objective, bound, passes = said.stdout.split()
    assert abs(int(passes) - whole.n_passes_) <= 2
    np.testing.assert_allclose(
        [float.fromhex(objective), float.fromhex(bound)],
        [whole.objective_, whole.lower_bound_],
        rtol=1e-3,
    )


SENTENCES = [[["a", "b"], ["b"]], [["c"], ["a"]], [["b"], ["c"], ["a"]]] * 5
TAGS = [["x", "y"], ["y", "x"], ["x", "x", "y"]] * 5
FITS = {
    "joint": lambda **k: (LinearClassifier("logistic", multi_class="joint", **k), {}),
    "regressor": lambda **k: (LinearRegressor("huber", **k), {"y": EXAMPLES[:, 0]}),
    "kernel": lambda **k: (KernelClassifier("hinge", **k), {}),
    "process": lambda **k: (GaussianProcessClassifier(**k), {}),
    "chain": lambda **k: (ChainClassifier(**k), {"X": SENTENCES, "y": TAGS}),
    "auto": lambda **k: (LinearClassifier("logistic", alpha="auto", **k), {}),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_other_estimators_go_on_as_well(name, tmp_path):
    path = tmp_path / "run.ck"
    first, data = FITS[name](passes=2)
    fitted(first, Checkpoint(path), **data)
    whole, again = (FITS[name](passes=15)[0] for _ in range(2))
    fitted(whole, **data)
    fitted(again, Checkpoint(path, resume=True), **data)
    ends = [
        [(trace[-1].passes, trace[-1].objective, trace[-1].lower_bound) for trace in traces]
        for traces in (
            one.trace_ if isinstance(one.trace_, list) else [one.trace_] for one in (whole, again)
        )
    ]
    assert ends[0] == ends[1]
    assert max(passes for passes, *_ in ends[0]) > 2


# -- the file --------------------------------------------------------------------------------------


def test_it_is_written_when_it_is_due(tmp_path, monkeypatch):
    clock, written = [0.0], []
    monkeypatch.setattr(module, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(module, "write_atomically", lambda *given: written.append(clock[0]))

    def tick(event, w, b):
        clock[0] += 10.0

    given = {"watchers": [Checkpoint(tmp_path / "run.ck", every=25.0), tick]}
    minimize(risk(), SOLVERS["adagrad"](), Stopping(0.0, 8), **given)
    assert written == [30.0, 60.0, 80.0]  # the last one because the passes were over


def test_a_full_disk_leaves_the_old_file_and_the_fit_goes_on(tmp_path, monkeypatch):
    path = tmp_path / "run.ck"
    begun(path)
    before = path.read_bytes()

    def full(self, data):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("stepless.report.atomic.Output.write", full)
    clf = LinearClassifier("logistic")
    with pytest.warns(UserWarning, match=r"run\.ck: no checkpoint was written \(No space") as told:
        fitted(clf, Checkpoint(path, every=0.0))
    assert len(told) == 1
    assert clf.stopped_by_ == "gap"
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.ck"]


def test_what_two_places_share_they_share_again(tmp_path):
    @dataclass
    class Elsewhere:
        pass

    from stepless.report.plain_values import NotPlain, decode, encode

    w = np.arange(6.0).reshape(2, 3).T
    ring = [1.5, np.float64(math.nan), -0.0, 2**70, True, None, "a"]
    ring.append(ring)
    value = {"w": w, "again": (w, [w]), "ring": ring, "many": [math.inf] * 9, "ints": [3] * 9}
    text, arrays = encode(value, {})
    found = decode(json.loads(json.dumps(text, allow_nan=False)), arrays, {})
    np.testing.assert_array_equal(found["w"], w)
    assert found["w"].flags.f_contiguous
    assert found["w"].flags.writeable
    assert found["w"] is found["again"][0] is found["again"][1][0]
    assert found["ring"][7] is found["ring"]
    assert repr(found["ring"][:7]) == repr(ring[:7])
    assert (found["many"], found["ints"]) == (value["many"], value["ints"])
    with pytest.raises(NotPlain, match="Elsewhere"):
        encode([Elsewhere()], {})


def test_a_false_claim_in_a_file_proves_nothing(tmp_path):
    path = tmp_path / "run.ck"
    minimize(risk(loss=Hinge()), Bundle(), Stopping(0.0, 4), watchers=[Checkpoint(path)])
    header, _ = module._FILE.read(path)
    [kept] = header["runs"]
    text = json.dumps(kept["content"])
    low = next(p for p in text.split('"lower_bound", ')[1:])
    claim = low[: low.index("]")]
    assert 0.0 < float(claim) < 1.0
    evil = text.replace(f'"lower_bound", {claim}]', '"lower_bound", 0.9999]')
    assert evil != text
    changed(path, runs=[kept | {"content": json.loads(evil)}])
    keeper = Checkpoint(path, resume=True)
    result = minimize(risk(loss=Hinge()), Bundle(), Stopping(0.0, 5), watchers=[keeper])
    honest = minimize(risk(loss=Hinge()), Bundle(), Stopping(1e-3))
    assert result.lower_bound <= honest.objective
