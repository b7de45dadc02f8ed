"""Plain tables in files, by the ending of the name: ARFF, CSV or Parquet."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO, get_args

from scipy import sparse

from estimators.contract.lazy import needing
from mlstream._support.content import FormatError, bare_path, stem
from mlstream._support.files import require_plain, sha256_of
from mlstream._support.reading import TableFormat
from mlstream.formats.arff.reader import read_arff
from mlstream.formats.arff.writer import NO_VALUES, format_arff, require_different
from mlstream.formats.csv_dialects import CsvDialect, dialect_of
from mlstream.formats.csv_tables import format_csv, read_csv
from mlstream.formats.keel import read_keel
from mlstream.formats.libsvm import read_libsvm
from mlstream.formats.lines import Readable
from mlstream.streams.card_model import FileCard, ReadingCard, RowsCard, StreamCard, load_card
from mlstream.streams.keys import Keys
from mlstream.streams.stream import Features, Indicator
from mlstream.streams.tables.columns import BY_DEFAULT
from mlstream.streams.tables.labels import PlainRule
from mlstream.streams.tables.table import Table, leave_out, mark_missing
from mlstream.streams.tables.text_columns import ChooseTexts, TextColumn

FORMATS: dict[str, TableFormat] = {
    ".arff": "arff",
    ".csv": "csv",
    ".tsv": "tsv",
    ".dat": "keel",
    ".parquet": "parquet",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
}
_OTHERS = {
    ".npz": "a stream (NPZ), which needs no generator",
    **dict.fromkeys((".xls", ".xlsx", ".ods"), "a spreadsheet; save it as CSV first"),
}
# Of options that are not for tables of all formats: for which they are.
_ONLY_FOR = {
    "separator": ("csv", "tsv"),
    "decimal": ("csv", "tsv"),
    "header": ("csv", "tsv"),
    "keys": ("csv", "tsv", "parquet"),
    "n_features": ("libsvm",),
}
_TRAIN, _TEST = ".train", ".test"
_HINT = "load_dataset reads plain tables."


def find_format(path: Path, reading: ReadingCard) -> TableFormat:
    """Return the format of a table, by `reading` or the ending of its name.

    Raises FormatError for an ending that is not known, ValueError if an option of `reading` is for other formats.
    """
    suffix = bare_path(path).suffix.lower()
    if reading.format is None and suffix not in FORMATS:
        got = _OTHERS.get(
            suffix, f"the ending {suffix!r}; format= or --format ({', '.join(get_args(TableFormat))}) decides"
        )
        raise FormatError(f"{path} must be a table: ARFF, CSV, KEEL, Parquet or LIBSVM. Got {got}.")
    found = reading.format or FORMATS[suffix]
    for name, formats in _ONLY_FOR.items():
        value = getattr(reading, name)
        if found not in formats and value != getattr(BY_DEFAULT, name):
            rule = f"{name} (--{name.replace('_', '-')}) must be left out for files other than {' and '.join(formats)}"
            raise ValueError(f"{rule}. Got {value!r} for {path.name}.")
    return found


@needing("Reading Parquet")
def read_tables(
    path: Path,
    source: Readable,
    reading: ReadingCard = BY_DEFAULT,
    *,
    dialect: CsvDialect | None = None,
    words: Mapping[str, TextColumn] | None = None,
    rule: PlainRule = None,
    choose_texts: ChooseTexts = lambda _: (),
) -> Iterator[Table]:
    """Read the unpacked content of a plain table piece by piece, in the format that `find_format` finds.

    There is at least one table, and all have the same columns. By default, the first line of a CSV file and `reading`
    say how it is written; `words` are the columns that `find_words` finds, in ARFF those that are read as codes; `rule`
    chooses the labels of LIBSVM and KEEL; `choose_texts` the columns of Parquet that hold words whatever they look
    like. Raises FormatError where the file breaks its format.
    """
    kind = find_format(path, reading)
    if kind in {"csv", "tsv"}:
        tables = read_csv(source, path, dialect or dialect_of(path, reading), words)
    elif kind == "parquet":
        from mlstream.formats.parquet import read_parquet

        tables = read_parquet(source, path, reading, choose_texts)
    elif kind == "libsvm":
        tables = leave_out(read_libsvm(source, path, reading, rule), reading.ignore)
    elif kind == "keel":
        tables = leave_out(read_keel(source, path, reading, rule), reading.ignore)
    else:
        tables = leave_out(read_arff(source, path, reading, words), reading.ignore)
    return mark_missing(tables, reading.missing_words or ())


@needing("Writing Parquet")
def write_table(
    path: Path,
    name: str,
    rows: tuple[Features, Indicator],
    names: Sequence[Sequence[str]],
    title: str,
    values: Mapping[str, Sequence[str]] = NO_VALUES,
    keys: Keys | None = None,
) -> None:
    """Write a plain table to a path, in the format of another name's ending: labels first, then features, then keys.

    `name` is what the file will be called; it is packed if that ends in .gz. `rows` are X and Y; `names` those of the
    features, then of the labels; `values` are the words of codes, which ARFF holds in their place. ARFF does not hold
    keys, which `write_keys` writes beside it. Raises ValueError if the format cannot hold the table.
    """
    (X, Y), (feature_names, label_names), suffix = rows, names, bare_path(Path(name)).suffix.lower()
    require_different(feature_names, label_names)
    if suffix != ".arff" and sparse.issparse(X):
        raise ValueError(f"X must be dense to be written as {suffix[1:]}; .npz and .arff hold sparse ones. Got CSR.")
    if suffix == ".parquet":
        from mlstream.formats.parquet import write_parquet

        write_parquet(path, X, Y, (*label_names, *feature_names), keys)
        return
    if suffix == ".csv":
        pieces = format_csv(X, Y, (*label_names, *feature_names), keys)
    else:
        pieces = format_arff(X, Y, feature_names, label_names, title=title, values=values)
    with path.open("wb") as file, _pack(file, packed=name.lower().endswith(".gz")) as sink:
        sink.writelines(piece.encode() for piece in pieces)


def _pack(file: BinaryIO, *, packed: bool) -> AbstractContextManager[BinaryIO | gzip.GzipFile]:
    # Neither name nor time goes into the archive: the same stream gives the same bytes.
    return gzip.GzipFile("", "wb", 6, file, mtime=0) if packed else nullcontext(file)


def card_path(path: Path) -> Path:
    """Name the card beside a file of rows: ``x.card.json`` for ``x.arff``, ``x.arff.gz`` and ``x.train.csv``."""
    return path.with_name(f"{stem(path).removesuffix(_TRAIN)}.card.json")


def evaluation_path(path: Path) -> Path:
    """Name the file of held-out rows, packed like the other: ``x.evaluation.arff`` for ``x.arff``.

    For ``x.train.csv`` it is ``x.test.csv``.
    """
    name, suffix = stem(path), path.name.removeprefix(stem(path))
    if name.endswith(_TRAIN):
        return path.with_name(f"{name.removesuffix(_TRAIN)}{_TEST}{suffix}")
    return path.with_name(f"{name}.evaluation{suffix}")


def find_card(path: Path) -> StreamCard | None:
    """Read the card beside a file, if there is one."""
    card = card_path(path)
    return load_card(card) if card.is_file() else None


def require_card(path: Path) -> StreamCard:
    """Read the card beside a file of rows, which says how they are laid out."""
    card = find_card(path)
    if card is None or card.rows is None:
        raise FileNotFoundError(
            f"{card_path(path)} must be beside {path.name}, to read a stream. "
            f"`mlstream generate {path} -o {stem(path)}.npz` makes a stream of a table."
        )
    return card


def require_layout(card: StreamCard) -> RowsCard:
    """Return how rows are laid out; a card that does not say so is a ValueError."""
    if card.rows is None:
        raise ValueError(f"The card of {card.name!r} must be the one beside the files of its rows. Got another.")
    return card.rows


def require_listed(path: Path, card: StreamCard) -> None:
    """Refuse a file that is not there, or is not the one that the card lists."""
    listed = {file.name: file.sha256 for file in card.files}
    require_plain(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} must be there, to read a stream. {_HINT}")
    if path.name not in listed or sha256_of(path) != listed[path.name]:
        raise FormatError(f"{path} must be the file that its card lists, unchanged. Got another. {_HINT}")


def describe_file(path: Path, name: str) -> FileCard:
    """Measure a file that is to be called `name`."""
    return FileCard(name=name, n_bytes=path.stat().st_size, sha256=sha256_of(path))
