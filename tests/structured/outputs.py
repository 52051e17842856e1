"""A structured problem so small that all outputs can be written down, and its optimum by clarabel."""

import clarabel
import numpy as np
from scipy import sparse

from stepless.structured import StructuredModel


class Subsets(StructuredModel):
    """Outputs are subsets of three things, with features of each and of each pair of them."""

    d = 9
    outputs = tuple(tuple(bool(n >> k & 1) for k in range(3)) for n in range(8))

    def features(self, x, y):
        return self.dense(x, y)

    def dense(self, x, y):
        y = np.array(y, dtype=float)
        pairs = [y[0] * y[1], y[1] * y[2], y[0] * y[2]]
        return np.concatenate([x[:3] * y, x[3:] * y, pairs])

    def cost(self, y, other):
        return float(np.sum(np.array(y) != np.array(other)))

    def most_violated(self, w, x, y):
        return max(self.outputs, key=lambda other: self.dense(x, other) @ w + self.cost(y, other))

    def predict(self, w, x):
        return max(self.outputs, key=lambda other: self.dense(x, other) @ w)


class SparseSubsets(Subsets):
    """The same, with features as indices and values, one of them twice."""

    def features(self, x, y):
        dense = self.dense(x, y)
        indices = np.concatenate([np.arange(self.d), [0]])
        values = np.concatenate([dense, [0.25 * dense[0]]])
        values[0] *= 0.75
        return indices, values


def examples(rng, m):
    X = [rng.normal(size=6) for _ in range(m)]
    model, w = Subsets(), rng.normal(size=Subsets.d)
    Y = [model.predict(w + 0.7 * rng.normal(size=model.d), x) for x in X]
    return X, Y


def optimum(model, X, Y, strength, s=None, outputs=None):
    """min (λ/2)‖w‖² + Σ s_i ξ_i / Σ s_i over ξ_i ≥ each output's margin, as a quadratic programme."""
    m, d = len(X), model.d
    s = np.full(m, 1.0) if s is None else s
    rows, costs = [], []
    for i in range(m):
        for other in outputs(X[i]) if outputs else model.outputs:
            margin = model.features(X[i], other) - model.features(X[i], Y[i])
            rows.append(np.concatenate([margin, -np.eye(m)[i]]))
            costs.append(-model.cost(Y[i], other))
    P = sparse.block_diag([strength * sparse.eye(d), sparse.csc_matrix((m, m))], format="csc")
    q = np.concatenate([np.zeros(d), s / s.sum()])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    cones = [clarabel.NonnegativeConeT(len(rows))]
    A = sparse.csc_matrix(np.array(rows))
    found = clarabel.DefaultSolver(P, q, A, np.array(costs), cones, settings).solve()
    return found.obj_val
