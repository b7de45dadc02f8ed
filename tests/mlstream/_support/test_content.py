"""The bytes of files that may be packed."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import re
import sqlite3
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream._support.content import (
    FormatError,
    bare_path,
    kind_by_content,
    open_xz,
    read_lines,
    read_unpacked,
    show,
    stem,
)
from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.submissions.files import read_submission
from mlstream.challenge.submissions.rows import SubmissionLayout
from mlstream.data.datasets import load_dataset

PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
TEXT = b"some text " * 1000


@pytest.mark.parametrize(("suffix", "pack"), PACKERS.items())
def test_packed_files_are_unpacked(tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"x.arff{suffix.upper()}"
    path.write_bytes(pack(TEXT))
    assert read_unpacked(path) == TEXT
    assert (bare_path(path).name, stem(path)) == ("x.arff", "x")


@pytest.mark.parametrize(("suffix", "pack"), PACKERS.items())
def test_a_cut_spoilt_or_unpacked_file_is_one_error(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    packed, path = pack(TEXT), tmp_path / f"x{suffix}"
    middle = len(packed) // 2
    spoilt = packed[:middle] + bytes([packed[middle] ^ 255]) + packed[middle + 1 :]
    for content in (packed[:-5], packed[:middle], spoilt, TEXT):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=rf"x\{suffix} must be a complete \{suffix} file. Got: "):
            read_unpacked(path)


@settings(max_examples=30)
@given(
    parts=st.lists(st.binary(max_size=3000), min_size=1, max_size=4),
    level=st.integers(0, 1),
    kind=st.sampled_from([lzma.FORMAT_XZ, lzma.FORMAT_ALONE]),
    tail=st.sampled_from([b"", b"other bytes"]),
    n_bytes=st.integers(1, 5000),
)
def test_xz_files_are_unpacked_as_by_python(
    parts: list[bytes], level: int, kind: int, tail: bytes, n_bytes: int
) -> None:
    content = b"".join(lzma.compress(part, kind, preset=level) for part in parts) + tail
    with lzma.open(BytesIO(content)) as other, open_xz(BytesIO(content)) as file:
        assert b"".join(iter(lambda: file.read(n_bytes), b"")) == other.read()


# What an encoder would write for a dictionary of 2 GiB, without the memory that it takes to write that.
@pytest.mark.parametrize(("name", "dictionary"), [("lzma", b"\x00\x00\x00\x80"), ("xz", b"\x26")])
def test_a_file_that_asks_for_gigabytes_is_refused(tmp_path: Path, name: str, dictionary: bytes) -> None:
    if name == "lzma":
        content = b"\x5d" + dictionary + lzma.compress(TEXT, lzma.FORMAT_ALONE)[5:]
    else:
        packed = lzma.compress(TEXT, lzma.FORMAT_XZ)
        # The header of a block: its size, flags, the filter 0x21, a byte of properties, padding; then its checksum.
        header = packed[12:16] + dictionary + packed[17:20]
        content = packed[:12] + header + zlib.crc32(header).to_bytes(4, "little") + packed[24:]
    (tmp_path / "x.xz").write_bytes(content)
    with pytest.raises(FormatError, match=r"must be a complete \.xz file\. Got: Memory usage limit exceeded"):
        read_unpacked(tmp_path / "x.xz")


def test_a_missing_file_stays_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_unpacked(tmp_path / "x.gz")


def test_what_was_got_fits_on_one_line() -> None:
    assert show("a\n") == "'a\\n'"
    assert len(show("x" * 10**6)) < 70


def test_lines_end_where_editors_end_them() -> None:
    # Not at form feeds, or at the separators of Unicode, which may stand in names.
    assert read_lines("a\nb\r\nc\rd\x0ce\u2028f\x85g".encode()) == ["a", "b", "c", "d\x0ce\u2028f\x85g"]


CSV = b"row_id,a,b\n0000000000000001,0.5,0.5\n"


def zipped(*names):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, CSV)
    return packed.getvalue()


def written(write):
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def tarred(file):
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("x.csv"))


def database():
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE x (a)")
        return connection.serialize()


# Made by the programs that make such files, as far as there is one here.
KINDS = {
    "an Excel workbook": zipped("[Content_Types].xml", "xl/workbook.xml"),
    "a zip archive": zipped("submission.csv"),
    "an old Excel or Word file": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    "a 7z archive": b"7z\xbc\xaf\x27\x1c\0\4" + bytes(50),
    "a RAR archive": b"Rar!\x1a\x07\x01\0",
    "a tar archive": written(tarred),
    "a gzip file": gzip.compress(CSV),
    "a bzip2 file": bz2.compress(CSV),
    "an xz file": lzma.compress(CSV),
    "a Zstandard file": pa.compress(CSV, "zstd", asbytes=True),
    "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "a PDF document": b"%PDF-1.7\n",
    "a pickle": pickle.dumps({"row_id": [1]}),
    "an NPY file": written(lambda file: np.save(file, np.eye(2))),
    "an HDF5 file": b"\x89HDF\r\n\x1a\n" + bytes(50),
    "an SQLite database": database(),
    "text in UTF-16": CSV.decode().encode("utf-16"),
    "an HTML page": b"\n <!DOCTYPE html>\n<html><title>Sign in</title></html>",
    "an XML file": b"<?xml version='1.0'?>\n<rows/>",
    "JSON": json.dumps([{"row_id": "1", "a": 0.5}], indent=1).encode(),
}
LAYOUT = SubmissionLayout(np.array([1], np.uint64), ["a", "b"], 100_000)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_table_is_named_with_what_to_do(tmp_path, kind):
    (tmp_path / "x.csv").write_bytes(KINDS[kind])
    with pytest.raises(ValueError, match=rf"x\.csv must be a CSV file\. Got {kind}; \w[^\n]*\.$"):
        load_dataset(tmp_path / "x.csv", labels=1)
    if kind != "a gzip file":
        with pytest.raises(InvalidSubmission, match=rf"^x\.csv must be .*\. Got {kind}; \w[^\n]*\.$"):
            read_submission(KINDS[kind], LAYOUT, "x.csv")


def test_an_archive_in_a_packed_submission_is_named_too():
    with pytest.raises(InvalidSubmission, match="Got an xz file"):
        read_submission(gzip.compress(lzma.compress(CSV)), LAYOUT)


@pytest.mark.parametrize("content", [b"", gzip.compress(b"")], ids=["empty", "gzip"])
def test_an_empty_file_is_said_to_be_empty(content):
    with pytest.raises(InvalidSubmission, match=r"must start with the names of its columns\. Got an empty file"):
        read_submission(content, LAYOUT)


def test_formats_under_another_name_say_which_ending_they_need():
    table = written(lambda file: pq.write_table(pa.table({"a": [1]}), file))
    assert re.search(r"must end in \.parquet", kind_by_content(table) or "")
    assert re.search(r"must end in \.npz", kind_by_content(written(lambda file: np.savez(file, a=[1]))) or "")


@given(st.lists(st.text("PAR1BZhGIFpkustar0< {[", min_size=1), min_size=2).map(",".join))
def test_names_of_columns_are_no_other_format(header):
    assert kind_by_content(f"{header}\n1,2\n".encode()) in {None, kind_by_content(b"[[")}
