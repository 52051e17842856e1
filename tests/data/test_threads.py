"""The pool: work within work, and forks while other threads are at it."""

import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from stepless import LinearClassifier, StructuredClassifier
from stepless.data import threads
from stepless.structured import StructuredModel

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")


def within_seconds(work, seconds=60):
    """Run on a thread of its own; a deadlock is then a failure, not a test that never ends."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(work).result(timeout=seconds)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@pytest.mark.parametrize(
    "inner",
    [
        lambda: threads.map_blocks(lambda k: k + 1, 3, 2),
        lambda: threads.for_each(3, lambda i: i + 1, 2),
    ],
    ids=["blocks", "each"],
)
def test_work_within_work_stays_on_its_thread(inner):
    meeting = threading.Barrier(2, timeout=30)

    def outer(i):
        if i > 0:
            meeting.wait()  # both threads of the pool are at work, so that none is left for more
        return inner()

    assert within_seconds(lambda: threads.for_each(3, outer, 2)) == [[1, 2, 3]] * 3
    assert inner() == [1, 2, 3]


def test_the_first_of_each_is_done_by_who_asks():
    """What it compiles may need a lock that this thread holds, as while a module is imported."""
    seen = []
    threads.for_each(6, lambda i: seen.append((i, threading.get_ident())), 2)
    assert seen[0] == (0, threading.get_ident())
    assert sorted(i for i, _ in seen) == list(range(6))


def test_a_search_that_asks_another_model_of_ours_does_not_wait_for_itself():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(2, 150_000))
    judge = LinearClassifier(alpha=1.0, passes=1, gap=0.9, n_jobs=2).fit(wide, [0, 1])
    assert len(judge.decision_function(np.vstack([wide, wide]))) == 4  # two blocks of rows

    class Model(StructuredModel):
        d = 1
        releases_gil = True

        def features(self, x, y):
            return np.array([x * y])

        def cost(self, y, other):
            return float(y != other)

        def most_violated(self, w, x, y):
            judge.decision_function(np.vstack([wide, wide]))
            return max((0, 1), key=lambda other: w[0] * x * other + self.cost(y, other))

        def predict(self, w, x):
            return int(w[0] * x > 0.0)

    X, y = [-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1]
    model = StructuredClassifier(Model(), alpha=1e-2, gap=1e-2, n_jobs=2)
    assert within_seconds(lambda: model.fit(X, y)).predict(X) == y


FORK = """
    import os, signal, sys, threading

    started, finish = threading.Event(), threading.Event()

    def busy():
        {held}

    {imports}
    thread = threading.Thread(target=busy)
    thread.start()
    started.wait()
    {timer}
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a child that waits for ever is ended by it
        {child}
        os._exit(0)
    finish.set()
    thread.join()
    sys.exit(os.waitpid(child, 0)[1])
"""
# while one thread holds it; what the fork has to wait for; what the child does
FORKED = {
    "a kernel is compiled": {
        "imports": "import numba, stepless.data.threads\n"
        "from numba.core.compiler_lock import global_compiler_lock",
        "held": "with global_compiler_lock:\n    started.set()\n    finish.wait()",
        "timer": "threading.Timer(0.2, finish.set).start()",
        "child": "assert numba.njit(lambda x: x + 1)(1) == 2",
    },
    "a property is computed": {
        "imports": """
from stepless.cached import cached_property
class Slow:
    waits = False
    @cached_property
    def value(self):
        if self.waits:
            started.set()
            finish.wait()
        return 1
first, second = Slow(), Slow()
first.waits = True""",
        "held": "first.value",
        "timer": "",
        "child": "assert second.value == 1",
    },
    "BLAS is held to one thread": {
        "imports": """
import numpy
from threadpoolctl import threadpool_info, threadpool_limits
from stepless.compiled.blas import single_threaded_blas
def counts():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
threadpool_limits(2, user_api="blas")""",
        "held": "with single_threaded_blas():\n    started.set()\n    finish.wait()",
        "timer": "",
        "child": "assert counts() == {2}\nwith single_threaded_blas():\n    assert counts() == {1}\n"
        "assert counts() == {2}",
    },
}


def script(**parts):
    text = textwrap.dedent(FORK)
    for name, part in parts.items():
        line = next(line for line in text.splitlines() if f"{{{name}}}" in line)
        indent = line[: len(line) - len(line.lstrip())]
        text = text.replace(line, textwrap.indent(part.strip("\n"), indent))
    return text


@forks
@pytest.mark.parametrize("name", FORKED)
def test_a_fork_while_another_thread_is_at_work_leaves_a_child_that_works(name):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script(**FORKED[name])],
        timeout=120,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
