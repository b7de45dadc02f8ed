"""The bytes of files that may be packed."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from mlstream.formats.content import FormatError, bare_path, read_lines, read_unpacked, show, stem

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


def test_a_missing_file_stays_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_unpacked(tmp_path / "x.gz")


def test_what_was_got_fits_on_one_line() -> None:
    assert show("a\n") == "'a\\n'"
    assert len(show("x" * 10**6)) < 70


def test_lines_end_where_editors_end_them() -> None:
    # Not at form feeds, or at the separators of Unicode, which may stand in names.
    assert read_lines("a\nb\r\nc\rd\x0ce\u2028f\x85g".encode()) == ["a", "b", "c", "d\x0ce\u2028f\x85g"]
