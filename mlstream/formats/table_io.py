"""Plain tables in files, by the ending of the name: ARFF, CSV or Parquet."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

from scipy import sparse

from mlstream._support.content import FormatError, bare_path
from mlstream.formats.arff.reader import read_arff
from mlstream.formats.arff.writer import format_arff, require_different
from mlstream.formats.csv_dialects import CsvDialect, dialect_of
from mlstream.formats.csv_tables import format_csv, read_csv
from mlstream.formats.keel import read_keel
from mlstream.formats.lines import Readable
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.stream import Features, Indicator
from mlstream.streams.tables.columns import BY_DEFAULT
from mlstream.streams.tables.table import Table
from mlstream.streams.tables.text_columns import TextColumn

CSV_SUFFIXES = (".csv", ".tsv")
_SPREADSHEETS = (".xls", ".xlsx", ".ods")


def read_tables(
    path: Path,
    source: Readable,
    reading: ReadingCard = BY_DEFAULT,
    *,
    dialect: CsvDialect | None = None,
    words: Mapping[str, TextColumn] | None = None,
) -> Iterator[Table]:
    """Read the unpacked content of a plain table piece by piece: CSV, KEEL or Parquet by its name, else ARFF.

    There is at least one table, and all have the same columns. By default, the first line of a CSV file and `reading`
    say how it is written; `words` are the columns that `find_words` finds. Raises FormatError where the file breaks its
    format.
    """
    suffix = bare_path(path).suffix.lower()
    if suffix == ".npz":
        raise FormatError(
            f"{path} must be a table: ARFF, CSV or Parquet. Got a stream (NPZ), which needs no generator."
        )
    if suffix in _SPREADSHEETS:
        raise FormatError(f"{path} must be a table: ARFF, CSV or Parquet. Got a spreadsheet; save it as CSV first.")
    if suffix in CSV_SUFFIXES:
        return read_csv(source, path, dialect or dialect_of(path, reading), words)
    require_no_separator(path, reading)
    if suffix == ".dat":
        return read_keel(source, path)
    if suffix == ".parquet":
        from mlstream.formats.parquet import read_parquet

        return read_parquet(source, path, reading)
    return read_arff(source, path)


def require_no_separator(path: Path, reading: ReadingCard) -> None:
    """Refuse a separator for a file that is not CSV."""
    if reading.separator is not None:
        rule = "separator (--separator) must be left out for files other than .csv and .tsv"
        raise ValueError(f"{rule}. Got {reading.separator!r} for {path.name}.")


def write_table(
    path: Path, name: str, rows: tuple[Features, Indicator], names: Sequence[Sequence[str]], title: str
) -> None:
    """Write a plain table to a path, in the format of another name's ending: labels first, then features.

    `name` is what the file will be called; it is packed if that ends in .gz. `rows` are X and Y; `names` those of the
    features, then of the labels. Raises ValueError if the format cannot hold the table.
    """
    (X, Y), (feature_names, label_names), suffix = rows, names, bare_path(Path(name)).suffix.lower()
    require_different(feature_names, label_names)
    if suffix != ".arff" and sparse.issparse(X):
        raise ValueError(f"X must be dense to be written as {suffix[1:]}; .npz and .arff hold sparse ones. Got CSR.")
    if suffix == ".parquet":
        from mlstream.formats.parquet import write_parquet

        write_parquet(path, X, Y, (*label_names, *feature_names))
        return
    if suffix == ".csv":
        pieces = format_csv(X, Y, (*label_names, *feature_names))
    else:
        pieces = format_arff(X, Y, feature_names, label_names, title=title)
    with path.open("wb") as file, _pack(file, packed=name.lower().endswith(".gz")) as sink:
        sink.writelines(piece.encode() for piece in pieces)


def _pack(file: BinaryIO, *, packed: bool) -> AbstractContextManager[BinaryIO | gzip.GzipFile]:
    # Neither name nor time goes into the archive: the same stream gives the same bytes.
    return gzip.GzipFile("", "wb", 6, file, mtime=0) if packed else nullcontext(file)
