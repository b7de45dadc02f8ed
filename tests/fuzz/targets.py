"""What a fuzzer throws bytes at: each target reads them as one format, and lets no other error through than its own.

Where there are two ways to read, both must give the same.
"""

import atexit
import importlib
import json
import shutil
import tempfile
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse

from mlstream._support.content import FormatError, UnpackedFile
from mlstream.cards.about import read_about
from mlstream.challenge.config import parse_config
from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.manifest import read_manifest
from mlstream.challenge.submissions.files import read_submission
from mlstream.data.event_files import read_events
from mlstream.formats import csv_blocks, csv_tables, lines
from mlstream.formats.arff.blocks import BlockReader
from mlstream.formats.arff.header import parse_header
from mlstream.formats.arff.reader import parse_arff
from mlstream.formats.csv_dialects import dialect_of
from mlstream.formats.csv_tables import parse_csv
from mlstream.formats.io import load
from mlstream.formats.keel import read_keel
from mlstream.formats.libsvm import read_libsvm
from mlstream.formats.lines import Lines
from mlstream.formats.npz import load_npz
from mlstream.records.detection_record import load_detection
from mlstream.records.run_record import load_run, load_selection
from mlstream.streams.card_model import parse_card
from mlstream.streams.tables.columns import make_reading
from mlstream.streams.tables.mulan import read_labels
from mlstream.streams.tables.table import gather
from mlstream.streams.tables.text_columns import MISSING_WORDS
from tests.fuzz.mutators.archives import unzip
from tests.mlstream.challenge.sample_files import make_layout

PATH = Path("x")
# What fuzzers found, in a folder for each target.
CASES = Path(__file__).with_name("cases")
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

LAYOUT = make_layout()


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
    """Read CSV as we write it; and as people have it, where a second pass finds words, in one block and in several."""
    with warnings.catch_warnings():
        # Empty rows are left out with a warning.
        warnings.simplefilter("ignore", UserWarning)
        _read(lambda: parse_csv(content, PATH))
        outcomes = [_read_csv(content, n_bytes) for n_bytes in (2**20, 2**4)]
    # Which of several defects is found first depends on the blocks.
    are_refused = [isinstance(outcome, str) for outcome in outcomes]
    assert outcomes[0] == outcomes[1] or all(are_refused), outcomes
    assert not any("\n" in outcome for outcome in outcomes)


def read_dat(content: bytes) -> None:
    """Read KEEL."""
    _read(lambda: gather(read_keel(BytesIO(content), PATH)))


def read_svm(content: bytes) -> None:
    """Read LIBSVM."""
    _read(lambda: gather(read_libsvm(BytesIO(content), PATH)))


def read_parquet(content: bytes) -> None:
    """Read Parquet."""
    from mlstream.formats.parquet import read_parquet as read

    _read(lambda: gather(read(BytesIO(content), PATH)))


def read_xml(content: bytes) -> None:
    """Read MULAN's label file."""
    path = _write("x.xml", content)
    _read(lambda: read_labels(path))


def read_npz(content: bytes) -> None:
    """Read a stream, whole and mapped."""
    path = _write("x.npz", content)
    for mmap in (False, True):
        _read(lambda mmap=mmap: load_npz(path, mmap=mmap))


def read_packed(content: bytes) -> None:
    """Unpack."""
    suffixes = {b"\x1f": ".gz", b"B": ".bz2"}
    path = _write(f"x{suffixes.get(content[:1], '.xz')}", content)
    _read(lambda: _unpack(path))


def read_card(content: bytes) -> None:
    """Read a card."""
    _read(lambda: parse_card(content, "the card"), ValueError, "the card must hold")


def read_stream(content: bytes) -> None:
    """Read the files of a stream, which come in one archive: Parquet, ARFF or CSV, beside their card."""
    try:
        members = unzip(content)
    except ValueError:
        return
    folder = Path(tempfile.mkdtemp(dir=FOLDER))
    for name, inner in members:
        if name in _FILES_OF_STREAMS:
            (folder / name).write_bytes(inner)
    try:
        for name in ("x.train.parquet", "x.arff", "x.train.csv"):
            _read(lambda name=name: load(folder / name), (ValueError, FileNotFoundError), str(folder))
    finally:
        shutil.rmtree(folder)


def read_log(content: bytes) -> None:
    """Read a log of events, in the order of the file and in any."""
    path = _write("x.jsonl" if content.startswith(b"{") else "x.csv", content)
    for delay in ("1h", "any"):
        _read(lambda delay=delay: read_events(path, time="ts", labels="threat", by="host", max_delay=delay))


def read_sent(content: bytes) -> None:
    """Read a submission to a challenge."""
    _read(lambda: read_submission(content, LAYOUT, "sent"), InvalidSubmission, "sent")


def read_record(content: bytes) -> None:
    """Read the record of a run, of a detection and of a search."""
    path = _write("x.json", content)
    for read in (load_run, load_detection, load_selection):
        _read(lambda read=read: read(path), ValueError, str(path))


def read_manifest_file(content: bytes) -> None:
    """Read the manifest of a challenge."""
    path = _write("manifest.json", content)
    _read(lambda: read_manifest(path), ValueError, str(path))


def read_challenge(content: bytes) -> None:
    """Read the rules of a challenge."""
    _read(lambda: parse_config(content, PATH), ValueError, str(PATH))


def read_campaign(content: bytes) -> None:
    """Read a campaign file, whose classes are not imported."""
    # Slow to load, and needed for nothing else.
    from mlstream.campaign.config import load_config

    path = _write("campaign.toml", content)
    _read(lambda: load_config(path), ValueError, str(path))


def read_stated(content: bytes) -> None:
    """Read what authors state about a stream."""
    path = _write("about.toml", content)
    _read(lambda: read_about(path), ValueError, str(path))


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
    "parquet-stream": read_stream,
    "table-stream": read_stream,
    "events": read_log,
    "submission": read_sent,
    "record": read_record,
    "manifest": read_manifest_file,
    "challenge": read_challenge,
    "campaign": read_campaign,
    "about": read_stated,
}

_FILES_OF_STREAMS = {
    *("x.train.parquet", "x.test.parquet", "x.arff", "x.evaluation.arff", "x.train.csv", "x.test.csv", "x.card.json"),
}


def _read(
    read: Callable[[], Any],
    refusal: type[Exception] | tuple[type[Exception], ...] = FormatError,
    start: str = "",
) -> None:
    """Read what is refused by one line, if at all, that starts with the name of the file."""
    try:
        read()
    except refusal as error:
        message = str(error)
        assert message.startswith(start), message
        assert "\n" not in message, message


def _write(name: str, content: bytes) -> Path:
    path = FOLDER / name
    path.write_bytes(content)
    return path


def _unpack(path: Path) -> None:
    with UnpackedFile(path) as file:
        while file.read(2**16):
            pass


def _read_csv(content: bytes, n_bytes: int) -> Any:
    """Read CSV in blocks of so many bytes."""
    reading = make_reading(categories="one-hot", missing="keep")
    dialect = dialect_of(Path("x.csv"), reading)
    try:
        with patch.object(csv_blocks, "_BLOCK_BYTES", n_bytes), patch.object(lines, "BLOCK_BYTES", n_bytes):
            words = csv_tables.find_words(BytesIO(content), PATH, reading)
            table = gather(csv_tables.read_csv(BytesIO(content), PATH, dialect, words))
    except FormatError as error:
        return str(error)
    return table.names, table.lines.tolist(), table.cells.tobytes()


def _outcome(content: bytes, *, is_short: bool) -> Any:
    text = Lines(BytesIO(content), PATH, "%")
    try:
        header = parse_header(text.head(), PATH)
        text.is_short = is_short
        # Compiled loops read blocks of any length where they are loaded.
        importlib.import_module("mlstream.formats._kernels.scan")
        reader, line, found = BlockReader(header.columns, text, MISSING_WORDS), header.n_lines + 1, []
        for block in text.blocks():
            rows = reader.read(block, line)
            line = rows.next_line
            cells = rows.cells.toarray() if sparse.issparse(rows.cells) else rows.cells
            found.append((np.asarray(cells).tobytes(), rows.lines.tolist()))
    except FormatError as error:
        return str(error)
    return json.dumps([line for _, line in found]), [cells for cells, _ in found]
