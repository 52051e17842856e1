"""Losses of rankings by trying all of them."""

from itertools import pairwise as successive, permutations

import numpy as np


def pairwise(z, y):
    n = range(len(z))
    return np.mean([max(0.0, 1 - z[i] + z[j]) for i in n for j in n if y[i] > y[j]])


def ranks_of(n):
    """Ranks from 0 of each document, a row a ranking."""
    return np.array(list(permutations(range(n))))


def wrong_pairs(z, relevant, ranks):
    """2/(CN) Σ (z_j − z_i) over the pairs of each ranking in which j stands before i."""
    pairs = [(i, j) for i in np.flatnonzero(relevant) for j in np.flatnonzero(~relevant)]
    return 2 * sum((ranks[:, j] < ranks[:, i]) * (z[j] - z[i]) for i, j in pairs) / len(pairs)


def average_precision(z, y):
    ranks, relevant = ranks_of(len(z)), y > 0
    places = np.sort(ranks[:, relevant], axis=1) + 1
    precision = (np.arange(1, places.shape[1] + 1) / places).mean(axis=1)
    return (1 - precision + wrong_pairs(z, relevant, ranks)).max()


def reciprocal_rank(z, y):
    ranks, relevant = ranks_of(len(z)), y > 0
    first = ranks[:, relevant].min(axis=1) + 1
    return (1 - 1 / first + wrong_pairs(z, relevant, ranks)).max()


def discounts(n, k):
    c = 1 / np.log2(np.arange(n) + 2)
    c[k:] = 0
    return c


def ndcg(z, y, k):
    """The mean over thresholds of the grades; their weights from the gains, not from our formula."""
    ranks, c = ranks_of(len(z)), discounts(len(z), k)
    whole = np.sort(2**y - 1)[::-1] @ c
    grades, total = np.unique(y), 0.0
    for below, grade in successive(grades):
        relevant = y >= grade
        ideal = c[: relevant.sum()].sum()
        error = 1 - (c[ranks] * relevant).sum(axis=1) / ideal
        share = (2**grade - 2**below) * ideal / whole
        total += share * (error + wrong_pairs(z, relevant, ranks)).max()
    return total


def assigned_ndcg(z, y, k):
    ranks, c = ranks_of(len(z)), discounts(len(z), k)
    G = (2**y - 1) / (np.sort(2**y - 1)[::-1] @ c)
    ordered = c[np.argsort(np.argsort(-y, kind="stable"))]
    right = np.array([ordered[y == grade].mean() for grade in y])
    return (1 - c[ranks] @ G + (c[ranks] - right) @ z).max()
