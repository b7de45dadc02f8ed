"""Files that are not tables are named, whether they are read as tables or as submissions; tables are let through."""

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

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream._support.sniffing import kind_by_content
from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.submissions.files import read_submission
from mlstream.challenge.submissions.rows import SubmissionLayout
from mlstream.data.datasets import load_dataset

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
