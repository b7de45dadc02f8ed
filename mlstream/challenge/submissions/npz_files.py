"""NPZ submissions: two plain arrays, whose sizes are compared before memory is taken; nothing is unpickled."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib

import numpy as np

from mlstream._support.content import kind_by_content, show
from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.submissions.rows import (
    N_DIGITS,
    ROW_ID,
    SubmissionLayout,
    SubmittedRows,
    decode_ids,
)
from mlstream.challenge.truth import Array, Keys

_PROB = "prob"
_PACKINGS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_MAGIC = re.compile(rb"\x93NUMPY\x01\x00(..)", re.DOTALL)
# Numbers and texts, as NumPy writes the header; its own reader evaluates it.
_HEADER = re.compile(
    rb"\{'descr': '([<>|][uifUS]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \((\d{1,12}),(?: (\d{1,12}))?\), \} *\n"
)
_N_MAGIC_BYTES = 10


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
        raise InvalidSubmission(
            f"{name}: {ROW_ID} must hold texts of {N_DIGITS} digits, or numbers of type uint64. Got {ids.dtype}."
        )
    texts = [text if isinstance(text, str) else text.decode("latin-1") for text in ids.tolist()]
    return decode_ids(texts, np.arange(len(texts)), lambda row: f"{name}, row {row + 1}")
