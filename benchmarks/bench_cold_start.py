"""Seconds of processor time of the first calls after installation, for each strategy: nothing is compiled yet.

Asked for: a strategy's first calls below 4 s, and all strategies after each other in one process below 25 s. A new
process, which loads kernels from disk, is timed beside it. Where ``mlstream-toolkit-kernels`` is installed, first
calls load from there what it has. Imports, which every process needs, are timed apart.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from harness import demand, sized

from estimators.strategies import STRATEGIES

MOST_S, MOST_TOGETHER_S = 4.0, 25.0
CALLS = """
import json, sys, time
import numpy as np
from estimators import make_strategy

X = np.random.default_rng(0).random((300, 20))
Y = (X[:, :6] > 0.6).astype(np.int64)
seconds = {}
make_strategy("mean").predict_then_fit(X, Y)
imports = time.process_time()
for name in sys.argv[1:]:
    start = time.process_time()
    learner = make_strategy(name)
    learner.predict_then_fit(X, Y)
    learner.predict(X)
    seconds[name] = time.process_time() - start
print(json.dumps({"imports": imports, "seconds": seconds}))
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="STRATEGY", default=sized([*STRATEGIES], ["no_features", "BR_LR"]))
    names = parser.parse_args().names
    print(f"{'strategy':24} {'first call s':>12} {'next process s':>15}")
    missed = []
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            first, later = (call([name], cache)["seconds"][name] for _ in range(2))
        print(f"{name:24} {first:12.2f} {later:15.2f}", flush=True)
        missed += [f"{name} below {MOST_S} s"] if first >= MOST_S else []
    with tempfile.TemporaryDirectory() as cache:
        first, later = (call(names, cache) for _ in range(2))
    together = sum(first["seconds"].values())
    print(f"{'all in one process':24} {together:12.2f} {sum(later['seconds'].values()):15.2f}")
    print(f"{'imports of a process':24} {first['imports']:12.2f} {later['imports']:15.2f}")
    missed += [f"all below {MOST_TOGETHER_S} s"] if together >= MOST_TOGETHER_S else []
    demand(not missed, ", ".join(missed))


def call(names: list[str], cache: str) -> dict:
    """Run strategies in a new process; return seconds of processor time."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", CALLS, *names]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
