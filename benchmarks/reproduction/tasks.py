"""The published tasks of three tables: rows, sizes, signatures; and the sizes that the best of ten runs gives.

And how rows are dealt to experiences and evaluation sets: their numbers, and the very rows of the synthetic tables.

python -m benchmarks.reproduction.tasks
"""

import os
import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.reproduction import real_streams
from benchmarks.reproduction.compare import Value, report, require_shared
from mlstream import load_dataset, task_stream
from mlstream.generators.from_tables.spherical_kmeans import published_spherical_kmeans
from tests.estimators import published

# rows used, task sizes, signature sizes, task sizes of the best of ten runs
PRINTED = {
    "yeast-osc-mlc": (2417, [744, 644, 555, 474], [14, 13, 12, 13], [560, 558, 760, 539]),
    "slashdot": (3782, [927, 846, 1223, 786], [15, 19, 16, 13], [561, 1263, 1196, 762]),
    "reuters-k500": (6000, [2231, 1130, 1604, 1035], [83, 51, 78, 55], [1672, 777, 2234, 1317]),
}


def main() -> int:
    """Compare the tasks of every table."""
    os.environ.setdefault("MLSTREAM_DATA", str(require_shared()))
    values = [value for name in PRINTED for value in _values(name)]
    return report("Tasks of Yeast, Slashdot, Reuters-K500", values + [_dealt(name) for name in published.NAMES])


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
    lengths = [len(part) for size in ours for part in real_streams.deal(size)]
    yield Value(f"{name} rows of all parts", str(real_streams.published_lengths(name)), str(lengths))


def _dealt(name: str) -> Value:
    """Deal the rows of a synthetic table, a thousand to a task, and count the parts that are as published."""
    stream = published.load(require_shared().joinpath, name)
    table = np.loadtxt(require_shared() / "multilabel" / f"synthetic_{name}.csv", delimiter=",", skiprows=1)
    theirs = {(t, int(t in stream.order[:s])): stream.experiences[s] for s, t in enumerate(stream.order)}
    theirs |= {(task, 2): part for task, part in enumerate(stream.evaluations)}
    rows = [table[1000 * task : 1000 * (task + 1)][real_streams.deal(1000)[part]] for task, part in theirs]
    alike = sum(np.array_equal(np.hstack(part), own) for part, own in zip(theirs.values(), rows, strict=True))
    return Value(f"synthetic_{name} parts that hold the published rows", "12 of 12", f"{alike} of {len(rows)}")


if __name__ == "__main__":
    sys.exit(main())
