"""A million rows for every tree learner: memory must not grow with the rows.

Labels depend on thresholds that keep moving, so that trees never stop splitting; `max_bytes` bounds their memory.
Prints the size of the model after every tenth of the rows, and the peak of the whole process.
"""

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import machine, sized, versions

from estimators import (
    AdaptiveRandomForestClassifier,
    BinaryRelevance,
    ClassifierChain,
    HoeffdingTreeClassifier,
    ISOUPTreeClassifier,
    LabelCombination,
    MultiLabelHoeffdingTreeClassifier,
)

N_FEATURES, N_LABELS, CHUNK = 10, 5, sized(10_000, 200)
N_MODELS = 10


def learners(max_bytes: int) -> dict[str, Callable[[], Any]]:
    """Make each learner with trees of at most `max_bytes` that split as early as possible."""
    eager = {"grace_period": 100, "delta": 0.1, "tau": 0.3, "max_bytes": max_bytes}
    tree = HoeffdingTreeClassifier(**eager)
    # a forest divides its bytes among its trees
    forest = eager | {"max_bytes": N_LABELS * N_MODELS * max_bytes}
    return {
        "BR_HT": lambda: BinaryRelevance(tree),
        "LC_HT": lambda: LabelCombination(tree),
        "CC_HT": lambda: ClassifierChain(tree),
        "multi-label tree": lambda: MultiLabelHoeffdingTreeClassifier(**eager),
        "iSOUPtree": lambda: ISOUPTreeClassifier(**eager),
        "BR_random_forest": lambda: AdaptiveRandomForestClassifier(N_MODELS, **forest, random_state=0),
    }


def rows(chunk: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a chunk with its own thresholds."""
    rng = np.random.default_rng(chunk)
    X = rng.random((CHUNK, N_FEATURES))
    return X, (X[:, :N_LABELS] + 0.5 * X[:, N_LABELS:] > rng.random(N_LABELS) + 0.25).astype(np.uint8)


def main() -> None:
    """Train every learner on the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=sized(1_000_000, 400), help="number of rows (default: %(default)s)")
    parser.add_argument(
        "--max-bytes", type=int, default=2**18, help="bound of the memory of a tree, in bytes (default: %(default)s)"
    )
    parser.add_argument("--only", default="", help="run only learners whose name contains this")
    options = parser.parse_args()
    print(", ".join(f"{key} {value}" for key, value in (machine() | versions(["numba", "numpy"])).items()))
    n_chunks = options.rows // CHUNK
    for name, make in learners(options.max_bytes).items():
        if options.only not in name:
            continue
        learner, sizes, start = make(), [], time.perf_counter()
        for chunk in range(n_chunks):
            learner.partial_fit(*rows(chunk))
            if (chunk + 1) % max(n_chunks // 10, 1) == 0:
                sizes.append(f"{learner.memory_bytes_ / 2**20:.1f}")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        print(
            f"{name:18} {time.perf_counter() - start:6.1f} s  model MiB {' '.join(sizes)}  process {peak:.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
