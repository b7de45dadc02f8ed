"""Files, side by side with the readers and writers that people use, on tables of the shapes of Mediamill and 20NG.

Asked for: dense ARFF read 12 times faster than by liac-arff, 12 than by SciPy, 8 than by River; sparse ARFF 20 times
faster than by liac-arff and 9 than by River; written 10 times faster than by liac-arff; CSV read in at most twice the
time of pyarrow (a ratio of 0.5), which takes its loops and makes no features and labels; NPZ read within 2.5 times the
time of np.fromfile (a ratio of 0.4), and opened, memory-mapped, with its first rows read, in less than 5 ms. The peak
of memory is compared to the size of the result.
"""

import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import arff
import numpy as np
import pandas as pd
from harness import Contest, main, sized
from pyarrow import csv as arrow_csv
from river import stream as river_stream
from scipy import sparse
from scipy.io import arff as scipy_arff
from sklearn.datasets import load_svmlight_file

from mlstream.cards.description import describe_stream
from mlstream.data.datasets import load_dataset
from mlstream.formats import load, save
from mlstream.formats.arff.reader import parse_arff
from mlstream.formats.arff.writer import format_arff
from mlstream.formats.csv_tables import format_csv, read_csv
from mlstream.streams.card_model import GeneratorCard, ScenarioCard
from mlstream.streams.stream import Dataset, EvaluationSet, Experience, Stream, StreamParts, Task

RNG = np.random.default_rng(0)
N_DENSE, N_SPARSE = sized((43_907, 19_300), (200, 200))


def mediamill() -> Dataset:
    """Make 43,907 rows, 120 features of six decimals, 101 labels."""
    return name_columns(np.round(RNG.random((N_DENSE, 120)), 6), RNG.random((N_DENSE, 101)) < 0.04)


def twenty_newsgroups() -> Dataset:
    """Make 19,300 rows, 1,006 words, 20 labels; 30 words a row."""
    X = sparse.csr_array(sparse.random_array((N_SPARSE, 1006), density=0.03, rng=RNG, format="csr"))
    X.data[:] = 1
    return name_columns(X, RNG.random((N_SPARSE, 20)) < 0.05)


def name_columns(X: Any, labels: Any) -> Dataset:
    """Make a table."""
    names = tuple(f"Att{i}" for i in range(X.shape[1])), tuple(f"Label{i}" for i in range(labels.shape[1]))
    return Dataset(X, labels.astype(np.uint8), *names, name="table")


def write(table: Dataset, path: Path) -> str:
    """Write a table as ARFF, and give the text."""
    text = format_ours(table)
    path.write_text(text, encoding="utf-8")
    return text


def format_ours(table: Dataset) -> str:
    """Write a table our way."""
    return "".join(format_arff(table.X, table.Y, table.feature_names, table.label_names, title="table"))


def format_liac(table: Dataset) -> Callable[[], str]:
    """Write a table by liac-arff, from lists or dictionaries that are made beforehand."""
    labels = [[str(value) for value in row] for row in table.Y.tolist()]
    if sparse.issparse(table.X):
        starts = table.X.indptr
        rows: list[Any] = []
        for row, names in enumerate(labels):
            place = slice(starts[row], starts[row + 1])
            cells = {label: name for label, name in enumerate(names) if name == "1"}
            columns = (table.X.indices[place] + len(names)).tolist()
            rows.append(cells | dict(zip(columns, table.X.data[place].tolist(), strict=True)))
    else:
        rows = [names + row for names, row in zip(labels, table.X.tolist(), strict=True)]
    attributes = [(name, ["0", "1"]) for name in table.label_names] + [(name, "REAL") for name in table.feature_names]
    content = {"relation": "table", "attributes": attributes, "data": rows}
    return lambda: arff.dumps(content)


def read_river(path: Path, table: Dataset) -> Callable[[], int]:
    """Read a file by River, row by row."""
    options: dict[str, Any] = {"target": list(table.label_names), "sparse": sparse.issparse(table.X)}
    return lambda: sum(1 for _ in river_stream.iter_arff(str(path), **options))


def read_liac(path: Path, form: Any) -> Callable[[], Any]:
    """Read a file by liac-arff."""

    def read() -> Any:
        with path.open(encoding="utf-8") as lines:
            return arff.load(lines, return_type=form)

    return read


def read_scipy(path: Path) -> Callable[[], Any]:
    """Read a file by SciPy."""

    def read() -> Any:
        with path.open(encoding="utf-8") as lines:
            return scipy_arff.loadarff(lines)

    return read


def as_stream(table: Dataset) -> Stream:
    """Make a stream of one task in ten experiences."""
    signature = np.ones(len(table.label_names), dtype=bool)
    parts = np.array_split(np.arange(table.n_samples), 11)
    learning = tuple(
        Experience(table.X[rows], table.Y[rows], np.zeros(len(rows), np.int64), signature, rows) for rows in parts[:10]
    )
    held_out = EvaluationSet(table.X[parts[10]], table.Y[parts[10]], 0, signature, parts[10])
    made = StreamParts((Task("task", signature),), learning, (held_out,))
    card = describe_stream(
        table,
        made,
        name="table",
        description="A table of random numbers.",
        generator=GeneratorCard(name="by hand", parameters={}, seed=0),
        scenario=ScenarioCard(name="test", boundary="abrupt", task_identity="training"),
    )
    return Stream(made, card)


def n_bytes(X: Any) -> int:
    """Give the size of a table in memory."""
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes


def arff_contests(name: str, table: Dataset, path: Path) -> list[Contest]:
    """Read and write one table."""
    text, is_sparse = write(table, path), sparse.issparse(table.X)
    content = text.encode()
    ours, size = lambda: parse_arff(content, path), n_bytes(table.X) + (0 if is_sparse else 8 * table.Y.size)
    liac, river = {"liac-arff": read_liac(path, arff.COO if is_sparse else arff.DENSE)}, read_river(path, table)
    held = [
        Contest(f"read ARFF, {name}", ours, liac, 20 if is_sparse else 12, None, size, 3),
        Contest(f"read ARFF, {name}", ours, {"River": river}, 9 if is_sparse else 8, None, 0, 3),
        Contest(f"write ARFF, {name}", lambda: format_ours(table), {"liac-arff": format_liac(table)}, 10, None, 0, 3),
        Contest(f"load_dataset, {name}", lambda: load_dataset(path), {}, 0, None, n_bytes(table.X) + table.Y.size, 3),
    ]
    if not is_sparse:
        held.insert(1, Contest(f"read ARFF, {name}", ours, {"SciPy": read_scipy(path)}, 12, None, 0, 3))
    return held


def csv_contests(table: Dataset, path: Path) -> list[Contest]:
    """Read a table as CSV: block by block, and as features and labels."""
    names = *table.label_names, *table.feature_names
    path.write_text("".join(format_csv(table.X, table.Y, names)), encoding="utf-8")

    def ours() -> int:
        with path.open("rb") as file:
            return sum(len(rows.lines) for rows in read_csv(file, path))

    peers = {
        "pyarrow": lambda: arrow_csv.read_csv(path),
        "pandas": lambda: pd.read_csv(path),
    }
    n_labels, size = len(table.label_names), n_bytes(table.X) + table.Y.size
    return [
        Contest("read CSV, Mediamill", ours, peers, 0.5, None, 0, 3),
        Contest("load_dataset, CSV", lambda: load_dataset(path, labels=n_labels), peers, 0, None, size, 3),
    ]


def word_contests(path: Path) -> list[Contest]:
    """Read a table of words as CSV, into 0/1 features."""
    words, labels = np.array(["red", "green", "blue", ""])[RNG.integers(0, 4, (N_DENSE, 10))], RNG.random(N_DENSE) < 0.3
    pd.DataFrame(words).assign(label=labels.astype(int)).to_csv(path, index=False)

    def ours() -> Dataset:
        return load_dataset(path, labels=-1, categories="one-hot", missing="indicator")

    return [Contest("load_dataset, words", ours, {"pandas": lambda: pd.get_dummies(pd.read_csv(path))}, 0, None, 0, 3)]


def libsvm_contests(folder: Path) -> list[Contest]:
    """Read LIBSVM files: one of many rows, and one of 100,000 labels."""

    def contest(name: str, n_rows: int, n_labels: int) -> Contest:
        path, lines = folder / f"{n_labels}.svm", []
        for _ in range(n_rows):
            present, features = np.unique(RNG.integers(0, n_labels, 3)), np.unique(RNG.integers(0, 2000, 80))
            cells = " ".join(f"{index}:{value:.4f}" for index, value in zip(features, RNG.random(80), strict=False))
            lines.append(f"{','.join(map(str, present))} {cells}\n")
        path.write_text(f"{n_rows} 2000 {n_labels}\n{''.join(lines)}", encoding="utf-8")
        content = "".join(lines).encode()
        peers = {"scikit-learn": lambda: load_svmlight_file(BytesIO(content), multilabel=True)}
        return Contest(f"load_dataset, {name}", lambda: load_dataset(path), peers, 0, None, n_rows * n_labels, 3)

    return [contest("LIBSVM", *sized((20_000, 100), (200, 100))), contest("100,000 labels", sized(2000, 20), 100_000)]


def npz_contests(table: Dataset, path: Path) -> list[Contest]:
    """Read a stream whole, and open it without reading it."""
    save(as_stream(table), path)
    raw = {"np.fromfile": lambda: np.fromfile(path, np.uint8)}

    def first_rows() -> float:
        return float(load(path, mmap=True).experiences[0].X[:5].sum())

    return [
        Contest("read NPZ (within 2.5x: 0.4)", lambda: load(path), raw, 0.4, None, path.stat().st_size, 9),
        Contest("open NPZ mapped, first rows (< 5 ms)", first_rows, {}, 0, None, 0, 9),
    ]


def contests(folder: Path) -> list[Contest]:
    """Pair our readers and writers with those of others."""
    dense, words = mediamill(), twenty_newsgroups()
    return [
        *arff_contests("Mediamill", dense, folder / "dense.arff"),
        *arff_contests("20NG", words, folder / "sparse.arff"),
        *csv_contests(dense, folder / "dense.csv"),
        *word_contests(folder / "words.csv"),
        *libsvm_contests(folder),
        *npz_contests(dense, folder / "dense.npz"),
    ]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main("Files", contests(Path(name)), ["numba", "numpy", "scipy", "liac-arff", "river", "pyarrow", "pandas"])
