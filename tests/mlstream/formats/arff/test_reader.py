"""ARFF files of every dialect are read as they stand, and every defect is one error with its line."""

import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import arff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mlstream._support.content import FormatError
from mlstream.data.datasets import iter_dataset, load_dataset
from mlstream.formats.arff.reader import parse_arff
from mlstream.streams.tables.table import Table
from tests.loops import check_all

PATH = Path("x.arff")

# Title, text, cells.
DIALECTS: dict[str, tuple[str, list[list[float]]]] = {
    "MULAN, dense": (
        "@relation t\n@attribute a numeric\n@attribute y {0,1}\n@data\n0.5,1\n-2e-3,0\n",
        [[0.5, 1], [-0.002, 0]],
    ),
    "MEKA, sparse": (
        "@relation 't: -C 2'\n\n@attribute y {0,1}\n@attribute z {0,1}\n@attribute a numeric\n\n"
        "@data\n\n{0 1,2 0.5}\n{ 1 1, 2 3 }\n",
        [[1, 0, 0.5], [0, 1, 3]],
    ),
    "MOA, blank lines and trailing commas": (
        "@relation t\n@attribute a numeric\n\n@attribute y {0,1}\n\n\n@data\n\n1,0,\n\n   \n2,1,\n\n",
        [[1, 0], [2, 1]],
    ),
    "keywords in capitals and types by any name": (
        "@RELATION t\n@ATTRIBUTE a REAL\n@Attribute b Integer\n@attribute y {0, 1}\n@DATA\n1,2,0\n",
        [[1, 2, 0]],
    ),
    "comments in every place": (
        "% first\n@relation t % here\n@attribute a numeric % {0,1}\n% between\n@attribute y {0,1} % there\n"
        "@data % now\n% before\n1,0 % after a row\n2,1\n% end\n",
        [[1, 0], [2, 1]],
    ),
    "tabs, and blanks around everything": (
        "@relation t\n@attribute\ta\tnumeric\n  @attribute y { 0 , 1 }  \n@data\n 1 ,\t0 \n",
        [[1, 0]],
    ),
    "blanks instead of commas": (
        "@relation t\n@attribute a numeric\n@attribute y {0,1}\n@data\n1 0\n2\t1\n",
        [[1, 0], [2, 1]],
    ),
    "quoted numbers": ("@relation t\n@attribute a numeric\n@attribute y {'0','1'}\n@data\n'1',\"0\"\n", [[1, 0]]),
    "labels written as fractions": ("@relation t\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,1.0\n", [[1, 1]]),
    "names that hold anything": (
        "@relation 't t'\n@attribute 'a b' numeric\n@attribute \"it's\" numeric\n@attribute y{0,1}\n@data\n1,2,0\n",
        [[1, 2, 0]],
    ),
    "values with commas, quotes and braces": (
        "@relation t\n@attribute c {'a,b','it\\'s','{x}',plain}\n@attribute y {0,1}\n@data\n"
        "'a,b',1\n'it\\'s',0\n'{x}',1\nplain,0\n",
        [[0, 1], [1, 0], [2, 1], [3, 0]],
    ),
    "empty sparse rows": (
        "@relation t\n@attribute a numeric\n@attribute y {0,1}\n@data\n{}\n{ }\n{1 1}\n",
        [[0, 0], [0, 0], [0, 1]],
    ),
    "sparse rows leave out the first value": (
        "@relation t\n@attribute y {1,0}\n@attribute z {1,0}\n@attribute c {red,blue}\n@data\n"
        "{}\n{0 0,2 blue}\n{0 1,1 0}\n",
        [[1, 1, 0], [0, 1, 1], [1, 0, 0]],
    ),
    "sparse rows in any order, with a trailing comma": (
        "@relation t\n@attribute a numeric\n@attribute b numeric\n@data\n{1 2,0 1}\n{1 3,}\n",
        [[1, 2], [0, 3]],
    ),
    "mostly dense with a sparse row": (
        "@relation t\n@attribute a numeric\n@attribute y {1,0}\n@data\n1,0\n{0 5}\n2,1\n",
        [[1, 0], [5, 1], [2, 1]],
    ),
    "mostly sparse with a dense row": (
        "@relation t\n@attribute a numeric\n@attribute y {1,0}\n@data\n{0 5}\n1,0\n{1 0}\n",
        [[5, 1], [1, 0], [0, 0]],
    ),
    "missing values": (
        "@relation t\n@attribute y {0,1}\n@attribute z {1,0}\n@attribute c {red,blue}\n@attribute a numeric\n@data\n"
        "?,1,?,2\n1, ? ,blue,?\n",
        [[math.nan, 1, math.nan, 2], [1, math.nan, 1, math.nan]],
    ),
    "missing values in sparse rows": (
        "@relation t\n@attribute y {0,1}\n@attribute z {1,0}\n@attribute a numeric\n@data\n"
        "{0 ?,2 3}\n{1 ?}\n{0 1, 2 ?}\n",
        [[math.nan, 1, 3], [0, math.nan, 0], [1, 1, math.nan]],
    ),
    "no title": ("@attribute a numeric\n@attribute y {0,1}\n@data\n1,0\n", [[1, 0]]),
    "no rows": ("@relation t\n@attribute a numeric\n@data\n", []),
}

LIAC_REFUSES = {
    "MOA, blank lines and trailing commas",
    "comments in every place",
    "tabs, and blanks around everything",
    "blanks instead of commas",
    "labels written as fractions",
    "names that hold anything",
    "sparse rows in any order, with a trailing comma",
    "no title",
}

HEAD = "@relation t\n@attribute a numeric\n@attribute 'b c' {red,blue}\n@attribute y {0,1}\n@data\n"

DEFECTS: dict[str, tuple[str, str]] = {
    "empty": ("", "x.arff must be an ARFF file, with @data after its header. Got an empty file."),
    "no data": ("@relation t\n@attribute a numeric\n", "x.arff must be an ARFF file.*Got a header only."),
    "no columns": ("@relation t\n@data\n1\n", "x.arff must declare at least one @attribute before @data. Got 0."),
    "not ARFF": ("a,b\n1,2\n", "x.arff, line 1: a line of an ARFF header must start with.* Got 'a,b'."),
    "no name": ("@attribute {0,1}\n@data\n", "line 1: @attribute must be followed by a name and a type."),
    "open quote in a name": ("@attribute 'a numeric\n@data\n", "line 1: @attribute must be followed by a name"),
    "text column": (
        "@attribute t string\n@data\n",
        "line 1: column 't' must be numeric or nominal. Got 'string'; ignore= or",
    ),
    "date column": (
        '@attribute t date "yyyy"\n@data\n',
        "column 't' must be numeric or nominal. Got 'date \"yyyy\"'; dates= or",
    ),
    "hierarchical column": ("@attribute t hierarchical 1,1/2\n@data\n", "column 't' must be numeric or nominal."),
    "no type": ("@attribute t\n@data\n", "line 1: column 't' must be numeric or nominal. Got ''; ignore= or"),
    "same name": (
        "@attribute a real\n\n@attribute a real\n@data\n",
        "line 3: column names must differ. Got 'a' twice.",
    ),
    "same value": ("@attribute a {x,x}\n@data\n", "line 1: the values of column 'a' must differ. Got 'x' twice."),
    "no values": ("@attribute a {}\n@data\n", "line 1: column 'a' must list its values as {a, b, ...}."),
    "open braces": ("@attribute a {0,1\n@data\n", "line 1: column 'a' must list its values as {a, b, ...}."),
    "too short": (HEAD + "1,red,0\n1,red\n", "x.arff, line 7: a row must hold 3 values. Got 2."),
    "too long": (HEAD + "1,red,0,1\n", "line 6: a row must hold 3 values. Got 4."),
    "far too long": (HEAD + "1,red,0,1,1\n", "line 6: a row must hold 3 values. Got 5."),
    "two question marks": (HEAD + "% c\n??,red,0\n", "line 7: column 'a' must be a finite number.*Got '??'"),
    "no number": (HEAD + "x,red,0\n", "line 6: column 'a' must be a finite number.*Got 'x'"),
    "Python's number": (HEAD + "1_0,red,0\n", "line 6: column 'a' must be a finite number.*Got '1_0'"),
    "digits of another script": (HEAD + "٣,red,0\n", "line 6: column 'a' must be a finite number.*Got '٣'"),
    "overflow": (HEAD + "1,red,0\n1e999,red,0\n", "line 7: column 'a' must be a finite number.*Got '1e999'"),
    "infinity in a sparse row": (HEAD + "{}\n{0 -inf}\n", "line 7: column 'a' must be a finite number.*Got '-inf'"),
    "undeclared": (
        HEAD + "1,green,0\n",
        "line 6: column 'b c' must be one of {red, blue}. Got 'green'; missing_words= or",
    ),
    "undeclared number": (HEAD + "1,red,0\n1,red,2\n", "line 7: column 'y' must be one of {0, 1}. Got 2."),
    "undeclared number in a sparse row": (HEAD + "{}\n{2 2}\n", "line 7: column 'y' must be one of {0, 1}. Got 2."),
    "open quote": (HEAD + "1,'red,0\n", "line 6: quotes must be closed."),
    "open brace": (HEAD + "{0 1\n", "line 6: a sparse row must be {index value, ...}."),
    "no pairs": (HEAD + "{0 1,2}\n", "line 6: a sparse row must be {index value, ...}. Got '2}'."),
    "two pairs without a comma": (HEAD + "{0 1 2 1}\n", "line 6: a sparse row must be {index value, ...}."),
    "index too great": (HEAD + "{0 1,3 1}\n", "line 6: indices must be between 0 and 2. Got '3'."),
    "index negative": (HEAD + "{-1 1}\n", "line 6: indices must be between 0 and 2. Got '-1'."),
    "index beyond all": (HEAD + "{99999999999999999999 1}\n", "line 6: indices must be between 0 and 2."),
    "index again": (HEAD + "{0 1,0 2}\n", "line 6: an index must occur once in a row. Got 0 again."),
    "negative weight": (HEAD + "1,red,0,{-2}\n", "a weight behind a row must be {number}, not below 0. Got '{-2}'."),
    "weight of a sparse row that is no number": (
        HEAD + "{0 1},{x}\n",
        "a weight behind a row must be {number}.*Got '{x}'.",
    ),
}


def test_every_dialect_is_read_as_it_stands() -> None:
    def check(title: str) -> None:
        text, expected = DIALECTS[title]
        table = parse_arff(text.encode(), PATH)
        np.testing.assert_array_equal(dense(table), np.array(expected).reshape(-1, len(table.columns)))

    check_all(DIALECTS, check)


def test_liac_arff_reads_the_same_where_it_reads_the_file() -> None:
    def check(title: str) -> None:
        text, _ = DIALECTS[title]
        assert_same_table(parse_arff(text.encode(), PATH), arff.loads(text, encode_nominal=True))

    check_all([title for title in DIALECTS if title not in LIAC_REFUSES], check)


def test_every_defect_is_one_error_with_its_line() -> None:
    def check(title: str) -> None:
        text, message = DEFECTS[title]
        with pytest.raises(FormatError) as caught:
            parse_arff(text.encode(), PATH)
        assert "\n" not in str(caught.value)
        first, *rest = message.split(".*")
        assert first in str(caught.value)
        assert all(part in str(caught.value) for part in rest)

    check_all(DEFECTS, check)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_on_any_system(end: str) -> None:
    text = "@relation t\n@attribute a numeric\n@data\n1\nx\n".replace("\n", end)
    with pytest.raises(FormatError, match="line 5: column 'a'"):
        parse_arff(text.encode(), PATH)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_text_may_be_utf8_or_latin1(encoding: str) -> None:
    text = "@relation t\n@attribute température {été,hiver}\n@data\nété\n"
    table = parse_arff(text.encode(encoding), PATH)
    assert table.columns[0][:2] == ("température", ("été", "hiver"))


def test_rows_know_their_lines_and_the_table_its_title() -> None:
    table = parse_arff(b"@relation 'a b: -C 1'\n@attribute a real\n@data\n% c\n1\n\n2\n", PATH)
    assert (table.relation, table.lines.tolist()) == ("a b: -C 1", [5, 7])


def test_mostly_sparse_rows_become_a_csr_matrix() -> None:
    sparse_rows = parse_arff(DIALECTS["MEKA, sparse"][0].encode(), PATH).cells
    assert isinstance(sparse_rows, sparse.csr_array)
    assert isinstance(parse_arff(DIALECTS["mostly dense with a sparse row"][0].encode(), PATH).cells, np.ndarray)


# liac-arff leaves braces without the quotes that they need.
VALUES = st.lists(st.text("abc '\"%,\\é", min_size=1, max_size=4), min_size=1, max_size=3, unique=True)
KINDS = st.just("REAL") | VALUES


@st.composite
def peer_tables(draw: st.DrawFn) -> dict[str, Any]:
    """Tables for liac-arff to write."""
    kinds = draw(st.lists(KINDS, min_size=1, max_size=4))
    cells = [
        st.floats(allow_nan=False, allow_infinity=False) if kind == "REAL" else st.sampled_from(kind) for kind in kinds
    ]
    rows = draw(st.lists(st.tuples(*cells), min_size=1, max_size=4))
    return {
        "relation": "t",
        "attributes": [(f"column {index}", kind) for index, kind in enumerate(kinds)],
        "data": [list(row) for row in rows],
    }


@given(peer=peer_tables())
def test_what_liac_arff_writes_is_read_as_it_was(peer: dict[str, Any]) -> None:
    table = parse_arff(arff.dumps(peer).encode(), PATH)
    assert list(table.names) == [name for name, _ in peer["attributes"]]
    for index, (_, kind) in enumerate(peer["attributes"]):
        column = dense(table)[:, index].tolist()
        expected = [row[index] for row in peer["data"]]
        assert column == expected if kind == "REAL" else [kind[int(code)] for code in column] == expected


SPLICES = st.sampled_from([*"{}'\"%,?\\@_\x00\xff٣", "\n", "1e999", "nan", "-1", "9" * 30, "@data\n"]) | st.text(
    max_size=4
)


@given(st.sampled_from([text for text, _ in DIALECTS.values()]), SPLICES, st.floats(0, 1), st.integers(0, 3))
def test_whatever_is_in_a_file_it_is_a_table_or_one_error(text: str, splice: str, place: float, n_cut: int) -> None:
    position = int(place * len(text))
    content = (text[:position] + splice + text[position + n_cut :]).encode()
    # Any other error fails the test.
    with suppress(FormatError):
        table = parse_arff(content, PATH)
        assert table.cells.shape == (len(table.lines), len(table.columns))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["synthetic_rand.arff", "Reuters-K500.arff"])
def test_liac_arff_reads_the_same_real_file(shared_data: Any, name: str) -> None:
    content = shared_data(f"multilabel/{name}").read_bytes()
    table = parse_arff(content, PATH)
    peer = arff.loads(content.decode(), return_type=arff.COO, encode_nominal=True)
    values, rows, columns = peer["data"]
    expected = sparse.coo_array((values, (rows, columns)), shape=table.cells.shape).toarray()
    np.testing.assert_array_equal(dense(table), expected)


# Columns that are no features, among two that are, as openSMILE and WEKA write them.
ANY_TYPES = """@relation r
@attribute name string
@attribute a numeric
@attribute 'when, exactly' date "yyyy-MM-dd HH:mm"
@attribute bag relational
  @attribute inner {u,v}
  @attribute name numeric
@end bag
@attribute odd hierarchical
@attribute y {0,1}
@data
"""


@pytest.mark.parametrize(
    "rows",
    [
        "'it\\'s, well', 1.5, '2026-01-31 10:30', 'u,1\\nv,2', a/b, 1\n?,2,?,?,?,0 % c\n",
        "{0 '{x}, \\'y\\'', 1 1.5, 2 \"2026-01-31 10:30\", 3 'u,1\\nv,2', 4 a/b, 5 1}\n{1 2}\n",
    ],
)
def test_columns_of_any_type_can_be_ignored(tmp_path: Path, rows: str) -> None:
    (tmp_path / "x.arff").write_text(ANY_TYPES + rows, encoding="utf-8")
    ignore = ["name", "when, exactly", "bag", "odd"]
    table = load_dataset(tmp_path / "x.arff", -1, ignore=ignore)
    assert (table.feature_names, table.label_names) == (("a",), ("y",))
    assert (table.X.tolist(), table.Y.tolist()) == ([[1.5], [2]], [[1], [0]])
    for left in ignore:
        with pytest.raises(
            FormatError, match=rf"column '{left}' must be numeric or nominal. .*; .*ignore= or --ignore"
        ):
            load_dataset(tmp_path / "x.arff", -1, ignore=[name for name in ignore if name != left])


@pytest.mark.parametrize(
    "rows", ["1,red,0,{0.5}\n2,blue,1\n?,red,1 , { 3 } % c\n", "{0 1}, {0.5}\n{0 2,1 blue,2 1}\n{0 ?,2 1},{3}% c\n"]
)
def test_weights_of_weka_become_those_of_samples(tmp_path: Path, rows: str) -> None:
    (tmp_path / "x.arff").write_text(HEAD + rows, encoding="utf-8")
    weights = load_dataset(tmp_path / "x.arff", -1, missing="keep").sample_weight
    assert weights is not None
    assert weights.tolist() == [0.5, 1, 3]
    dropped = load_dataset(tmp_path / "x.arff", -1, missing="drop", ignore=["b c"]).sample_weight
    assert dropped is not None
    assert dropped.tolist() == [0.5, 1]
    chunks = list(iter_dataset(tmp_path / "x.arff", -1, missing="keep", chunk_size=1))
    assert [chunk.sample_weight for chunk in chunks] == [0.5, 1, 3]
    (tmp_path / "x.arff").write_text(HEAD + "1,red,0\n", encoding="utf-8")
    assert load_dataset(tmp_path / "x.arff", -1).sample_weight is None


def dense(table: Table) -> Any:
    return table.cells.toarray() if sparse.issparse(table.cells) else table.cells


def assert_same_table(table: Table, peer: dict[str, Any]) -> None:
    """The peer numbers all nominal values; we keep those that are numbers."""
    expected = np.array(peer["data"], dtype=float).reshape(-1, len(table.columns))
    for index, column in enumerate(table.columns):
        if column.numbers is not None:
            there = ~np.isnan(expected[:, index])
            expected[there, index] = np.array(column.numbers)[expected[there, index].astype(int)]
    np.testing.assert_array_equal(dense(table), expected)
