"""Files that contestants send: CSV (also packed by gzip), NPZ or Parquet, read into aligned probabilities.

What a file is, its first bytes decide; its name is for errors only. Nothing in a file is executed, and no size is
believed before it is compared with what a submission may take.
"""

from __future__ import annotations

import gzip
import io
import zlib

from mlstream._support.content import kind_by_content
from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.submissions.csv_files import read_csv
from mlstream.challenge.submissions.npz_files import read_npz
from mlstream.challenge.submissions.rows import Probabilities, SubmissionLayout, align, clean_name

_GZIP, _ZIP, _PARQUET = b"\x1f\x8b", b"PK\x03\x04", b"PAR1"


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
