"""Files that contestants send: CSV (also packed by gzip), NPZ or Parquet, read into aligned probabilities.

What a file is, its first bytes decide; its name is for errors only. Nothing in a file is executed, and no size is
believed before it is compared with what a submission may take. Each format has one reader, of the same contract: the
content, the layout and a name for errors become `SubmittedRows`, in the order of the file.
"""

from __future__ import annotations

import gzip
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, kind_by_content, show, unguard_text
from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.submissions.rows import (
    ID_TYPE,
    N_DIGITS,
    ROW_ID,
    Probabilities,
    SubmissionLayout,
    SubmittedRows,
    align,
    clean_name,
    decode_ids,
    find_columns,
)
from mlstream.challenge.truth import Array, Keys
from mlstream.formats.csv_blocks import CsvBlock, Texts, iterate_blocks
from mlstream.formats.csv_dialects import SEPARATORS, CsvDialect, read_header
from mlstream.formats.lines import BLOCK_BYTES, Lines
from mlstream.streams.tables.table import to_number

_GZIP, _ZIP, _PARQUET = b"\x1f\x8b", b"PK\x03\x04", b"PAR1"
_PROB = "prob"
_PACKINGS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_MAGIC = re.compile(rb"\x93NUMPY\x01\x00(..)", re.DOTALL)
# Numbers and texts, as NumPy writes the header; its own reader evaluates it.
_HEADER = re.compile(
    rb"\{'descr': '([<>|][uifUS]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \((\d{1,12}),(?: (\d{1,12}))?\), \} *\n"
)
_N_MAGIC_BYTES = 10


def read_submission(content: bytes, layout: SubmissionLayout, file_name: str = "submission") -> Probabilities:
    """Read the probabilities of a submission, (n_hidden, n_labels), in the order of `layout.keys`.

    InvalidSubmission is raised if it holds anything else; the message names the file and, where there is one, the line.
    """
    name = clean_name(file_name)
    require_size(len(content), layout.max_bytes, name)
    if content.startswith(_ZIP):
        return align(read_npz(content, layout, name), layout, name)
    if content.startswith(_PARQUET):
        from mlstream.challenge.submissions.parquet_files import read_parquet

        return align(read_parquet(content, layout, name), layout, name)
    if content.startswith(_GZIP):
        content = _unpack(content, layout.max_unpacked_bytes, name)
    elif len(content) > layout.max_unpacked_bytes:
        _refuse_unpacked(layout.max_unpacked_bytes, name)
    if kind := kind_by_content(content):
        raise InvalidSubmission(f"{name} must be CSV, CSV packed by gzip, NPZ or Parquet. Got {kind}.")
    return align(read_csv(content, layout, name), layout, name)


def require_size(n_bytes: int, max_bytes: int, name: str) -> None:
    """Raise InvalidSubmission for a file that is larger than it may be, with both sizes."""
    if n_bytes > max_bytes:
        raise InvalidSubmission(f"{name} must be of {max_bytes} bytes at most. Got {n_bytes}.")


def _unpack(content: bytes, max_bytes: int, name: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            unpacked = file.read(max_bytes + 1)
    except (OSError, EOFError, zlib.error):
        raise InvalidSubmission(f"{name} must be a whole gzip file. Got a damaged one.") from None
    if len(unpacked) > max_bytes:
        _refuse_unpacked(max_bytes, name)
    return unpacked


def _refuse_unpacked(max_bytes: int, name: str) -> None:
    raise InvalidSubmission(f"{name} must be of {max_bytes} bytes at most, unpacked. Got more.")


def read_csv(content: bytes, layout: SubmissionLayout, name: str) -> SubmittedRows:
    """Read an unpacked CSV file: a row of names, then rows of an id and probabilities.

    InvalidSubmission is raised if the columns are others, or a row is not an id and numbers; the message names the
    line.
    """
    lines, separator, found = Lines(io.BytesIO(content), Path(name)), _find_separator(content, layout), ""
    try:
        header = read_header(lines, CsvDialect(separator))
        found = f"; cells are separated by {SEPARATORS[separator]}s"
        where = f"{name}, line {lines.n_read}"
        places = find_columns(header.names, layout, where, found, (str, lambda name: unguard_text(name.strip())))
        read = [_read_block(block, places, layout) for block in iterate_blocks(lines, header)]
    except FormatError as error:
        raise InvalidSubmission(f"{str(error).removesuffix('.')}{found}.") from None
    none = SubmittedRows(np.empty(0, np.uint64), np.empty((0, len(layout.label_names))), np.empty(0, np.int64))
    keys, prob, numbers, _ = zip(none, *read, strict=True)
    return SubmittedRows(np.concatenate(keys), np.concatenate(prob), np.concatenate(numbers))


def _find_separator(content: bytes, layout: SubmissionLayout) -> str:
    """Find what separates the names that must be there; a name may hold other separators."""
    first = next(Lines(io.BytesIO(content[:BLOCK_BYTES]), Path()).head(), "")
    expected = {name.strip() for name in (ROW_ID, *layout.label_names)}

    def count(separator: str) -> tuple[int, int]:
        cells = first.split(separator)
        return len(expected.intersection(cell.strip(' "') for cell in cells)), len(cells)

    return max(SEPARATORS, key=count)


def _read_block(block: CsvBlock, places: Sequence[int], layout: SubmissionLayout) -> SubmittedRows:
    block.require_closed()
    found = block.read(places, places[:1])
    codes, ids = cast(Texts, found[places[0]])
    # Spreadsheets write an empty line as separators.
    held = ~block.find_blank() if (codes < 0).any() else np.ones(len(codes), dtype=np.bool_)
    lines = block.lines[held]
    keys = decode_ids([text.strip() for text in ids], codes[held], lambda row: f"{block.path}, line {lines[row]}")
    columns = zip(layout.label_names, places[1:], strict=True)
    prob = [_read_numbers(block, label, found[place], held)[held] for label, place in columns]
    return SubmittedRows(keys, np.column_stack(prob), lines)


def _read_numbers(
    block: CsvBlock, label: str, cells: npt.NDArray[np.float64] | Texts, held: npt.NDArray[np.bool_]
) -> Probabilities:
    """Return the numbers of a column, of which the rows that are held must have one."""
    codes, texts = cells if isinstance(cells, Texts) else (np.full(len(cells), -1), [])
    texts = [*texts, ""]
    numbers = np.array(list(map(to_number, texts)), np.float64)[codes] if isinstance(cells, Texts) else cells
    wrong = np.flatnonzero(np.isnan(numbers) & held)
    if len(wrong):
        where, got = f"{block.path}, line {block.lines[wrong[0]]}", texts[codes[wrong[0]]]
        is_decimal = to_number(got.replace(",", ".", 1)) is not None
        way_out = "; write a decimal point instead of the comma" if is_decimal else ""
        rule = f"the probability of {show(label)} must be a number in [0, 1]"
        raise InvalidSubmission(f"{where}: {rule}. Got {show(got)} instead{way_out}.")
    return numbers


def read_npz(content: bytes, layout: SubmissionLayout, name: str) -> SubmittedRows:
    """Read an NPZ file of the arrays ``row_id`` (16 digits, or uint64) and ``prob`` (a row for each id).

    InvalidSubmission is raised if the file is damaged, holds other arrays, or arrays of other shapes or types.
    """
    n_rows, n_labels = len(layout.keys), len(layout.label_names)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if not any(info.filename.endswith(".npy") for info in archive.infolist()):
                raise InvalidSubmission(f"{name} must be an NPZ file, or no zip. Got {kind_by_content(content)}.")
            members = _find_members(archive, name)
            keys = _read_keys(_read_array(archive, members[ROW_ID], [(n_rows,)], name), name)
            shapes = [(n_rows, n_labels), *([(n_rows,)] if n_labels == 1 else [])]
            prob = _read_array(archive, members[_PROB], shapes, name)
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        EOFError,
        NotImplementedError,
        ValueError,
        RuntimeError,
        # NumPy's, of a type that it does not have.
        TypeError,
    ) as error:
        if isinstance(error, InvalidSubmission):
            raise
        raise InvalidSubmission(f"{name} must be a whole NPZ file. Got a damaged one.") from None
    if prob.dtype.kind != "f":
        raise InvalidSubmission(f"{name}: {_PROB} must hold floating-point numbers. Got {prob.dtype}.")
    if len(prob) != len(keys):
        raise InvalidSubmission(f"{name}: {_PROB} must have a row for each of {len(keys)} ids. Got {len(prob)}.")
    return SubmittedRows(keys, prob.reshape(-1, n_labels).astype(np.float64), np.arange(1, len(keys) + 1), "row")


def _find_members(archive: zipfile.ZipFile, name: str) -> dict[str, zipfile.ZipInfo]:
    found = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if len(archive.infolist()) != len(found) or found.keys() != {ROW_ID, _PROB}:
        raise InvalidSubmission(
            f"{name} must hold the arrays {ROW_ID} and {_PROB}, nothing else. Got {show(', '.join(found))}."
        )
    if any(info.compress_type not in _PACKINGS or info.flag_bits & 1 for info in found.values()):
        raise InvalidSubmission(f"{name} must be packed as NumPy packs. Got another compression, or a password.")
    return found


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, shapes: list[tuple[int, ...]], name: str) -> Array:
    what = f"{name}: {info.filename.removesuffix('.npy')}"
    with archive.open(info) as member:
        magic = _MAGIC.match(member.read(_N_MAGIC_BYTES))
        header = _HEADER.fullmatch(member.read(struct.unpack("<H", magic.group(1))[0])) if magic else None
        if header is None:
            raise InvalidSubmission(f"{what} must be an array of numbers or texts. Got another, or none.")
        dtype, order = np.dtype(header.group(1).decode()), "F" if header.group(2) == b"True" else "C"
        shape = tuple(int(length) for length in header.groups()[2:] if length)
        # Fewer rows are missing ones, which all formats refuse alike.
        if not any(shape[0] <= one[0] and shape[1:] == one[1:] for one in shapes):
            raise InvalidSubmission(f"{what} must have the shape {shapes[0]}. Got {shape} instead.")
        n_bytes = dtype.itemsize * int(np.prod(shape))
        values = member.read(n_bytes + 1)
    if len(values) != n_bytes:
        raise InvalidSubmission(f"{what} must hold {n_bytes} bytes, as its header says. Got fewer or more.")
    return np.frombuffer(values, dtype).reshape(shape, order="F" if order == "F" else "C")


def _read_keys(ids: Array, name: str) -> Keys:
    if ids.dtype.kind == "u" and ids.dtype.itemsize == 8:
        return ids.astype(np.uint64)
    if ids.dtype.kind not in "SU" or ids.dtype.itemsize not in {N_DIGITS, 4 * N_DIGITS}:
        raise InvalidSubmission(f"{name}: {ID_TYPE}. Got {ids.dtype}.")
    texts = [text if isinstance(text, str) else text.decode("latin-1") for text in ids.tolist()]
    return decode_ids(texts, np.arange(len(texts)), lambda row: f"{name}, row {row + 1}")
