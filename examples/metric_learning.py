"""Learn a metric: a positive semidefinite matrix, by gradient steps and a single projection."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from stepless import SOLVERS, LinearRisk, Objective, Source, Spectrahedron, Stopping, Zero, minimize
from stepless.design import Outer
from stepless.objective import Logistic

NOISE, PAIRS = 20, 3000
rng = np.random.default_rng(0)
X, y = load_wine(return_X_y=True)
X = np.hstack([StandardScaler().fit_transform(X), rng.normal(size=(len(X), NOISE))])
X /= np.sqrt(X.shape[1])
train, test, seen, hidden = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)

# Two examples are alike if ⟨M, dd'⟩ + b < 0 for their difference d: a linear classifier of pairs.
first, second = rng.integers(len(train), size=(2, PAIRS))
unlike = np.where(seen[first] != seen[second], 1.0, -1.0)
pairs = Source(Outer.of(train[first] - train[second]), unlike)

risk = LinearRisk(Objective(Logistic(), Zero(), Spectrahedron(20.0)), pairs)
result = minimize(risk, SOLVERS["sgd-pd"](rounds=3 * PAIRS), Stopping(gap=0.0, passes=3))
n = X.shape[1]
values, vectors = np.linalg.eigh(result.w.reshape(n, n))
L = vectors * np.sqrt(np.maximum(values, 0.0))  # distances of XL are those of the metric M = LL'

print(f"a metric of {n} x {n} numbers, trace {values.sum():.1f}, rank {(values > 0.01).sum()}")
print(f"{result.state.projections} projection in {3 * PAIRS} rounds, loss {result.objective:.3f}")
for name, A, B in (("before", train, test), ("after", train @ L, test @ L)):
    score = KNeighborsClassifier(3).fit(A, seen).score(B, hidden)
    print(f"3 nearest neighbours, {name}: {100 * score:.0f} % right")
