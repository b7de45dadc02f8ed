"""One table, written in any dialect of CSV, is read as the same data set."""

import csv
import gzip
import re
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream._support.content import FormatError
from mlstream.data.datasets import iter_dataset, load_dataset
from mlstream.formats import csv_blocks, lines
from mlstream.formats.csv_tables import parse_csv
from tests.loops import check_all

SEPARATORS = [",", ";", "\t", "|"]
WORDS = ["red", "blue", "gr\u00fcn", "two words", "a,b", "c;d", 'say "x"', "x|y"]
BOOLEANS = [("true", "false"), ("True", "False"), ("TRUE", "FALSE"), ("yes", "no"), ("Yes", "No")]


class Dialect(NamedTuple):
    """How a file is written."""

    separator: str = ","
    line_end: str = "\n"
    bom: bool = False
    quoting: int = csv.QUOTE_MINIMAL
    index: bool = False
    booleans: tuple[str, str] = ("True", "False")
    tsv: bool = False


@st.composite
def rows(draw: st.DrawFn) -> list[tuple[float | None, str, bool, int, int]]:
    """Draw rows: a number or nothing, a word, a truth value, two labels."""
    number = st.none() | st.floats(allow_nan=False, allow_infinity=False)
    row = st.tuples(number, st.sampled_from(WORDS), st.booleans(), st.integers(0, 1), st.integers(0, 1))
    return draw(st.lists(row, min_size=1, max_size=12).filter(lambda rows: any(row[0] is not None for row in rows)))


DIALECTS = st.builds(
    Dialect,
    st.sampled_from(SEPARATORS),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
    st.sampled_from(BOOLEANS),
)


def write(path: Path, rows: list[Any], dialect: Dialect) -> Path:
    sink = StringIO()
    writer = csv.writer(sink, delimiter=dialect.separator, lineterminator=dialect.line_end, quoting=dialect.quoting)
    writer.writerow([""] * dialect.index + ["x", "c", "b", "y", "z"])
    for number, (x, word, truth, *labels) in enumerate(rows):
        cells = ["" if x is None else repr(x), word, dialect.booleans[not truth], *map(str, labels)]
        writer.writerow([str(number)] * dialect.index + cells)
    path.write_bytes((b"\xef\xbb\xbf" if dialect.bom else b"") + sink.getvalue().encode())
    return path


def expected(rows: list[Any]) -> tuple[list[str], np.ndarray, np.ndarray]:
    words = sorted({row[1] for row in rows})
    X = [
        [np.nan if x is None else x, *(float(word == one) for one in words), float(truth)]
        for x, word, truth, *_ in rows
    ]
    return ["x", *(f"c={word}" for word in words), "b"], np.array(X), np.array([row[3:] for row in rows])


@given(rows(), DIALECTS)
def test_every_dialect_is_read_as_the_same_table(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], dialect: Dialect
) -> None:
    name = "x.tsv" if dialect.separator == "\t" else "x.csv"
    path = write(tmp_path_factory.mktemp("csv") / name, rows, dialect)
    table = load_dataset(path, labels=["y", "z"], missing="keep", categories="one-hot")
    names, X, Y = expected(rows)
    assert list(table.feature_names) == names
    assert table.X.tobytes() == X.tobytes()
    np.testing.assert_array_equal(table.Y, Y)
    (chunk,) = iter_dataset(path, labels=["y", "z"], missing="keep", categories="one-hot")
    assert chunk.X.tobytes() == X.tobytes()


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("index", [False, True])
def test_what_pandas_writes_is_read(tmp_path: Path, separator: str, index: bool) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=50), "b": rng.random(50) < 0.5, "c": rng.choice(["u", "v"], 50)})
    frame.loc[3, "x"] = np.nan
    frame["y"] = rng.integers(0, 2, 50)
    frame.to_csv(tmp_path / "x.csv", sep=separator, index=index)
    table = load_dataset(tmp_path / "x.csv", labels=["y"], missing="keep", categories="ordinal")
    assert table.feature_names == ("x", "b", "c")
    np.testing.assert_array_equal(table.X, np.column_stack([frame.x, frame.b, frame.c == "v"]))
    np.testing.assert_array_equal(table.Y[:, 0], frame.y)


def test_what_is_not_read_is_one_error_with_the_way_out(tmp_path: Path) -> None:
    def check(case: tuple[int, tuple[str, str]]) -> None:
        number, (text, message) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "x.csv").write_text(text, encoding="utf-8")
        with pytest.raises(
            FormatError, match=rf"x\.csv, {message}" if message.startswith("line") else message
        ) as caught:
            load_dataset(folder / "x.csv", labels=["y"])
        assert "\n" not in str(caught.value)

    check_all(
        enumerate(
            [
                (
                    "a;b,y\n1;2,0\n",
                    "line 1: the names of columns must be separated by one of .* Got commas and semicolons in",
                ),
                (
                    "a\0,\0y\0\n\0",
                    "line 1: text must be UTF-8 or Windows-1252. Got zero bytes, as of UTF-16; save it as CSV in UTF-8",
                ),
                (
                    "a b y\n1 2 0\n",
                    "line 1: the names of columns must be at least two, .* Got 'a b y'; separator= or --sep",
                ),
                (
                    ",a,y\n5,1,0\n",
                    "line 2: the first column must have a name, unless it counts the rows .* Got '5' for row 0",
                ),
                (",a,y\n0,1,0\n2,1,0\n", "line 3: the first column must have a name, .* Got '2' for row 1"),
                ("x,,a,b\n1,2,0,1\n", "line 1: column 2 must have a name. Got a blank; ignore="),
                (
                    "a;y\n1,5;0\n",
                    "line 2: column 'a' must be a finite number, .* Got '1,5'; decimal=',' or --decimal comma",
                ),
                ("a,y\n2024-01-05,0\n", "line 2: column 'a' must hold numbers or words. Got '2024-01-05', a date"),
                (
                    "a,y\n1,0\nx,1\n",
                    "line 3: column 'a' must .* Got 'x', among numbers; missing_words= or .*, categories= or",
                ),
                ("a,y\n1,maybe\n", "line 2: label 'y' must be 0 or 1, or empty where it is unknown. Got 'maybe'"),
                (
                    "a,y\nred,0\n",
                    "line 2: column 'a' must be a finite number, .* Got 'red'; categories= or --categories",
                ),
                (
                    "a,y\n" + "".join(f"{row},0\n" for row in range(200)) + "1x,0\n",
                    "line 202: column 'a' must be a finite number, or empty where it is unknown. "
                    "Got '1x', among numbers",
                ),
                (
                    "a,y\n" + "".join(f"note {row},0\n" for row in range(60)),
                    "must have at most 100 different words, each twice",
                ),
            ]
        ),
        check,
    )


def test_a_line_of_excel_states_the_separator(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("sep=;\na, in mm;y\n1;0\nx;1\n", encoding="utf-8")
    with pytest.raises(FormatError, match="line 4: column 'a, in mm' must be a finite number"):
        load_dataset(tmp_path / "x.csv", labels=["y"])
    table = load_dataset(tmp_path / "x.csv", labels=["y"], categories="ordinal")
    assert (table.feature_names, table.X.tolist()) == (("a, in mm",), [[0], [1]])


def test_labels_may_be_words_for_truth_values(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,y\n1,yes\n2,no\n3,\n", encoding="utf-8")
    table = load_dataset(tmp_path / "x.csv", labels=["y"])
    np.testing.assert_array_equal(table.Y, [[1], [0], [np.nan]])
    assert table.reading is None


def test_rows_of_missing_values_are_rows_and_empty_lines_of_spreadsheets_are_none(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b,y\n1,2,0\n\n,,\nNA,NA,?\n , ,\n3,4,1\n,,\n", encoding="utf-8")
    with pytest.warns(UserWarning, match=r"x\.csv: rows without any value were left out: 3"):
        table = load_dataset(tmp_path / "x.csv", labels=["y"], missing="keep")
    np.testing.assert_array_equal(np.hstack([table.X, table.Y]), [[1, 2, 0], [np.nan] * 3, [3, 4, 1]])
    # What is ignored is there all the same.
    (tmp_path / "x.csv").write_text("id,a,y\nu,1,0\nv,,\n", encoding="utf-8")
    table = load_dataset(tmp_path / "x.csv", labels=["y"], missing="keep", ignore=["id"])
    np.testing.assert_array_equal(np.hstack([table.X, table.Y]), [[1, 0], [np.nan] * 2])


def test_a_cell_may_begin_with_a_byte_order_mark_though_a_file_does_not(tmp_path: Path) -> None:
    text = "\ufeffc,y\n\ufeffred,0\nred,1\n\ufeffred,0\n"
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    table = load_dataset(tmp_path / "x.csv", labels=["y"], categories="one-hot")
    assert (table.feature_names, table.X.tolist()) == (("c=red", "c=\ufeffred"), [[0, 1], [1, 0], [0, 1]])


def test_chunks_without_a_complete_row_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,y\n1,0\n,1\n,1\n,0\n5,1\n", encoding="utf-8")
    chunks = list(iter_dataset(tmp_path / "x.csv", labels=["y"], chunk_size=2, missing="drop"))
    assert [chunk.X.tolist() for chunk in chunks] == [[[1]], [[5]]]
    (tmp_path / "y.csv").write_text("a,y\n,0\n,1\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"y\.csv must hold at least one row. Got 2 with missing values"):
        list(iter_dataset(tmp_path / "y.csv", labels=["y"], missing="drop"))
    with pytest.raises(ValueError, match="missing must be error, drop or keep for a table that is read in chunks"):
        next(iter_dataset(tmp_path / "x.csv", labels=["y"], missing="mean"))


def test_a_separator_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.arff").write_text("@relation 'x: -C 1'\n@attribute y {0,1}\n@data\n", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"separator \(--separator\) must be left out for files other than csv and tsv"
    ):
        load_dataset(tmp_path / "x.arff", separator=";")


def make_blocks_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a file of some 1,000 lines in many blocks."""
    monkeypatch.setattr(csv_blocks, "_BLOCK_BYTES", 2**13)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 2**12)


MARKS = {"u": 0, "v": 1, "False": 0, "True": 1, "": np.nan}


def write_long(path: Path) -> Path:
    """Write 4,000 lines: plain blocks, and some with quotes, blank lines, words and odd spellings of numbers."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(4_000, 3)) * 10.0 ** rng.integers(-300, 300, (4_000, 3))
    lines = [
        f"{row},{a!r},{b:.3g},{c:.17e},{'uv'[row % 2]},{row % 3 == 0},{row % 2}"
        for row, (a, b, c) in enumerate(numbers.tolist())
    ]
    lines[7] = '7," 1",,+2e1,"u",True,1'
    lines[40] = "40,,1.,.5, v,False,0\n"
    lines[3_000] = "3000,,1.,+.5,,,0"
    path.write_text(",a,b,c,d,e,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_same_bits_come_in_one_block_and_in_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_long(tmp_path / "x.csv")
    with path.open(newline="", encoding="utf-8") as file:
        cells = [[cell.strip() for cell in row] for row in csv.reader(file) if row][1:]
    expected = [
        [*(float(cell) if cell else np.nan for cell in row[1:4]), *(MARKS[cell] for cell in row[4:6])] for row in cells
    ]
    for _ in range(2):
        table = load_dataset(path, labels=["y"], missing="keep", categories="ordinal")
        assert table.feature_names == ("a", "b", "c", "d", "e")
        np.testing.assert_array_equal(table.X, expected)
        assert table.Y[:, 0].tolist() == [int(row[6]) for row in cells]
        make_blocks_short(monkeypatch)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("1,2", "a row must hold 3 values. Got 2"),
        ("1,x,0", "column 'b' must be a finite number"),
        ("1,inf,0", "column 'b'"),
    ],
)
def test_a_bad_row_of_a_long_file_has_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: str, message: str
) -> None:
    make_blocks_short(monkeypatch)
    lines = ["1.5,2.5,1"] * 3_000
    lines[2_000] = bad
    (tmp_path / "x.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(FormatError, match=rf"x\.csv, line 2002: {message}"):
        load_dataset(tmp_path / "x.csv", labels=["y"])


@settings(max_examples=300)
@given(st.text(st.sampled_from("0123456789+-.eE_xnaif \t\x0b"), min_size=1, max_size=9))
def test_a_cell_is_the_number_that_python_reads_or_an_error(text: str) -> None:
    with suppress(FormatError):
        cell = parse_csv(f"a,b\n{text},1\n".encode(), Path("x.csv")).cells[0, 0]
        assert cell.hex() == (float(text) if text.strip() else np.nan).hex()
        assert re.fullmatch(r"\s*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)?\s*", text)


def test_a_packed_file_is_read_twice_if_it_holds_words(tmp_path: Path) -> None:
    content = b"c,y\n" + b"red,0\nblue,1\n" * 30
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(content))
    (tmp_path / "x.csv").write_bytes(content)
    packed, plain = (load_dataset(tmp_path / f"x.csv{end}", labels=-1, categories="ordinal") for end in (".gz", ""))
    assert packed.sha256 == plain.sha256
    assert packed.X.tobytes() == plain.X.tobytes()


FIELDS = st.text(st.sampled_from("ab ,;\t|\"'\r\n\u00e9\u20ac#%"), max_size=5)


@given(
    st.lists(st.tuples(FIELDS, FIELDS, st.sampled_from("01")), min_size=1, max_size=8),
    st.sampled_from(SEPARATORS),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
)
def test_no_row_is_lost_and_no_word_is_changed_as_pandas_reads_it(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, str]],
    separator: str,
    quoting: int,
    has_names: bool,
) -> None:
    sink = StringIO()
    writer = csv.writer(sink, delimiter=separator, quoting=quoting, lineterminator="\r\n")
    # A letter at both ends, for blanks around words do not count.
    writer.writerows([("first", "second", "y")] * has_names + [(f"w{a}w", f"w{b}w", y) for a, b, y in rows])
    path = tmp_path_factory.mktemp("t") / "x.csv"
    path.write_bytes(sink.getvalue().encode())
    peer = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, header=0 if has_names else None)
    table = load_dataset(path, -1, separator=separator, header=has_names, categories="one-hot")
    names = list(peer.columns) if has_names else ["x0", "x1", "x2"]
    words = [sorted(set(column)) for column in (peer.iloc[:, 0], peer.iloc[:, 1])]
    assert table.feature_names == tuple(
        f"{name}={word}" for name, one in zip(names, words, strict=False) for word in one
    )
    expected = [
        [*(row[0] == word for word in words[0]), *(row[1] == word for word in words[1])]
        for row in peer.itertuples(index=False)
    ]
    np.testing.assert_array_equal(table.X, expected)
    assert table.Y[:, 0].tolist() == [int(y) for y in peer.iloc[:, 2]]


HEADERS = {
    # Empty lines of spreadsheets, before the names and after the rows.
    "\n\na,b,y\n1,2,0\n\n3,4,1\n\n\n": {},
    ",,\na,b,y\n1,2,0\n3,4,1\n": {},
    # A separator at the ends of lines.
    "a,b,y,\n1,2,0,\n3,4,1,\n": {},
    "a,b,y\n1,2,0,\n3,4,1,\n": {},
    "a,b,y,,\n1,2,0,,\n3,4,1,,\n": {},
    # An index of pandas and of R.
    ",a,b,y\n0,1,2,0\n1,3,4,1\n": {},
    '"","a","b","y"\n"1",1,2,0\n"2",3,4,1\n': {},
    # Columns without a name, or that are not wanted.
    "a,,b,y\n1,u,2,0\n3,v,4,1\n": {"ignore": [""]},
    ",a,b,y\nr1,1,2,0\nr2,3,4,1\n": {"ignore": [""]},
    "Unnamed: 0,a,b,y\n0,1,2,0\n1,3,4,1\n": {"ignore": ["Unnamed: 0"]},
    "a,id,b,y\n1,P-1,2,0\n3,P-2,4,1\n": {"ignore": ["id"]},
    # One that separates, as no one would guess.
    "a:b:y\n1:2:0\n3:4:1\n": {"separator": ":"},
    "a b y\n1 2 0\n3 4 1\n": {"separator": " "},
}


def test_columns_are_those_that_have_a_name(tmp_path: Path) -> None:
    def check(text: str) -> None:
        (tmp_path / "x.csv").write_text(text, encoding="utf-8")
        table = load_dataset(tmp_path / "x.csv", -1, **HEADERS[text])
        assert (table.feature_names, table.label_names) == (("a", "b"), ("y",))
        assert (table.X.tolist(), table.Y.tolist()) == ([[1, 2], [3, 4]], [[0], [1]])

    check_all(HEADERS, check)


def test_a_file_without_names_loses_no_row(tmp_path: Path) -> None:
    def check(text: str) -> None:
        (tmp_path / "x.csv").write_text(text, encoding="utf-8")
        table = load_dataset(tmp_path / "x.csv", ["x2"], header=False)
        assert table.feature_names == ("x0", "x1")
        assert (table.X.tolist(), table.Y.tolist()) == ([[1, 2], [3, 4]], [[0], [1]])

    check_all(
        ["1,2,0\n3,4,1", "\n\n1;2;0\n3;4;1\n\n", "sep=|\r\n1|2|0\r\n3|4|1\r\n", "\ufeff1\t2\t0\n3\t4\t1\n"], check
    )


def test_an_empty_column_at_the_end_of_a_file_without_names_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1,2,0,\n3,4,1,\n", encoding="utf-8")
    with pytest.warns(UserWarning, match=r"x\.csv: column 'x3' is empty in every row; ignore= or --ignore leaves"):
        assert load_dataset(tmp_path / "x.csv", -1, header=False).label_names == ("x3",)
    assert load_dataset(tmp_path / "x.csv", -1, header=False, ignore=["x3"]).label_names == ("x2",)


def test_the_index_of_pandas_that_became_a_column_is_warned_of(tmp_path: Path) -> None:
    pd.DataFrame({"Unnamed: 0": [9, 2], "a": [5, 7], "y": [0, 1]}).to_csv(tmp_path / "x.csv", index=False)
    with pytest.warns(UserWarning, match=r"column 'Unnamed: 0' has the name that pandas gives to an index; ignore= or"):
        load_dataset(tmp_path / "x.csv", -1)


def test_lines_of_blanks_are_empty_outside_of_quotes(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('a,w,y\n1,"u\n  \nv",0\n   \n2,u,1\n  \n', encoding="utf-8")
    table = load_dataset(path, ["y"], categories="one-hot")
    assert (table.feature_names, table.Y.tolist()) == (("a", "w=u", "w=u\n  \nv"), [[0], [1]])
