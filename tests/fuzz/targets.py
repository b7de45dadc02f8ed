"""What a fuzzer throws bytes at: each target reads them as one format, and lets no other error through than its own.

Where there are two ways to read, both must give the same.
"""

import importlib
import json
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

from mlstream.card_model import parse_card
from mlstream.formats import csv_tables, csv_words
from mlstream.formats.arff.blocks import BlockReader
from mlstream.formats.arff.header import parse_header
from mlstream.formats.arff.reader import parse_arff
from mlstream.formats.content import FormatError, UnpackedFile
from mlstream.formats.csv_dialects import CsvDialect
from mlstream.formats.csv_tables import parse_csv
from mlstream.formats.keel import read_keel
from mlstream.formats.libsvm import read_libsvm
from mlstream.formats.lines import Lines
from mlstream.formats.mulan import read_labels
from mlstream.formats.npz import load_npz
from mlstream.formats.table import gather

PATH = Path("x")
# What fuzzers found, in a folder for each target.
CASES = Path(__file__).with_name("cases")
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz"))


def read_arff(content: bytes) -> None:
    """Read ARFF, by compiled loops and with care."""
    outcomes = [_outcome(content, is_short=is_short) for is_short in (True, False)]
    assert outcomes[0] == outcomes[1], outcomes
    try:
        table = parse_arff(content, PATH)
    except FormatError:
        return
    assert table.cells.shape == (len(table.lines), len(table.columns))


def read_csv(content: bytes) -> None:
    """Read CSV as we write it; and as people have it, where a second pass finds words, by pyarrow and row by row."""
    _read(lambda: parse_csv(content, PATH))
    outcomes = [_read_csv(content, is_short=is_short) for is_short in (True, False)]
    assert outcomes[0] == outcomes[1], outcomes
    assert "\n" not in outcomes[0]


def read_dat(content: bytes) -> None:
    """Read KEEL."""
    _read(lambda: gather(read_keel(BytesIO(content), PATH)))


def read_svm(content: bytes) -> None:
    """Read LIBSVM."""
    _read(lambda: read_libsvm(content, PATH))


def read_parquet(content: bytes) -> None:
    """Read Parquet."""
    from mlstream.formats.parquet import read_parquet as read

    _read(lambda: gather(read(BytesIO(content), PATH)))


def read_xml(content: bytes) -> None:
    """Read MULAN's label file."""
    _read_file("x.xml", content, read_labels)


def read_npz(content: bytes) -> None:
    """Read a stream, whole and mapped."""
    for mmap in (False, True):
        _read_file("x.npz", content, lambda path, mmap=mmap: load_npz(path, mmap=mmap))


def read_packed(content: bytes) -> None:
    """Unpack."""
    for suffix in (".gz", ".bz2", ".xz"):
        _read_file(f"x{suffix}", content, _unpack)


def read_card(content: bytes) -> None:
    """Read a card."""
    _read(lambda: parse_card(content, "the card"), "the card must hold")


TARGETS: dict[str, Callable[[bytes], None]] = {
    "arff": read_arff,
    "csv": read_csv,
    "keel": read_dat,
    "libsvm": read_svm,
    "parquet": read_parquet,
    "xml": read_xml,
    "npz": read_npz,
    "packed": read_packed,
    "card": read_card,
}


def _read(read: Callable[[], Any], start: str = "") -> None:
    message = start
    try:
        read()
    except FormatError as error:
        message = str(error)
    except ValueError as error:
        # Cards have no error of their own.
        if not start:
            raise
        message = str(error)
    assert message.startswith(start)
    assert "\n" not in message


def _read_file(name: str, content: bytes, read: Callable[[Path], Any]) -> None:
    path = FOLDER / name
    path.write_bytes(content)
    _read(lambda: read(path))


def _unpack(path: Path) -> None:
    with UnpackedFile(path) as file:
        while file.read(2**16):
            pass


class _LongLines(Lines):
    """Lines that are worth loading pyarrow, however few they are."""

    @property
    def is_short(self) -> bool:
        return False

    @is_short.setter
    def is_short(self, _: bool) -> None:
        """Stay long."""


def _read_csv(content: bytes, *, is_short: bool) -> Any:
    dialect = CsvDialect(None, takes_index=True, takes_missing=True)
    kind = Lines if is_short else _LongLines
    # It is asked for short blocks, too, where it is there already.
    importlib.import_module("pyarrow")
    try:
        with patch.object(csv_words, "Lines", kind), patch.object(csv_tables, "Lines", kind):
            words = csv_words.find_words(BytesIO(content), PATH, dialect)
            table = gather(csv_tables.read_csv(BytesIO(content), PATH, dialect, words))
    except FormatError as error:
        return str(error)
    return table.names, table.lines.tolist(), table.cells.tobytes()


def _outcome(content: bytes, *, is_short: bool) -> Any:
    lines = Lines(BytesIO(content), PATH)
    try:
        header = parse_header(lines.head(), PATH)
        lines.is_short = is_short
        # Compiled loops read blocks of any length where they are loaded.
        importlib.import_module("mlstream.formats._kernels.scan")
        reader, line, found = BlockReader(header.columns, lines), header.n_lines + 1, []
        for block in lines.blocks():
            rows = reader.read(block, line)
            line = rows.next_line
            cells = rows.cells.toarray() if sparse.issparse(rows.cells) else rows.cells
            found.append((np.asarray(cells).tobytes(), rows.lines.tolist()))
    except FormatError as error:
        return str(error)
    return json.dumps([line for _, line in found]), [cells for cells, _ in found]
