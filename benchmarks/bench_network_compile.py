"""The first call after installation compiles a network; later processes load it. Both, by precision, timed apart.

On a machine that others use, read the time of the processor.
"""

import os
import subprocess
import sys
import tempfile

CALLS = """
import os
import time
import numpy as np
from scipy import sparse
from estimators import FIFOMemory, OnlineNeuralClassifier, ReservoirMemory

X = np.random.default_rng(0).random((30, 6))
Y = (X[:, :3] > 0.5).astype(int)
memories = {"reservoir": ReservoirMemory(10, 2), "fifo": FIFOMemory(10, 2)}
variants = [{}, {"hidden_units": 8}, {"hidden_units": (8, 8), **memories}, {"replay": "mini-batch", **memories},
            {"standardize": "scale", "balance_labels": True}, {"optimizer": "sgd"},
            {"targeted_loss": "signature", "freeze_masked": True}]
if os.environ.get("MLSTREAM_BENCH_TINY"):
    del variants[1:]
for dtype in ("float32", "float64"):
    start, used = time.perf_counter(), time.process_time()
    for variant in variants:
        for rows in (X, sparse.csr_array(X)):
            learner = OnlineNeuralClassifier(**variant, dtype=dtype, random_state=0)
            learner.predict_then_fit(rows, Y)
            learner.predict_proba(rows)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    print(f"  {dtype}: {seconds:.2f} s, {used:.2f} s of processor, for {len(variants)} variants, dense and sparse")
"""


def main() -> None:
    """Time two processes after each other, on an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        for title in ("first process after installation", "a later process"):
            print(title, flush=True)
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            subprocess.run([sys.executable, "-c", CALLS], env=environment, check=True)


if __name__ == "__main__":
    main()
