"""Two source trees beside each other: `python -m benchmarks.trees OLD NEW [--rounds N]`.

One process per tree runs the same fits, in turns, so that both meet the same load. The table has
the least seconds of each, and their ratio; names that two trees do not share are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np


def tasks() -> dict[str, Callable[[], Any]]:
    """Fits of every estimator and solver kind, by name; each takes some hundredths of a second."""
    from scipy import sparse

    import stepless as st
    from stepless.games import Game, Hedge

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 40))
    z = X @ rng.normal(size=40) + rng.normal(size=20_000)
    S = sparse.random(20_000, 2000, 0.01, "csr", random_state=0)
    t = np.sign(S @ rng.normal(size=2000) + 0.1 * rng.normal(size=20_000))
    y, k = np.sign(z), np.digitize(z, np.quantile(z, [0.25, 0.5, 0.75]))
    words = [[[f"w{j % 50}", f"t{j % 7}"] for j in range(i, i + 8)] for i in range(300)]
    tags = [[str(int(position[1][1:]) % 3) for position in sentence] for sentence in words]
    classify, regress, joint = st.LinearClassifier, st.LinearRegressor, {"multi_class": "joint"}
    loose = {"alpha": 1e-2, "gap": 1e-2}
    rows = {"dense": (X, y), "sparse": (S, t)}
    return {
        **{
            f"{loss} {alpha:g} {layout}": partial(classify(loss, alpha=alpha).fit, *rows[layout])
            for loss in ("hinge", "squared_hinge", "logistic")
            for alpha in (1e-2, 1e-4)
            for layout in rows
        },
        **{
            f"{loss} dense": partial(regress(loss, alpha=1e-5).fit, X, z)
            for loss in (
                "squared",
                "huber",
                "absolute",
                "quantile(0.9)",
                "epsilon_insensitive(0.1)",
            )
        },
        **{
            f"logistic {name}": partial(
                classify("logistic", penalty=name, alpha=1e-3, gap=1e-2).fit, X, y
            )
            for name in ("l1", "elasticnet(0.5)", "lp(1.5)", "hyperbolic(1)")
        },
        **{f"5 passes of {name}": partial(_passes, classify, name, X, y) for name in st.SOLVERS},
        "joint softmax": partial(classify("logistic", **joint, **loose).fit, X[:4000], k[:4000]),
        "one against the rest": partial(classify(alpha=1e-4).fit, X, k),
        "f1": partial(st.MetricClassifier("f1", **loose).fit, X, y),
        "roc area": partial(st.MetricClassifier("roc_auc", **loose).fit, X, y),
        "pairwise ranking": partial(st.LinearRanker(**loose).fit, X, k, group=[20] * 1000),
        "crf": partial(st.ChainClassifier(**loose).fit, words, tags),
        "kernels": partial(st.KernelClassifier("logistic", gap=1e-2).fit, X[:600], y[:600]),
        "one class": partial(st.OneClass(gap=1e-2).fit, X[:4000]),
        "stream": partial(_stream, classify, S, t),
        "auto strength": partial(classify("logistic", alpha="auto").fit, X, y),
        "game of hedge": lambda: Game(Hedge(), st.Simplex()).run(rng.random((2000, 5))),
        "iris": partial(classify("logistic").fit, X[:150, :4], k[:150] % 3),
    }


def _stream(classify: Any, S: Any, t: Any) -> None:
    model = classify(alpha=1e-5)
    for i in range(0, len(t), 1000):
        model.partial_fit(S[i : i + 1000], t[i : i + 1000], classes=[-1, 1])


def _passes(classify: Any, name: str, X: Any, y: Any) -> None:
    penalty = "none" if name in ("passive-aggressive", "arow") else "l2"
    domain = "l1_ball(10)" if name == "frank-wolfe" else "free"
    settings = {"solver": name, "gap": 0.0, "passes": 5, "penalty": penalty, "domain": domain}
    try:
        classify("logistic", alpha=1e-4, **settings).fit(X, y)
    except ValueError:  # it knows the hinge alone
        classify("hinge", alpha=1e-4, **settings).fit(X, y)


def serve() -> None:
    """Read names of tasks, one per line; write the seconds that each takes."""
    warnings.simplefilter("ignore")
    known = tasks()
    print(json.dumps(list(known)), flush=True)
    for line in sys.stdin:
        began = perf_counter()
        known[line.strip()]()
        print(perf_counter() - began, flush=True)


def _started(tree: str) -> subprocess.Popen[str]:
    env = os.environ | {"PYTHONPATH": f"{tree}/src", "NUMBA_CACHE_DIR": f"{tree}/.numba_cache"}
    return subprocess.Popen(
        [sys.executable, __file__, "--serve"],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _ask(process: subprocess.Popen[str], name: str) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(name + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="*", metavar="TREE")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--serve", action="store_true")
    given = parser.parse_args(arguments)
    if given.serve:
        serve()
        return
    old, new = (_started(tree) for tree in given.trees)
    lists = [json.loads(process.stdout.readline()) for process in (old, new) if process.stdout]
    ratios = []
    print(f"{'':<34} {'old, s':>9} {'new, s':>9} {'new/old':>8}")
    for name in (n for n in lists[0] if n in lists[1] and given.only in n):
        for process in (old, new):
            _ask(process, name)  # compiles
        seconds = [[_ask(p, name) for p in (old, new)] for _ in range(given.rounds)]
        least = np.min(seconds, axis=0)
        ratios.append(least[1] / least[0])
        print(f"{name:<34} {least[0]:9.4f} {least[1]:9.4f} {ratios[-1]:8.3f}", flush=True)
    slower = int(np.sum(np.array(ratios) > 1.05))
    print(f"median {np.median(ratios):.3f}; {slower} of {len(ratios)} above 1.05")


if __name__ == "__main__":
    main()
