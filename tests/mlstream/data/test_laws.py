"""Laws of all readers: one table is read alike from all formats, and what cannot be read is one error."""

import datetime as dt
import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from scipy import sparse

from mlstream._support.content import FormatError
from mlstream.data.datasets import iter_dataset, load_dataset
from mlstream.streams.stream import Dataset
from tests.loops import check_all


class Table(NamedTuple):
    """Columns by name: numbers (floats), words (str) and labels (0 and 1), or None; the last two are labels."""

    columns: dict[str, list[Any]]
    missing: str = ""
    """How a missing cell is written."""

    @property
    def labels(self) -> list[str]:
        return list(self.columns)[-2:]

    def words(self, name: str) -> list[str]:
        return sorted({cell for cell in self.columns[name] if isinstance(cell, str)})

    def rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*self.columns.values(), strict=True))


IGNORED = "ignored"


def in_quotes(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def in_arff(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def spell(cell: Any, missing: str, quote: Callable[[str], str]) -> str:
    if cell is None:
        return missing
    return quote(cell) if isinstance(cell, str) else repr(cell)


def delimited(table: Table, separator: str) -> str:
    lines = [[in_quotes(name) for name in table.columns]]
    lines += [[spell(cell, table.missing, in_quotes) for cell in row] for row in table.rows()]
    return "".join(separator.join(line) + "\n" for line in lines)


def kinds(table: Table, quote: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    for name in table.columns:
        words = ",".join(map(quote, table.words(name)))
        kind = "{0,1}" if name in table.labels and not words else f"{{{words}}}" if words else "numeric"
        yield name, "string" if name == IGNORED else kind


def arff(table: Table) -> str:
    head = "".join(f"@attribute {in_arff(name)} {kind}\n" for name, kind in kinds(table, in_arff))
    rows = [[spell(cell, table.missing, in_arff) for cell in row] for row in table.rows()]
    return f"@relation t\n{head}@data\n" + "".join(",".join(row) + "\n" for row in rows)


def sparse_arff(table: Table) -> str:
    """Write sparse rows, which leave out zeros, and the first value of each column of words."""
    head = arff(table).partition("@data\n")[0] + "@data\n"
    first = [(table.words(name) or [0])[0] for name in table.columns]
    rows = [
        [
            f"{place} {spell(cell, table.missing or '?', in_arff)}"
            for place, cell in enumerate(row)
            if cell != first[place]
        ]
        for row in table.rows()
    ]
    return head + "".join("{" + ", ".join(row) + "}\n" for row in rows)


def keel(table: Table) -> str:
    head = "".join(f"@attribute {name} {kind.replace('numeric', 'real')}\n" for name, kind in kinds(table, str))
    inputs = ", ".join(name for name in table.columns if name not in table.labels)
    rows = [", ".join(spell(cell, table.missing, str) for cell in row) for row in table.rows()]
    return f"@relation t\n{head}@inputs {inputs}\n@outputs {', '.join(table.labels)}\n@data\n" + "\n".join([*rows, ""])


def holds_keel(table: Table) -> bool:
    """Tell whether KEEL, which knows no quotes within values, can hold a table."""
    texts = [*table.columns, *(word for name in table.columns for word in table.words(name))]
    return not any(sign in text for text in texts for sign in ",{}[]'\"%@\r\n\\") and all(
        text.split() == [text] for text in texts
    )


TEXTS: dict[str, Callable[[Table], str]] = {
    "x.csv": lambda table: delimited(table, ","),
    "semicolon.csv": lambda table: delimited(table, ";"),
    "x.tsv": lambda table: delimited(table, "\t"),
    "x.arff": arff,
    "sparse.arff": sparse_arff,
    "x.dat": keel,
}
FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": lambda columns: pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()}),
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
}
FORMATS = (*TEXTS, "x.parquet", *FRAMES)


def write(folder: Path, name: str, table: Table, encoding: str = "utf-8") -> Path:
    path = folder / name
    if name == "x.parquet":
        parquet.write_table(pa.table(table.columns), path)
    else:
        path.write_bytes(TEXTS[name](table).encode(encoding))
    return path


def read(folder: Path, name: str, table: Table, encoding: str = "utf-8", **options: Any) -> Dataset:
    """Write a table and read it, whole and in chunks."""
    in_chunks = not {"classes", "present", "tags"}.intersection(options)
    options = {"labels": table.labels, "missing": "keep", "categories": "one-hot"} | options
    if name in FRAMES:
        return Dataset.from_frame(FRAMES[name](table.columns), **options)
    path = write(folder, name, table, encoding)
    if name.endswith(".csv"):
        options["separator"] = ";" if name == "semicolon.csv" else ","
    whole = load_dataset(path, **options)
    for size in (1, 2, len(table.rows())) if in_chunks else ():
        chunks = list(iter_dataset(path, chunk_size=size, **options))
        assert {chunk.feature_names for chunk in chunks} == {whole.feature_names}
        np.testing.assert_array_equal(np.vstack([dense(chunk.X) for chunk in chunks]), dense(whole.X))
        np.testing.assert_array_equal(np.vstack([chunk.Y for chunk in chunks]), whole.Y)
    return whole


def dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


def expected(table: Table) -> tuple[list[str], list[list[float]], list[list[float]]]:
    """Return names of features, X and Y, cell by cell."""
    names: list[str] = []
    X: list[list[float]] = [[] for _ in table.rows()]
    for name in [name for name in table.columns if name not in table.labels]:
        words = table.words(name)
        names += [f"{name}={word}" for word in words] if words else [name]
        for row, cell in zip(X, table.columns[name], strict=True):
            if not words:
                row.append(np.nan if cell is None else float(cell))
            else:
                row.extend(np.nan if cell is None else float(cell == word) for word in words)
    Y = [[np.nan if cell is None else float(cell) for cell in row[-2:]] for row in table.rows()]
    return names, X, Y


MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "<NA>", "null", "NULL", "?", "<null>"]
# Whatever looks like something else: missing values, numbers, separators, quotes, comments, line breaks.
ODD = [
    "0",
    "-1.5",
    "1e5",
    "a,b",
    "c;d",
    'say "x"',
    "it's",
    "x|y",
    "50%",
    "{z}",
    "line\nbreak",
    "r\r\nn",
    "tab\tbed",
    "\\n",
]
WORDS = st.sampled_from(
    ["red", "Red", "gr\xfcn", "two words", "\u20ac 5", "\u65e5\u672c", *ODD, *MISSING[1:]]
) | st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=4)
LABELS = st.sampled_from([0, 1, None])


@st.composite
def tables(draw: st.DrawFn, words: st.SearchStrategy[str] = WORDS) -> Table:
    n_rows = draw(st.integers(1, 6))

    def column(cells: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(cells, min_size=n_rows, max_size=n_rows))

    vocabulary = draw(st.lists(words, min_size=1, max_size=3, unique=True))
    numbers = st.none() | st.floats(-1e15, 1e15)
    names = draw(st.lists(words.filter(str.strip), min_size=5, max_size=5, unique=True))
    cells = [column(numbers), column(st.sampled_from([*vocabulary, None])), column(numbers), column(LABELS)]
    return Table(dict(zip(names, [*cells, column(LABELS)], strict=True)))


def is_plain(table: Table) -> bool:
    """Tell whether columns of words are nothing else: numbers, or truth values, which ARFF and KEEL declare."""
    columns = [table.words(name) for name in table.columns if table.words(name)]
    return not any(
        {word.lower() for word in words} <= pair for words in columns for pair in ({"yes", "no"}, {"true", "false"})
    ) and not any(all(map(is_number, words)) for words in columns)


def is_number(text: str) -> bool:
    try:
        return np.isfinite(float(text))
    except ValueError:
        return False


def is_latin(table: Table) -> bool:
    """Tell whether a table can be written in Windows-1252, and not be mistaken for UTF-8."""
    texts = [*table.columns, *(word for name in table.columns for word in table.words(name))]
    try:
        contents = [text.encode("cp1252") for text in texts if not text.isascii()]
    except UnicodeEncodeError:
        return False
    return bool(contents) and all(content.decode("utf-8", "ignore").encode() != content for content in contents)


@given(tables().filter(is_plain), st.sampled_from(MISSING), st.sampled_from(["utf-8", "utf-8-sig", "cp1252"]))
def test_one_table_is_read_alike_in_every_format(
    tmp_path_factory: pytest.TempPathFactory, table: Table, missing: str, encoding: str
) -> None:
    # No word of the table is a word for a missing value, and a line of a spreadsheet is not empty.
    are_blank = any(all(cell is None for cell in row) for row in table.rows())
    if are_blank or missing in {word for name in table.columns for word in table.words(name)}:
        missing = "(none)"
    table, folder = table._replace(missing=missing), tmp_path_factory.mktemp("t")
    encoding = "utf-8" if encoding == "cp1252" and not is_latin(table) else encoding
    names, X, Y = expected(table)

    def check(name: str) -> None:
        if name == "x.dat" and not holds_keel(table):
            return
        got = read(folder, name, table, encoding, missing_words=[missing])
        assert (list(got.feature_names), list(got.label_names)) == (names, table.labels)
        np.testing.assert_array_equal(dense(got.X), X)
        np.testing.assert_array_equal(got.Y, Y)

    check_all(FORMATS, check)


def in_every_format(table: Table, folder: Path, X: Any, Y: Any, labels: Any = None, **options: Any) -> None:
    """Check what is read of a table in every format; `labels` are the names of labels, if others than those of Y."""

    def check(name: str) -> None:
        got = read(folder, name, table, **options)
        np.testing.assert_array_equal(dense(got.X), X)
        np.testing.assert_array_equal(got.Y, Y)
        assert list(got.label_names) == (labels or table.labels)

    check_all(FORMATS, check)


@pytest.mark.parametrize("missing", MISSING)
def test_every_word_for_a_missing_value_is_one_in_every_format(tmp_path: Path, missing: str) -> None:
    table = Table({"a": [None, 2.5], "c": ["u", None], "y": [None, 1], "z": [0, None]}, missing)
    in_every_format(table, tmp_path, [[np.nan, 1], [2.5, np.nan]], [[np.nan, 0], [1, np.nan]])
    # As text, where there is no type for it.
    texts = pd.DataFrame(
        {name: [missing if cell is None else str(cell) for cell in cells] for name, cells in table.columns.items()}
    )
    texts.to_parquet(tmp_path / "texts.parquet")
    for got in (
        Dataset.from_frame(texts, ["y", "z"], missing="keep", categories="one-hot"),
        load_dataset(tmp_path / "texts.parquet", ["y", "z"], missing="keep", categories="one-hot"),
    ):
        np.testing.assert_array_equal(got.X, [[np.nan, 1], [2.5, np.nan]])
        np.testing.assert_array_equal(got.Y, [[np.nan, 0], [1, np.nan]])


@pytest.mark.parametrize("word", MISSING[1:])
def test_words_in_quotes_and_declared_values_are_never_missing(tmp_path: Path, word: str) -> None:
    table = Table({"c": [word, "red", None], "y": [0, 1, 0], "z": [0, 0, 1]})
    words = sorted([word, "red"])

    def check(name: str) -> None:
        got = read(tmp_path, name, table)
        assert got.feature_names == tuple(f"c={one}" for one in words)
        np.testing.assert_array_equal(
            dense(got.X), [[one == word for one in words], [one == "red" for one in words], [np.nan, np.nan]]
        )

    check_all(TEXTS, check)


def test_words_that_are_named_are_missing_in_quotes_too(tmp_path: Path) -> None:
    table = Table({"a": [1.5, "-", "NA"], "y": [0, 1, 0], "z": [0, 0, 1]})

    def check(name: str) -> None:
        # Numbers are declared, or all that is left.
        text = TEXTS[name](table).replace("{'-','NA'}", "numeric").replace("{-,NA}", "real")
        (tmp_path / name).write_text(text, encoding="utf-8")
        options: Any = {"separator": ","} if name == "x.csv" else {}
        with pytest.raises(FormatError, match=r"column 'a' must .*; (missing_words|categories)= or --"):
            load_dataset(tmp_path / name, ["y", "z"], **options)
        table_of_numbers = load_dataset(
            tmp_path / name, ["y", "z"], missing="keep", missing_words=["-", "NA"], **options
        )
        np.testing.assert_array_equal(dense(table_of_numbers.X), [[1.5], [np.nan], [np.nan]])

    check_all([name for name in TEXTS if name != "sparse.arff"], check)


@pytest.mark.parametrize(
    ("absent", "present"),
    [
        ("no", "yes"),
        ("No", "YES"),
        ("FALSE", "TRUE"),
        ("False", "true"),
        ("f", "t"),
        ("N", "Y"),
        ("-1", "1"),
        ("0", "1.0"),
    ],
)
def test_labels_may_be_two_words(tmp_path: Path, absent: str, present: str) -> None:
    table = Table({"a": [1.0, 2.0, 3.0], "y": [present, absent, None], "z": [absent, absent, absent]})
    in_every_format(table, tmp_path, [[1], [2], [3]], [[1, 0], [0, 0], [np.nan, 0]])


@pytest.mark.parametrize(
    ("y", "present", "expected"),
    [
        (["x", None, "x"], "x", [1, 0, 1]),
        (["x", None, "o"], "x", [1, np.nan, 0]),
        ([None, None, None], "x", [0, 0, 0]),
        (["2", "1", None], "2", [1, 0, np.nan]),
        (["low", "high", "very high"], "high", [0, 1, 0]),
    ],
)
def test_a_value_may_mark_a_label(tmp_path: Path, y: list[Any], present: str, expected: list[float]) -> None:
    table = Table({"a": [1.0, 2.0, 3.0], "y": y, "z": [None, present, None]})
    in_every_format(table, tmp_path, [[1], [2], [3]], np.column_stack([expected, [0, 1, 0]]), present=present)


def test_a_value_that_marks_no_label_is_warned_of(tmp_path: Path) -> None:
    for y in (["x", "o"], [1, 0]):
        table = Table({"a": [1.0, 2.0], "y": y, "z": ["X", "o"]})
        with pytest.warns(UserWarning, match=r"label 'y' never has the value 'X', which present= or --present names"):
            assert read(tmp_path, "pandas", table, present="X").Y.tolist() == [[0, 1], [0, 0]]


def test_each_value_of_a_label_column_may_be_a_label(tmp_path: Path) -> None:
    columns = {"a": [1.0, 2.0, 3.0, 4.0], "y": ["A", "C", "B", None], "z": ["no", "yes", "no", None]}
    Y = [[1, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0], [np.nan] * 4]

    def check(name: str) -> None:
        got = read(tmp_path, name, Table(columns), classes=True)
        assert got.label_names == ("y=A", "y=B", "y=C", "z")
        np.testing.assert_array_equal(got.Y, Y)

    check_all(FORMATS, check)


@pytest.mark.parametrize("separator", [";", "|", ",", " ", "::"])
def test_a_column_may_list_the_labels(tmp_path: Path, separator: str) -> None:
    tags = [separator.join(tags) if tags else None for tags in (["u", "007"], ["7", "u", "u"], ["NA", "no"], [])]
    table = Table({"a": [1.0, 2.0, 3.0, 4.0], "t": tags, "b": [1, 0, 1, 1], "c": [0, 1, 0, 0]})
    Y = np.array([[1, 0, 0, 0, 1], [0, 1, 0, 0, 1], [0, 0, 1, 1, 0], [0] * 5])

    def check(name: str) -> None:
        if name == "x.dat" and separator in {",", " "}:
            return
        got = read(tmp_path, name, table, labels=None, tags="t", tag_separator=separator)
        assert got.label_names == ("007", "7", "NA", "no", "u")
        np.testing.assert_array_equal(got.Y, Y)
        np.testing.assert_array_equal(dense(got.X), [[1, 1, 0], [2, 0, 1], [3, 1, 0], [4, 1, 0]])
        some = read(tmp_path, name, table, labels=["u", "7"], tags="t", tag_separator=separator)
        np.testing.assert_array_equal(some.Y, Y[:, [4, 1]])

    with pytest.warns(UserWarning, match="3 tags that labels= does not name were left out"):
        check_all(FORMATS, check)


def test_tags_that_are_numbers_stay_as_they_are_written(tmp_path: Path) -> None:
    table = Table({"a": [1.0, 2.0, 3.0], "t": ["007", "7", "7.0"], "b": [1, 0, 1], "c": [0, 1, 0]})

    def check(name: str) -> None:
        got = read(tmp_path, name, table, labels=None, tags="t")
        assert got.label_names == ("007", "7", "7.0")
        assert got.Y.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]

    check_all(FORMATS, check)


@given(
    tables().filter(is_plain),
    st.integers(0, 3),
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9),
        st.integers(-(2**62), 2**62),
        st.sampled_from([np.inf, -np.inf, 1e300]),
        st.datetimes(),
    ),
)
def test_a_column_that_is_ignored_changes_nothing_whatever_it_holds(
    tmp_path_factory: pytest.TempPathFactory, table: Table, place: int, cell: Any
) -> None:
    names, X, Y = expected(table)
    columns = list(table.columns.items())
    columns.insert(place, (IGNORED, [cell if row % 2 == 0 else None for row in range(len(X))]))
    table, folder = Table(dict(columns), "(none)"), tmp_path_factory.mktemp("t")

    def check(name: str) -> None:
        if name == "x.dat" and not holds_keel(table):
            return
        written = table if name in {"x.parquet", *FRAMES} else table._replace(columns=dict(columns) | as_text(table))
        got = read(folder, name, written, missing_words=["(none)"], ignore=[IGNORED])
        assert (list(got.feature_names), list(got.label_names)) == (names, table.labels)
        np.testing.assert_array_equal(dense(got.X), X)
        np.testing.assert_array_equal(got.Y, Y)

    check_all(FORMATS, check)


def as_text(table: Table) -> dict[str, list[Any]]:
    return {IGNORED: [cell if cell is None else str(cell) for cell in table.columns[IGNORED]]}


TIMES = [dt.datetime(2026, 1, 31, 10, 30), None, dt.datetime(1969, 12, 31, 23, 59, 59), dt.datetime(2024, 2, 29)]
LABELS_OF_TIMES = [0, 1, 0, 1]


def arff_times(kind: str, form: str) -> str:
    rows = "".join(
        f"{time:'{form}'},{y}\n" if time else f"?,{y}\n" for time, y in zip(TIMES, LABELS_OF_TIMES, strict=True)
    )
    return f"@relation r\n@attribute t date {kind}\n@attribute y {{0,1}}\n@data\n{rows}"


def csv_times(form: str) -> str:
    rows = (f"{time:{form}},{y}\n" if time else f",{y}\n" for time, y in zip(TIMES, LABELS_OF_TIMES, strict=True))
    return "t,y\n" + "".join(rows)


TEXTS_OF_TIMES = {
    "T.csv": csv_times("%Y-%m-%dT%H:%M:%S"),
    "zone.csv": csv_times("%Y-%m-%d %H:%M:%SZ"),
    "slash.csv": csv_times("%Y/%m/%d %H:%M:%S"),
    "iso.arff": arff_times("", "%Y-%m-%dT%H:%M:%S"),
    "pattern.arff": arff_times("'dd.MM.yyyy HH:mm:ss'", "%d.%m.%Y %H:%M:%S"),
    "short.arff": arff_times('"yy-M-d, H:m:s"', "%y-%m-%d, %H:%M:%S"),
}


def to_parts(time: dt.datetime | None) -> list[float]:
    if time is None:
        return [np.nan] * 7
    return [time.year, time.month, time.day, time.weekday(), time.hour, time.minute, time.second]


@pytest.mark.parametrize("dates", ["epoch", "parts"])
def test_times_become_numbers_in_every_format(tmp_path: Path, dates: str) -> None:
    columns = {"t": TIMES, "y": LABELS_OF_TIMES}
    seconds = [[time.replace(tzinfo=dt.UTC).timestamp() if time else np.nan] for time in TIMES]
    X = seconds if dates == "epoch" else list(map(to_parts, TIMES))
    names = ["year", "month", "day", "weekday", "hour", "minute", "second"]
    options: Any = {"labels": ["y"], "missing": "keep", "dates": dates}

    def check(name: str) -> None:
        path = tmp_path / name
        if name in TEXTS_OF_TIMES:
            path.write_text(TEXTS_OF_TIMES[name], encoding="utf-8")
        elif name.endswith(".parquet"):
            parquet.write_table(pa.table({**columns, "t": pa.array(TIMES, pa.timestamp(name.partition(".")[0]))}), path)
        got = Dataset.from_frame(FRAMES[name](columns), **options) if name in FRAMES else load_dataset(path, **options)
        assert got.feature_names == (("t",) if dates == "epoch" else tuple(f"t.{part}" for part in names))
        np.testing.assert_array_equal(got.X, X)

    check_all([*TEXTS_OF_TIMES, "ms.parquet", "us.parquet", "ns.parquet", *FRAMES], check)


@pytest.mark.parametrize("suffix", ["", ".txt", ".data", ".txt.gz"])
def test_the_format_may_be_stated(tmp_path: Path, suffix: str) -> None:
    table = Table({"a": [1.5, -2.0], "y": [1, 0], "z": [0, None]})

    def check(name: str) -> None:
        content = write(tmp_path, name, table).read_bytes()
        path = tmp_path / f"t{suffix}"
        path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
        kind = {"dat": "keel"}.get(name.partition(".")[2], name.partition(".")[2])
        separator = {"semicolon.csv": ";", "x.csv": ","}.get(name)
        for read_one in (load_dataset, lambda *args, **options: next(iter_dataset(*args, **options))):
            with pytest.raises(
                FormatError, match=r"must be a table.* format= or --format \(arff, csv, tsv, keel, parq"
            ):
                read_one(path, ["y", "z"])
            got = read_one(path, ["y", "z"], format=kind, separator=separator)
            np.testing.assert_array_equal(np.hstack([dense(got.X), got.Y]), [[1.5, 1, 0], [-2, 0, np.nan]])

    check_all([*TEXTS, "x.parquet"], check)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tags_may_be_lists(tmp_path: Path, frame: Callable[..., Any]) -> None:
    table = frame({"a": [1.0, 2.0, 3.0], "t": [["u", "v w"], [], ["u"]]})
    pl.DataFrame({"a": [1.0, 2.0, 3.0], "t": [["u", "v w"], [], ["u"]]}).write_parquet(tmp_path / "x.parquet")
    for got in (Dataset.from_frame(table, None, tags="t"), load_dataset(tmp_path / "x.parquet", tags="t")):
        assert (got.label_names, got.Y.tolist()) == (("u", "v w"), [[1, 1], [0, 0], [1, 0]])
    with pytest.raises(FormatError, match="a tag must not hold ' ', which separates tags"):
        Dataset.from_frame(table, None, tags="t", tag_separator=" ")


def test_numbers_of_other_countries_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a;b;w;y\n1,5;2;u;0\n-,5e1;NA;0,5;1\n", encoding="utf-8")
    table = load_dataset(path, ["y"], decimal=",", missing="keep", ignore=["w"])
    np.testing.assert_array_equal(table.X, [[1.5, 2], [-5, np.nan]])
    path.write_text('a,y\n"1,5",0\nu,1\n', encoding="utf-8")
    assert load_dataset(path, ["y"], decimal=",", categories="one-hot").feature_names == ("a=1.5", "a=u")


@pytest.mark.parametrize(
    ("form", "texts"), [("%d.%m.%Y", ("31.01.2026", "01.02.2026")), ("%b %d %y", ("Jan 31 26", "Feb 1 26"))]
)
def test_dates_of_other_countries_are_read(tmp_path: Path, form: str, texts: tuple[str, str]) -> None:
    frame = pd.DataFrame({"when": texts, "a": [1, 2], "y": [0, 1]})
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    days = [dt.datetime(2026, *day, tzinfo=dt.UTC).timestamp() for day in ((1, 31), (2, 1))]
    for read in (
        lambda **options: Dataset.from_frame(frame, ["y"], **options),
        *(lambda path=path, **options: load_dataset(path, ["y"], **options) for path in tmp_path.iterdir()),
    ):
        assert read(date_format=form, dates="epoch").X[:, 0].tolist() == days
        assert read(date_format=form, time="when").times.tolist() == days


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("5.1,3.5,a\n4.9,3,b\n", {"labels": -1, "classes": True}, "column '5.1' has a number for a name; header="),
        ("a,t\n1,u|v\n2,v|w\n", {"tags": "t"}, "no row holds ';', but several hold '|'; tag_separator="),
        (
            "a,y\n" + "".join(f"{row % 9},{row % 2}\n" for row in range(40)) + "x,1\n",
            {"labels": ["y"], "categories": "ordinal"},
            "line 42: column 'a' holds numbers and 'x', and is read as words; missing_words= or",
        ),
        (
            "a,y\n" + "".join(f"w{max(row, 1)},{row % 2}\n" for row in range(20)),
            {"labels": ["y"], "categories": "one-hot"},
            "column 'a' holds a word of its own in almost every row",
        ),
    ],
)  # fmt: skip
def test_what_looks_like_something_else_is_warned_of(tmp_path: Path, text: str, options: Any, message: str) -> None:
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    with pytest.warns(UserWarning, match=re.escape(message)):
        load_dataset(tmp_path / "x.csv", **options)


def test_names_are_found_with_blanks_aside_and_all_that_are_not_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(" Flow ID, a, b,y \nq,1,2,0\nr,3,4,1\n", encoding="utf-8")
    table = load_dataset(tmp_path / "x.csv", ["y"], ignore=["Flow ID", "b"])
    assert (table.feature_names, table.label_names) == ((" a",), ("y ",))
    with pytest.raises(FormatError, match=r"ignore= or --ignore must be columns.* Got 'c', .* Nor are 'd', 'e'\."):
        load_dataset(tmp_path / "x.csv", ["y"], ignore=["c", "d", "e"])


def test_an_error_of_a_column_names_the_others(tmp_path: Path) -> None:
    rows = "".join(f"host {row},10.0.0.{row},note {row},{row % 2}\n" for row in range(40))
    (tmp_path / "x.csv").write_text(f"host,address,note,y\n{rows}", encoding="utf-8")
    with pytest.raises(FormatError, match=r"column 'host' must .* Other columns are refused, too: 'address', 'note'\."):
        load_dataset(tmp_path / "x.csv", ["y"])
