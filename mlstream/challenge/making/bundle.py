"""The folder that contestants get: training rows with labels, hidden rows without, rules and a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support.files import is_plain, sha256_of, write_text_atomically
from mlstream.challenge.making.public_card import CARD, PublicCard
from mlstream.challenge.making.rules import format_rules
from mlstream.challenge.truth import Array, Keys, format_keys
from mlstream.formats._zip import write_arrays
from mlstream.formats.arff.writer import format_arff
from mlstream.formats.csv_tables import format_csv
from mlstream.streams.stream import Features, Indicator
from mlstream.streams.tables.arrays import join_columns

RULES, BASELINE, SAMPLE, SUMS = "RULES.md", "baseline.py", "sample_submission.csv", "SHA256SUMS"
# Columns of the bundle that are neither features nor labels.
ENVIRONMENT, ROW_ID = "environment", "row_id"


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows with labels."""

    X: Features  # As contestants see them.
    Y: Indicator  # NaN where unknown.
    environment: npt.NDArray[np.int64]  # Number of each row's environment, from 1.


@dataclass(frozen=True, eq=False)
class HiddenRows:
    """Rows without labels, of all hidden environments."""

    keys: Keys  # Ascending.
    X: Features  # As contestants see them.


def write_bundle(folder: Path, card: PublicCard, training: TrainingRows, hidden: HiddenRows) -> None:
    """Write the files of a bundle into an empty folder.

    Sparse rows are written as NPZ and ARFF; dense ones also as CSV and Parquet.
    """
    _write_npz(folder / "train.npz", training.X, {"Y": training.Y, ENVIRONMENT: training.environment})
    _write_npz(folder / "holdout.npz", hidden.X, {ROW_ID: np.array(format_keys(hidden.keys))})
    features = tuple(feature.name for feature in card.features)
    _write_texts(folder, card, training, hidden, features)
    if not sparse.issparse(hidden.X):
        _write_parquet(folder, card, training, hidden, features)
    write_text_atomically(folder / SAMPLE, "".join(_format_sample(card, hidden.keys)))
    write_text_atomically(folder / CARD, card.model_dump_json(indent=1) + "\n")
    write_text_atomically(folder / RULES, format_rules(card))
    baseline = files("mlstream.challenge.making").joinpath("bundle_files", BASELINE)
    write_text_atomically(folder / BASELINE, baseline.read_text(encoding="utf-8"))
    sums = [f"{sha256_of(path)}  {path.name}\n" for path in sorted(folder.iterdir())]
    write_text_atomically(folder / SUMS, "".join(sums))


def read_sums(bundle: Path) -> dict[str, str]:
    """Return the names of the files that SHA256SUMS lists, and the hash of each."""
    lines = (line.split("  ", 1) for line in (bundle / SUMS).read_text(encoding="utf-8").splitlines())
    return {name: digest for digest, name in lines}


def is_list_of(bundle: Path, expected_sha256: str) -> bool:
    """Return whether the SHA256SUMS of a bundle is the one that was made."""
    return is_plain(bundle / SUMS) and sha256_of(bundle / SUMS) == expected_sha256


def find_changed(bundle: Path) -> list[Path]:
    """Return the listed files of a bundle that are missing, are no plain files, or have another hash."""
    return [
        bundle / name
        for name, digest in read_sums(bundle).items()
        if not is_plain(bundle / name) or sha256_of(bundle / name) != digest
    ]


def _write_npz(path: Path, X: Features, arrays: dict[str, Array]) -> None:
    if sparse.issparse(X):
        table = X.tocsr()
        parts = {"X_data": table.data, "X_indices": table.indices, "X_indptr": table.indptr}
        write_arrays(path, {**parts, "X_shape": np.array(table.shape), **arrays})
    else:
        write_arrays(path, {"X": np.ascontiguousarray(X), **arrays})


def _write_texts(
    folder: Path, card: PublicCard, training: TrainingRows, hidden: HiddenRows, features: Sequence[str]
) -> None:
    labels, X = card.label_names, _with_environment(training)
    no_labels = np.zeros((len(hidden.keys), 0), dtype=np.uint8)
    train = format_arff(X, training.Y, (ENVIRONMENT, *features), labels, title="train")
    _write_pieces(folder / "train.arff", train)
    _write_pieces(folder / "holdout.arff", format_arff(hidden.X, no_labels, features, (), title="holdout"))
    if not sparse.issparse(hidden.X):
        names = (*labels, ENVIRONMENT, *features)
        _write_pieces(folder / "train.csv", format_csv(X, training.Y, names))
        rows = "".join(format_csv(hidden.X, no_labels, features)).splitlines()
        starts = [ROW_ID, *format_keys(hidden.keys)]
        _write_pieces(folder / "holdout.csv", (f"{start},{row}\n" for start, row in zip(starts, rows, strict=True)))


def _with_environment(training: TrainingRows) -> Features:
    column = training.environment[:, None].astype(training.X.dtype)
    is_sparse = sparse.issparse(training.X)
    table: Features = join_columns([sparse.csr_array(column) if is_sparse else column, training.X])
    return table


def _write_pieces(path: Path, pieces: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(pieces)


def _write_parquet(
    folder: Path, card: PublicCard, training: TrainingRows, hidden: HiddenRows, features: Sequence[str]
) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    from mlstream.formats.parquet import for_arrow, write_parquet

    names = (*card.label_names, ENVIRONMENT, *features)
    write_parquet(folder / "train.parquet", _with_environment(training), training.Y, names)
    columns = [pa.array(format_keys(hidden.keys)), *(pa.array(np.ascontiguousarray(column)) for column in hidden.X.T)]
    table = pa.Table.from_arrays(columns, [ROW_ID, *features])
    parquet.write_table(table, for_arrow(folder / "holdout.parquet"))


def _format_sample(card: PublicCard, keys: Keys) -> Iterator[str]:
    """Yield the text of a submission that predicts .5 everywhere."""
    no_rows = np.zeros((0, len(card.scored_labels)))
    head = next(format_csv(no_rows, np.zeros((0, 0), dtype=np.uint8), (ROW_ID, *card.scored_labels)))
    yield head
    cells = ",0.5" * len(card.scored_labels)
    yield from (f"{key}{cells}\n" for key in format_keys(keys))
