"""The quadratic programmes of a bundle method, solved by ours and by others.

A plain BMRM (SVL Alg. 1) on the hinge risk leaves a sequence of programmes max q'α − α'Gα/2, each
one plane larger than the last. Damped, it asks for its planes a tenth of the way from the best
point to the model's minimiser: they lie closer together, and the programmes are harder.

The sequence is replayed with every solver installed. Each but ours sees q/λ and G/λ, whose optimum
tends to the risk's; its answer is clipped to the feasible set before its value counts. Shortfall is
what the value lacks to the best of all solvers, relative; the worst ones are early programmes,
whose optimum is next to 0.

    python benchmarks/qp.py [PLANES]      STEPLESS_DATA: the folder of a9a.svm.xz and the others
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

PLAIN, DAMPED = 1.0, 0.1
CASES = {
    "a9a": ((1e-4, PLAIN), (1e-6, PLAIN), (1e-6, DAMPED)),
    "connect-4": ((1e-5, PLAIN), (1e-7, PLAIN), (1e-7, DAMPED)),
    "w8a": ((1e-8, PLAIN), (1e-8, DAMPED)),
    "covtype": ((1e-8, PLAIN), (1e-8, DAMPED)),
}
DATA = Path(os.environ.get("STEPLESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
THREADS = 2


def load(name):
    with lzma.open(DATA / f"{name}.svm.xz") as file:
        X, y = load_svmlight_file(file)
    return X, np.where(y > 0, 1.0, -1.0)


@njit(cache=True, nogil=True, fastmath=True)
def _oracle(X, y, w, rows, a):
    """Write into a the subgradient of Σ max(0, 1 − y_i ⟨x_i, w⟩) over the rows; return the sum."""
    data, indices, indptr = X
    loss = 0.0
    a[:] = 0.0
    for i in range(rows[0], rows[1]):
        z = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            z += data[k] * w[indices[k]]
        if y[i] * z < 1.0:
            loss += 1.0 - y[i] * z
            for k in range(indptr[i], indptr[i + 1]):
                a[indices[k]] -= y[i] * data[k]
    return loss


def bmrm(X, y, lam, pull, planes):
    """Gram matrix and offsets of the planes; seconds in all and in our programmes; gap left."""
    m, d = X.shape
    A, G = np.zeros((planes, d)), np.zeros((planes, planes))
    b, alpha = np.zeros(planes), np.zeros(planes)
    w, centre, best, inside = np.zeros(d), np.zeros(d), np.inf, 0.0
    arrays, parts = (X.data, X.indices, X.indptr), np.zeros((THREADS, d))
    blocks = [(m * k // THREADS, m * (k + 1) // THREADS) for k in range(THREADS)]
    _oracle(arrays, y, w, (0, 1), parts[0])
    with ThreadPoolExecutor(THREADS) as pool:
        begin = time.perf_counter()
        for n in range(1, planes + 1):
            jobs = [
                pool.submit(_oracle, arrays, y, w, rows, a)
                for rows, a in zip(blocks, parts, strict=True)
            ]
            risk = sum(job.result() for job in jobs) / m
            if risk + lam / 2 * w @ w < best:
                best, centre = risk + lam / 2 * w @ w, w
            A[n - 1] = parts.sum(0) / m
            b[n - 1] = risk - A[n - 1] @ w
            G[n - 1, :n] = G[:n, n - 1] = A[:n] @ A[n - 1]
            start = time.perf_counter()
            maximise(G, lam * b[:n], alpha[:n])
            inside += time.perf_counter() - start
            w = -(alpha[:n] @ A[:n]) / lam
            gap = 1 - (b[:n] @ alpha[:n] - lam / 2 * w @ w) / best
            w = centre + pull * (w - centre)
    return G, b, time.perf_counter() - begin, inside, gap


def stepless(G, b, lam, alpha):
    maximise(G, lam * b, alpha)
    return alpha


def daqp(G, b, lam, alpha):
    sums, upper, lower = np.ones((1, b.size)), np.ones(b.size + 1), np.zeros(b.size + 1)
    solve = import_module("daqp").solve
    return solve(G / lam, -b, sums, upper, lower, primal_start=alpha)[0]


def piqp(G, b, lam, alpha):
    n, solver = b.size, import_module("piqp").DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    bounds = np.full(1, -np.inf), np.ones(1), np.zeros(n), np.full(n, np.inf)
    solver.setup(G / lam, -b, None, None, np.ones((1, n)), *bounds)
    solver.solve()
    return solver.result.x


def clarabel(G, b, lam, alpha):
    module, n = import_module("clarabel"), b.size
    settings = module.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    P = sparse.csc_matrix(np.triu(G / lam))
    A = sparse.csc_matrix(np.vstack([-np.eye(n), np.ones((1, n))]))
    limits, cones = np.append(np.zeros(n), 1.0), [module.NonnegativeConeT(n + 1)]
    return np.array(module.DefaultSolver(P, -b, A, limits, cones, settings).solve().x)


def quadprog(G, b, lam, alpha):
    n = b.size  # wants a positive definite matrix: a ridge that moves the answer
    P = G / lam + np.eye(n) * 1e-10 * np.trace(G) / lam
    C, limits = np.hstack([np.eye(n), -np.ones((n, 1))]), np.append(np.zeros(n), -1.0)
    return import_module("quadprog").solve_qp(P, b, C, limits)[0]


def installed(solve):
    try:
        import_module(solve.__name__)
    except ImportError:
        print(f"{solve.__name__}: not installed, left out\n")
        return False
    return True


def replay(solve, G, b, lam):
    """Seconds for the sequence, each start the last answer; the values reached; how many failed."""
    alpha, values, seconds, failed = np.zeros(0), np.zeros(b.size), 0.0, 0
    for n in range(1, b.size + 1):
        corner, offsets = np.ascontiguousarray(G[:n, :n]), b[:n].copy()
        alpha = np.append(alpha, 0.0)
        start = time.perf_counter()
        try:
            alpha = solve(corner, offsets, lam, alpha)
        except ValueError:
            failed += 1
        seconds += time.perf_counter() - start
        alpha = np.maximum(np.nan_to_num(alpha), 0.0)
        alpha /= max(1.0, alpha.sum())
        values[n - 1] = offsets @ alpha - alpha @ (corner @ alpha) / (2 * lam)
    return seconds, values, failed


def main():
    planes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    solvers = [stepless] + [s for s in (daqp, piqp, clarabel, quadprog) if installed(s)]
    maximise(np.eye(1), np.ones(1), np.zeros(1))
    runs, rows = [], []
    for name, settings in CASES.items():
        X, y = load(name)
        for lam, pull in settings:
            G, b, whole, inside, gap = bmrm(X, y, lam, pull, planes)
            run = f"| {name} {lam:.0e}{' damped' if pull < 1 else ''} |"
            rest, own = 1e3 * (whole - inside) / planes, 1e3 * inside / planes
            runs.append(f"{run} {gap:.1e} | {rest:.2f} | {own:.3f} | {inside / whole:.1%} |")
            times, values, fails = zip(*(replay(s, G, b, lam) for s in solvers), strict=True)
            best = np.max(values, axis=0)
            short = (best - values)[:, best > 0] / best[best > 0]
            for k, solver in enumerate(solvers):
                row = f"{times[k]:.4f} | {times[k] / times[0]:.1f} | {fails[k]}"
                ends = f"{short[k].max():.0e} | {np.median(short[k]):.0e} |"
                rows.append(f"{run} {solver.__name__} | {row} | {ends}")
    print(f"{planes} planes\n\n| run | gap left | ms rest a plane | ms QP a plane | QP share |")
    print("|---|---|---|---|---|", *runs, sep="\n")
    print("\n| sequence | solver | s | to ours | failed | worst shortfall | median |")
    print("|---|---|---|---|---|---|---|", *rows, sep="\n")


if __name__ == "__main__":
    main()
