"""Archives of arrays: NPZ files whose members lie aligned in the file, ready to be mapped into memory."""

from __future__ import annotations

import io
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, show
from mlstream._support.files import open_plain, raise_disk_error
from mlstream._support.mapped import keep_open, pieces
from mlstream.streams.tables.arrays import Stacked

Array: TypeAlias = npt.NDArray[Any]

_ALIGNMENT = 64
_PIECE_BYTES = 2**20
_LOCAL_HEADER_BYTES = 30
# What is added for files of more than 4 GiB.
_LARGE_FILE_BYTES = 20
_LOCAL_HEADER = re.compile(rb"PK\x03\x04.{22}(.{4})", re.DOTALL)
_NPY_MAGIC = re.compile(rb"\x93NUMPY\x01\x00(..)", re.DOTALL)
# Numbers, truth values, texts and times, row by row, in up to four dimensions: as NumPy writes it, to the letter.
_NPY_HEADER = re.compile(
    rb"\{'descr': '([<>|](?:b1|[iu][1248]|f(?:2|4|8|16)|U[1-9][0-9]{0,7}|M8\[us\]))', 'fortran_order': False, "
    rb"'shape': \((|\d{1,18},|\d{1,18}(?:, \d{1,18}){1,3})\), \} *\n"
)
# The field by which Android's archives are aligned; other programs skip it.
_PADDING = struct.Struct("<HHH")
_PADDING_ID = 0xD935


def write_arrays(path: Path, arrays: Mapping[str, Array | Stacked]) -> None:
    """Write arrays to an NPZ file: the same arrays give the same bytes. Stacked ones are written part by part."""
    position = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for key, array in arrays.items():
            header = _npy_header(array)
            info = zipfile.ZipInfo(f"{key}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            position += _LOCAL_HEADER_BYTES + len(info.filename) + _LARGE_FILE_BYTES
            info.extra = _pad(position)
            with archive.open(info, "w", force_zip64=True) as member:
                member.write(header)
                for part in array.parts if isinstance(array, Stacked) else [array]:
                    # Parts that do not lie row by row are copied, some rows at a time.
                    for piece in pieces(part):
                        member.write(np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data)
            position += len(info.extra) + len(header) + array.nbytes


def read_arrays(path: Path, *, mmap: bool = False, check: bool = True) -> dict[str, Array]:
    """Read all members of an NPZ file that `write_arrays` wrote; with `mmap`, leave them in the file, read-only.

    Raises FormatError if the file is not such an archive, a member claims more bytes than the file holds, or a
    checksum, if checked, is wrong.
    """
    with ExitStack() as stack:
        stream = stack.enter_context(open_plain(path))
        try:
            with zipfile.ZipFile(stream) as archive:
                members = archive.infolist()
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, struct.error) as error:
            raise_disk_error(error)
            raise FormatError(f"{path} must be an NPZ file. Got: {show(str(error))}.") from None
        found = {info.filename.removesuffix(".npy"): _locate(stream, info, path) for info in members}
        if not mmap:
            return {key: member.read(stream, path, check=check) for key, member in found.items()}
        for member in found.values() if check else ():
            member.compare(stream, path)
        # One map for all: opening a file costs more than finding the places in it.
        whole = np.memmap(stream, np.uint8, "r")
        keep_open(whole, stream, path.absolute())
        # The file stays open as long as its map.
        stack.pop_all()
    return {key: member.view(whole) for key, member in found.items()}


@dataclass(frozen=True)
class _Member:
    """Position of an array in a file."""

    name: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    offset: int
    header_crc: int
    crc: int

    def view(self, whole: Array) -> Array:
        """Return the array where it lies in a map of the file."""
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        return np.ndarray(self.shape, self.dtype, whole, self.offset)

    def read(self, file: BufferedReader, path: Path, *, check: bool) -> Array:
        """Read the array, without a copy on the way."""
        array: Array = np.empty(self.shape, self.dtype)
        content = array.reshape(-1).view(np.uint8).data
        file.seek(self.offset)
        if file.readinto(content) != len(content):
            raise FormatError(f"{path} must be a whole NPZ file. Got less of {show(self.name)} than its header says.")
        if check:
            self._require(zlib.crc32(content, self.header_crc), path)
        return array

    def compare(self, file: BufferedReader, path: Path) -> None:
        """Compare the checksum, and keep nothing of what is read."""
        crc, n_left = self.header_crc, math.prod(self.shape) * self.dtype.itemsize
        file.seek(self.offset)
        while n_left and (piece := file.read(min(n_left, _PIECE_BYTES))):
            crc, n_left = zlib.crc32(piece, crc), n_left - len(piece)
        self._require(crc, path)

    def _require(self, crc: int, path: Path) -> None:
        if crc != self.crc:
            raise FormatError(
                f"{path} must be unchanged since it was written. Got a wrong checksum of {show(self.name)}."
            )


def _npy_header(array: Array | Stacked) -> bytes:
    header, descr = io.BytesIO(), np.lib.format.dtype_to_descr(array.dtype)
    np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": array.shape})
    return header.getvalue()


def _pad(position: int) -> bytes:
    # At least the field itself; the array's own header is a multiple of 64 bytes long.
    n_bytes = _PADDING.size + -(position + _PADDING.size) % _ALIGNMENT
    return _PADDING.pack(_PADDING_ID, n_bytes - 4, _ALIGNMENT).ljust(n_bytes, b"\0")


def _locate(stream: IO[bytes], info: zipfile.ZipInfo, path: Path) -> _Member:
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or info.flag_bits & 1:
        raise FormatError(f"{path} must hold arrays uncompressed. Got {show(info.filename)} compressed.")
    size = path.stat().st_size
    if not 0 <= info.header_offset <= info.header_offset + info.file_size <= size:
        raise FormatError(f"{path} must be a whole NPZ file. Got {show(info.filename)} outside.")
    stream.seek(info.header_offset)
    local = _LOCAL_HEADER.match(stream.read(_LOCAL_HEADER_BYTES))
    if not local:
        raise FormatError(f"{path} must be a whole NPZ file. Got no member where {show(info.filename)} should begin.")
    start = stream.seek(sum(struct.unpack("<HH", local.group(1))), os.SEEK_CUR)
    dtype, shape = _read_npy_header(stream, info, path)
    offset = stream.tell()
    # Sizes are compared before memory is taken: a header may claim anything.
    claimed, there = math.prod(shape) * dtype.itemsize, info.file_size - (offset - start)
    if claimed != there or offset + claimed > size:
        raise FormatError(f"{path}: {show(info.filename)} must hold {claimed} bytes, as its header says. Got {there}.")
    stream.seek(start)
    return _Member(info.filename, dtype, shape, offset, zlib.crc32(stream.read(offset - start)), info.CRC)


def _read_npy_header(
    stream: IO[bytes], info: zipfile.ZipInfo, path: Path
) -> tuple[np.dtype[np.generic], tuple[int, ...]]:
    # NumPy's own reader evaluates the header, and fails in many ways on a spoilt one.
    magic = _NPY_MAGIC.match(stream.read(10))
    match = _NPY_HEADER.fullmatch(stream.read(struct.unpack("<H", magic.group(1))[0])) if magic else None
    if not match:
        raise FormatError(f"{path}: {show(info.filename)} must be a plain array, row by row. Got another, or none.")
    dtype, shape = match.group(1).decode(), match.group(2).decode()
    return np.dtype(dtype), tuple(int(length) for length in shape.split(",") if length.strip())
