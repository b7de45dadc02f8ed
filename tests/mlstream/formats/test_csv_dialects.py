"""One table, written in any dialect of CSV, is read as the same data set."""

import csv
import gzip
import re
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlstream._support.content import FormatError
from mlstream.data.datasets import iter_dataset, load_dataset
from mlstream.formats import csv_blocks, csv_tables, csv_words, lines
from mlstream.formats.csv_blocks import read_fast
from mlstream.formats.csv_dialects import CsvDialect, CsvHeader
from mlstream.formats.csv_words import find_words
from mlstream.streams.stream import Dataset
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
    pd = pytest.importorskip("pandas", reason="needs pandas: the extra tables")
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
                    "line 1: text must be UTF-8 or Latin-1. Got zero bytes, as of UTF-16; save it as CSV in UTF-8",
                ),
                (
                    "a b y\n1 2 0\n",
                    "line 1: the names of columns must be at least two, .* Got 'a b y'; separator= or --sep",
                ),
                (
                    ",a,y\n5,1,0\n",
                    "line 2: the first column must have a name, unless it numbers the rows .* Got '5' for row 0",
                ),
                (",a,y\n0,1,0\n2,1,0\n", "line 3: the first column must have a name, .* Got '2' for row 1"),
                ("a;y\n1,5;0\n", "line 2: column 'a' must be a finite number, .* Got '1,5'; write a decimal point"),
                ("a,y\n2024-01-05,0\n", "line 2: column 'a' must hold numbers or words. Got '2024-01-05', a date"),
                ("a,y\n1,maybe\n", "line 2: label 'y' must be 0 or 1, or empty for an unknown label. Got 'maybe'"),
                (
                    "a,y\nred,0\n",
                    "line 2: column 'a' must be a finite number, .* Got 'red'; categories= or --categories",
                ),
                (
                    "a,y\n" + "".join(f"{row},0\n" for row in range(200)) + "1x,0\n",
                    "line 202: column 'a' must be a finite number, or empty for an unknown label. "
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


def test_words_for_missing_values_are_read_on_demand(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,c,y\n1,u,NA\nNA,v,0\n3,null,1\n", encoding="utf-8")
    table = load_dataset(tmp_path / "x.csv", labels=["y"], missing="mean", categories="ordinal")
    np.testing.assert_array_equal(table.X, [[1, 0], [2, 1], [3, 0.5]])
    np.testing.assert_array_equal(table.Y, [[np.nan], [0], [1]])


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
    with pytest.raises(ValueError, match=r"separator \(--separator\) must be left out for files other than .csv and"):
        load_dataset(tmp_path / "x.arff", separator=";")


def without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (csv_tables, csv_words):
        monkeypatch.setattr(module, "is_worth_pyarrow", lambda _: False)


def make_blocks_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a file of some 10,000 lines for a long one, which is read by pyarrow, in blocks."""
    monkeypatch.setattr(csv_blocks, "_BLOCK_BYTES", 2**15)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 2**15)
    monkeypatch.setattr(lines, "SHORT_BYTES", 2**16)


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


@pytest.mark.parametrize("missing", ["indicator", "keep"])
def test_the_same_bits_come_with_pyarrow_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    path = write_long(tmp_path / "x.csv")

    def read() -> Dataset:
        return load_dataset(path, labels=["y"], missing=missing, categories="one-hot")

    outcomes: list[bool] = []

    def spy(*args: Any, **kwargs: Any) -> Any:
        cells = read_fast(*args, **kwargs)
        outcomes.append(cells is not None)
        return cells

    make_blocks_short(monkeypatch)
    monkeypatch.setattr(csv_tables, "read_fast", spy)
    fast = read()
    # Blocks with quotes or blank lines are left to Python.
    assert set(outcomes) == {False, True}
    without_pyarrow(monkeypatch)
    slow = read()
    assert fast.feature_names == slow.feature_names
    assert fast.X.tobytes() == slow.X.tobytes()
    assert fast.Y.tobytes() == slow.Y.tobytes()


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
    lines = ["1.5,2.5,1"] * 15_000
    lines[10_000] = bad
    (tmp_path / "x.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(FormatError, match=rf"x\.csv, line 10002: {message}"):
        load_dataset(tmp_path / "x.csv", labels=["y"])


@settings(max_examples=300)
@given(st.text(st.sampled_from("0123456789+-.eE_xnaif \t\x0b"), min_size=1, max_size=9))
def test_pyarrow_reads_no_text_that_python_reads_otherwise(text: str) -> None:
    header = CsvHeader(",", ("a", "b"), has_index=False)
    cells = read_fast(f"{text},1\n".encode(), header, [None, None], takes_missing=False)
    if cells is not None:
        expected = float(text) if text.strip() else np.nan
        assert re.fullmatch(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*", text)
        assert cells[0, 0].hex() == expected.hex()


def test_a_packed_file_is_read_twice_if_it_holds_words(tmp_path: Path) -> None:
    content = b"c,y\n" + b"red,0\nblue,1\n" * 30
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(content))
    (tmp_path / "x.csv").write_bytes(content)
    packed, plain = (load_dataset(tmp_path / f"x.csv{end}", labels=-1, categories="ordinal") for end in (".gz", ""))
    assert packed.sha256 == plain.sha256
    assert packed.X.tobytes() == plain.X.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["u", "v"], ""),
        (["1", "2", "3+"], ""),
        (["true", "false", ""], ""),
        (["1.5", "NA", "-2"], "line 3: column 'a' must be .* Got 'NA'"),
        (["1.5", "2024-01-05", "-2"], "line 3: .* Got '2024-01-05', a date"),
        ([*map(str, range(150)), "x"], "line 152: .* Got 'x', among numbers"),
        ([f"note {number}" for number in range(150)], "line 2: column 'a' must have at most 100 different words"),
    ],
)
def test_words_of_a_long_file_are_found_alike_with_pyarrow_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: list[str], message: str
) -> None:
    # A long column of plain numbers makes the file long enough for pyarrow to be asked.
    lines = [f"{cells[row % len(cells)]},{row}.{'0' * 99},{row % 2}" for row in range(10_000)]
    path = tmp_path / "x.csv"
    path.write_text("a,b,y\n" + "\n".join(lines) + "\n", encoding="utf-8")

    def outcome() -> object:
        with path.open("rb") as source:
            try:
                return find_words(source, path, CsvDialect(None))
            except FormatError as error:
                return str(error)

    fast = outcome()
    without_pyarrow(monkeypatch)
    assert outcome() == fast
    assert (not message and isinstance(fast, dict)) or re.search(message, str(fast))
