"""The compiled loop over rows stops, and reads until there, as regular expressions and `float` do."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.mlstream.formats.kernels.plain_rows import assert_same

PLAIN = ["0", "1", "?", "-2.5", "+1.", ".5", "1e3", "-0", "007", "3.25E-2", "1234567890123456789", "0e400"]
CAREFUL = ["", "x", "'1'", "1e", "--1", "1.2.3", "inf", "nan", "1e400", "1e-400", "12345678901234567890", "0x1", "1 2"]
BLANKS = st.sampled_from(["", "", " ", "\t "])
CELLS = st.sampled_from(PLAIN) | st.sampled_from(PLAIN) | st.sampled_from(PLAIN) | st.sampled_from(CAREFUL)
ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r"])
OTHERS = st.sampled_from(["", "  ", "% a comment, 1", " %", "1", "{0 1}", "{", "}", "1,{0 1}", "1,2%", "{0 1},"])


@st.composite
def dense_lines(draw):
    cells = draw(st.lists(CELLS, min_size=2, max_size=3))
    return ",".join(draw(BLANKS) + cell + draw(BLANKS) for cell in cells) + draw(st.sampled_from(["", "", ","]))


@st.composite
def sparse_lines(draw):
    columns = draw(st.lists(st.sampled_from(["0", "1", "2", "02", "3", "-1", "x"]), max_size=3))
    columns = sorted(columns) if draw(st.booleans()) else columns
    pairs = [draw(BLANKS) + column + draw(st.sampled_from([" ", "\t", "  ", ""])) + draw(CELLS) for column in columns]
    return "{" + ",".join(pairs) + draw(BLANKS) + "}" + draw(BLANKS)


@st.composite
def texts(draw, lines):
    return "".join(draw(BLANKS) + draw(lines) + draw(ENDS) for _ in range(draw(st.integers(0, 6))))


BINARY = st.lists(st.booleans(), min_size=3, max_size=3)


@pytest.mark.slow
@pytest.mark.parametrize("is_sparse", [False, True])
@settings(max_examples=100)
@given(st.data(), BINARY, st.integers(0, 6))
@example(None, [False] * 3, 3)
def test_rows_are_read_until_one_needs_care(is_sparse, data, is_binary, n_most):
    lines = sparse_lines() if is_sparse else dense_lines()
    text = "1,2,3\r\n{0 1, 2 ?}\n" if data is None else data.draw(texts(lines | lines | OTHERS))
    assert_same(text, is_binary, n_most, is_sparse=is_sparse)


@pytest.mark.parametrize("is_sparse", [False, True])
@settings(max_examples=100)
@given(st.lists(st.sampled_from(" \t\r\n,{}%?019.eE+-x'"), max_size=25), BINARY)
def test_any_bytes_are_read_until_a_row_needs_care(is_sparse, signs, is_binary):
    assert_same("".join(signs) + "\n", is_binary, 3, is_sparse=is_sparse)
