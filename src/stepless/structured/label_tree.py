"""Labels that are the leaves of a tree."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Self

import numpy as np

from stepless.arrays import MatrixLike
from stepless.structured.labels import Labels, width


class LabelTree(Labels):
    """Weights for each node of a tree; a leaf's score is the sum on its path from the root.

    A wrong leaf costs more the farther away it is in the tree: Δ is half the number of edges in
    between; if all leaves are equally deep, the height of the lowest common ancestor. Weights of
    inner nodes are learned from all leaves below.

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
    def of(cls, X: MatrixLike, parents: Mapping[Hashable, Hashable]) -> Self:
        """Return the tree of these parents, one label per leaf; a node without parent is a root."""
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
