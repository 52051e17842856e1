"""A factor that serves for other faces, against numpy."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from stepless.solvers.batch import factored_face
from stepless.solvers.batch.factored_face import FactoredFace


def matrix(k, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(2 * k, k))
    return A.T @ A / k, rng


@pytest.mark.parametrize(("new", "gone"), [(0, 0), (3, 0), (0, 3), (2, 4)])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_it_solves_on_faces_that_differ(new, gone, ridge):
    H, rng = matrix(40)
    order, ridges = rng.permutation(40), np.full(40, ridge)
    known = np.sort(order[:25])
    face = np.sort(order[gone : 25 + new])
    factored = FactoredFace.of(H, known, ridges)
    right = rng.normal(size=face.size)
    part = H[np.ix_(face, face)] + ridge * np.eye(face.size)
    found = factored.solve(H, face, ridges, right)
    np.testing.assert_allclose(found, np.linalg.solve(part, right), rtol=1e-9, atol=1e-12)


def test_it_serves_where_little_has_changed_and_no_ridge():
    H, _ = matrix(30)
    known, ridge = np.arange(20), np.zeros(30)
    factored = FactoredFace.of(H, known, ridge)
    few = int(factored_face._CHANGES * 20)
    assert factored.serves(np.arange(20 + few), ridge)
    assert not factored.serves(np.arange(21 + few), ridge)
    assert not factored.serves(known, np.full(30, 0.1))


def test_in_another_matrix_its_features_have_other_places():
    H, rng = matrix(12)
    order = rng.permutation(12)
    places, ridge = np.argsort(order), np.zeros(12)
    factored = FactoredFace.of(H, np.array([1, 4, 7]), ridge).moved(places)
    face, right = np.sort(places[[1, 4, 7, 9]]), np.arange(4.0)
    turned = H[np.ix_(order, order)]
    expected = np.linalg.solve(turned[np.ix_(face, face)], right)
    np.testing.assert_allclose(factored.solve(turned, face, ridge, right), expected, rtol=1e-9)
    places[4] = -1
    assert FactoredFace.of(H, np.array([1, 4, 7]), ridge).moved(places) is None


def test_a_matrix_that_is_not_definite_has_no_factor():
    with pytest.raises(LinAlgError):
        FactoredFace.of(np.ones((3, 3)), np.arange(3), np.zeros(3))
