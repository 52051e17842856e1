"""Tagging sequences: what users give, what they get, and what they are told."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from stepless import ChainClassifier
from stepless.data.templates import window_features, word_features


def language(n, seed, length=(1, 9)):
    """Sequences in which a tag is seen dimly by itself, and better by its neighbours."""
    rng = np.random.default_rng(seed)
    follows = np.array([[0.05, 0.9, 0.05], [0.05, 0.05, 0.9], [0.9, 0.05, 0.05]])
    X, y = [], []
    for _ in range(n):
        tags = [int(rng.integers(3))]
        for _ in range(int(rng.integers(*length)) - 1):
            tags.append(int(rng.choice(3, p=follows[tags[-1]])))
        seen = [tag if rng.random() < 0.5 else int(rng.integers(3)) for tag in tags]
        X.append([[f"seen={c}", "any"] for c in seen])
        y.append([f"tag{c}" for c in tags])
    return X, y


X, y = language(60, 0)
X_TEST, Y_TEST = language(100, 1)


def matrices(sequences, kind):
    names = ["seen=0", "seen=1", "seen=2", "any"]
    arrays = [np.array([[float(n in at) for n in names] for at in s]) for s in sequences]
    return [sparse.csr_matrix(a) for a in arrays] if kind == "sparse" else arrays


@pytest.mark.parametrize("loss", ["crf", "hinge"])
def test_neighbours_help(loss):
    sequences, tags = language(200, 5, (6, 12))
    model = ChainClassifier(loss, alpha=1e-2, gap=1e-2).fit(*language(100, 3, (6, 12)))
    seen = [f"tag{at[0][-1]}" for s in sequences for at in s]
    alone = np.mean(np.array(seen) == np.concatenate(tags))
    assert model.score(sequences, tags) > alone + 0.08
    assert model.rel_gap_ <= 1e-2
    assert model.lower_bound_ <= model.objective_
    assert model.classes_.tolist() == ["tag0", "tag1", "tag2"]
    assert model.solver_ == ("lbfgs" if loss == "crf" else "proximal-bundle")
    assert [len(tags) for tags in model.predict(X_TEST)] == [len(s) for s in X_TEST]


def test_names_dicts_and_matrices_are_the_same():
    dicts = [[{"seen": at[0][-1], "any": 1} for at in s] for s in X]
    known = ChainClassifier(alpha=1e-2, gap=1e-8).fit(X, y)
    for given in (dicts, matrices(X, "dense"), matrices(X, "sparse")):
        other = ChainClassifier(alpha=1e-2, gap=1e-8).fit(given, y)
        assert other.objective_ == pytest.approx(known.objective_, rel=1e-8)
        np.testing.assert_allclose(other.transition_, known.transition_, atol=1e-3)


def test_tags_may_be_numbers_and_keep_their_order():
    numbers = [[10 * int(c[-1]) for c in tags] for tags in y]
    model = ChainClassifier(alpha=1e-2).fit(X, numbers)
    assert model.classes_.tolist() == [0, 10, 20]
    named = ChainClassifier(alpha=1e-2).fit(X, y)
    for a, b in zip(model.predict(X_TEST), named.predict(X_TEST), strict=True):
        assert [f"tag{c // 10}" for c in a] == b.tolist()


def test_marginals_are_probabilities_and_only_a_crf_has_them():
    model = ChainClassifier(alpha=1e-3).fit(X, y)
    p = model.predict_marginals(X_TEST)
    for rows, s in zip(p, X_TEST, strict=True):
        assert rows.shape == (len(s), 3)
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)
    assert not hasattr(ChainClassifier("hinge"), "predict_marginals")


def test_weights_are_told_by_feature_and_tag():
    model = ChainClassifier(alpha=1e-2).fit(X, y)
    emission = np.asarray(
        model.emission_.todense() if sparse.issparse(model.emission_) else model.emission_
    )
    assert emission.shape == (4, 3)
    for c in range(3):
        assert emission[model.vocabulary_[f"seen={c}"]].argmax() == c
    assert model.transition_.argmax(axis=1).tolist() == [1, 2, 0]
    assert model.start_.shape == model.end_.shape == (3,)


def test_seen_pairs_are_fewer_and_all_pairs_are_at_least_as_good():
    rare = [[[*at, f"word{i}"] for at in s] for i, s in enumerate(X)]
    seen = ChainClassifier(alpha=1e-2, gap=1e-6).fit(rare, y)
    every = ChainClassifier(alpha=1e-2, gap=1e-6, pairs="all").fit(rare, y)
    assert seen.emission_.nnz < every.emission_.size
    assert every.objective_ <= seen.objective_ * (1 + 1e-6)


def test_l1_leaves_weights_out():
    model = ChainClassifier(penalty="l1", alpha=3e-2, gap=1e-2).fit(X, y)
    assert model.rel_gap_ <= 1e-2
    assert (model.transition_ == 0.0).any()


def test_a_cost_moves_mistakes():
    dear = 1.0 - np.eye(3)
    dear[0, 1:] = 10.0  # tag0 must not be missed
    plain = ChainClassifier("hinge", alpha=1e-2, gap=1e-2).fit(X, y)
    careful = ChainClassifier("hinge", cost=dear, alpha=1e-2, gap=1e-2).fit(X, y)

    def missed(model):
        found, truth = np.concatenate(model.predict(X_TEST)), np.concatenate(Y_TEST)
        return np.sum((truth == "tag0") & (found != "tag0"))

    assert missed(careful) < missed(plain)


def test_weights_of_sequences_are_repetitions():
    twice = ChainClassifier(alpha=1e-2, gap=1e-7).fit([*X, X[0]], [*y, y[0]])
    weighted = ChainClassifier(alpha=1e-2, gap=1e-7).fit(X, y, np.r_[2.0, np.ones(len(X) - 1)])
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-6)


def test_a_warm_start_begins_where_the_last_fit_ended():
    model = ChainClassifier(alpha=1e-2, gap=1e-4, warm_start=True).fit(X, y)
    before = model.n_passes_
    model.fit(X, y)
    assert model.n_passes_ < before
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("loss", ["crf", "hinge"])
def test_a_stream_is_learned_and_may_bring_new_features(loss):
    model = ChainClassifier(loss, alpha=1e-3)
    more, tags = language(300, 2)
    model.partial_fit(more[:100], tags[:100], classes=["tag0", "tag1", "tag2"])
    first = model.progressive_loss_
    new = [[[*at, "new"] for at in s] for s in more[100:]]
    model.partial_fit(new, tags[100:])
    assert model.progressive_loss_ < first
    assert model.emission_.shape == (5, 3)
    assert model.gap_ == np.inf
    fitted = ChainClassifier(loss, alpha=1e-3, gap=1e-2).fit(more, tags)
    assert model.score(X_TEST, Y_TEST) >= fitted.score(X_TEST, Y_TEST) - 0.04


def test_a_stream_goes_on_from_a_fit():
    model = ChainClassifier(alpha=1e-2).fit(X, y)
    score = model.score(X_TEST, Y_TEST)
    model.partial_fit(X[:2], y[:2])
    assert model.score(X_TEST, Y_TEST) == pytest.approx(score, abs=0.05)


@pytest.mark.parametrize(
    ("X", "y", "settings", "message"),
    [
        ([], [], {}, "there are no sequences"),
        ([[["a"], ["b"]]], [["A"]], {}, "sequence 0 has 2 positions in X, but 1 tags in y"),
        ([[["a"]]], [["A"], ["B"]], {}, "there are 1 sequences in X, but 2 in y"),
        ([[["a"]], []], [["A"], []], {}, "sequence 1 is empty"),
        ([[["a"], ["b"]]], [["A", "A"]], {}, "y holds one tag only"),
        ([["ab"]], [["A"]], {}, "not the string 'ab'"),
        ([[{"a": np.nan}]], [["A"]], {}, "X holds nan in sequence 0, position 0, feature 'a'"),
        ([np.ones((1, 2)), np.full((2, 2), np.inf)], [[0], [0, 1]], {}, "inf in sequence 1, position 0, feature 0"),
        ([np.ones((1, 2)), np.ones((1, 3))], [[0], [1]], {}, "sequence 1 has 3 features, not 2"),
        ([np.ones((1, 2)), [["a"]]], [[0], [1]], {}, "all matrices, or all lists"),
        ([[["a"], ["b"]]], [["A", "B"]], {"loss": "crm"}, "did you mean 'crf'"),
        ([[["a"], ["b"]]], [["A", "B"]], {"cost": np.eye(2)}, "cost= is for loss='hinge'"),
        ([[["a"], ["b"]]], [["A", "B"]], {"loss": "hinge", "cost": np.eye(2)}, "0 for the right tag"),
        ([[["a"], ["b"]]], [["A", "B"]], {"loss": "hinge", "cost": np.ones((3, 3))}, "cost must be 2 × 2"),
        ([[["a"], ["b"]]], [["A", "B"]], {"pairs": "some"}, "'seen' or 'all'"),
        ([[["a"], ["b"]]], [["A", "B"]], {"loss": "hinge", "solver": "lbfgs"}, "needs a risk that is smooth"),
        ([[["a"], ["b"]]], [["A", "B"]], {"solver": "newton"}, "sum over examples"),
    ],
)  # fmt: skip
def test_bad_input_is_told_in_one_sentence(X, y, settings, message):
    with pytest.raises(ValueError, match=message) as told:
        ChainClassifier(**settings).fit(X, y)
    assert "\n" not in str(told.value)


def test_unknown_tags_and_missing_classes_are_named():
    with pytest.raises(ValueError, match="must name all tags"):
        ChainClassifier().partial_fit(X, y)
    model = ChainClassifier().partial_fit(X[:2], y[:2], classes=["tag0", "tag1", "tag2"])
    with pytest.raises(ValueError, match="tag tag9 in sequence 1 is not among the tags"):
        model.partial_fit([[["a"]], [["a"]]], [["tag0"], ["tag9"]])
    with pytest.raises(ValueError, match="all matrices, or all lists"):
        model.predict([np.ones((1, 4))])


def test_features_not_seen_before_are_left_out():
    model = ChainClassifier(alpha=1e-2).fit(X, y)
    strange = [[[*at, "strange"] for at in s] for s in X_TEST]
    for a, b in zip(model.predict(strange), model.predict(X_TEST), strict=True):
        assert a.tolist() == b.tolist()


def test_likelihoods_are_crfsuites(tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    trainer = pycrfsuite.Trainer(verbose=False)
    for features, tags in zip(X, y, strict=True):
        trainer.append(features, tags)
    trainer.set_params({"c2": 0.5, "feature.possible_transitions": 1, "feature.possible_states": 1})
    trainer.train(str(tmp_path / "model"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "model"))
    info = tagger.info()
    model = ChainClassifier(pairs="all", alpha=1.0).fit(X, y)
    w = np.zeros_like(model._w)
    names = model.classes_.tolist()
    for (feature, tag), weight in info.state_features.items():
        w[3 * model.vocabulary_[feature] + names.index(tag)] = weight
    for (a, b), weight in info.transitions.items():
        w[12 + 3 * names.index(a) + names.index(b)] = weight
    model._keep(model._layout, w)
    for s, found, p in zip(
        X_TEST[:20], model.predict(X_TEST[:20]), model.predict_marginals(X_TEST[:20]), strict=True
    ):
        tagger.set(s)
        for t in range(len(s)):
            expected = [tagger.marginal(tag, t) for tag in names]
            np.testing.assert_allclose(p[t], expected, atol=1e-5)  # it writes weights in decimals
        assert tagger.tag(s) == found.tolist()


def test_templates_name_what_they_see():
    tokens = [("He", "PRP", "B-NP"), ("reckons", "VBZ", "B-VP"), (".", ".", "O")]
    rows = window_features(tokens)
    assert [len(row) for row in rows] == [19, 19, 19]
    assert all(len(set(row)) == len(row) for row in rows)
    assert "t-1+1=PRP|VBZ|." in rows[1]
    assert "w+0+1=He|reckons" in rows[0]
    (first, _) = word_features(["McX-2", "is"])
    assert {"shape=XxX-0", "short=XxX-0", "prefix=mcx-", "suffix=2", "w+1=is"} <= set(first)


def test_a_chunk_that_is_refused_leaves_no_trace():
    X, y = [[["a"], ["b"]], [["b"], ["a"]]], [["A", "B"], ["B", "A"]]
    model = ChainClassifier()
    with pytest.raises(ValueError, match="tag"):
        model.partial_fit([[["new"], ["newer"]]], [["A", "C"]], classes=["A", "B"])
    assert not hasattr(model, "classes_")
    model.partial_fit(X, y, classes=["A", "B"])
    before = [list(tags) for tags in model.predict(X)]
    with pytest.raises(ValueError, match="tag"):
        model.partial_fit([[["new"], ["newer"]]], [["A", "C"]])
    assert [list(tags) for tags in model.predict(X)] == before
    model.predict([[["new"], ["newer"]]])
    model.partial_fit(X, y)


def test_values_and_strengths_that_are_none_are_told():
    with pytest.raises(ValueError, match="alpha must be a number, not 'auto'"):
        ChainClassifier(alpha="auto").fit([[["a"]], [["b"]]], [["A"], ["B"]])
    with pytest.raises(ValueError, match="the value of feature 'x' is None: it must be a number"):
        ChainClassifier().fit([[{"x": None}], [{"x": 1.0}]], [["A"], ["B"]])
