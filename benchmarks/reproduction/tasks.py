"""The published tasks of three tables: rows, sizes, signatures; and the sizes that the best of ten runs gives.

python -m benchmarks.reproduction.tasks
"""

import os
import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.reproduction.compare import Value, report, require_shared
from mlstream import load_dataset, task_stream
from mlstream.generators.spherical_kmeans import published_spherical_kmeans

# rows used, task sizes, signature sizes, task sizes of the best of ten runs
PRINTED = {
    "yeast-osc-mlc": (2417, [744, 644, 555, 474], [14, 13, 12, 13], [560, 558, 760, 539]),
    "slashdot": (3782, [927, 846, 1223, 786], [15, 19, 16, 13], [561, 1263, 1196, 762]),
    "reuters-k500": (6000, [2231, 1130, 1604, 1035], [83, 51, 78, 55], [1672, 777, 2234, 1317]),
}


def main() -> int:
    """Compare the tasks of every table."""
    os.environ.setdefault("MLSTREAM_DATA", str(require_shared()))
    return report("Tasks of Yeast, Slashdot, Reuters-K500", (value for name in PRINTED for value in _values(name)))


def _values(name: str) -> Iterator[Value]:
    rows, sizes, signatures, best = PRINTED[name]
    dataset = load_dataset(name)
    stream = task_stream(dataset, n_tasks=4, variant="published")
    tasks = stream.card.tasks
    ours = [task.n_learning + task.n_evaluation for task in tasks]
    yield Value(f"{name} rows", str(rows), str(sum(ours)))
    yield Value(f"{name} task sizes", str(sizes), str(ours))
    yield Value(f"{name} signature sizes", str(signatures), str([len(task.signature) for task in tasks]))
    Y = dataset.Y[:, dataset.Y.any(axis=0)]
    found = published_spherical_kmeans(Y[Y.any(axis=1)], 4, keep="best")
    yield Value(f"{name} sizes, best of ten", str(best), str(np.bincount(found.assignment).tolist()))


if __name__ == "__main__":
    sys.exit(main())
