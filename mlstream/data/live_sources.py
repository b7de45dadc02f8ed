"""Live sources: tables of the rows that come into a growing file, or a folder of files."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypedDict, Unpack

import numpy as np

from mlstream._support.content import FormatError, UnpackedFile, at, show
from mlstream._support.reading import ReadingOptions
from mlstream.data._event_blocks import Block, read_json
from mlstream.data.growing_file import GrowingFile, Patience, Position, SourceWarning, require_position
from mlstream.data.table_files import Choices, to_dataset
from mlstream.formats.csv_dialects import dialect_of
from mlstream.formats.csv_tables import read_csv
from mlstream.formats.lines import BLOCK_BYTES, Lines
from mlstream.formats.table_io import read_tables
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.stream import Dataset
from mlstream.streams.tables.columns import has_complete_row, make_reading
from mlstream.streams.tables.labels import choose_labels, normalise_rule
from mlstream.streams.tables.table import Column, Table, mark_missing, to_number
from mlstream.streams.tables.text_columns import TextColumn, code_values, read_texts

_NO_VALUES: Mapping[str, Sequence[str]] = MappingProxyType({})
_TRUTH = {"true": 1.0, "false": 0.0}
_MAGIC = b"PAR1"
_REMEMBER = 100_000


class FolderPosition(TypedDict):
    """A place in a folder of files, behind a row; JSON holds it."""

    file: str
    row: int


class Source(ABC):
    """Tables of the rows of a live source, one after the other: an iterator that waits for more.

    Attributes
    ----------
    n_repeated_ : int
        Number of rows that were left out because their key came before.
    """

    def __init__(self, choices: Choices, remember: int) -> None:
        _require_live(choices.reading)
        self._choices, self._remember = choices, remember
        self._seen: dict[tuple[Any, ...], None] = {}
        self._first: Dataset | None = None
        self._first_names: tuple[str, ...] = ()
        self.n_repeated_ = 0
        self._given = self._place()
        self._rows = self._iterate()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Dataset:
        return next(self._rows)

    def position(self) -> Position | FolderPosition:
        """Return the place behind the last table that was given, and before rows that are an error.

        Returns
        -------
        dict
            The `start` of a source that goes on there; JSON holds it.
        """
        return self._given

    @abstractmethod
    def _place(self) -> Position | FolderPosition:
        """Return the place up to which rows have been read."""

    @abstractmethod
    def _tables(self) -> Iterator[Table]:
        """Give the rows of the source as they come."""

    def _iterate(self) -> Iterator[Dataset]:
        for table in mark_missing(self._tables(), self._choices.reading.missing_words or ()):
            self._require_columns(table)
            rows = self._leave_out_repeated(table)
            if not len(rows.lines) or self._is_dropped(rows):
                self._given = self._place()
                continue
            dataset = self._with_keys_as_first(to_dataset([rows], self._choices), rows)
            self._given = self._place()
            self._first = self._first or dataset
            yield dataset

    def _require_columns(self, table: Table) -> None:
        names = self._first_names = self._first_names or table.names
        if table.names != names:
            others = sorted({*names} ^ {*table.names}) or ["another order"]
            rule = f"{table.path}: columns must stay {', '.join(map(show, names[:9]))}"
            raise FormatError(f"{rule}. Got a change: {', '.join(map(show, others[:9]))}.")

    def _leave_out_repeated(self, table: Table) -> Table:
        """Leave out rows whose key is among the last ones."""
        if not table.keys or not len(table.lines):
            return table
        kept = []
        for row, key in enumerate(zip(*(values.tolist() for values in table.keys.values()), strict=True)):
            if key in self._seen:
                continue
            self._seen[key] = None
            kept.append(row)
        for key in list(islice(self._seen, max(0, len(self._seen) - self._remember))):
            del self._seen[key]
        self.n_repeated_ += len(table.lines) - len(kept)
        return table.take(np.array(kept, dtype=np.int64)) if len(kept) < len(table.lines) else table

    def _is_dropped(self, table: Table) -> bool:
        if self._choices.reading.missing != "drop":
            return False
        rule, reading, card = self._choices
        return not has_complete_row(table, choose_labels(table, rule, card, reading.tags).indices)

    def _with_keys_as_first(self, dataset: Dataset, table: Table) -> Dataset:
        """Give keys the types of the first rows: what looks like numbers may go on as text, not the other way round."""
        if self._first is None or dataset.keys is None or self._first.keys is None:
            return dataset
        keys = {name: dataset.keys[name] for name in table.keys}
        for name, found in keys.items():
            kind = self._first.keys[name].dtype.kind
            if found.dtype.kind == kind:
                continue
            if kind != "U":
                rule = f"{table.at(int(table.lines[0]))}: key {show(name)} must be of the type of the first rows"
                raise FormatError(f"{rule}, {self._first.keys[name].dtype}. Got {found.dtype} from here on.")
            keys[name] = table.keys[name]
        return replace(dataset, keys=keys)  # type: ignore[arg-type]  # a mapping becomes an array there


def _require_live(reading: ReadingCard) -> None:
    """Raise ValueError for options that need all rows, or a file without names."""
    if reading.missing in {"mean", "indicator"}:
        raise ValueError(f"missing must be error, drop or keep for a live source. Got {reading.missing!r}.")
    if reading.keeps_words:
        raise ValueError("classes, present and tags must be left out for a live source: they depend on all rows.")
    if not reading.header:
        raise ValueError("header must be True for a live source, whose columns go by name. Got False.")


class _FileSource(Source):
    """A source that reads one file that grows; columns in `values` hold words."""

    def __init__(
        self, file: GrowingFile, path: Path, values: Mapping[str, Sequence[str]], choices: Choices, remember: int
    ) -> None:
        self._file, self._path = file, path
        self._words = {name: code_values(Column(name, tuple(map(str, words)))) for name, words in values.items()}
        super().__init__(choices, remember)

    def _place(self) -> Position:
        return Position(**self._file.position)

    def _tables(self) -> Iterator[Table]:
        try:
            while self._file.open():
                yield from self._rows_of_file()
                if not self._file.is_replaced:
                    return
        finally:
            self._file.close()

    @abstractmethod
    def _rows_of_file(self) -> Iterator[Table]:
        """Give the rows of the file that is open, to its end."""


class _CsvSource(_FileSource):
    def _rows_of_file(self) -> Iterator[Table]:
        dialect = dialect_of(self._path, self._choices.reading)
        # The lines that are skipped are known when the header is read.
        for table in read_csv(self._file, self._path, dialect, self._words, end_head=self._file.end_head):
            if unknown := self._words.keys() - {*table.names, *table.file_names}:
                rule = f"{self._path}: values must be of columns"
                raise FormatError(f"{rule}. Got {show(min(unknown))}, which is not a column.")
            yield table


class _JsonSource(_FileSource):
    _json_names: tuple[str, ...] = ()

    def _rows_of_file(self) -> Iterator[Table]:
        self._file.end_head()
        while True:
            first_line = self._file.position["line"] + 1
            if not (piece := self._file.read(BLOCK_BYTES)):
                return
            for block in read_json(Lines(BytesIO(piece), self._path), None, first_line):
                yield self._to_table(block)

    def _to_table(self, block: Block) -> Table:
        reading = self._choices.reading
        kept = [name for name in self._first_columns(block) if name not in {*reading.ignore, *reading.keys}]
        n_rows = len(block.lines)
        cells = np.full((n_rows, len(kept)), np.nan)
        columns = [self._words.get(name, TextColumn(Column(name), _to_json_number)) for name in kept]
        for place, column in enumerate(columns):
            if column.column.name in block.cells:
                cells[:, place] = self._read(block, column)
        keys = {name: _texts(block, name) for name in reading.keys}
        return Table(self._path, tuple(column.column for column in columns), cells, block.lines, keys=keys)

    def _first_columns(self, block: Block) -> Sequence[str]:
        self._json_names = self._json_names or tuple(block.cells)
        new = [name for name in block.cells if name not in self._json_names]
        if new:
            codes = block.cells[new[0]].codes  # type: ignore[union-attr]
            where = at(self._path, int(block.lines[int(np.argmax(codes >= 0))]))
            raise FormatError(f"{where}: columns must be among those of the first rows. Got {show(new[0])}.")
        return self._json_names

    def _read(self, block: Block, column: TextColumn) -> np.ndarray:
        codes, texts = block.cells[column.column.name]

        def fail(code: int, rule: str) -> FormatError:
            return block.fail(int(np.argmax(codes == code)), column.column.name, rule)

        return np.append(read_texts(texts, column, (), fail), np.nan)[codes]


def _to_json_number(text: str) -> float | None:
    return _TRUTH[text] if text in _TRUTH else to_number(text)


def _texts(block: Block, name: str) -> np.ndarray:
    if name not in block.cells:
        raise FormatError(f"keys must name columns of {block.path}. Got {name!r}, which is not one.")
    codes, texts = block.cells[name]
    return np.array([*texts, ""], dtype=object)[codes]


class _FolderSource(Source):
    """A source that reads the Parquet files of a folder, in the order of their names."""

    def __init__(
        self, folder: Path, patience: Patience, start: FolderPosition | None, choices: Choices, remember: int
    ) -> None:
        first = FolderPosition(file="", row=0)
        require_position(start, first)
        self._folder, self._patience = folder, patience
        self._position = start or first
        self._listed: set[str] = set()
        super().__init__(choices, remember)

    def _place(self) -> FolderPosition:
        return FolderPosition(**self._position)

    def _tables(self) -> Iterator[Table]:
        n_skipped = self._position["row"]
        # The file of a position is read again, from behind its row.
        last = self._position["file"] if not n_skipped else ""
        while True:
            is_over, names = self._patience.is_over(), self._list_names()
            first = self._position["file"] if n_skipped else ""
            name = next((name for name in names if name > last and name >= first), None)
            if name is not None and _is_complete(self._folder / name):
                yield from self._rows_of_file(name, n_skipped if name == first else 0)
                last, n_skipped = name, 0
                self._patience.renew()
            elif is_over:
                self._warn_of_rest(name)
                return
            else:
                self._patience.sleep()

    def _list_names(self) -> list[str]:
        if self._folder.is_file():
            raise NotADirectoryError(f"folder must be a folder of Parquet files. Got the file {self._folder} instead.")
        if not self._folder.is_dir():
            return []
        found = (path for path in self._folder.glob("*.parquet") if path.is_file())
        names = sorted(path.name for path in found if path.name[0] not in "._")
        late = [name for name in names if name <= self._position["file"] and name not in self._listed]
        if late and self._listed:
            rule = f"{self._folder}: files must come in the order of their names"
            got = f"Got {late[0]!r} after {self._position['file']!r}; it is left out"
            warnings.warn(f"{rule}. {got}.", SourceWarning, stacklevel=2)
        self._listed = set(names)
        return names

    def _rows_of_file(self, name: str, n_skipped: int) -> Iterator[Table]:
        path, n_rows = self._folder / name, 0
        with UnpackedFile(path) as file:
            for table in read_tables(path, file, self._choices.reading):
                start, n_rows = n_rows, n_rows + len(table.lines)
                self._position = FolderPosition(file=name, row=max(n_rows, n_skipped))
                if n_rows > n_skipped:
                    yield table.rows(max(0, n_skipped - start), len(table.lines))
        self._position = FolderPosition(file=name, row=n_rows)

    def _warn_of_rest(self, name: str | None) -> None:
        if name is not None:
            rule = f"{self._folder / name} must be a complete Parquet file, which ends in {_MAGIC.decode()}"
            warnings.warn(f"{rule}. Got a part of one; it is left out.", SourceWarning, stacklevel=2)


def _is_complete(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_MAGIC)))
        return size > 2 * len(_MAGIC) and file.read() == _MAGIC


def follow_csv(  # noqa: PLR0913 - what a file is, and how long it is waited for
    path: str | os.PathLike[str],
    labels: int | Sequence[str],
    *,
    values: Mapping[str, Sequence[str]] = _NO_VALUES,
    interval_s: float = 0.5,
    timeout_s: float | None = None,
    stop: Callable[[], bool] | None = None,
    start: Position | None = None,
    remember: int = _REMEMBER,
    **options: Unpack[ReadingOptions],
) -> Source:
    r"""Read the rows of a CSV file that grows, as they come.

    Parameters
    ----------
    path : path
        A file with a row of names; it may come later.
    labels : int or sequence of str
        The label columns, as for `load_dataset`.
    values : mapping of str to sequence of str
        The columns of words, and their values; all others hold numbers.
    interval_s : float
        Seconds between two looks at the file.
    timeout_s : float, optional
        Seconds without a new row after which the source ends; by default it never does.
    stop : callable, optional
        Called before each look at the file, such as the `is_set` of a `threading.Event`. When it returns True, the
        source ends behind the rows that are there.
    start : dict, optional
        A `position` of an earlier source, behind which this one goes on.
    remember : int
        Number of keys, the last ones, among which a repeated row is found.
    **options
        As for `iter_dataset`, with `keys`.

    Returns
    -------
    Source
        An iterator of `Dataset`, each of the rows that have come. Its `position()` is a dict that JSON holds, behind
        the rows of the last table; `n_repeated_` counts the rows that were left out.

    Raises
    ------
    ValueError
        If an option needs all rows; when the reading comes to the place, if a row breaks the format, holds a word that
        is not among its values, or the columns change. The message names the line.

    Warns
    -----
    SourceWarning
        If the file ends without a line break when the source does; the bytes behind the last one are left out, and a
        source that starts at the position reads them. Or if the file of `start` is another by now.

    Notes
    -----
    A row waits until its line has ended. A file that was replaced (another inode) is read to its end first, then the
    new one from its first row on; so is one that has become shorter. Its columns must be the same, in the same order.
    A file that was written again is known by the 64 bytes before the place that was reached, however long it is.

    Rows with `keys` that came before, among the last `remember`, are left out and counted. Without keys, a row that is
    written twice is learnt twice. Keys have the types that they seem to have in the first rows.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "log.csv"
    ...     _ = path.write_text("proto,bytes,scan\ntcp,40,0\nudp,7,1\n")
    ...     rows = list(follow_csv(path, ["scan"], values={"proto": ["tcp", "udp"]}, timeout_s=0.01, interval_s=0.01))
    >>> rows[0].feature_names, rows[0].X.tolist(), rows[0].Y.tolist()
    (('proto=tcp', 'proto=udp', 'bytes'), [[1.0, 0.0, 40.0], [0.0, 1.0, 7.0]], [[0], [1]])
    """
    file = GrowingFile(Path(path), Patience(interval_s, timeout_s, stop), start, is_csv=True)
    options.setdefault("format", "csv" if Path(path).suffix.lower() != ".tsv" else "tsv")
    choices = Choices(normalise_rule(labels), make_reading(**options), None)
    return _CsvSource(file, Path(path), values, choices, remember)


def follow_jsonl(  # noqa: PLR0913
    path: str | os.PathLike[str],
    labels: int | Sequence[str],
    *,
    values: Mapping[str, Sequence[str]] = _NO_VALUES,
    interval_s: float = 0.5,
    timeout_s: float | None = None,
    stop: Callable[[], bool] | None = None,
    start: Position | None = None,
    remember: int = _REMEMBER,
    **options: Unpack[ReadingOptions],
) -> Source:
    """Read the rows of a file of JSON lines that grows, as they come.

    Parameters
    ----------
    path : path
        A file with a JSON object in each line; it may come later.
    labels : int or sequence of str
        The label columns.
    values, interval_s, timeout_s, stop, start, remember
        As for `follow_csv`.
    **options
        Some of `missing`, `categories`, `ignore` and `keys`, as for `load_dataset`.

    Returns
    -------
    Source
        As of `follow_csv`.

    Raises
    ------
    ValueError
        As `follow_csv` does.

    Notes
    -----
    The columns are the names in the first rows that come together, also behind a position, fields of nested objects by
    their path, such as ``flow.bytes``. A name that is not there is a missing value; one that comes later is an error.
    True and false are 1 and 0. Files are replaced as for `follow_csv`.
    """
    file = GrowingFile(Path(path), Patience(interval_s, timeout_s, stop), start, is_csv=False)
    options["format"] = "csv"
    choices = Choices(normalise_rule(labels), make_reading(**options), None)
    return _JsonSource(file, Path(path), values, choices, remember)


def follow_parquet(
    folder: str | os.PathLike[str],
    labels: int | Sequence[str],
    *,
    interval_s: float = 0.5,
    timeout_s: float | None = None,
    stop: Callable[[], bool] | None = None,
    start: FolderPosition | None = None,
    remember: int = _REMEMBER,
    **options: Unpack[ReadingOptions],
) -> Source:
    """Read the rows of the Parquet files in a folder, to which more files come.

    Parameters
    ----------
    folder : path
        The folder; it may come later.
    labels : int or sequence of str
        The label columns, as for `load_dataset`.
    interval_s, timeout_s, stop, start, remember
        As for `follow_csv`.
    **options
        As for `iter_dataset`, with `keys`.

    Returns
    -------
    Source
        As of `follow_csv`; its position is the name of a file, and a number of its rows.

    Raises
    ------
    ValueError
        As `follow_csv` does; or if a file is not Parquet.
    NotADirectoryError
        If the folder is a file.

    Warns
    -----
    SourceWarning
        If a file comes whose name is before that of the last one, or the source ends while a file is not complete: they
        are left out.

    Notes
    -----
    Files are read in the order of their names, which should hold the time, each once, also if it is written again. A
    file that is being written, without its last bytes, is waited for, and so are those behind it. Names that begin with
    a dot or an underscore are passed over.
    """
    patience = Patience(interval_s, timeout_s, stop)
    choices = Choices(normalise_rule(labels), make_reading(**options), None)
    return _FolderSource(Path(folder), patience, start, choices, remember)
