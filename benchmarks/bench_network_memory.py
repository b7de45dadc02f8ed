"""A network with replay learns a stream of 1,000,000 rows: time, and memory before, along the way and after.

The rows are drawn chunk by chunk, so that nothing but the learner could grow.
"""

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from harness import sized

from estimators.strategies import make_strategy

CHUNK, N_FEATURES, N_LABELS = sized(10_000, 100), 20, 8


def resident_mb() -> float:
    """Read how much memory the process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def chunk(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows whose labels are thresholds of their features."""
    X = np.random.default_rng(seed).random((CHUNK, N_FEATURES), dtype=np.float32)
    return X, (X[:, :N_LABELS] > 0.5).astype(np.uint8)


def main() -> None:
    """Learn, and print a line at each tenth of the stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=sized(1_000_000, 500))
    parser.add_argument("--strategy", default="NN_TLH_mini_memories")
    options = parser.parse_args()
    learner = make_strategy(options.strategy).set_params(random_state=0)
    learner.predict_then_fit(*chunk(0))  # compiles
    n_chunks, start = options.rows // CHUNK, time.perf_counter()
    print(f"{options.strategy}: {resident_mb():.1f} MB resident before, {learner.memory_bytes_ / 1e6:.2f} MB learnt")
    for i in range(1, n_chunks + 1):
        X, Y = chunk(i)
        right = (learner.predict_then_fit(X, Y)[0] == Y).mean()
        if i % max(1, n_chunks // 10) == 0:
            seconds = time.perf_counter() - start
            print(
                f"{i * CHUNK:>9} rows {seconds:7.1f} s, {resident_mb():.1f} MB resident, "
                f"{learner.memory_bytes_ / 1e6:.2f} MB learnt, {right:.3f} of the labels right",
                flush=True,
            )


if __name__ == "__main__":
    main()
