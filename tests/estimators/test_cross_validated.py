"""A strength by cross-validation: the choice is scikit-learn's, and nothing else matters."""

import pickle
import signal

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import ElasticNetCV, LassoCV, LogisticRegressionCV
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.preprocessing import scale
from typer.testing import CliRunner

from signals import usual_handlers  # noqa: F401  a fixture
from stepless import (
    L1,
    CrossValidation,
    GroupsL2,
    KernelClassifier,
    LinearClassifier,
    LinearRegressor,
    MetricClassifier,
    Source,
    load_model,
    open as open_store,
    pack,
    save_model,
    verify,
)
from stepless.cli import app
from stepless.data.threads import map_blocks
from stepless.estimators import cross_validated
from stepless.estimators.folds import Examples, folds_of
from stepless.report import Summary, describe

M = 400  # of which five folds are equally large


def plain_score(model, X, y):
    return model.score(X, y)


def word(model, X, y):
    return "high"


@pytest.fixture(scope="module")
def numbers():
    X, y = load_diabetes(return_X_y=True)
    return scale(X[:M]), y[:M] / 50


@pytest.fixture(scope="module")
def classes():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X[:M, :8]), np.array(["bad", "good"])[y[:M]]


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_choice_of_lasso_cv(ratio, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 30))
    y = X[:, :3] @ [1.0, -0.7, 0.4] + rng.normal(size=100)
    s = rng.uniform(0.2, 2.0, size=100) if weighted else None
    folds, alphas = list(KFold(5).split(X)), np.geomspace(1.0, 1e-3, 9)
    given = {"alphas": alphas, "cv": folds, "tol": 1e-10, "max_iter": 10**6}
    theirs = LassoCV(**given) if ratio == 1.0 else ElasticNetCV(l1_ratio=ratio, **given)
    theirs.fit(X, y, sample_weight=s)
    penalty = "l1" if ratio == 1.0 else f"elasticnet({ratio})"
    cv = CrossValidation(folds, alphas=alphas)
    ours = LinearRegressor(penalty=penalty, alpha=cv, gap=1e-6).fit(X, y, s)
    np.testing.assert_allclose(ours.alphas_, alphas)
    # predictions are off by √(2·gap·J) in the mean square: by 1.4 % of their residuals
    np.testing.assert_allclose(-2 * ours.cv_scores_, theirs.mse_path_, rtol=2e-2)
    if not weighted:  # of which the mean over folds is another one there
        assert ours.alpha_ == theirs.alpha_
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-2)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "roc_auc"])
def test_the_choice_of_logistic_regression_cv(classes, scoring):
    X, y = classes
    folds = list(StratifiedKFold(5).split(X, y))
    assert {len(learned) for learned, _ in folds} == {320}
    alphas = np.geomspace(1.0, 1e-4, 7)
    theirs = LogisticRegressionCV(
        Cs=1 / (320 * alphas),
        cv=folds,
        scoring=scoring,
        tol=1e-8,
        max_iter=10**4,
        l1_ratios=(0.0,),
        use_legacy_attributes=False,
    ).fit(X, y)
    cv = CrossValidation(folds, scoring, alphas)
    ours = LinearClassifier("logistic", alpha=cv, gap=1e-6).fit(X, y)
    scores = np.squeeze(theirs.scores_).T
    atol = {"neg_log_loss": 2e-3, "accuracy": 1 / 80 + 1e-9, "roc_auc": 2e-3}[scoring]
    np.testing.assert_allclose(ours.cv_scores_, scores, atol=atol)
    if scoring == "neg_log_loss":
        assert ours.alpha_ == pytest.approx(1 / (320 * np.squeeze(theirs.C_)))
        default = LinearClassifier("logistic", alpha=CrossValidation(folds, alphas=alphas))
        np.testing.assert_allclose(default.fit(X, y).cv_scores_, ours.cv_scores_, rtol=1e-2)


@pytest.mark.parametrize(("worth", "most"), [(1, 3), (3201, 1)])
def test_threads_do_not_matter(classes, monkeypatch, worth, most):
    (X, y), used = classes, []

    def mapped(work, count, threads):
        used.append(threads)
        return map_blocks(work, count, threads)

    monkeypatch.setattr(cross_validated, "_WORTH_THREADS", worth)
    monkeypatch.setattr(cross_validated, "map_blocks", mapped)
    for cv in (CrossValidation(4, alphas=12), CrossValidation(2, "accuracy", 12)):
        found = [
            LinearClassifier("hinge", alpha=cv, gap=1e-3, n_jobs=n).fit(X, y) for n in (1, 2, 3)
        ]
        for other in found[1:]:
            assert np.array_equal(other.alphas_, found[0].alphas_)
            assert np.array_equal(other.cv_scores_, found[0].cv_scores_)
            assert np.array_equal(other.coef_, found[0].coef_)
    assert max(used) == most


def test_the_fit_is_that_of_the_number(classes):
    X, y = classes
    chosen = LinearClassifier("logistic", alpha=CrossValidation(alphas=20)).fit(X, y)
    given = LinearClassifier("logistic", alpha=chosen.alpha_).fit(X, y)
    assert np.array_equal(chosen.coef_, given.coef_)
    assert chosen.alpha_ in chosen.alphas_
    assert (
        chosen.cv_scores_.mean(axis=1).max()
        == chosen.cv_scores_[list(chosen.alphas_).index(chosen.alpha_)].mean()
    )


def test_seeds_shuffle(classes):
    X, y = classes
    cv = CrossValidation(3, alphas=3)
    one, same, other = (
        LinearClassifier("logistic", alpha=cv, random_state=seed).fit(X, y).cv_scores_
        for seed in (1, 1, 2)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_one_standard_error(numbers):
    X, y = numbers
    grid = np.geomspace(0.5, 1e-3, 15)
    best = LinearRegressor(penalty="l1", alpha=CrossValidation(alphas=grid)).fit(X, y)
    cv = CrossValidation(alphas=grid, one_standard_error=True)
    simple = LinearRegressor(penalty="l1", alpha=cv).fit(X, y)
    means, errors = best.cv_scores_.mean(axis=1), best.cv_scores_.std(axis=1, ddof=1) / np.sqrt(5)
    top = means.argmax()
    expected = max(
        a for a, mean in zip(grid, means, strict=True) if mean >= means[top] - errors[top]
    )
    assert simple.alpha_ == pytest.approx(expected)
    assert simple.alpha_ > best.alpha_
    split = CrossValidation([(np.arange(300), np.arange(300, M))], one_standard_error=True)
    with pytest.raises(ValueError, match="one fold has no standard error"):
        LinearRegressor(alpha=split).fit(X, y)


def test_the_weak_end_of_a_grid_is_left_out_only_once_it_is_worse():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40))
    y = X[:, 0] + 2 * rng.normal(size=60)
    ended = LinearRegressor(alpha="cv").fit(X, y)
    grid = np.geomspace(ended.alphas_[0], ended.alphas_[0] / 6000, 100)
    np.testing.assert_allclose(ended.alphas_, grid[: len(ended.alphas_)])
    assert 30 <= len(ended.alphas_) < 100
    whole = LinearRegressor(alpha=CrossValidation(alphas=grid)).fit(X, y)
    assert len(whole.alphas_) == 100
    assert whole.alpha_ == pytest.approx(ended.alpha_)
    np.testing.assert_allclose(whole.cv_scores_[: len(ended.alphas_)], ended.cv_scores_)
    means = whole.cv_scores_.mean(axis=1)
    assert (means[len(ended.alphas_) :] < means.max()).all()


def test_folds_keep_classes_and_groups(flowers):
    X, y = flowers
    source, names = Source(X, y.astype(float)), np.arange(3)
    for fold in folds_of(5, Examples(source, names), 0):
        assert np.bincount(y[fold.left_out]).tolist() == [10, 10, 10]
        assert np.array_equal(np.sort(np.concatenate(fold)), np.arange(150))
    groups = np.repeat(np.arange(30), 5).astype(str)
    for given in (Examples(source, names, groups), Examples(source, None, groups)):
        for fold in folds_of(5, given, 0):
            assert not set(groups[fold.learned]) & set(groups[fold.left_out])
    masks = [(y != 0, y == 0)]
    [fold] = folds_of(tuple(masks), Examples(source), 0)
    assert fold.left_out.tolist() == list(range(50))


def test_groups_are_for_fit(numbers):
    X, y = numbers
    groups = np.arange(M) // 7
    alphas = np.geomspace(1, 1e-2, 4)
    split = LinearRegressor(alpha=CrossValidation(GroupKFold(4), alphas=alphas))
    split.fit(X, y, groups=groups)
    pairs = list(GroupKFold(4).split(X, y, groups))
    listed = LinearRegressor(alpha=CrossValidation(pairs, alphas=alphas)).fit(X, y)
    assert np.array_equal(split.cv_scores_, listed.cv_scores_)
    kept = LinearRegressor(alpha=CrossValidation(4, alphas=alphas)).fit(X, y, groups=groups)
    assert not np.array_equal(kept.cv_scores_, listed.cv_scores_)
    with pytest.raises(ValueError, match="groups must name the group of each of 400 examples"):
        split.fit(X, y, groups=groups[:5])
    with pytest.raises(ValueError, match="groups are for alpha='cv'"):
        LinearRegressor().fit(X, y, groups=groups)


def test_weights_are_copies(numbers):
    X, y = numbers
    X, y = X[:100], y[:100]
    s = np.random.default_rng(1).integers(0, 3, size=100)
    again = np.repeat(np.arange(100), s)
    folds = list(KFold(4).split(X))
    copied = [tuple(np.flatnonzero(np.isin(again, part)) for part in fold) for fold in folds]
    alphas = np.geomspace(1, 1e-2, 4)
    one = LinearRegressor(alpha=CrossValidation(folds, alphas=alphas), gap=1e-6).fit(X, y, s)
    other = LinearRegressor(alpha=CrossValidation(copied, alphas=alphas), gap=1e-6)
    other.fit(X[again], y[again])
    np.testing.assert_allclose(one.cv_scores_, other.cv_scores_, rtol=1e-6)
    for scoring in ("r2", "neg_mean_absolute_error"):
        by = [
            model.set_params(alpha=CrossValidation(cv, scoring, alphas)).fit(*data).cv_scores_
            for model, cv, data in (
                (one, folds, (X, y, s)),
                (other, copied, (X[again], y[again])),
            )
        ]
        np.testing.assert_allclose(*by, rtol=1e-4)


@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_a_store_by_masks_is_memory(tmp_path, classes, scoring):
    X, y = classes
    pack(tmp_path / "some.store", X, y)
    store = open_store(tmp_path / "some.store")
    cv = CrossValidation(4, scoring, np.geomspace(1.0, 1e-3, 4))
    here = LinearClassifier("logistic", alpha=cv, gap=1e-8).fit(X, y)
    there = LinearClassifier("logistic", alpha=cv, gap=1e-8).fit(store)
    np.testing.assert_allclose(here.cv_scores_, there.cv_scores_, atol=2e-2)
    assert here.alpha_ == there.alpha_
    np.testing.assert_allclose(here.coef_, there.coef_, atol=1e-3)
    half = store.where(np.arange(M) < 300)
    part = LinearClassifier("logistic", alpha=CrossValidation(4, scoring, [0.1, 0.01])).fit(half)
    assert part.cv_scores_.shape == (2, 4)


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_several_classes(flowers, loss, multi_class):
    X, y = flowers
    cv = CrossValidation(3, "accuracy", 6)
    model = LinearClassifier(loss, multi_class=multi_class, alpha=cv, gap=1e-2).fit(X, y)
    assert model.score(X, y) > 0.93
    assert model.cv_scores_.max() <= 1.0
    losses = clone(model).set_params(alpha=CrossValidation(3, alphas=6)).fit(X, y)
    assert (losses.cv_scores_ < 0.0).all()
    k = int(losses.cv_scores_.mean(axis=1).argmax())
    assert losses.alpha_ == losses.alphas_[k]


def test_every_penalty_with_a_strength(numbers):
    X, y = numbers
    names = [0, 0, 1, 1, 1, 2, 2, 3, 3, 3]
    for penalty in ("lp(1.5)", "hyperbolic", GroupsL2.of(7.0, names)):
        model = LinearRegressor(penalty=penalty, alpha=CrossValidation(3, alphas=4)).fit(X, y)
        assert model.alpha_ in model.alphas_
        own = penalty if isinstance(penalty, str) else penalty.with_strength(model.alpha_)
        again = LinearRegressor(penalty=own, alpha=model.alpha_).fit(X, y)
        assert np.array_equal(model.coef_, again.coef_)
        assert verify(model, X, y).lower_bound == pytest.approx(model.lower_bound_)


def test_callables_and_frames(classes):
    X, y = classes
    seen = []

    def scorer(model, part, labels):
        seen.append((part.shape, *sorted(set(labels.tolist()))))
        parts.append(part)
        return model.score(part, labels)

    parts, cv = [], CrossValidation(4, scorer, 3)
    found = LinearClassifier("logistic", alpha=cv, n_jobs=1).fit(sparse.csr_matrix(X), y)
    assert set(seen) == {((100, 8), "bad", "good")}
    named = LinearClassifier("logistic", alpha=CrossValidation(4, "accuracy", 3)).fit(
        sparse.csr_matrix(X), y
    )
    assert np.array_equal(found.cv_scores_, named.cv_scores_)
    frame = pytest.importorskip("pandas").DataFrame(X, columns=list("abcdefgh"))
    model = LinearClassifier("logistic", alpha=CrossValidation(4, "accuracy", 3)).fit(frame, y)
    assert np.array_equal(model.cv_scores_, named.cv_scores_)
    assert model.feature_names_in_.tolist() == list("abcdefgh")
    parts.clear()
    LinearClassifier("logistic", alpha=cv, n_jobs=1).fit(frame, y)
    assert all(part.columns.tolist() == list("abcdefgh") for part in parts)
    assert sorted(k for part in parts[::3] for k in part.index) == list(range(400))


@pytest.mark.parametrize(
    "given", [np.ndarray.tolist, sparse.coo_array, sparse.csc_matrix, np.float32], ids=str
)
def test_a_scorer_gets_rows_of_what_was_given_but_none_without_weight(given):
    rng = np.random.default_rng(0)
    X, s, seen = rng.normal(size=(40, 3)).astype(np.float32).astype(float), np.ones(40), []
    y, s[:10] = X[:, 0] + rng.normal(size=40), 0.0

    def scorer(model, part, numbers, sample_weight=None):
        seen.append(part.toarray() if sparse.issparse(part) else np.asarray(part))
        assert type(part) is type(given(X)) or sparse.issparse(part)
        return model.score(part, numbers)

    folds = [(np.arange(5, 40), np.arange(20)), (np.arange(20), np.arange(15, 40))]
    LinearRegressor(alpha=CrossValidation(folds, scorer, [0.1]), n_jobs=1).fit(given(X), y, s)
    np.testing.assert_array_equal(seen[0], X[10:20])
    np.testing.assert_array_equal(seen[1], X[15:40])


def test_it_travels(tmp_path, classes):
    X, y = classes
    cv = CrossValidation(3, "accuracy", [0.1, 0.01], one_standard_error=True)
    model = LinearClassifier("logistic", alpha=cv).fit(X, y)
    assert clone(model).alpha == cv
    assert model.get_params()["alpha"] is cv
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.cv_scores_, model.cv_scores_)
    save_model(model, tmp_path / "some.model")
    read = load_model(tmp_path / "some.model")
    assert read.alpha == cv
    assert (read.alpha_, read.alphas_.tolist()) == (model.alpha_, model.alphas_.tolist())
    assert np.array_equal(read.cv_scores_, model.cv_scores_)
    summary = Summary.of(read)
    assert summary.alpha_by == "cv"
    assert summary.cross_validation["strengths"] == 2
    assert "(one of 2 by the scores of 3 folds)" in describe(summary)
    assert verify(model, X, y).lower_bound == pytest.approx(model.lower_bound_)
    plain = model.set_params(alpha=0.1).fit(X, y)
    assert not hasattr(plain, "cv_scores_")
    named = LinearClassifier("logistic", alpha="cv", penalty="l2")
    named.set_params(alpha=CrossValidation(KFold(3), alphas=2)).fit(X, y)
    save_model(named, tmp_path / "other.model")
    read = load_model(tmp_path / "other.model")
    assert (read.alpha, read.alphas_.tolist()) == (named.alpha_, named.alphas_.tolist())
    assert verify(read, X, y).holds


def test_a_penalty_of_ones_own_is_kept_at_the_strength_that_its_folds_chose(tmp_path, classes):
    X, y = classes
    cv = CrossValidation([(np.arange(300), np.arange(300, M))], alphas=[0.1, 0.01])
    model = LinearClassifier("logistic", penalty=L1(7.0), alpha=cv).fit(X, y)
    save_model(model, tmp_path / "some.model")
    read = load_model(tmp_path / "some.model")
    assert (read.alpha, read.penalty) == (model.alpha_, L1(model.alpha_))


def test_parameters_can_be_searched(classes):
    X, y = classes
    model = LinearClassifier("logistic", alpha=CrossValidation([(np.arange(300), [300])], "r2", 2))
    other = clone(model).set_params(alpha__cv=3, alpha__scoring="accuracy")
    assert other.alpha == CrossValidation(3, "accuracy", 2)
    assert model.get_params()["alpha__scoring"] == "r2"
    assert other.fit(X, y).cv_scores_.shape == (2, 3)
    with pytest.raises(ValueError, match="at least 2 folds, not cv=1"):
        other.set_params(alpha__cv=1)
    assert other.alpha.cv == 3
    with pytest.raises(ValueError, match="no parameter of CrossValidation 'folds'"):
        other.set_params(alpha__folds=1)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_equal_targets_are_fitted_exactly_in_every_fold(numbers, loss):
    X, _ = numbers
    cv = CrossValidation(3, alphas=3)
    model = LinearRegressor(loss, penalty="l1", alpha=cv).fit(X, np.full(M, 3.1))
    assert np.abs(model.cv_scores_).max() < 1e-9


def test_a_missed_gap_comes_with_a_remedy(classes):
    X, y = classes
    cv = CrossValidation(2, alphas=[1e-3, 1e-4])
    with pytest.warns(match=r"4 of 4 fits in folds ended .*: (accept gap=.*, )?allow more passes="):
        LinearClassifier(alpha=cv, solver="subgradient", passes=2).fit(X, y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cv": 1}, "cross-validation needs at least 2 folds, not cv=1"),
        ({"cv": "five"}, "cv must be a number of folds, a splitter, or pairs of arrays"),
        ({"cv": 2.5}, "cv must be a number of folds, a splitter, or pairs of arrays"),
        ({"scoring": 3}, "scoring must be a name or a callable, not 3"),
        ({"scoring": f1_score}, r"f1_score cannot be: .* give make_scorer\(f1_score\)"),
        ({"one_standard_error": 1}, "one_standard_error must be True or False, not 1"),
    ],
)
def test_impossible_choices(given, message):
    with pytest.raises(ValueError, match=message):
        CrossValidation(**given)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": CrossValidation(scoring="acuracy")}, "did you mean 'accuracy'"),
        ({"alpha": CrossValidation(alphas="few")}, "alphas must be a list of positive numbers"),
        ({"alpha": CrossValidation(alphas=0)}, "a path has at least one strength"),
        ({"alpha": "cv", "penalty": "none"}, "penalty='none' has no strength alpha to vary"),
        ({"alpha": CrossValidation([([0, 1], [9999])])}, "fold 1: cv must yield pairs of arrays"),
        ({"alpha": CrossValidation([([0, 1], [])])}, "fold 1 of 1 leaves out no example"),
        ({"alpha": CrossValidation([])}, "cv yields no folds"),
        (
            {"alpha": CrossValidation(scoring="f1")},
            "are 'bad' and 'good': .* use scoring='f1_macro",
        ),
        (
            {"alpha": CrossValidation(2, "neg_log_loss", 2), "loss": "hinge"},
            "scoring='neg_log_loss' asks for probabilities, which Hinge does not model: use loss=",
        ),
        (
            {"alpha": CrossValidation(2, plain_score, 2), "class_weight": "balanced"},
            "scoring=plain_score takes no sample_weight, and these examples have weights",
        ),
        ({"alpha": CrossValidation(2, word, 2)}, "scoring=word gave 'high' at alpha="),
        ({"alpha": CrossValidation(2, "r2", 2)}, "scoring='r2' has no score of these examples"),
        ({"alpha": CrossValidation(GroupKFold(3))}, r"cv=GroupKFold\(.*to fit, as groups="),
        ({"alpha": CrossValidation(KFold(999))}, r"cv=KFold\(.* cannot cut these examples: Cannot"),
        (
            {"alpha": CrossValidation(150)},
            r"150 folds are more than .* of any class, 104: use CrossValidation\(cv=104\) or fewer",
        ),
        ({"alpha": "kv"}, "alpha must be a number, 'scaled', 'auto' or 'cv', not 'kv'"),
        ({"alpha": "cv", "seconds": 0.0}, "the seconds ended before any strength was scored"),
    ],
)
def test_a_refused_fit_changes_nothing(classes, settings, message):
    X, y = classes
    model = LinearClassifier("logistic").fit(X, y)
    before = dict(vars(model.set_params(**settings)))
    with pytest.raises(ValueError, match=message):
        model.fit(X[:200], y[:200])
    assert vars(model) == before


@pytest.mark.filterwarnings("ignore:Only one class is present")  # scikit-learn's
def test_a_fold_without_a_class(classes):
    X, y = classes
    rare = y.copy()
    rare[7] = "ugly"
    with pytest.raises(ValueError, match="class ugly has one example"):
        LinearClassifier("logistic", alpha="cv").fit(X, rare)
    groups = np.where(y == "good", 0, np.arange(M))
    with pytest.raises(ValueError, match=r"fold \d of 2 learns no example of class good"):
        LinearClassifier("logistic", alpha=CrossValidation(2)).fit(X, y, groups=groups)
    one_sided = [(np.flatnonzero(y == "bad"), np.flatnonzero(y == "good"))]
    with pytest.raises(ValueError, match="fold 1 of 1 learns no example of class good"):
        LinearClassifier("logistic", alpha=CrossValidation(one_sided)).fit(X, y)
    both = [(np.arange(M), np.flatnonzero(y == "good"))]
    with pytest.raises(ValueError, match="gave nan at alpha"):
        LinearClassifier("logistic", alpha=CrossValidation(both, "roc_auc", 2)).fit(X, y)


def test_folds_need_something_to_hold(classes, flowers):
    X, y = classes
    for groups in (np.arange(M) % 3, list("abcd") * 100):
        with pytest.raises(ValueError, match=r"folds are more than there are groups, [34]: use"):
            LinearClassifier(alpha="cv").fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="5 folds are more than there are examples, 2: use Cross"):
        LinearRegressor(alpha="cv").fit(X[:2], [0.0, 1.0])
    few = CrossValidation(4, alphas=[1.0])
    rare = np.arange(M) < 3
    with pytest.warns(match=r"class True has 3 examples, fewer than the 4 folds.*cv=3\) or fewer"):
        LinearClassifier("logistic", alpha=few, gap=1e-9).fit(X, rare)
    with pytest.raises(ValueError, match=r"'roc_auc' is for two classes, and y has 3: .*_auc_ovr'"):
        LinearClassifier(alpha=CrossValidation(scoring="roc_auc")).fit(*flowers)


def test_others_choose_none(classes):
    X, y = classes
    for model in (MetricClassifier(alpha="cv"), MetricClassifier(alpha=CrossValidation())):
        with pytest.raises(ValueError, match="a MetricClassifier chooses none"):
            model.fit(X, y)
    with pytest.raises(ValueError, match="alpha"):
        KernelClassifier(alpha=CrossValidation()).fit(X, y)
    with pytest.raises(ValueError, match="alpha='cv' must see all examples"):
        LinearClassifier(alpha="cv").partial_fit(X, y, classes=["bad", "good"])


def test_not_of_dask(classes):
    array = pytest.importorskip("dask.array")
    X, y = classes
    with pytest.raises(ValueError, match="alpha='cv' cuts examples into folds here"):
        LinearRegressor(alpha="cv").fit(
            array.from_array(X, chunks=(100, 8)), array.from_array((y == "bad") * 1.0, chunks=100)
        )


@pytest.mark.usefixtures("usual_handlers")
def test_an_interrupt_chooses_among_what_is_scored(classes):
    X, y = classes
    calls = []

    def scorer(model, part, labels):
        calls.append(1)
        if len(calls) == limit:
            signal.raise_signal(signal.SIGINT)
        return model.score(part, labels)

    model = LinearClassifier("logistic", alpha=CrossValidation(2, scorer, 30), n_jobs=1)
    limit = 25  # in the second block, where no strength is scored in both folds
    with pytest.warns(match="interrupted: alpha is the best of the 10 greatest strengths, of 30"):
        model.fit(X, y)
    assert (len(model.alphas_), model.stopped_by_) == (10, "gap")
    given = LinearClassifier("logistic", alpha=model.alpha_).fit(X, y)
    assert np.array_equal(model.coef_, given.coef_)
    calls.clear()
    with (
        pytest.warns(match="it is fitted now, which another interrupt ends"),
        pytest.warns(match="interrupted after 1 passes"),
    ):
        model.fit(X, y, watchers=[lambda *_: len(calls) >= limit and signal.raise_signal(2)])
    assert (len(model.alphas_), model.stopped_by_) == (10, "interrupt")
    calls.clear()
    limit = 1
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt, match="before any strength was scored"):
        model.fit(X, y)
    assert vars(model) == before


def test_the_command(tmp_path, classes):
    X, y = classes
    lines = [
        f"{1 if label == 'good' else -1} " + " ".join(f"{j + 1}:{v:.6g}" for j, v in enumerate(x))
        for x, label in zip(X, y, strict=True)
    ]
    data = tmp_path / "data.svm"
    data.write_text("\n".join(lines) + "\n")
    given = ["fit", str(data), "-o", str(tmp_path / "m"), "--loss", "logistic", "--alpha", "cv"]
    found = CliRunner().invoke(app, given)
    assert found.exit_code == 0, found.output
    assert "by the scores of 5 folds" in found.output
    told = CliRunner().invoke(app, ["info", str(tmp_path / "m")])
    assert "by the scores of 5 folds" in told.output
    refused = CliRunner().invoke(app, [*given, "--stream"])
    assert "--alpha cv must see all examples" in refused.output
    refused = CliRunner().invoke(app, [*given, "--seconds", "0"])
    assert "the seconds ended before any strength was scored" in refused.output
    assert refused.output.rstrip().endswith("allow more --seconds")
    refused = CliRunner().invoke(app, [*given[:-1], "auto", "--penalty", "entropy"])
    assert "use --alpha cv, or --penalty l1" in refused.output
    refused = CliRunner().invoke(app, [*given[:-1], "kv"])
    assert "one of scaled, auto, cv, not 'kv'" in " ".join(refused.output.replace("│", " ").split())
