"""Compiled loops and careful reading give the same rows, bit by bit, and the same errors."""

import math
import re
import sys
from fractions import Fraction
from io import BytesIO
from itertools import compress, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mlstream._support.content import FormatError
from mlstream.formats._kernels import scan
from mlstream.formats.arff.blocks import CAREFUL_BYTES, BlockReader, RowBlock
from mlstream.formats.lines import Lines
from mlstream.streams.tables.table import Column, nominal
from mlstream.streams.tables.text_columns import MISSING_WORDS, code_values
from tests.loops import check_all

PATH = Path("x.arff")
COLUMNS = (nominal("y", ["0", "1"]), Column("a"), nominal("z", ["1", "0"]), Column("b"))


def is_large(cell: str) -> bool:
    return cell.strip().lstrip("+-").isdecimal() and abs(int(cell)) > 2**53


NUMBERS = (
    st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.from_regex(r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?", fullmatch=True)
    | st.sampled_from(["0", "1", "-0", "1.", ".5", "5e-324", "1e308", "9007199254740992", "1e23", "0.000", "00012"])
).filter(lambda cell: not is_large(cell))
ODD_CELLS = st.sampled_from(
    ["?", "", "'1'", "x", "1_0", "1e999", "nan", "2", "1 1", "--1", "e5", ".", "1e", "\x00", "٣"]
)
LABELS = st.sampled_from("01?")
BLANKS = st.sampled_from(["", "", "", " ", "\t "])
ENDS = st.sampled_from(
    ["\n"] * 3 + ["\r\n", "\r", "\n\n", " % c\n", ",\n", "\n  % c\n", ",1\n", ",{0.5}\n", ", {2} % c\n"]
)


@st.composite
def dense_rows(draw: st.DrawFn, *, cells: Any = NUMBERS | ODD_CELLS) -> str:
    row = [draw(LABELS), draw(cells), draw(LABELS), draw(cells)]
    return ",".join(draw(BLANKS) + cell + draw(BLANKS) for cell in row)


@st.composite
def sparse_rows(draw: st.DrawFn) -> str:
    indices = draw(st.lists(st.integers(0, 4), max_size=4, unique=draw(st.integers(0, 9)) > 0).map(sorted))
    cells = [draw(LABELS) if index in {0, 2} else draw(NUMBERS | ODD_CELLS) for index in indices]
    pairs = [f"{draw(BLANKS)}{index} {cell}{draw(BLANKS)}" for index, cell in zip(indices, cells, strict=True)]
    return draw(BLANKS) + "{" + ",".join(pairs) + "}"


@given(st.lists(st.tuples(dense_rows() | sparse_rows(), ENDS), max_size=6))
def test_compiled_and_careful_rows_are_the_same(rows: list[tuple[str, str]]) -> None:
    block = "".join(row + end for row, end in rows).encode() + b"\n"
    assert outcome(block, compiled=True) == outcome(block, compiled=False)


@given(st.lists(dense_rows(cells=NUMBERS), min_size=1, max_size=6))
def test_numbers_are_those_of_python_to_the_last_bit(rows: list[str]) -> None:
    numbers = [[math.nan if cell.strip() == "?" else float(cell) for cell in row.split(",")] for row in rows]
    # What overflows is refused.
    whole = ~np.isinf(numbers).any(axis=1)
    read = read_block("\n".join(compress(rows, whole)).encode() + b"\n", compiled=True)
    assert np.asarray(read.cells).tobytes() == np.array(numbers)[whole].tobytes()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("row", ["0,1,1,{}", "{{1 1,3 {}}}"])
def test_whole_numbers_that_no_float_holds_are_refused(compiled: bool, row: str) -> None:
    for text in ("9007199254740993", "-9007199254740993", "+12345678901234567890"):
        with pytest.raises(
            FormatError, match=rf"line 11: column 'b' must hold whole numbers of .* Got '{re.escape(text)}'"
        ):
            read_block(f"0,1,1,9007199254740992\n{row.format(text)}\n".encode(), compiled=compiled)
    rows = read_block(
        f"0,1,1,-9007199254740992.0\n{row.format('12345678901234567890.0')}\n".encode(), compiled=compiled
    )
    assert to_dense(rows.cells)[:, 3].tolist() == [-(2.0**53), 12345678901234567890.0]


@st.composite
def hard_numbers(draw: st.DrawFn) -> str:
    """Decimals halfway between two doubles, beside such a place, or with more zeros than digits that count; never 0."""
    below = draw(st.floats(min_value=1e-3, max_value=1e18))
    middle = (Fraction(below) + Fraction(math.nextafter(below, math.inf))) / 2
    digits, shift = str(int(middle * 10**60)), draw(st.integers(-20, 20))
    n_kept, step = draw(st.integers(1, 19)), draw(st.integers(-1, 1))
    significant = str(max(int(digits[:n_kept]) + step, 1))
    exponent = len(digits) - n_kept - 60 - shift
    sign, zeros = draw(st.sampled_from(["", "-", "+"])), "0" * draw(st.integers(0, 22))
    written = [f"{zeros}{significant}e{exponent}", f"{zeros}.{zeros}{significant}E{exponent + len(zeros):+}"]
    return sign + draw(st.sampled_from([*written, f"{zeros}{max(int(middle), 1)}.", f"{zeros}{significant}.{zeros}"]))


@given(st.lists(hard_numbers(), min_size=2, max_size=12))
def test_numbers_hard_to_round_are_those_of_python_to_the_last_bit(numbers: list[str]) -> None:
    rows = [f"0,{a},1,{b}" for a, b in zip(numbers[::2], numbers[1::2], strict=False)]
    sparse_rows = [f"{{0 0,1 {a},2 1,3 {b}}}" for a, b in zip(numbers[::2], numbers[1::2], strict=False)]
    expected = np.array([[float(cell) for cell in row.split(",")] for row in rows])
    for written in (rows, sparse_rows):
        read = read_block("\n".join(written).encode() + b"\n", compiled=True)
        assert np.asarray(to_dense(read.cells)).tobytes() == expected.tobytes()


# The last doubles before infinity are read with care.
@given(st.lists(st.floats(sys.float_info.min, 2.0**1023, exclude_max=True), min_size=1, max_size=9))
def test_the_compiled_loop_reads_every_normal_double_that_python_writes(numbers: list[float]) -> None:
    read = read_block("".join(f"0,{number!r},1,-{number!r}\n" for number in numbers).encode(), compiled=True)
    assert read.n_careful == 0
    assert np.asarray(read.cells)[:, 1].tolist() == numbers


def test_a_changed_byte_is_read_alike_with_and_without_compiling() -> None:
    def check(case: tuple[int, str]) -> None:
        position, sign = case
        for row in ("0,1.25,1,-7e1", "{0 0,1 -2.}"):
            changed = (row[:position] + sign + row[position + 1 :]).encode("latin-1")
            block = changed + b"\n0,2,1,4\n"
            assert outcome(block, compiled=True) == outcome(block, compiled=False)

    check_all(product(range(len("0,1.25,1,-7e1")), list("\x00\x1f ,.-+/:?e{}%'\"\x7f\xff0")), check)


def test_plain_rows_need_no_care() -> None:
    dense = read_block(b"0,1.5e-3,1,-7\r\n\n% c\n1, 2 ,0,3.25,\n", compiled=True)
    assert (dense.n_careful, dense.cells.tolist()) == (0, [[0, 0.0015, 1, -7], [1, 2, 0, 3.25]])
    rows = read_block(b"{}\n{1 2.5, 2 0}\n", compiled=True)
    assert (rows.n_careful, rows.cells.toarray().tolist()) == (0, [[0, 0, 1, 0], [0, 2.5, 0, 0]])


@pytest.mark.parametrize("compiled", [False, True])
def test_blanks_for_commas_among_sparse_rows(compiled: bool) -> None:
    rows = read_block(b"{1 7}\n0 1 0 1\n0 2 0 2\n{}\n{0 1}\n" + b"{0 1,1 2,2 0,3 4}\n" * 5, compiled=compiled)
    expected = [[0, 7, 1, 0], [0, 1, 0, 1], [0, 2, 0, 2], [0, 0, 1, 0], [1, 0, 1, 0]] + [[1, 2, 0, 4]] * 5
    assert rows.cells.toarray().tolist() == expected


@pytest.mark.parametrize("n_dense", [1, 4, 40, 400])
def test_rows_that_list_every_cell_do_not_take_the_room_of_sparse_ones(n_dense: int) -> None:
    block = b"{0 1}\n" + b"1,1,1,1\n" * n_dense + b"{0 1,1 2,2 0,3 4}\n" * 100
    rows = read_block(block, compiled=True)
    expected = [[1, 0, 1, 0]] + [[1, 1, 1, 1]] * n_dense + [[1, 2, 0, 4]] * 100
    assert (rows.n_careful, rows.cells.toarray().tolist()) == (n_dense, expected)


@pytest.mark.parametrize("compiled", [False, True])
def test_empty_cells_among_sparse_rows_are_missing(compiled: bool) -> None:
    rows = read_block(b"{1 2}\n" + b",,,\n" * 40 + b"{}\n" * 9, compiled=compiled)
    expected = [[0, 2, 1, 0]] + [[math.nan] * 4] * 40 + [[0, 0, 1, 0]] * 9
    np.testing.assert_array_equal(rows.cells.toarray(), expected)


@pytest.mark.slow
def test_the_compiled_loop_is_loaded_by_long_files_only(monkeypatch: pytest.MonkeyPatch) -> None:
    # Compiled rows of all sorts are read by the other tests, where it is loaded.
    block = b"0,1,0,1\n" * (CAREFUL_BYTES // 8 // 4)
    reader = make_reader(COLUMNS, compiled=True)
    monkeypatch.delitem(sys.modules, scan.__name__)
    n_careful = [reader.read(block, 1).n_careful for _ in range(5)]
    assert n_careful == [CAREFUL_BYTES // 8 // 4] * 4 + [0]
    assert make_reader(COLUMNS, compiled=True).read(block, 1).n_careful == 0


def test_rows_know_their_lines_and_blocks_where_they_end() -> None:
    rows = read_block(b"% c\n\n0,1,0,1\r\n'0',1,0,1\r\n", compiled=True)
    assert (rows.lines.tolist(), rows.next_line, rows.n_careful) == ([12, 13], 14, 1)


def test_columns_of_words_are_read_too() -> None:
    reader = make_reader((nominal("c", ["red", "blue"]), Column("a")), compiled=True)
    assert reader.read(b"blue,1\nred,2\n", 1).cells.tolist() == [[1, 1], [0, 2]]


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_a_wide_table_of_empty_rows_takes_no_memory(compiled: bool) -> None:
    # Written out, it would take terabytes.
    reader = make_reader([Column(str(index)) for index in range(10**5)], compiled=compiled)
    dense = b",".join([b"0"] * 10**5)
    rows = reader.read(dense + b"\n" + b"{}\n" * 10**4, 1)
    assert sparse.issparse(rows.cells)
    assert (rows.cells.shape, rows.cells.nnz) == ((10_001, 100_000), 100_000)


def test_a_row_too_short_for_a_wide_table_is_found_at_once() -> None:
    reader = make_reader([Column(str(index)) for index in range(10**5)], compiled=True)
    with pytest.raises(FormatError, match=r"x.arff, line 3: a row must hold 100000 values. Got 1"):
        reader.read(b"0\n" * 10**5, 3)


def make_reader(columns: Any, *, compiled: bool) -> BlockReader:
    lines = Lines(BytesIO(b""), PATH)
    lines.is_short = not compiled
    return BlockReader([code_values(column) for column in columns], lines, MISSING_WORDS)


def read_block(block: bytes, *, compiled: bool) -> RowBlock:
    return make_reader(COLUMNS, compiled=compiled).read(block, 10)


def to_dense(cells: Any) -> Any:
    return cells.toarray() if sparse.issparse(cells) else cells


def outcome(block: bytes, *, compiled: bool) -> Any:
    """Everything that reading gives: bits of cells and lines, or the message."""
    try:
        rows = read_block(block, compiled=compiled)
    except FormatError as error:
        return str(error)
    cells = rows.cells
    parts = (cells.data, cells.indices, cells.indptr) if sparse.issparse(cells) else (cells,)
    bits = [np.asarray(part).astype("f8").tobytes() for part in parts]
    weights = None if rows.weights is None else rows.weights.tolist()
    return cells.shape, bits, rows.lines.tolist(), rows.next_line, weights
