"""The whole protocol for every tree strategy, on a generated table of Mediamill's shape.

43,907 rows, 120 features, 101 labels, about four in each row; four tasks, each visited twice, and predictions of all
evaluation sets after each visit. Required: minutes. Prints scores, seconds by phase, and sizes for each strategy.
"""

import argparse
import time

import numpy as np
from harness import machine, sized, versions

from estimators.strategies import STRATEGIES, make_strategy
from mlstream import evaluate
from mlstream.generators import task_stream
from mlstream.streams.stream import Dataset

NAMES = [name for name in ("BR_HT", "LC_HT", "CC_HT", "iSOUPtree", "BR_random_forest") if name in STRATEGIES]
N_TOPICS = 40


def draw_table(n_rows: int = 43_907, n_features: int = 120, n_labels: int = 101, *, seed: int = 0) -> Dataset:
    """Draw rows of topics; each topic has a few usual labels, and features that show it through noise."""
    rng = np.random.default_rng(seed)
    popularity = 1.0 / np.arange(1, n_labels + 1)
    usual = rng.random((N_TOPICS, n_labels)) < np.minimum(12 * popularity / popularity.sum(), 0.8)
    topic = rng.choice(N_TOPICS, n_rows, p=rng.dirichlet(np.ones(N_TOPICS)))
    Y = usual[topic] & (rng.random((n_rows, n_labels)) < 0.4) | (rng.random((n_rows, n_labels)) < 0.002)
    Y[~Y.any(axis=1), 0] = True
    X = rng.normal(size=(N_TOPICS, n_features))[topic] + Y @ rng.normal(scale=0.5, size=(n_labels, n_features))
    X += rng.normal(scale=2.0, size=X.shape)
    features, labels = tuple(f"x{f}" for f in range(n_features)), tuple(f"y{j}" for j in range(n_labels))
    return Dataset(X, Y.astype(np.uint8), features, labels, name="mediamill_shape", source="generated")


def main() -> None:
    """Run the strategies one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=NAMES, help="run one strategy only")
    parser.add_argument("--rows", type=int, default=sized(43_907, 400), help="number of rows (default: %(default)s)")
    options = parser.parse_args()
    print(", ".join(f"{key} {value}" for key, value in (machine() | versions(["numba", "numpy"])).items()))
    table = draw_table(options.rows)
    stream = task_stream(table, n_init=2)
    sets = len(np.unique(np.asarray(table.Y), axis=0))
    print(f"{table.X.shape} features, {table.Y.shape} labels, {table.Y.sum() / len(table.Y):.1f} a row, {sets} sets")
    print(f"{'strategy':18} {'BA':>6} {'ACC':>6} {'online s':>9} {'evaluate s':>11} {'whole s':>8} {'model MB':>9}")
    for name in NAMES if options.only is None else [options.only]:
        start = time.perf_counter()
        result = evaluate(make_strategy(name), stream, energy="none")
        whole, phases = time.perf_counter() - start, result.resources.phases
        online = sum(phase.wall_time_s for part, phase in phases.items() if part != "evaluate")
        size = (result.resources.model_size_bytes or 0) / 2**20
        scores = f"{result.scores['ba_macro']:6.3f} {result.scores['acc']:6.3f}"
        print(
            f"{name:18} {scores} {online:9.1f} {phases['evaluate'].wall_time_s:11.1f} {whole:8.1f} {size:9.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
