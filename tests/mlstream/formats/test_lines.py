"""Text is read forwards in bounded memory, whatever its lines end in and however long they are."""

import codecs
import itertools
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream._support.content import FormatError, read_lines
from mlstream.formats.lines import BLOCK_BYTES, LONGEST_LINE_BYTES, SHORT_BYTES, Lines

PATH = Path("x.txt")


class Pieces:
    """Gives a text a few bytes at a time, as if it were long."""

    def __init__(self, text: bytes, n_bytes: int) -> None:
        self._text, self._n_bytes = BytesIO(text), n_bytes

    def read(self, n_bytes: int) -> bytes:
        return self._text.read(min(n_bytes, self._n_bytes))


class Endless:
    """A line of zeros without an end."""

    n_read = 0

    def read(self, n_bytes: int) -> bytes:
        self.n_read += n_bytes
        return bytes(n_bytes)


TEXTS = st.text(st.sampled_from("ab \n\ré"), max_size=30)


@given(TEXTS, st.integers(1, 5))
def test_lines_end_as_on_any_system_wherever_pieces_do(text: str, n_bytes: int) -> None:
    got = list(Lines(Pieces(text.encode(), n_bytes), PATH).head())
    expected = read_lines(text.encode())
    assert got == (expected if expected[-1] else expected[:-1])


@given(TEXTS, st.integers(1, 5), st.integers(0, 5))
def test_blocks_are_what_the_head_left(text: str, n_bytes: int, n_head: int) -> None:
    lines = Lines(Pieces(text.encode(), n_bytes), PATH)
    head = list(itertools.islice(lines.head(), n_head))
    blocks = list(lines.blocks())
    assert all(block[-1:] in {b"\n", b"\r"} for block in blocks)
    rest = "".join(block.decode() for block in blocks)
    assert [*head, *read_lines(rest.encode())[:-1]] == list(Lines(BytesIO(text.encode()), PATH).head())


def test_blocks_are_small_and_whole() -> None:
    text = b"0123456789\n" * 200_000
    blocks = list(Lines(BytesIO(text), PATH).blocks())
    assert b"".join(blocks) == text
    assert max(map(len, blocks)) <= BLOCK_BYTES + 11


@pytest.mark.parametrize(("n_bytes", "is_short"), [(SHORT_BYTES - 1, True), (SHORT_BYTES, False)])
def test_a_short_text_is_known_as_one(n_bytes: int, is_short: bool) -> None:
    lines = Lines(BytesIO(b"\n" * n_bytes), PATH)
    next(lines.head())
    assert lines.is_short is is_short


def test_a_line_without_an_end_is_one_error_in_bounded_memory() -> None:
    source = Endless()
    with pytest.raises(FormatError, match=r"x.txt: a line must be at most \d+ bytes long. Got a longer."):
        list(Lines(source, PATH).blocks())
    assert source.n_read <= LONGEST_LINE_BYTES + 2 * SHORT_BYTES


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_the_encoding_is_found(encoding: str) -> None:
    text = "a\n% naïve\né\nà\n"
    assert list(Lines(BytesIO(text.encode(encoding)), PATH).head())[2:] == ["é", "à"]


def test_a_byte_order_mark_is_no_text() -> None:
    assert list(Lines(BytesIO(codecs.BOM_UTF8 + "é\n".encode()), PATH).head()) == ["é"]


def test_mixed_encodings_are_one_error_with_the_line() -> None:
    text = "é\n".encode() + b"plain\n" + "é\n".encode("latin-1")
    with pytest.raises(FormatError, match=r"x.txt, line 3: text must be UTF-8, as it was before. Got other bytes."):
        list(Lines(BytesIO(text), PATH).head())


def test_comments_may_be_in_any_encoding() -> None:
    text = "é\n".encode() + " % été\n".encode("latin-1")
    assert next(Lines(BytesIO(text), PATH).head()) == "é"
