"""The quadratic programmes of a bundle method, solved by ours and by others.

A plain BMRM (SVL Alg. 1) on the hinge risk leaves a sequence of programmes max q'alpha - alpha'G alpha/2, each one plane
larger than the last. The sequence is replayed with every solver installed; each sees q/lambda and G/lambda, so that
its optimum is of size 1, and its answer is clipped to the feasible set before its value counts.

    python benchmarks/qp.py [PLANES]        STEPLESS_DATA names the folder of a9a.svm.xz and the others
"""

import lzma
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import numpy as np
from numba import njit
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from stepless.certificates.simplex_qp import maximise

CASES = (("a9a", 1e-4), ("a9a", 1e-6), ("connect-4", 1e-5), ("connect-4", 1e-7), ("w8a", 1e-8), ("covtype", 1e-8))
DATA = Path(os.environ.get("STEPLESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
THREADS = 2


def load(name):
    with lzma.open(DATA / f"{name}.svm.xz") as file:
        X, y = load_svmlight_file(file)
    return X, np.where(y > 0, 1.0, -1.0)


@njit(cache=True, nogil=True, fastmath=True)
def _oracle(data, indices, indptr, y, w, first, last, a):
    """Write the rows' subgradient of sum_i max(0, 1 - y_i <x_i, w>) into a; return the sum."""
    loss = 0.0
    a[:] = 0.0
    for i in range(first, last):
        z = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            z += data[k] * w[indices[k]]
        if y[i] * z < 1.0:
            loss += 1.0 - y[i] * z
            for k in range(indptr[i], indptr[i + 1]):
                a[indices[k]] -= y[i] * data[k]
    return loss


def bmrm(X, y, lam, planes):
    """The Gram matrix and offsets of up to `planes` planes; seconds in all and in our programmes; the last gap."""
    m, d = X.shape
    A, G, b, alpha = np.zeros((planes, d)), np.zeros((planes, planes)), np.zeros(planes), np.zeros(planes)
    parts, cuts, rows = np.zeros((THREADS, d)), np.linspace(0, m, THREADS + 1).astype(int), range(THREADS)
    w, best, low, inside = np.zeros(d), np.inf, 0.0, 0.0
    arrays = X.data, X.indices, X.indptr, y
    _oracle(*arrays, w, 0, 1, parts[0])
    with ThreadPoolExecutor(THREADS) as pool:
        begin = time.perf_counter()
        for n in range(1, planes + 1):
            losses = pool.map(lambda k: _oracle(*arrays, w, cuts[k], cuts[k + 1], parts[k]), rows)
            risk = sum(losses) / m
            best = min(best, risk + lam / 2 * w @ w)
            if best - low < 1e-4 * best:
                n -= 1
                break
            A[n - 1] = parts.sum(0) / m
            b[n - 1] = risk - A[n - 1] @ w
            G[n - 1, :n] = G[:n, n - 1] = A[:n] @ A[n - 1]
            start = time.perf_counter()
            maximise(G, lam * b[:n], alpha[:n])
            inside += time.perf_counter() - start
            w = -(alpha[:n] @ A[:n]) / lam
            low = b[:n] @ alpha[:n] - lam / 2 * w @ w
    return G[:n, :n].copy(), b[:n], time.perf_counter() - begin, inside, (best - low) / best


def stepless(G, b, lam, alpha):
    maximise(G, lam * b, alpha)
    return alpha


def daqp(G, b, lam, alpha):
    n = len(b)
    upper, lower = np.ones(n + 1), np.zeros(n + 1)
    return import_module("daqp").solve(G / lam, -b, np.ones((1, n)), upper, lower, primal_start=alpha)[0]


def piqp(G, b, lam, alpha):
    n, solver = len(b), import_module("piqp").DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    bounds = np.full(1, -np.inf), np.ones(1), np.zeros(n), np.full(n, np.inf)
    solver.setup(G / lam, -b, None, None, np.ones((1, n)), *bounds)
    solver.solve()
    return solver.result.x


def clarabel(G, b, lam, alpha):
    module, n = import_module("clarabel"), len(b)
    settings = module.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    A = sparse.csc_matrix(np.vstack([-np.eye(n), np.ones((1, n))]))
    P, h, cones = sparse.csc_matrix(np.triu(G / lam)), np.append(np.zeros(n), 1.0), [module.NonnegativeConeT(n + 1)]
    return np.array(module.DefaultSolver(P, -b, A, h, cones, settings).solve().x)


def quadprog(G, b, lam, alpha):
    n = len(b)  # wants a positive definite matrix: a ridge that moves the answer
    P = G / lam + np.eye(n) * 1e-10 * np.trace(G) / lam
    C, h = np.hstack([np.eye(n), -np.ones((n, 1))]), np.append(np.zeros(n), -1.0)
    return import_module("quadprog").solve_qp(P, b, C, h)[0]


def installed(solve):
    try:
        import_module(solve.__name__)
    except ImportError:
        print(f"{solve.__name__}: not installed, left out\n")
        return False
    return True


def replay(solve, G, b, lam):
    """Seconds for the whole sequence, each programme starting from the last answer, and the values reached."""
    alpha, values, seconds = np.zeros(0), np.zeros(len(b)), 0.0
    for n in range(1, len(b) + 1):
        corner, offsets, alpha = np.ascontiguousarray(G[:n, :n]), b[:n].copy(), np.append(alpha, 0.0)
        start = time.perf_counter()
        try:
            alpha = solve(corner, offsets, lam, alpha)
        except ValueError:  # quadprog and daqp raise where they fail; the last answer stands
            pass
        seconds += time.perf_counter() - start
        alpha = np.maximum(np.nan_to_num(alpha), 0.0)
        alpha /= max(1.0, alpha.sum())
        values[n - 1] = offsets @ alpha - alpha @ (corner @ alpha) / (2 * lam)
    return seconds, values


def main():
    planes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    solvers = [stepless] + [s for s in (daqp, piqp, clarabel, quadprog) if installed(s)]
    maximise(np.eye(1), np.ones(1), np.zeros(1))
    runs, rows, data = [], [], {}
    for name, lam in CASES:
        data = {name: data[name] if name in data else load(name)}
        G, b, whole, inside, gap = bmrm(*data[name], lam, planes)
        runs.append(
            f"| {name} {lam:.0e} | {len(b)} | {gap:.1e} | {1e3 * (whole - inside) / len(b):.2f} "
            f"| {1e3 * inside / len(b):.3f} | {inside / whole:.1%} |"
        )
        times, values = zip(*(replay(s, G, b, lam) for s in solvers))
        best = np.max(values, axis=0)
        for solver, seconds, value in zip(solvers, times, values):
            worst = np.max((best - value)[best > 0] / best[best > 0])
            rows.append(f"| {name} {lam:.0e} | {solver.__name__} | {seconds:.4f} | {seconds / times[0]:.1f} | {worst:.1e} |")
    print("| run | planes | gap left | ms rest a plane | ms QP a plane | QP share |\n|---|---|---|---|---|---|", *runs, sep="\n")
    print("\n| sequence | solver | s | to ours | worst shortfall |\n|---|---|---|---|---|", *rows, sep="\n")


if __name__ == "__main__":
    main()
