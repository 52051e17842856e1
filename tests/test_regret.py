"""The ledger of regret: against a transcription of DHS, against adversaries, and as a table."""

import math
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris

from stepless import LinearClassifier, RegretLedger, regret_ledger
from stepless.data import Source
from stepless.objective import (
    L1,
    Box,
    Free,
    Hinge,
    L1Ball,
    L2Ball,
    Objective,
    RowsL2,
    Simplex,
    SquaredL2,
    Zero,
)
from stepless.regret.replay import Replay
from stepless.risks.joint_risk import risk_of
from stepless.solvers import FOBOS, RDA, AdaGrad, Pegasos
from transcriptions import adagrad as ada

D, ROUNDS, ETA = 6, 60, 0.7
BLOCKS = [0, 0, 1, 2, 2, 2]
PLACES = [[0, 1], [2], [3, 4, 5]]

# name: solver, penalty, domain, theorem
CASES = {
    "averaging": (AdaGrad(eta=ETA, delta=1.0), L1(0.05), Free(), "Theorem 6"),
    "averaging in a box": (AdaGrad(eta=ETA, delta=1.0), SquaredL2(0.1), Box(-0.5, 1.0), "Theorem 6"),
    "averaging on a simplex": (AdaGrad(eta=ETA, delta=1.0), SquaredL2(0.1), Simplex(1.5), "Theorem 6"),
    "averaging, small δ": (AdaGrad(eta=ETA, delta=0.1), L1(0.05), Free(), "Corollary 3"),
    "mirror": (AdaGrad("cmd", eta=ETA, delta=0.0), L1(0.05), Free(), "Theorem 6"),
    "mirror, large δ": (AdaGrad("cmd", eta=ETA, delta=20.0), Zero(), Box(-1.0, 1.0), "Theorem 6"),
    "mirror, ridge": (AdaGrad("cmd", eta=ETA, delta=0.3), SquaredL2(0.1), L1Ball(2.0), "Theorem 6"),
    "strongly convex": (AdaGrad("cmd", delta=0.3), SquaredL2(0.2), Free(), "Theorem 13"),
    "strongly convex, λ > G²": (AdaGrad("cmd", delta=5.0), SquaredL2(20.0), Free(), "Theorem 13"),
    "full averaging": (AdaGrad("rda", "full", eta=ETA, delta=2.0), SquaredL2(0.1), Free(), "Theorem 8"),
    "full averaging, small δ": (AdaGrad("rda", "full", eta=ETA, delta=0.1), Zero(), L2Ball(1.0), "Corollary 3"),
    "full mirror": (AdaGrad("cmd", "full", eta=ETA, delta=0.2), Zero(), L2Ball(1.0), "Theorem 8"),
    "full mirror, δ = 0": (AdaGrad("cmd", "full", eta=ETA, delta=0.0), SquaredL2(0.1), Free(), "Theorem 8"),
    "block averaging": (AdaGrad("rda", "block", blocks=BLOCKS, eta=ETA, delta=2.0), Zero(), L2Ball(1.0), "Corollary 14"),
    "block mirror": (AdaGrad("cmd", "block", blocks=BLOCKS, eta=ETA, delta=0.2), SquaredL2(0.1), Free(), "Corollary 14"),
    "dual averaging": (RDA(ETA), L1(0.05), Free(), "eq. (9)"),
    "splitting": (FOBOS(ETA), L1(0.05), Free(), "eq. (8)"),
    "gradient descent": (FOBOS(ETA), Zero(), L2Ball(1.5), "eq. (8)"),
}  # fmt: skip


def random_stream(seed=0, rounds=ROUNDS):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, D))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(X @ rng.normal(size=D) + 0.5 * rng.normal(size=rounds) > 0, 1.0, -1.0)


def sparse_stream(seed=1, rounds=ROUNDS):
    """Rows of length 1, largest entry 0.8, features the rarer the later."""
    rng = np.random.default_rng(seed)
    X, often = np.zeros((rounds, D)), 0.5 ** np.arange(D)
    for row in X:
        row[rng.choice(D, 2, replace=False, p=often / often.sum())] = rng.permutation([0.8, -0.6])
    return X, np.where(X @ rng.normal(size=D) > 0, 1.0, -1.0)


def adversarial_stream(objective, solver, rounds=ROUNDS):
    """Play the solver: of some rows, the one that it is surest of, or else saw least; its label −z.

    So each round loses 1 + |z|, with no more structure for a fixed point than the rows leave.
    """
    rng = np.random.default_rng(2)
    rows = np.vstack([np.eye(D), rng.choice([-0.5, 0.0, 0.5], size=(2 * D, D))])
    rows = rows[rows.any(axis=1)]
    seen, X, y = np.zeros(len(rows)), [], []
    course, w = None, np.zeros((D, 1))
    for t in range(rounds):
        z = (rows @ w)[:, 0]
        i = np.lexsort((seen, -np.abs(z)))[0] if t % 3 else seen.argmin()
        seen[i] += 1
        X.append(rows[i])
        y.append(-1.0 if z[i] > 0 else 1.0)
        risk = risk_of(objective, Source(rows[[i]], np.array(y[-1:]), threads=1))
        course = course or solver.start(risk, np.zeros(D), 0.0)
        solver.learn(risk, course, np.zeros(1, dtype=np.uint32))
        w, _ = solver.weights(objective, course)
    return np.array(X), np.array(y)


def played(name, stream):
    solver, penalty, domain, theorem = CASES[name]
    objective = Objective(Hinge(), penalty, domain, intercept=False)
    X, y = adversarial_stream(objective, solver) if stream == "adversarial" else stream()
    ledger = regret_ledger(X, y, penalty=penalty, domain=domain, solver=solver, gap=1e-5, passes=60)
    return X, y, ledger, theorem


@pytest.mark.parametrize(
    "stream", [random_stream, sparse_stream, "adversarial"], ids=["random", "sparse", "adversarial"]
)
@pytest.mark.parametrize("name", CASES)
def test_bounds_hold(name, stream):
    _, _, ledger, theorem = played(name, stream)
    assert ledger.theorem == theorem
    assert ledger.holds
    assert (ledger.regret <= ledger.bound + 1e-9).all()
    assert (np.diff(ledger.bound) >= -1e-9).all()
    assert len(ledger) == ROUNDS
    if stream == "adversarial":
        assert ledger.regret[-1] > 0.1  # there was something to bound


def reference_of(name, X, y):
    """The transcription's run, its loss's parts, and its bound as a function of run and x*."""
    solver, penalty, domain, _ = CASES[name]
    phi = {
        L1: lambda: ada.l1(penalty.alpha),
        SquaredL2: lambda: ada.ridge(penalty.alpha),
        Zero: ada.no_penalty,
    }[type(penalty)]()
    S = {
        Free: ada.everywhere,
        Box: lambda: ada.box(domain.low, domain.high),
        Simplex: lambda: ada.simplex(domain.bound),
        L1Ball: lambda: ada.l1_ball(domain.bound),
        L2Ball: lambda: ada.l2_ball(domain.bound),
    }[type(domain)]()
    stream = X, y, ada.HINGE
    if isinstance(solver, FOBOS):
        run = ada.fobos(*stream, ETA, phi, S, argmin=ada.closed)
        return run, phi, gradient_descent_bound
    if isinstance(solver, RDA):
        run = ada.rda(*stream, ETA, phi, S, argmin=ada.closed)
        return run, phi, lambda run, x: ada.corollary_3(run, x, ETA, np.ones(D))
    averaging, delta = solver.update == "rda", solver.delta
    if name.startswith("strongly"):
        lam, G = penalty.alpha, np.abs(X).max()
        run = ada.adagrad_strongly_convex(*stream, G**2 / lam, delta, lam, S, argmin=ada.closed)
        return run, phi, lambda run, x: ada.theorem_13(run, x, lam, delta, G)
    first = phi.value(S.nearest_to_origin((D,)))
    if solver.matrix == "diagonal":
        run = (ada.adagrad_rda if averaging else ada.adagrad_cmd)(
            *stream, ETA, delta, phi, S, argmin=ada.closed
        )
        theorem, H_0 = (ada.theorem_6_rda if averaging else ada.theorem_6_cmd), np.full(D, delta)
    else:
        run = (ada.adagrad_full_rda if averaging else ada.adagrad_full_cmd)(
            *stream, ETA, delta, lam=phi.l2, radius=domain.radius(),
            blocks=PLACES if solver.matrix == "block" else None,
        )  # fmt: skip
        theorem, H_0 = (ada.theorem_8_rda if averaging else ada.theorem_8_cmd), delta * np.eye(D)
        if solver.matrix == "block" and averaging:
            return run, phi, lambda run, x: ada.corollary_14(run, x, ETA, delta, PLACES)
        if solver.matrix == "block":
            return run, phi, lambda run, x: block_mirror_bound(run, x, delta)
    if "small δ" in name:
        return run, phi, lambda run, x: ada.corollary_3(run, x, ETA, H_0, first)
    return run, phi, lambda run, x: theorem(run, x, ETA, delta, phi_first=first)


def gradient_descent_bound(run, x):
    t = 1.0 + np.arange(len(run.gradients))
    width = np.sum((run.iterates[:-1] - x) ** 2, axis=1).max()
    duals = np.sum(np.sum(run.gradients**2, axis=1) / np.sqrt(t))
    bound = math.sqrt(len(t)) * width / (2 * ETA) + ETA / 2 * duals
    assert bound >= ada.corollary_4(run, x, ETA)  # from which it follows
    return bound


def block_mirror_bound(run, x, delta):
    away, trace = run.iterates[:-1] - x, ada.trace_root(run, delta)
    width = max(np.sum(away[:, block] ** 2, axis=1).max() for block in PLACES)
    bound = (delta * away[0] @ away[0] + width * trace) / (2 * ETA) + ETA * trace
    assert bound >= ada.corollary_4(run, x, ETA)
    return bound


def shortened(run, t):
    return run._replace(
        iterates=run.iterates[: t + 1],
        gradients=run.gradients[:t],
        metrics=run.metrics[:t],
        losses=run.losses[:t],
    )


@pytest.mark.parametrize("stream", [random_stream, sparse_stream], ids=["random", "sparse"])
@pytest.mark.parametrize("name", CASES)
def test_regret_and_bound_are_those_of_the_paper(name, stream):
    X, y, ledger, _ = played(name, stream)
    run, phi, bound = reference_of(name, X, y)
    for t in (1, 2, 17, ROUNDS) if "small δ" not in name else (ROUNDS,):
        part = shortened(run, t)
        regret = ada.regret(part, X[:t], y[:t], ada.HINGE, phi, ledger.coef)
        loss = part.losses.sum() + sum(phi.value(x) for x in part.iterates[:-1])
        assert ledger.loss[t - 1] == pytest.approx(loss, abs=1e-9)
        assert ledger.regret[t - 1] == pytest.approx(regret, abs=1e-9)
        assert ledger.bound[t - 1] == pytest.approx(bound(part, ledger.coef), rel=1e-9)


@pytest.mark.parametrize("solver", [AdaGrad(eta=ETA, delta=1.0), AdaGrad("cmd", eta=ETA, delta=0.2), RDA(ETA), FOBOS(ETA)])  # fmt: skip
def test_an_intercept_is_one_more_coordinate(solver):
    X, y = sparse_stream()  # rows of length 1, so that the constant feature is 1
    y[:10] = 1.0
    ledger = regret_ledger(X, y, alpha=0.05, solver=solver, fit_intercept=True, passes=40)
    x = np.append(ledger.coef, ledger.intercept)
    assert x[-1] != 0.0
    more = {"bias": True, "argmin": ada.closed}
    phi, stream = ada.l1(0.05), (X, y, ada.HINGE)
    if isinstance(solver, FOBOS):
        run = ada.fobos(*stream, ETA, phi, **more)
        bound = gradient_descent_bound(run, x)
    elif isinstance(solver, RDA):
        run = ada.rda(*stream, ETA, phi, **more)
        bound = ada.corollary_3(run, x, ETA, np.ones(D + 1))
    elif solver.update == "rda":
        run = ada.adagrad_rda(*stream, ETA, 1.0, phi, **more)
        bound = ada.theorem_6_rda(run, x, ETA, 1.0)
    else:
        run = ada.adagrad_cmd(*stream, ETA, 0.2, phi, **more)
        bound = ada.theorem_6_cmd(run, x, ETA, 0.2)
    assert ledger.regret[-1] == pytest.approx(ada.regret(run, *stream, phi, x, bias=True), abs=1e-9)
    assert ledger.bound[-1] == pytest.approx(bound, rel=1e-9)
    assert ledger.holds


LENGTHS = {
    "averaging": (AdaGrad(eta=ETA, delta=9.0), "Theorem 6", ada.adagrad_rda, ada.theorem_6_rda),
    "mirror": (AdaGrad("cmd", eta=ETA, delta=0.2), "Theorem 6", ada.adagrad_cmd, ada.theorem_6_cmd),
    "full": (AdaGrad("rda", "full", eta=ETA, delta=9.0), "Corollary 14", ada.adagrad_full_rda, ada.corollary_14),
    "dual averaging": (RDA(ETA), "eq. (9)", ada.rda, None),
    "splitting": (FOBOS(ETA), "eq. (8)", ada.fobos, None),
}  # fmt: skip


@pytest.mark.parametrize("name", LENGTHS)
def test_an_intercept_among_examples_of_other_lengths(name):
    """It is the weight of one more feature, which is as long as the examples."""
    solver, theorem, transcription, bound_of = LENGTHS[name]
    X, y = random_stream(3)
    X *= np.linspace(0.2, 7.0, ROUNDS)[:, None]
    length = math.sqrt((X**2).sum() / ROUNDS)
    ledger = regret_ledger(X, y, penalty="none", solver=solver, fit_intercept=True, passes=20)
    x = np.append(ledger.coef, ledger.intercept / length)
    stream = np.column_stack([X, np.full(ROUNDS, length)]), y, ada.HINGE
    etas = [ETA] if bound_of is None else [ETA, solver.delta]
    blocks = [list(range(D)), [D]]
    run = transcription(*stream, *etas, **({"blocks": blocks} if name == "full" else {}))
    if name == "splitting":
        bound = gradient_descent_bound(run, x)
    elif name == "dual averaging":
        bound = ada.corollary_3(run, x, ETA, np.ones(D + 1))
    else:
        bound = bound_of(run, x, *etas, *([blocks] if name == "full" else []))
    assert ledger.theorem == theorem
    regret = ada.regret(run, *stream, ada.no_penalty(), x)
    assert ledger.regret[-1] == pytest.approx(regret, abs=1e-8)
    assert ledger.bound[-1] == pytest.approx(bound, rel=1e-8)
    assert ledger.holds


def test_an_intercept_beside_a_strongly_convex_penalty():
    """Theorem 13 for the weights, and Theorem 6 with η = 1, δ = 0 for the intercept alone."""
    X, y = random_stream(3)
    X *= np.linspace(0.2, 7.0, ROUNDS)[:, None]
    G, lam, delta = np.abs(X).max(), 0.2, 0.4
    eta = G**2 / lam
    ledger = regret_ledger(
        X, y, penalty=SquaredL2(lam), solver=AdaGrad("cmd", delta=delta), fit_intercept=True
    )
    w, b, squares, bias_square = np.zeros(D), 0.0, np.zeros(D), 0.0
    loss, width = 0.0, 0.0
    for z, label in zip(X, y, strict=True):
        margin = label * (z @ w + b)
        loss += max(0.0, 1.0 - margin) + lam / 2 * w @ w
        width = max(width, abs(b - ledger.intercept))
        a = -label if margin < 1.0 else 0.0
        squares += (a * z) ** 2
        bias_square += a * a
        w = ada.equation_25(w, a * z, squares, delta, eta, lam)
        b -= a / math.sqrt(bias_square)
    x, bias = ledger.coef, math.sqrt(bias_square)
    bound = (delta / eta + lam) / 2 * x @ x + eta / 2 * np.log(squares / delta + 1).sum()
    assert ledger.theorem == "Theorem 13"
    assert ledger.loss[-1] == pytest.approx(loss, abs=1e-9)
    assert ledger.bound[-1] == pytest.approx(bound + width**2 * bias / 2 + bias, rel=1e-9)
    assert ledger.holds


def test_several_classes_are_learned_jointly():
    X, labels = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    order = np.random.default_rng(0).permutation(len(X))
    X, labels = X[order], np.array(["x", "y", "z"])[labels[order]]
    for loss in ("hinge", "logistic"):
        ledger = regret_ledger(X, labels, loss=loss, penalty="l1/l2", alpha=0.01, passes=30)
        assert ledger.theorem == "Theorem 6"
        assert ledger.holds
        assert ledger.coef.shape == (3, 4)
        assert ledger.intercept.shape == (3,)
    solver = AdaGrad("rda", "block", eta=ETA, delta=9.0)
    blocks = [list(range(c, 12, 3)) for c in range(3)]
    ledger = regret_ledger(X, labels, penalty="l2", alpha=0.1, solver=solver)
    y = np.searchsorted(["x", "y", "z"], labels)
    stream, x = (X, y, ada.CRAMMER_SINGER), ledger.coef.T
    run = ada.adagrad_full_rda(*stream, ETA, 9.0, lam=0.1, blocks=blocks, K=3)
    assert ledger.theorem == "Corollary 14"
    assert ledger.regret[-1] == pytest.approx(ada.regret(run, *stream, ada.ridge(0.1), x), abs=1e-9)
    assert ledger.bound[-1] == pytest.approx(ada.corollary_14(run, x, ETA, 9.0, blocks), rel=1e-9)


@pytest.mark.parametrize(("penalty", "phi"), [(L1(0.05), ada.l1(0.05)), (SquaredL2(0.1), ada.ridge(0.1))])  # fmt: skip
@pytest.mark.parametrize("bias", [False, True])
def test_the_true_regret_is_between_what_is_measured_and_what_is_certified(penalty, phi, bias):
    X, y = random_stream(4)
    ledger = regret_ledger(X, y, penalty=penalty, fit_intercept=bias, passes=100)
    best = ada.best_fixed_point(ada.planes_of_hinge(X, y, bias), phi, ada.everywhere(), (D,), bias)
    hinge = np.maximum(0, 1 - y * (ada.with_bias(X, bias) @ best)).sum()
    true = ledger.loss[-1] - hinge - ROUNDS * phi.value(best[:D])
    assert ledger.regret[-1] - 1e-9 <= true <= ledger.certified_regret + 1e-9
    assert ledger.certified_regret - ledger.regret[-1] == pytest.approx(ledger.gap)
    if isinstance(penalty, SquaredL2):
        assert true - ledger.regret[-1] < 1e-3


@pytest.mark.parametrize("name", ["averaging", "mirror", "strongly convex", "full mirror", "splitting"])  # fmt: skip
def test_what_is_measured_is_what_the_solver_does(name):
    """Rounds one by one, the knob known, are what `partial_fit` does with that knob at once."""
    solver, penalty, domain, _ = CASES[name]
    X, y = random_stream(5, 150)  # long enough for an early look
    X[0, 0] = 1.0  # the largest entry from the first round on: §5 goes by it
    ledger = regret_ledger(X, y, penalty=penalty, domain=domain, solver=solver, passes=5)
    model = LinearClassifier(
        penalty=penalty, domain=domain, solver=solver, fit_intercept=False
    ).partial_fit(X, y, classes=[-1.0, 1.0])
    objective = Objective(Hinge(), penalty, domain, intercept=False)
    replay = Replay(risk_of(objective, Source(X, y)), solver)
    rounds = list(replay.rounds(ledger.coef[:, None], np.zeros(1)))
    np.testing.assert_allclose(np.cumsum([lost for lost, _, _ in rounds]), ledger.loss, rtol=1e-12)
    w, _ = replay.solver.weights(objective, replay.course)
    np.testing.assert_allclose(w[:, 0], model.coef_[0], rtol=1e-9, atol=1e-12)


def test_the_knob_is_found_by_an_ordinary_pass_and_then_kept():
    X, y = random_stream(6, 150)
    objective = Objective(Hinge(), L1(0.01), intercept=False)
    risk = risk_of(objective, Source(X, y))
    for solver in (AdaGrad(), AdaGrad("cmd"), RDA(), FOBOS()):
        ledger = regret_ledger(X, y, alpha=0.01, solver=solver, passes=5)
        course = solver.start(risk, np.zeros(D), 0.0)
        solver.learn(risk, course, np.arange(150, dtype=np.uint32))
        assert ledger.eta == pytest.approx(course.parameter)
        assert ledger.holds
        again = type(solver)(**{**vars(solver), "eta": ledger.eta} | ({"delta": ledger.delta} if type(solver) is AdaGrad else {}))  # fmt: skip
        np.testing.assert_allclose(
            regret_ledger(X, y, alpha=0.01, solver=again, passes=5).loss, ledger.loss, rtol=1e-9
        )
    assert math.isnan(ledger.delta)


def test_a_domain_tells_the_step_and_the_stream_tells_delta():
    X, y = sparse_stream()
    ledger = regret_ledger(X, y, penalty="none", domain="box(-2, 3)", passes=20)
    assert ledger.eta == 3.0  # Cor. 7
    assert ledger.delta == 0.8  # the largest gradient
    ledger = regret_ledger(X, y, penalty="none", domain="ball(2)", solver=AdaGrad("rda", "full"), passes=20)  # fmt: skip
    assert (ledger.eta, ledger.theorem) == (2.0, "Theorem 8")
    assert ledger.delta == pytest.approx(1.0)  # the longest


def test_losses_without_a_bound_on_their_slopes():
    X, y = load_diabetes(return_X_y=True)
    y = (y - y.mean()) / y.std()
    for solver, theorem in ((AdaGrad(), "Theorem 6"), (AdaGrad("cmd"), "Theorem 6"), (FOBOS(), "eq. (8)")):  # fmt: skip
        ledger = regret_ledger(10 * X, y, loss="squared", penalty="l2", alpha=0.01, solver=solver)
        assert ledger.holds
        assert ledger.theorem in (theorem, "Corollary 3")
        assert np.isfinite(ledger.bound).all()


def test_weights_and_sparse_rows():
    X, y = sparse_stream()
    s = np.random.default_rng(0).integers(0, 4, size=ROUNDS)
    ledger = regret_ledger(sparse.csc_matrix(X), y > 0, alpha=0.05, sample_weight=s, passes=20)
    dense = regret_ledger(X, y, alpha=0.05, sample_weight=7.0 * s, passes=20)
    np.testing.assert_allclose(ledger.regret, dense.regret, atol=1e-9)
    np.testing.assert_allclose(ledger.bound, dense.bound, rtol=1e-9)
    assert ledger.holds
    assert ledger.delta == pytest.approx(0.8 * s.max() / s.mean())


def a_ledger(**changes):
    columns = {
        "loss": np.array([1.0, 1.5, 1.75]),
        "regret": np.array([0.5, 0.5, 0.25]),
        "bound": np.array([1.0, 2.0, 3.0]),
    }
    return RegretLedger(
        **{**columns, **changes},
        theorem="Theorem 6", coef=np.ones(2), intercept=0.0, gap=1.5, player="adagrad", eta=0.1, delta=1.0,
    )  # fmt: skip


def test_the_table():
    ledger = a_ledger()
    assert len(ledger) == 3
    assert ledger.holds
    assert ledger.certified_regret == 1.75
    assert repr(ledger) == (
        "RegretLedger(3 rounds of adagrad: regret 0.25 ≤ 3 by Theorem 6, certified ≤ 1.75)"
    )
    frame = ledger.to_frame()
    assert list(frame) == ["loss", "regret", "bound"]
    assert frame.index.tolist() == [1, 2, 3]
    assert frame["bound"].tolist() == [1.0, 2.0, 3.0]
    twin = pickle.loads(pickle.dumps(ledger))
    np.testing.assert_array_equal(twin.regret, ledger.regret)


def test_a_bound_that_does_not_hold_is_said_not_to():
    assert not a_ledger(bound=np.array([0.4, 2.0, 3.0])).holds
    broken = a_ledger(bound=np.array([1.0, 2.0, 0.2]))
    assert "regret 0.25 NOT ≤ 0.2 by Theorem 6" in repr(broken)
    assert not a_ledger(bound=np.array([1.0, np.nan, 3.0])).holds
    assert a_ledger(bound=np.array([0.5, 0.5, 0.25 - 1e-12])).holds  # rounding


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert a_ledger().plot(axes) is axes
    regret, bound = axes.get_lines()
    np.testing.assert_array_equal(regret.get_xydata()[:, 1], [0.5, 0.5, 0.25])
    np.testing.assert_array_equal(bound.get_xydata(), [[1, 1], [2, 2], [3, 3]])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["adagrad", "Theorem 6"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"solver": "pegasos"},
            "no theorem is known for solver 'pegasos': choose one of adagrad, ",
        ),
        ({"solver": Pegasos()}, "no theorem is known for solver 'pegasos'"),
        ({"solver": "newton"}, "solver 'newton' cannot learn from a stream"),
        ({"solver": "adagrid"}, "there is no solver 'adagrid': did you mean 'adagrad'?"),
        ({"solver": AdaGrad("rda", "full")}, "knows the penalties l2 and none with a full matrix"),
        ({"loss": "hing"}, "there is no loss 'hing': did you mean 'hinge'?"),
        ({"loss": "squared_hinge", "y": [0, 1, 2, 1]}, "y holds 3 classes, and SquaredHinge is a"),
        ({"penalty": "l3"}, "there is no penalty 'l3'"),
        ({"domain": "sphere"}, "there is no domain 'sphere'"),
        ({"alpha": -1.0}, "alpha must be positive, not -1"),
        ({"passes": 0}, "passes must be at least 1, not 0"),
        ({"y": [1, 1, 1, 1]}, "y holds one class only"),
        ({"X": [[1.0], [np.nan], [1.0], [1.0]]}, "X holds NaN in row 1, feature 0"),
        ({"sample_weight": [1.0, -1.0, 1.0, 1.0]}, "sample_weight is negative"),
    ],
)
def test_bad_input_gets_one_sentence(settings, message):
    given = {"X": [[1.0], [2.0], [3.0], [4.0]], "y": [0, 1, 0, 1], **settings}
    with pytest.raises(ValueError, match=message.replace("?", r"\?")) as caught:
        regret_ledger(given.pop("X"), given.pop("y"), **given)
    assert "\n" not in str(caught.value)


def test_a_loss_that_is_none():
    with pytest.raises(TypeError, match="loss must be a name or a Loss, not int"):
        regret_ledger([[1.0], [2.0]], [0, 1], loss=3)


def test_a_run_that_overflows():
    X, y = random_stream()
    with pytest.raises(ValueError, match=r"'fobos' overflows in round .*: eta=1e\+06 is too"):
        regret_ledger(100.0 * X, y, loss="squared", penalty="none", solver=FOBOS(1e6))


def test_full_matrices_whose_root_is_not_renewed_every_round():
    X = np.eye(130)
    y = np.where(np.arange(130) % 2, 1, -1)
    solver = AdaGrad("cmd", "full", eta=1.0)
    with pytest.raises(ValueError, match="blocks of up to 128 weights, not 130; use matrix="):
        regret_ledger(X, y, penalty="l2", solver=solver)


def test_rows_of_zeros_and_very_few_rounds():
    ledger = regret_ledger([[0.0], [0.0]], [0, 1], alpha=0.1, passes=5)
    np.testing.assert_allclose(ledger.regret, 0.0)
    assert ledger.holds
    assert regret_ledger([[1.0], [2.0]], [0, 1], penalty=RowsL2(0.1), passes=5).holds
