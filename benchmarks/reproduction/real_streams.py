"""The published streams of Yeast, Slashdot and Reuters-K500, row for row, though their files were never published.

Their tasks come out of `mlstream`; orders and signatures are files of the published code. It shuffles a task's rows
by pandas' `sample(frac=1, random_state=1)`, which is `RandomState(1).permutation`, and cuts them at 35 and 70 percent.
"""

import json
import os

import numpy as np
from scipy import sparse

from benchmarks.reproduction.compare import require_shared
from mlstream import load_dataset
from mlstream.generators.from_tables.spherical_kmeans import published_spherical_kmeans
from tests.estimators.published import Published

# name of our table -> name in the published files and tables
NAMES = {"yeast-osc-mlc": "Yeast", "slashdot": "Slashdot", "reuters-k500": "Reuters-K500"}
N_TASKS = 4


def deal(n_rows: int) -> list[np.ndarray]:
    """Shuffle the rows of a task; cut them into two experiences and an evaluation set."""
    return np.split(np.random.RandomState(1).permutation(n_rows), [int(0.35 * n_rows), int(0.70 * n_rows)])


def load(name: str) -> Published:
    """Make the stream of a table, in the supplement's order of tasks."""
    os.environ.setdefault("MLSTREAM_DATA", str(require_shared()))
    X, Y = _labelled(name)
    order, signatures = (list(_published(folder, NAMES[name]).values()) for folder in ("Orders", "Labels"))
    task = published_spherical_kmeans(Y, N_TASKS).assignment
    parts = [[rows[part] for part in deal(len(rows))] for rows in (np.flatnonzero(task == t) for t in range(N_TASKS))]
    visited = [parts[t][int(t in order[:s])] for s, t in enumerate(order)]
    return Published(
        order,
        [(X[rows], Y[rows]) for rows in visited],
        [(X[rows], Y[rows]) for _, _, rows in parts],
        np.array([[f"L{label}" in signature for label in range(Y.shape[1])] for signature in signatures]),
    )


def published_lengths(name: str) -> list[int]:
    """Give the published numbers of rows: both experiences and the evaluation set of each task, in turn."""
    return list(_published("Length", NAMES[name]).values())


def _published(folder: str, name: str) -> dict[str, list[str]]:
    file = {"Orders": "random", "Labels": "cluster_labels", "Length": "stream_length"}[folder]
    return json.loads((require_shared() / "osc-mlc" / folder / f"{name}_{file}_task_based.json").read_text())


def _labelled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Take labels that occur, and rows that have one."""
    dataset = load_dataset(name)
    rows = dataset.Y.any(axis=1)
    X = dataset.X[rows].toarray() if sparse.issparse(dataset.X) else dataset.X[rows]
    return X, dataset.Y[rows][:, dataset.Y.any(axis=0)].astype(int)
