"""Tagging sequences: inputs, answers, messages."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from stepless import ChainClassifier, SquaredL2
from stepless.data.templates import window_features, word_features
from stepless.risks.chains import CRFRisk
from stepless.solvers import AdaGrad


def language(n, seed, length=(1, 9)):
    """Return sequences whose tags are known better from their neighbours."""
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
    hinge = ChainClassifier("hinge", gap=0.1).fit(X, y)
    assert not hasattr(hinge, "predict_marginals")
    assert not hasattr(hinge.set_params(loss="crf"), "predict_marginals")
    for rows, others in zip(
        p, model.set_params(loss="hinge").predict_marginals(X_TEST), strict=True
    ):
        np.testing.assert_array_equal(rows, others)


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
    cold = model.n_passes_
    assert model.fit(X, y).n_passes_ == 1  # what was proved is known
    weaker = clone(model).set_params(alpha=5e-3).fit(X, y)
    assert model.set_params(alpha=5e-3).fit(X, y).n_passes_ < weaker.n_passes_
    assert model.lower_bound_ <= weaker.objective_
    assert weaker.lower_bound_ <= model.objective_
    new = [[[*at, "new"] for at in s] for s in X]
    assert model.fit(new, y).n_passes_ < cold
    assert model.emission_.shape == (5, 3)
    every = model.objective_
    model.set_params(pairs="all").fit(new, y)
    assert model.objective_ <= every * (1.0 + 1e-4)
    with pytest.raises(ValueError, match="tag tag9 in sequence 0 is not among the tags"):
        model.fit([[["any"]]], [["tag9"]])


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
    model.partial_fit(*language(120, 4))  # until η has been found
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
        (["ab"], [["A", "B"]], {}, "sequence 0 is 'ab': it must be a matrix or a list"),
        ([np.ones(2)], [["A", "B"]], {}, "sequence 0 has .*1.0.* for a position: give the names"),
        ([[[0.5, 1.0], [1.0, 2.0]]], [["A", "B"]], {}, "names of features are strings, not 0.5"),
        ([[["a", ["b"]]]], [["A"]], {}, r"names of features are strings, not \['b'\]"),
        ([np.ones((2, 2)) * 1j], [["A", "B"]], {}, "sequence 0 is a matrix of complex128"),
        ([np.array([["a", "b"]])], [["A"]], {}, "sequence 0 is a matrix of <U1, not of numbers"),
        ([[["a"], ["b"]]], [["A", 1]], {}, "some tags in y are strings and others are not"),
        ([[None]], [["A"]], {}, "sequence 0 has None for a position"),
        (3, [["A"]], {}, "X must be a list of sequences, not 3"),
        ([[["a"], ["b"]]], [3], {}, "y must be a list with, for each sequence, a list of tags"),
        ([[["a"], ["b"]]], [[("A", 1), ("B", 2)]], {}, r"tags must be strings or numbers, not \('A', 1\)"),
        ([[["a"], ["b"]]], [["A", None]], {}, "sequence 0 has no tag at position 1: None"),
        ([[["a"], ["b"]]], [[0.0, np.nan]], {}, "sequence 0 has no tag at position 1: nan"),
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
    with pytest.raises(ValueError, match=r"classes= differs from those .*'tag0', 'tag1'"):
        model.partial_fit(X[:2], y[:2], classes=["tag0", "tag1"])
    with pytest.raises(ValueError, match="classes holds nan at place 1: every place needs a label"):
        ChainClassifier().partial_fit(X, y, classes=[0.0, np.nan])
    with pytest.raises(ValueError, match="classes= must name two tags or more"):
        ChainClassifier().partial_fit(X, y, classes=["tag0"])
    for solver in ("lbfgs", AdaGrad(matrix="full")):
        with pytest.raises(ValueError, match="cannot learn sequences from a stream: choose 'auto'"):
            ChainClassifier(solver=solver).partial_fit(X, y, classes=["tag0", "tag1", "tag2"])


def test_features_not_seen_before_are_left_out():
    model = ChainClassifier(alpha=1e-2).fit(X, y)
    strange = [[[*at, "strange"] for at in s] for s in X_TEST]
    for a, b in zip(model.predict(strange), model.predict(X_TEST), strict=True):
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize(("penalty", "share"), [("l2", "c2"), ("l1", "c1")])
def test_likelihoods_and_the_optimum_are_crfsuites(tmp_path, penalty, share):
    """It has no weights of the first and the last tag, but features can say the same."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    trainer = pycrfsuite.Trainer(verbose=False)
    for features, tags in zip(X, y, strict=True):
        trainer.append(_with_ends(features), tags)
    strength = {"c1": 0.0, "c2": 0.0} | {share: 0.7}
    exact = {"epsilon": 1e-9, "delta": 1e-10, "max_iterations": 2000}
    every = {"feature.possible_transitions": 1, "feature.possible_states": 1}
    trainer.set_params(strength | exact | every)
    trainer.train(str(tmp_path / "model"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "model"))
    info = tagger.info()

    alpha = {"c2": 2.0, "c1": 1.0}[share] * 0.7 / len(X)  # c2 = αm/2, c1 = αm
    ours = ChainClassifier(penalty=penalty, alpha=alpha, pairs="all", gap=1e-6).fit(X, y)
    model, names = clone(ours).fit(X, y), ours.classes_.tolist()
    w, K = np.zeros_like(ours.weights_.w), 3
    row = {**ours.vocabulary_, "<first>": 4 + K, "<last>": 5 + K}
    for (feature, tag), weight in info.state_features.items():
        w[K * row[feature] + names.index(tag)] = weight
    for (a, b), weight in info.transitions.items():
        w[K * (4 + names.index(a)) + names.index(b)] = weight
    model.weights_ = replace(model.weights_, w=w)

    def log_loss(w, s, tags):
        words = ours.weights_.vocabulary.read([s])
        numbers = np.array([names.index(tag) for tag in tags])
        return CRFRisk(words, numbers, ours.weights_.layout, K, SquaredL2(1.0)).value(w, 0.0)

    for s, found, p in zip(
        X_TEST[:20], model.predict(X_TEST[:20]), model.predict_marginals(X_TEST[:20]), strict=True
    ):
        tagger.set(_with_ends(s))
        for t in range(len(s)):
            expected = [tagger.marginal(tag, t) for tag in names]
            np.testing.assert_allclose(p[t], expected, atol=1e-5)  # it writes weights in decimals
        assert tagger.tag() == found.tolist()
        assert np.exp(-log_loss(w, s, found)) == pytest.approx(
            tagger.probability(found.tolist()), abs=1e-5
        )
    size = 0.5 * w @ w if penalty == "l2" else np.abs(w).sum()
    mean = np.mean([log_loss(w, s, tags) for s, tags in zip(X, y, strict=True)])
    assert mean + alpha * size == pytest.approx(ours.objective_, rel=2e-6)
    assert ours.lower_bound_ <= mean + alpha * size
    if penalty == "l2":  # of the other there may be several
        assert np.linalg.norm(ours.weights_.w - w) <= 2.0 * np.sqrt(2.0 * ours.gap_ / alpha)


def _with_ends(features):
    """The features of a sequence, with names for its first and its last position."""
    named = [list(at) for at in features]
    named[0].append("<first>")
    named[-1].append("<last>")
    return named


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


@pytest.mark.parametrize(
    ("loss", "solver"),
    [("crf", "auto"), ("hinge", "adagrad"), ("crf", AdaGrad("cmd"))],
    ids=["crf", "hinge", "cmd"],
)
def test_it_makes_no_difference_how_a_stream_is_cut(loss, solver):
    sequences, tags = language(450, 7)
    new = [[[*at, f"since{i // 70}"] for at in s] for i, s in enumerate(sequences)]

    def learned(cuts):
        model = ChainClassifier(loss, alpha=1e-3, solver=solver)
        for lo, hi in pairwise([0, *cuts, len(new)]):
            model.partial_fit(new[lo:hi], tags[lo:hi], classes=["tag0", "tag1", "tag2"])
        return model

    whole = learned([])
    for cuts in ([1, 2, 99, 101, 300], [400, 401, 415, 430]):  # 70 by 70, features are new
        np.testing.assert_array_equal(learned(cuts).weights_.w, whole.weights_.w)
    assert whole.solver_ == "adagrad"


def test_a_stream_may_mix_kinds_of_matrices():
    dense, thin = matrices(X, "dense"), matrices(X, "sparse")
    mixed, alike = (ChainClassifier(alpha=1e-3) for _ in range(2))
    for lo, hi in ((0, 30), (30, 60)):
        alike.partial_fit(thin[lo:hi], y[lo:hi], classes=["tag0", "tag1", "tag2"])
    mixed.partial_fit(dense[:30], y[:30], classes=["tag0", "tag1", "tag2"])
    mixed.partial_fit(thin[30:], y[30:])
    np.testing.assert_allclose(mixed.weights_.w, alike.weights_.w, atol=1e-12)


def test_marginals_of_scores_far_apart_prove_no_more_than_they_know():
    far = 2.0**34
    X = [
        far + np.array([[0.0, 1.3], [0.8, 0.0], [0.3, -1.5], [0.8, 0.5], [-2.0, 1.4]]),
        np.array([[far + 0.7, -0.1], [far - 0.8, 1.4], [far + 0.5, 0.6], [far - 0.1, 1.0]]),
        np.array([[0.3, 1.3], [-0.5, 0.9], [-1.5, -2.3]]),
    ]
    y = [[0, 1, 1, 1, 1], [0, 0, 0, 1], [1, 0, 0]]
    runs = [
        ChainClassifier(alpha=1e6, solver=solver, gap=1e-6, passes=60).fit(X, y)
        for solver in ("lbfgs", "proximal-bundle", "accelerated")
    ]
    lowest = min(run.objective_ for run in runs)
    assert max(run.lower_bound_ for run in runs) <= lowest
