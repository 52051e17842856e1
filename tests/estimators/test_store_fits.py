"""Fits to stores: the answers of memory, and what cannot work from a store."""

import numpy as np
import pytest
from scipy import sparse

import stepless
from stepless import DataError, LinearClassifier, LinearRegressor, alpha_path, verify
from stepless.data import Source, store_writer
from stepless.data.memory import Memory
from stepless.estimators import examples

M, D = 1500, 10


@pytest.fixture(autouse=True)
def small_spans(monkeypatch):
    monkeypatch.setattr(store_writer, "_LEAST", 1 << 10)
    monkeypatch.setattr(store_writer, "_MOST", 1 << 11)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(M, D)) * (rng.random((M, D)) < 0.6)
    z = X @ rng.normal(size=D) + 0.3 * rng.normal(size=M)
    return sparse.csr_matrix(X), z, np.array(["low", "mid", "top"])[np.digitize(z, [-1.0, 1.0])]


@pytest.fixture
def pack(tmp_path):
    def pack(X, y, s=None, **how):
        stepless.pack(tmp_path / "some.store", X, y, s, **how)
        return stepless.open(tmp_path / "some.store")

    return pack


@pytest.fixture
def same_cuts(monkeypatch):
    """Cut arrays in memory where a store is cut, so that bits are the same."""

    def like(store):
        cuts = store.home.cuts

        def source(X, *given, **how):
            design = Source(X, *given, **how).X
            return Source(Memory(design, cuts), *given, **how)

        monkeypatch.setattr(examples, "Source", source)

    return like


SETTINGS = {"gap": 1e-3, "alpha": 1e-3}


@pytest.mark.parametrize(
    "solver", ["auto", "newton", "lbfgs", "proximal-bundle", "dual-ascent", "adagrad"]
)
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_two_classes(data, pack, same_cuts, form, solver):
    X, _, y = data
    X, y = X if form == "sparse" else X.toarray(), y == "top"
    store = pack(X, y)
    model = LinearClassifier("logistic", solver=solver, passes=30, **SETTINGS)
    if solver == "proximal-bundle":
        model.set_params(alpha=0.1)
    found = model.fit(store)
    assert len(store.home.cuts) > 4
    one = {
        k: v for k, v in vars(found).items() if k.endswith("_") and k not in ("trace_", "proof_")
    }
    proof = found.proof_
    assert verify(found, store).holds
    assert verify(found, X, y).holds  # the digests are those of the arrays
    assert (found.predict(store) == found.predict(X)).all()
    assert found.score(store) == found.score(X, y)
    same_cuts(store)
    other = model.fit(X, y)
    assert proof.data == other.proof_.data
    if solver in ("auto", "dual-ascent", "adagrad"):  # rows come in turns: another order
        assert max(one["lower_bound_"], other.lower_bound_) <= min(
            one["objective_"], other.objective_
        )
        return
    for name, value in one.items():
        np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"low": 3.0}])
def test_three_classes_and_weights(data, pack, same_cuts, multi_class, class_weight):
    X, _, y = data
    s = np.random.default_rng(1).integers(1, 4, M).astype(float)
    store = pack(X, y, s)
    how = {"multi_class": multi_class, "class_weight": class_weight, "solver": "lbfgs"}
    model = LinearClassifier("logistic", **SETTINGS, **how).fit(store)
    objective, bound, coef, digests = (
        model.objective_,
        model.lower_bound_,
        model.coef_,
        model.proof_.data,
    )
    assert verify(model, store).holds
    same_cuts(store)
    model.fit(X, y, s)
    # sums of features under weights that differ are rounded in another order
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-6, atol=1e-9)
    assert model.lower_bound_ <= objective
    assert bound <= model.objective_
    assert model.proof_.data == digests


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_numbers(data, pack, same_cuts, loss):
    X, z, _ = data
    store = pack(X, z, task="regress")
    model = LinearRegressor(loss, **SETTINGS).fit(store)
    coef = model.coef_
    assert verify(model, store).holds
    assert model.score(store) == model.score(X, z)
    same_cuts(store)
    np.testing.assert_array_equal(model.fit(X, z).coef_, coef)


def test_a_path(data, pack, same_cuts):
    X, z, _ = data
    store = pack(X, z > 0)
    found = alpha_path(store, alphas=[1e-1, 1e-3], loss="hinge", gap=1e-2)
    same_cuts(store)
    for one, other in zip(
        found, alpha_path(X, z > 0, [1e-1, 1e-3], loss="hinge", gap=1e-2), strict=True
    ):
        np.testing.assert_array_equal(one.coef, other.coef)


def test_numeric_classes_may_be_numbers_to_predict(data, pack):
    X, z, _ = data
    y = np.round(z).astype(int)
    store = pack(X, y)
    model = LinearRegressor(**SETTINGS)
    objective = model.fit(store).objective_
    assert model.fit(X, y).lower_bound_ <= objective
    assert model.score(store) == model.score(X, y)


def test_cross_validation_by_masks(data, pack):
    X, _, y = data
    store, fold = pack(X, y == "top"), np.arange(M) % 5 == 2
    model = LinearClassifier("logistic", **SETTINGS).fit(store.where(~fold))
    objective, bound = model.objective_, model.lower_bound_
    held_out = model.score(store.where(fold))
    assert held_out == model.score(X[fold], (y == "top")[fold])
    model.fit(X[~fold], (y == "top")[~fold])
    assert model.lower_bound_ <= objective
    assert bound <= model.objective_


def test_a_class_that_a_mask_leaves_out(data, pack):
    X, _, y = data
    store = pack(X, y)
    model = LinearClassifier("logistic", class_weight="balanced", **SETTINGS)
    model.fit(store.where(y != "mid"))
    assert model.classes_.tolist() == ["low", "top"]
    objective, bound = model.objective_, model.lower_bound_
    assert verify(model, store.where(y != "mid")).holds
    model.fit(X[y != "mid"], y[y != "mid"])
    assert model.lower_bound_ <= objective
    assert bound <= model.objective_
    with pytest.raises(ValueError, match="one class only of any weight \\(low\\)"):
        model.fit(store.where(y == "low"))


def test_weights_beside_a_store_multiply_its_own(data, pack):
    X, _, y = data
    y, rng = y == "top", np.random.default_rng(2)
    s, t = rng.integers(0, 3, M).astype(float), rng.integers(1, 3, M).astype(float)
    model = LinearClassifier("logistic", **SETTINGS)
    objective = model.fit(pack(X, y, s), sample_weight=t).objective_
    bound = model.lower_bound_
    model.fit(X, y, s * t)
    assert model.lower_bound_ <= objective
    assert bound <= model.objective_
    assert model.score(pack(X, y, s), sample_weight=t) == model.score(X, y, s * t)


def test_rows_sorted_by_label(data, pack):
    X, z, _ = data
    order = np.argsort(z > 0, kind="stable")
    store = pack(X[order], (z > 0)[order])
    for solver in ("auto", "adagrad"):
        model = LinearClassifier("hinge", solver=solver, alpha=1e-2, gap=1e-2).fit(store)
        assert model.rel_gap_ <= 1e-2


def test_what_was_summed_up_saves_passes(data, pack):
    """Sizes, means and digests cost none, unless a mask changes the weights."""
    X, z, _ = data
    store, spent = pack(X, z > 0), []
    for examples_ in (store, store.where(np.arange(M) != 7)):
        before = examples_.home.bytes_read
        LinearClassifier("logistic", solver="lbfgs", gap=1e-2, alpha=1e-2).fit(examples_)
        spent.append(examples_.home.bytes_read - before)
    size = sum(store.home._files.header.size(name) for name in ("data", "indices", "indptr"))
    assert spent[1] > spent[0] + 1.5 * size


def test_features_and_names(data, pack):
    pd = pytest.importorskip("pandas")
    X, z, _ = data
    names = [f"f{j}" for j in range(D)]
    table = pd.DataFrame(X.toarray(), columns=names)
    model = LinearClassifier(**SETTINGS).fit(pack(table, z > 0))
    assert model.feature_names_in_.tolist() == names
    assert model.n_features_in_ == D
    assert (model.predict(table) == model.predict(pack(table, z > 0))).all()
    with pytest.raises(
        ValueError, match="the store has 4 features, but LinearClassifier was fitted to 10"
    ):
        model.predict(pack(X[:, :4], z > 0))
    with pytest.raises(
        ValueError, match=r"feature 0 of the store is 'f9', .* fitted with 'f0' there"
    ):
        model.predict(pack(table[names[::-1]], z > 0))


def test_refusals(data, pack):
    X, z, y = data
    numbers = pack(X, z, task="regress")
    with pytest.raises(ValueError, match="targets are numbers, and a classifier needs labels"):
        LinearClassifier().fit(numbers)
    with pytest.raises(ValueError, match="a store holds its own targets: leave y out"):
        LinearRegressor().fit(numbers, z)
    with pytest.raises(ValueError, match="sample_weight has shape"):
        LinearRegressor().fit(numbers, sample_weight=[1.0])
    with pytest.raises(ValueError, match="needs targets ≥ 0, but y is"):
        LinearRegressor("poisson").fit(numbers)
    labels = pack(X, y)
    with pytest.raises(
        ValueError, match="targets are labels such as 'low', and a regression needs"
    ):
        LinearRegressor().fit(labels)
    with pytest.raises(ValueError, match="a path needs two classes"):
        alpha_path(labels, None, [1.0])
    with pytest.raises(ValueError, match="requires y to be passed"):
        LinearClassifier().fit(X)


OTHERS = [
    name
    for name in dir(stepless)
    if hasattr(getattr(stepless, name), "fit")
    and name not in ("LinearClassifier", "LinearRegressor")
]


@pytest.mark.parametrize("name", OTHERS)
def test_others_refuse_a_store_by_name(data, pack, name):
    X, z, _ = data
    kind = getattr(stepless, name)
    model = kind() if name != "StructuredClassifier" else kind(None)
    with pytest.raises(TypeError, match=f"{name} cannot work from the store"):
        model.fit(pack(X, z > 0), z > 0)


def test_partial_fit_refuses_a_store(data, pack):
    X, z, _ = data
    with pytest.raises(TypeError, match="LinearClassifier cannot work from the store"):
        LinearClassifier().partial_fit(pack(X, z > 0), z > 0, classes=[False, True])


def test_a_changed_store_ends_a_fit_and_leaves_the_model(data, pack, tmp_path):
    X, z, _ = data
    store = pack(X, z > 0)
    model = LinearClassifier(**SETTINGS).fit(store)
    before, file = vars(model).copy(), tmp_path / "some.store" / "data.bin"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)
    with pytest.raises(DataError, match="was changed or damaged"):
        model.fit(stepless.open(store.path))
    assert vars(model) == before
