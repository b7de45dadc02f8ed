"""Scores of StreamRidge on projected features beside those on all features, on real wide tables, with CPU time.

    MLSTREAM_DATA=... python -m benchmarks.ridge_projection slashdot bibtex
    MLSTREAM_DATA=... python -m benchmarks.ridge_projection slashdot --pairs 4 --components 500 1000 2000

Four sketches are compared with the ridge on all features. `balanced` is that of StreamRidge: a single 1 or -1 for each
feature, as many features in each dimension. `CountSketch` draws the dimension of each feature by itself. `four signs`
has four non-zeros for each feature, in different dimensions. `very sparse` is that of Li, Hastie and Church (2006),
whose non-zeros are drawn with probability 1 / sqrt(n_features).

Rows are drawn from the table, labels are those that at least 20 of them have, and there are four tasks. Scores are
test-then-train, by the protocol, labels decided at their prevalence; means over the seeds of the sketch. `--pairs N`
adds a feature for each pair of features that occur together in at least N rows. Where sums over all features need more
memory than StreamRidge takes by default, its error is printed. `--beside` names other strategies, which take all
features.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.harness import sized
from estimators import StreamClassifier, StreamRidgeClassifier, make_strategy
from estimators.ridge._projection import Projection
from estimators.strategies import STRATEGIES
from mlstream import Dataset, evaluate, task_stream
from mlstream.analysis.costs import cpu_time_s
from mlstream.data.datasets import load_dataset

SCORES = ("ba_macro", "f1_micro", "precision_at_k", "rmse")
# Features of a row whose pairs are taken, at most.
_MOST_PAIRED = 60

Sketch = Callable[[int, int, int], Any]


@dataclass(frozen=True)
class Table:
    """Rows of a data set: CSR features and 0/1 labels."""

    X: Any
    Y: Any


def balanced(n_features: int, n_components: int, seed: int) -> Any:
    """Return the sketch of StreamRidge."""
    return Projection.draw(n_features, n_components, np.random.RandomState(seed)).table


def with_signs(n_signs: int) -> Sketch:
    """Return the sketch with so many non-zeros for each feature, in dimensions drawn by themselves."""

    def sketch(n_features: int, n_components: int, seed: int) -> Any:
        rng = np.random.default_rng(seed)
        places = np.concatenate([rng.choice(n_components, n_signs, replace=False) for _ in range(n_features)])
        signs = rng.choice([-1.0, 1.0], len(places)) / np.sqrt(n_signs)
        starts = np.arange(0, len(places) + 1, n_signs)
        return sparse.csr_array((signs, places, starts), shape=(n_features, n_components))

    return sketch


def very_sparse(n_features: int, n_components: int, seed: int) -> Any:
    """Return the sketch of Li, Hastie and Church."""
    rng = np.random.default_rng(seed)
    kept = rng.random((n_features, n_components), dtype=np.float32) < 1 / np.sqrt(n_features)
    table = sparse.csr_array(kept).astype(np.float64)
    table.data *= rng.choice([-1.0, 1.0], table.nnz) * n_features**0.25 / np.sqrt(n_components)
    return table


SKETCHES: Mapping[str, Sketch] = {
    "balanced": balanced,
    "CountSketch": with_signs(1),
    "four signs": with_signs(4),
    "very sparse": very_sparse,
}


def read_rows(name: str, n_rows: int) -> Table:
    """Draw rows of a data set, in its order, with the labels that some of them have."""
    data = load_dataset(name)
    rows = np.sort(np.random.default_rng(0).permutation(len(data.Y))[:n_rows])
    X, Y = sparse.csr_array(data.X)[rows], np.asarray(data.Y)[rows]
    Y = Y[:, Y.sum(axis=0) >= min(20, n_rows // 20)]
    labelled = np.flatnonzero(Y.any(axis=1))
    return Table(X[labelled], Y[labelled])


def with_pairs(table: Table, n_least: int) -> Table:
    """Add a feature for each pair of features that occur together often enough."""
    X, codes, starts = table.X, [], [0]
    for row in range(X.shape[0]):
        present = X.indices[X.indptr[row] : X.indptr[row + 1]][:_MOST_PAIRED].astype(np.int64)
        first, second = np.triu_indices(len(present), 1)
        codes.append(present[first] * X.shape[1] + present[second])
        starts.append(starts[-1] + len(first))
    _, places, counts = np.unique(np.concatenate(codes), return_inverse=True, return_counts=True)
    pairs = sparse.csr_array((np.ones(len(places)), places, starts), shape=(X.shape[0], len(counts)))
    return Table(sparse.csr_array(sparse.hstack([X, pairs[:, np.flatnonzero(counts >= n_least)]])), table.Y)


def ridge(n_components: int | None) -> StreamClassifier:
    """Return a ridge."""
    return StreamRidgeClassifier(n_components=n_components, random_state=0)


def measure(table: Table, learner: StreamClassifier) -> list[float]:
    """Return the scores of a learner, and its CPU time in milliseconds a row."""
    stream = task_stream(Dataset(table.X, table.Y), n_tasks=4, seed=1)
    run = evaluate(learner, stream, decision="prevalence", metrics=["f1_micro"], energy="none")
    return [*(run.scores[score] for score in SCORES), (cpu_time_s(run) or 0) / table.X.shape[0] * 1000]


def show(name: str, sketch: str, n_dimensions: int, values: Any, spread: float | None = None) -> None:
    """Print a line."""
    shown = "".join(f"{value:16.3f}" for value in values[:-1]) + f"{values[-1]:10.2f}"
    print(f"{name:20}{sketch:14}{n_dimensions:6}{shown}" + (f"{spread:8.3f}" if spread is not None else ""), flush=True)


def main() -> None:
    """Print a line for each table, sketch and number of dimensions."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ridge_projection", description=__doc__)
    parser.add_argument("tables", nargs="+", help="names of data sets")
    parser.add_argument("--rows", type=int, default=sized(3000, 200))
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--components", type=int, nargs="+", default=sized([500], [50]))
    parser.add_argument("--seeds", type=int, default=sized(5, 1))
    parser.add_argument("--sketches", nargs="+", default=list(SKETCHES), choices=list(SKETCHES))
    parser.add_argument("--beside", nargs="+", default=[], choices=list(STRATEGIES))
    chosen = parser.parse_args()
    header = "".join(f"{score:>16}" for score in SCORES)
    print(f"{'':20}{'':14}{'':6}{header}{'CPU ms':>10}{'sd BA':>8}")
    for source in chosen.tables:
        table, name = read_rows(source, chosen.rows), source
        if chosen.pairs:
            show(name, "all features", table.X.shape[1], measure(table, ridge(n_components=None)))
            table, name = with_pairs(table, chosen.pairs), f"{source} and pairs"
        compare(name, table, chosen)


def compare(name: str, table: Table, chosen: argparse.Namespace) -> None:
    """Print the lines of a table."""
    n_features = table.X.shape[1]
    try:
        show(name, "all features", n_features, measure(table, ridge(n_components=None)))
    except ValueError as error:
        print(f"{name:20}{n_features:,} features: {error}")
    for strategy in chosen.beside:
        show(name, strategy, n_features, measure(table, make_strategy(strategy, random_state=0)))
    for n_components in chosen.components:
        for sketch in chosen.sketches:
            drawn = [SKETCHES[sketch](n_features, n_components, seed) for seed in range(chosen.seeds)]
            found = [
                measure(Table(sparse.csr_array(table.X @ one), table.Y), ridge(n_components=None)) for one in drawn
            ]
            show(name, sketch, n_components, np.mean(found, axis=0), float(np.std(found, axis=0)[0]))


if __name__ == "__main__":
    main()
