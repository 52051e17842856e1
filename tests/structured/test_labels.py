import numpy as np
import pytest
from scipy import sparse

from stepless import LinearClassifier, SquaredL2, StructuredClassifier
from stepless.structured import LabelRisk, LabelTree, Multiclass, StructuredRisk, label_risk

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 5))
y = np.argmax(X @ rng.normal(size=(5, 4)) + 0.8 * rng.normal(size=(90, 4)), axis=1)


def test_multiclass_is_the_joint_hinge():
    joint = LinearClassifier(multi_class="joint", alpha=1e-2, gap=1e-5, fit_intercept=False)
    joint.fit(X, y)
    ours = StructuredClassifier(Multiclass.of(X, y), alpha=1e-2, gap=1e-5).fit(X, y)
    assert ours.objective_ == pytest.approx(joint.objective_, rel=2e-5)
    assert ours.lower_bound_ <= joint.objective_
    assert joint.lower_bound_ <= ours.objective_
    assert np.mean(np.array(ours.predict(X)) == joint.predict(X)) > 0.97
    assert ours.score(X, y) == -np.mean(np.array(ours.predict(X)) != y)


def test_sparse_rows_are_the_same_examples():
    holes = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = StructuredClassifier(Multiclass.of(holes, y), alpha=1e-2, passes=20).fit(holes, y)
    rows = sparse.csr_matrix(holes)
    thin = StructuredClassifier(Multiclass.of(rows, y), alpha=1e-2, passes=20).fit(rows, y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-8)
    assert thin.predict(rows) == dense.predict(holes)
    assert thin.predict(sparse.csr_array(rows)[:3]) == dense.predict(holes[:3])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_all_examples_at_once_are_each_by_itself(kind, monkeypatch):
    monkeypatch.setattr(label_risk, "_MOST_SCORES", 100)  # so that there are several blocks
    holes = np.where(np.abs(X) > 0.5, X, 0.0)
    inputs, s = list(kind(holes)), rng.integers(0, 3, size=90).astype(float)
    costs = rng.random((4, 4)) * (1.0 - np.eye(4))
    tree = LabelTree.of(X, {0: "even", 2: "even", 1: "odd", 3: "odd"})
    for model in (Multiclass.of(X, y, costs), tree):
        of = model, inputs, y.tolist(), SquaredL2(0.1)
        one, all_ = StructuredRisk(*of, s=s), LabelRisk(*of, s=s)
        for w in rng.normal(size=(5, model.d)):
            here, there = one.tangent(w, 0.0), all_.tangent(w, 0.0)
            assert there.value == pytest.approx(here.value, rel=1e-13)
            assert all_.value(w, 0.0) == there.value
            assert there.plane.offset == pytest.approx(here.plane.offset, rel=1e-13)
            np.testing.assert_allclose(there.plane.a, here.plane.a, atol=1e-13)
            np.testing.assert_allclose(all_.sizes, one.sizes, rtol=1e-12)


def test_a_search_of_ones_own_is_heeded():
    class Dear(Multiclass):
        def cost(self, y, other):
            return 2.0 * super().cost(y, other)

    risk = label_risk.structured_risk(Dear.of(X, y), X, y.tolist(), SquaredL2(0.1))
    assert not isinstance(risk, LabelRisk)
    assert risk.value(np.zeros(risk.d), 0.0) == pytest.approx(2.0)


def test_inputs_that_are_no_numbers_are_named():
    model = StructuredClassifier(Multiclass.of(X, y), alpha=1e-2, gap=0.1).fit(X, y)
    hole = X[:3].copy()
    hole[2, 1] = np.nan
    with pytest.raises(ValueError, match="example 2: an input holds NaN or infinity"):
        model.predict(hole)
    with pytest.raises(ValueError, match="example 2 hold nan at index 1"):
        model.fit(hole, y[:3])


def test_costs_are_heeded():
    costs = 1.0 - np.eye(4)
    costs[1, 2] = 10.0
    w = rng.normal(size=20)
    model = Multiclass.of(X, y, costs)
    W = w.reshape(4, 5)
    margins = X @ W.T - np.sum(X * W[y], axis=1)[:, None] + costs[y]
    value = StructuredRisk(model, X, y.tolist(), SquaredL2(1.0)).value(w, 0.0)
    assert value == pytest.approx(margins.max(axis=1).mean(), rel=1e-12)


def test_a_tree_adds_the_scores_of_a_path():
    parents = {0: "even", 2: "even", 1: "odd", 3: "odd", "even": "all", "odd": "all"}
    tree = LabelTree.of(X, parents)
    assert tree.labels == [0, 2, 1, 3]
    assert (tree.cost(0, 0), tree.cost(0, 2), tree.cost(0, 3)) == (0.0, 1.0, 2.0)
    w = rng.normal(size=tree.d)
    names = [*parents, "all"]
    W = {name: w.reshape(-1, 5)[k] for k, name in enumerate(names)}
    paths = {label: (label, parents[label], "all") for label in range(4)}
    for x in X[:10]:
        scores = {label: sum(x @ W[node] for node in path) for label, path in paths.items()}
        assert tree.predict(w, x) == max(scores, key=scores.get)
        indices, values = tree.features(x, 2)
        assert values @ w[indices] == pytest.approx(scores[2], rel=1e-12)
    fitted = StructuredClassifier(tree, alpha=1e-2, gap=1e-2).fit(X, y)
    assert fitted.score(X, y) > -0.5


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: Multiclass.of(X, y, np.ones((3, 3))),
            r"costs has shape \(3, 3\), but .* 4 labels",
        ),
        (lambda: Multiclass.of(X, y, np.ones((4, 4))), "the cost of 0 where it is true must be 0"),
        (lambda: Multiclass.of(X, y, np.eye(4) - 1.0), "costs must be finite and ≥ 0"),
        (lambda: LabelTree.of(X, {}), "parents has no leaf"),
        (lambda: LabelTree.of(X, {"a": "b", "b": "c", "c": "b"}), "'b' is its own ancestor"),
        (lambda: LabelTree.of(X, {"a": "b"}), r"must be at least two labels, not \['a'\]"),
        (lambda: LabelTree.of(X, None), "parents must be a dict from labels to their parents"),
        (lambda: Multiclass.of(None, y), r"X must be a matrix .* not of shape \(\)"),
        (
            lambda: Multiclass.of(X, y[:, None]),
            r"y must be a list of labels, not of shape \(90, 1\)",
        ),
        (lambda: Multiclass.of(X, y).cost(0, [7]), r"label \[7\] is not among"),
        (lambda: Multiclass.of(X, y).features(1j * X[0], 0), "type complex128: it must hold numb"),
        (lambda: Multiclass.of(X, y).cost(0, 7), "label 7 is not among the model's labels"),
        (lambda: Multiclass.of(X, y).features(X[0, :3], 0), r"has shape \(3,\), but .* 5 features"),
        (
            lambda: Multiclass.of(X, y).features(sparse.csr_array(X[:1, :3]), 0),
            "has 3 features, but the model has 5",
        ),
    ],
)
def test_bad_models_are_named(make, says):
    with pytest.raises(ValueError, match=says):
        make()
