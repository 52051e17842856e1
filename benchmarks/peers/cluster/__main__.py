"""Run one contender: `python -m benchmarks.peers.cluster NAME TASK OUT`, as cluster.py does.

Each fit is appended to OUT as it ends, so that who is stopped leaves what it has.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from benchmarks.peers.cluster import CONTENDERS

if __name__ == "__main__":
    name, task, out = sys.argv[1:]
    for fit in CONTENDERS[name].fits(pickle.loads(Path(task).read_bytes())):
        with open(out, "ab") as file:
            pickle.dump(fit, file)
        print(f"{name}, {fit.setting}: {fit.fit.seconds:.3g} s", file=sys.stderr, flush=True)
