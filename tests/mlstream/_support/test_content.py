"""The bytes of files that may be packed."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream._support.content import FormatError, bare_path, read_lines, read_unpacked, show, stem
from mlstream._support.xz import open_xz

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
