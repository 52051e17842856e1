"""The dynamic programme beside all structures of short sequences, and features counted by hand."""

import numpy as np
import pytest

from stepless import SquaredL2, StructuredClassifier
from stepless.structured import StructuredRisk
from stepless.structured.rna import Folding, accuracy, mates
from stepless.structured.rna.loops import NAMES
from structured.outputs import optimum

CANONICAL = {"AU", "UA", "CG", "GC", "GU", "UG"}


def structures(x):
    """All foldings of a sequence, by where its last base pairs."""
    if not x:
        return [""]
    found = [inside + "." for inside in structures(x[:-1])]
    for i in range(len(x) - 4):
        if x[i] + x[-1] in CANONICAL:
            inner = structures(x[i + 1 : -1])
            found += [f"{left}({inside})" for left in structures(x[:i]) for inside in inner]
    return found


def sequence(rng, n, letters="ACGU"):
    return "".join(rng.choice(list(letters), size=n))


def worth(model, w, x, y):
    return float(np.asarray(model.features(x, y)) @ w)


@pytest.mark.parametrize("seed", range(40))
def test_search_is_that_of_all_structures(seed):
    rng = np.random.default_rng(seed)
    model = Folding(missed=rng.uniform(0.0, 2.0), wrong=rng.uniform(0.0, 2.0))
    x = sequence(rng, 14, "GCGCAU" if seed % 2 else "ACGU")
    w = rng.normal(size=model.d)
    w[[NAMES.index("multiloop"), NAMES.index("multiloop branch")]] += 3.0 * (seed % 3)
    foldings = structures(x)
    y = foldings[rng.integers(len(foldings))]
    scores = [worth(model, w, x, other) for other in foldings]
    assert worth(model, w, x, model.predict(w, x)) == pytest.approx(max(scores), abs=1e-12)
    augmented = [
        score + model.cost(y, other) for score, other in zip(scores, foldings, strict=True)
    ]
    worst = model.most_violated(w, x, y)
    found = worth(model, w, x, worst) + model.cost(y, worst)
    assert found == pytest.approx(max(augmented), abs=1e-12)


def test_multiloops_are_among_the_best():
    """The test above would pass without them if none were ever best."""
    model, w = Folding(), np.zeros(Folding.d)
    w[NAMES.index("multiloop")] = 1.0
    assert model.predict(w, "GGAAACGAAACC") == "((...)(...))"
    w[NAMES.index("multiloop unpaired")] = 1.0
    assert model.predict(w, "GGAAACAGAAACAC") == "((...).(...).)"


@pytest.mark.parametrize("u", [0, 1, 2, 11, 29, 30])
def test_loops_are_found_to_their_longest(u):
    """Where all structures would be too many, but one alone has two pairs."""
    w = np.zeros(Folding.d)
    w[NAMES.index("pair CG")] = 1.0
    for v in range(32 - u):
        x = "G" + "A" * u + "GAAAC" + "A" * v + "C"
        y = "(" + "." * u + "(...)" + "." * v + ")"
        assert (Folding().predict(w, x) == y) == (u + v <= 30)


@pytest.mark.parametrize("seed", range(6))
def test_score_is_that_of_the_structure_that_is_traced(seed):
    rng = np.random.default_rng(100 + seed)
    model = Folding()
    x, w = sequence(rng, 90), rng.normal(size=model.d) * 0.5
    said, score = model._best(w, x, None)
    assert score == pytest.approx(worth(model, w, x, said), rel=1e-12)
    y, _ = model._best(rng.normal(size=model.d), x, None)
    worst, score = model._best(w, x, mates(y))
    cost = model.cost(y, worst) - y.count("(")
    assert score == pytest.approx(worth(model, w, x, worst) + cost, rel=1e-12)
    # no structure nearby is better: a pair less
    for i, j in enumerate(mates(said)):
        if j > i:
            less = said[: i - 1] + "." + said[i : j - 1] + "." + said[j:]
            assert worth(model, w, x, less) <= worth(model, w, x, said) + 1e-9


def test_optimum_is_that_of_the_quadratic_programme_of_all_structures():
    rng = np.random.default_rng(5)
    X = [sequence(rng, 12, "GCGCAU") for _ in range(6)]
    Y = [max(structures(x), key=lambda y: (y.count("("), y)) for x in X]
    known = optimum(Folding(), X, Y, 1e-2, outputs=structures)
    clf = StructuredClassifier(Folding(), alpha=1e-2, gap=1e-4).fit(X, Y)
    assert clf.stopped_by_ == "gap"
    assert clf.lower_bound_ <= known * (1 + 1e-7)
    assert known * (1 - 1e-7) <= clf.objective_ <= known * (1 + 2e-4)


def features(x, y):
    values = Folding().features(x, y)
    return {name: values[j] for j, name in enumerate(NAMES) if values[j]}


def test_features_of_a_hairpin_with_a_bulge():
    assert features("GAUCAAAGAC", "(.((...)))") == {
        "exterior branch": 1.0,
        "pair CG": 2.0,
        "pair AU": 1.0,
        "bulge ≥ 1": 1.0,
        "bulge of A": 1.0,
        "stack GC/AU": 1.0,  # UA, then CG, read from the other strand
        "hairpin ≥ 3": 1.0,
        "mismatch CG AA": 1.0,
        "closing CG": 2.0,  # of the hairpin, and of the whole seen from outside
        "closing GC": 1.0,
        "closing AU": 1.0,
    }


def test_features_of_an_interior_loop():
    assert features("GAGAAACUC", "(.(...).)") == {
        "exterior branch": 1.0,
        "pair CG": 2.0,
        "interior ≥ 2": 1.0,
        "interior 1×1": 1.0,
        "interior A·U": 1.0,
        "hairpin ≥ 3": 1.0,
        "mismatch GC AU": 1.0,
        "mismatch CG UA": 1.0,
        "mismatch GC AA": 1.0,
        "closing GC": 2.0,
        "closing CG": 2.0,
    }
    longer = features("GAGAAACUUUUUUC", "(.(...)......)")
    assert longer["interior ≥ 7"] == 1.0
    assert longer["asymmetry ≥ 5"] == 1.0
    assert "interior ≥ 8" not in longer
    assert "asymmetry ≥ 6" not in longer


def test_features_of_a_multiloop():
    assert features("CGAAACAGAAACUGA", "((...).(...).).") == {
        "exterior branch": 1.0,
        "exterior unpaired": 1.0,
        "pair CG": 3.0,
        "multiloop": 1.0,
        "multiloop branch": 3.0,
        "multiloop unpaired": 2.0,
        "hairpin ≥ 3": 2.0,
        "mismatch GC AA": 2.0,
        "closing GC": 3.0,
        "closing CG": 3.0,
        "after CG G": 1.0,
        "before CG U": 1.0,
        "after CG A": 1.0,
        "before CG C": 1.0,
        "after CG U": 1.0,
        "before CG A": 1.0,
        "after GC A": 1.0,
    }


def test_a_stack_is_the_same_from_either_strand():
    assert sum(name.startswith("stack") for name in NAMES) == 21
    for x in ("ACAAAGU", "GUAAAAC"):
        assert features(x, "((...))")["stack AU/CG"] == 1.0
    assert Folding.d == len(set(NAMES)) == 318


def test_a_truth_that_no_folding_is_counts_among_the_outputs():
    model = Folding()
    X = ["GAAC", "AAAAAAA", "G" + "A" * 20 + "GAAAC" + "A" * 20 + "C"]
    Y = ["(..)", "((...))", "(" + "." * 20 + "(...)" + "." * 20 + ")"]
    risk = StructuredRisk(model, X, Y, SquaredL2(1.0))
    rng = np.random.default_rng(0)
    for _ in range(30):
        assert risk.value(rng.normal(size=model.d), 0.0) >= 0.0
    w = np.zeros(model.d)
    w[NAMES.index("hairpin ≥ 3")], w[NAMES.index("exterior unpaired")] = 5.0, -9.0
    assert model.most_violated(w, X[0], Y[0]) == Y[0]


def test_bases_that_are_not_known_never_pair():
    w = np.zeros(Folding.d)
    w[NAMES.index("pair CG")] = 1.0
    assert Folding().predict(w, "GNNNC") == "(...)"
    assert Folding().predict(w, "NAAAC") == "....."
    assert Folding().predict(w, "gtttc") == "(...)"
    assert Folding().predict(w, "") == ""


def test_folding_learns_hairpins_with_a_certificate():
    rng = np.random.default_rng(3)
    stems = [sequence(rng, 4) for _ in range(30)]
    other = str.maketrans("ACGU", "UGCA")
    X = [
        "A" * (k % 3) + stem + "GAAA" + stem[::-1].translate(other) for k, stem in enumerate(stems)
    ]
    Y = ["." * (k % 3) + "((((....))))" for k in range(30)]
    clf = StructuredClassifier(Folding(), alpha=1e-2, gap=1e-2).fit(X[:20], Y[:20])
    assert clf.rel_gap_ <= 1e-2
    assert accuracy(Y[20:], clf.predict(X[20:])).f > 0.95
    one = StructuredClassifier(Folding(), alpha=1e-2, gap=1e-2, n_jobs=1).fit(X[:20], Y[:20])
    np.testing.assert_array_equal(one.coef_, clf.coef_)


def test_costs_must_not_be_negative():
    with pytest.raises(ValueError, match="costs of pairs must be ≥ 0, not missed=-1"):
        Folding(missed=-1.0)
