"""Labels that are the leaves of a tree."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Self

import numpy as np

from stepless.structured.labels import Labels, width


class LabelTree(Labels):
    """Weights for each node of a tree; a leaf's score is the sum on its path from the root.

    The farther away in the tree, the more a wrong leaf costs: Δ is half the number of edges between
    the two, where all leaves are equally deep the height of the first node that they share.
    What leaves have in common is learned from all of them together.

    Examples
    --------
    >>> from stepless import StructuredClassifier
    >>> parents = {"cat": "pet", "dog": "pet", "oak": "plant", "rose": "plant"}
    >>> X, y = np.eye(4), ["cat", "dog", "oak", "rose"]
    >>> tree = LabelTree.of(X, parents)
    >>> tree.cost("cat", "dog"), tree.cost("cat", "oak")
    (1.0, 2.0)
    >>> StructuredClassifier(tree, alpha=1e-2).fit(X, y).predict(X[2:])
    ['oak', 'rose']
    """

    @classmethod
    def of(cls, X: Any, parents: Mapping[Hashable, Hashable]) -> Self:
        """Return the tree of these parents, a label for each leaf; who has no parent is on top."""
        if not isinstance(parents, Mapping):
            raise ValueError(f"parents must be a dict from labels to their parents, not {parents}")
        leaves = [node for node in parents if node not in set(parents.values())]
        if not leaves:
            raise ValueError("parents has no leaf: give each label's parent, and theirs")
        nodes = {node: p for p, node in enumerate(dict.fromkeys([*parents, *parents.values()]))}
        paths = []
        for leaf in leaves:
            path = [nodes[leaf]]
            node: Hashable = leaf
            while node in parents:
                node = parents[node]
                if nodes[node] in path:
                    raise ValueError(f"{node!r} is its own ancestor in parents: a tree has no ring")
                path.append(nodes[node])
            paths.append(np.array(path))
        shared = np.array([[np.intersect1d(a, b).size for b in paths] for a in paths])
        depths = np.diagonal(shared)
        costs = 0.5 * (depths[:, None] + depths[None, :]) - shared
        return cls(leaves, paths, costs, width(X))
