"""Written ARFF is read back equal by the readers that people rely on."""

import math
from pathlib import Path
from typing import Any

import arff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.io import arff as scipy_arff

from mlstream.formats.arff.header import unquote
from mlstream.formats.arff.writer import format_arff, quote_name
from tests.mlstream.small_streams import NAMES

# Names with which every reader can cope, if not each of them can give them back.
FEATURES = ("Att1", "two words", "50%", "a,b", "{x}", "it's", 'say "hi"', "é", "日本")
LABELS = ("Class1", "beach & sea", "Class_3")
TITLE = "my stream: a test"


@pytest.fixture(params=["dense", "sparse"])
def table(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, len(FEATURES))) * 10.0 ** rng.integers(-9, 9, (20, len(FEATURES)))
    Y = (rng.random((20, len(LABELS))) < 0.4).astype(np.uint8)
    if request.param == "sparse":
        X *= rng.random(X.shape) < 0.3
        X[3] = Y[3] = 0
        return sparse.csr_array(X), Y
    return X, Y


@pytest.fixture
def path(table: tuple[Any, Any], tmp_path: Path) -> Path:
    path = tmp_path / "x.arff"
    path.write_text("".join(format_arff(*table, FEATURES, LABELS, title=TITLE)), encoding="utf-8")
    return path


def densify(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


def test_liac_arff_reads_it_equal(path: Path, table: tuple[Any, Any]) -> None:
    X, Y = table
    with path.open(encoding="utf-8") as stream:
        read = arff.load(stream, encode_nominal=True)
    assert read["relation"] == "my stream  a test: -C 3"
    assert [name for name, kind in read["attributes"][:3]] == list(LABELS)
    assert all(kind == ["0", "1"] for _, kind in read["attributes"][:3])
    np.testing.assert_array_equal(read["data"], np.hstack([Y, densify(X)]))


@pytest.mark.parametrize("table", ["dense"], indirect=True)
def test_scipy_reads_dense_rows_equal(path: Path, table: tuple[Any, Any]) -> None:
    X, Y = table
    with path.open(encoding="utf-8") as stream:
        rows, meta = scipy_arff.loadarff(stream)
    assert meta.names()[:5] == [*LABELS, "Att1", "two words"]
    assert meta.types() == ["nominal"] * len(LABELS) + ["numeric"] * len(FEATURES)
    columns = [rows[name].astype(float) for name in meta.names()]
    np.testing.assert_array_equal(np.column_stack(columns), np.hstack([Y, X]))


def test_river_reads_it_equal(path: Path, table: tuple[Any, Any]) -> None:
    stream = pytest.importorskip("river.stream", reason="needs River")
    X, Y = table
    is_sparse = sparse.issparse(X)
    read = list(stream.iter_arff(str(path), target=list(LABELS), sparse=is_sparse))
    np.testing.assert_array_equal([[float(y[name]) for name in LABELS] for _, y in read], Y)
    if is_sparse:
        stored = [[float(value) for value in x.values()] for x, _ in read]
        assert stored == [row[row != 0].tolist() for row in densify(X)]
    else:
        np.testing.assert_array_equal([list(x.values()) for x, _ in read], X)


@given(NAMES)
def test_any_name_is_read_as_it_was(name: str) -> None:
    written = quote_name(name)
    assert unquote(written) == name
    assert "\n" not in written
    assert "\r" not in written


@pytest.mark.parametrize("name", ["Att1", "comp.os-x", "a:b/c", "été", "TAG_2006+", "a=b"])
def test_plain_names_need_no_quotes(name: str) -> None:
    assert quote_name(name) == name


@pytest.mark.parametrize(("dtype", "width"), [(np.float32, 32), (np.float64, 64)])
@given(data=st.data())
def test_numbers_come_back_bit_by_bit(dtype: Any, width: int, data: st.DataObject) -> None:
    elements = st.floats(allow_nan=False, allow_infinity=False, width=width)
    X = data.draw(hnp.arrays(dtype, (1, 5), elements=elements))
    *_, row = format_arff(X, np.ones((1, 1), np.uint8), tuple("abcde"), ("y",), title="t")
    read = np.array([float(cell) for cell in row.split(",")[1:]]).astype(dtype)
    assert read.tobytes() == X.tobytes()


@pytest.mark.slow
def test_every_kind_of_float32_comes_back_bit_by_bit() -> None:
    bits = np.random.default_rng(0).integers(0, 2**32, 50_000, dtype=np.uint32)
    numbers = bits.view(np.float32)
    X = numbers[np.isfinite(numbers)][:, np.newaxis]
    text = "".join(format_arff(X, np.ones((len(X), 1), np.uint8), ("a",), ("y",), title="t"))
    read = [float(line.split(",")[1]) for line in text.partition("@data\n")[2].split()]
    assert np.array(read).astype(np.float32).tobytes() == X.tobytes()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_arff_cannot_hold_are_refused(number: float) -> None:
    for X in (np.array([[number]]), sparse.csr_array(np.array([[number]]))):
        with pytest.raises(ValueError, match=f"X must be finite to be written as text. Got {number}"):
            list(format_arff(X, np.ones((1, 1), np.uint8), ("a",), ("y",), title="t"))


def test_an_error_about_a_missing_value_shows_the_way() -> None:
    with pytest.raises(ValueError, match=r"Got nan; --missing mean or indicator replaces .* only \.npz holds them\.$"):
        list(format_arff(np.array([[math.nan]]), np.ones((1, 1), np.uint8), ("a",), ("y",), title="t"))


def test_a_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"different names in a table. Got 'a' twice"):
        list(format_arff(np.ones((1, 2)), np.ones((1, 1), np.uint8), ("b", "a"), ("a",), title="t"))


def test_other_types_are_refused() -> None:
    with pytest.raises(ValueError, match=r"X must be float32 or float64 to be written as text. Got float16"):
        list(format_arff(np.ones((1, 1), np.float16), np.ones((1, 1), np.uint8), ("a",), ("y",), title="t"))


def doubles(n: int) -> Any:
    """Doubles of every kind: any bits, powers of two and of ten, short decimals, whole numbers, and the ends."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, n, dtype=np.uint64).view(np.float64)
    short = np.round(rng.standard_normal(n) * 10.0 ** rng.integers(-6, 7, n), rng.integers(0, 9))
    whole = np.trunc(rng.random(n) * 10.0 ** rng.integers(0, 22, n))
    powers = [2.0**k for k in range(-1074, 1024)] + [float(f"1e{k}") for k in range(-323, 309)]
    ends = [0.0, -0.0, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 1e16, 9999999999999998.0, 1e-4, 1e-5]
    numbers = np.concatenate([bits, short, whole, rng.standard_normal(n), powers, ends])
    return numbers[np.isfinite(numbers)]


def test_compiled_loops_write_doubles_as_python_does() -> None:
    numbers = doubles(50_000)
    text = "".join(format_arff(numbers[:, None], np.ones((len(numbers), 1), np.uint8), ("a",), ("y",), title="t"))
    rows = text.partition("@data\n")[2].split()
    assert rows == [f"1,{number!r}" for number in numbers.tolist()]


@pytest.mark.slow
def test_compiled_sparse_rows_are_those_of_python() -> None:
    rng = np.random.default_rng(0)
    numbers = doubles(40_000)
    places = rng.random((len(numbers), 3)) < [0.9, 0.05, 0.2]
    X = sparse.csr_array(places * numbers[:, None])
    Y = (rng.random((len(numbers), 2)) < 0.3).astype(np.uint8)
    text = "".join(format_arff(X, Y, ("a", "b", "c"), ("y", "z"), title="t"))
    expected = []
    for row, labels in enumerate(Y):
        start, stop = X.indptr[row : row + 2]
        cells = [f"{label} 1" for label in np.flatnonzero(labels)]
        stored = zip(X.indices[start:stop].tolist(), X.data[start:stop].tolist(), strict=True)
        cells += [f"{column + 2} {number!r}" for column, number in stored]
        expected.append("{" + (",".join(cells) or "0 0") + "}")
    assert text.partition("@data\n")[2].splitlines() == expected


@pytest.mark.parametrize("is_sparse", [False, True])
def test_short_tables_are_written_alike_where_loops_are_compiled(is_sparse, monkeypatch):
    numbers = doubles(40)
    rng = np.random.default_rng(0)
    X = np.column_stack([numbers, numbers[::-1]]) * (rng.random((len(numbers), 2)) < 0.7)
    # Unknown labels, and a row of zeros only.
    Y = np.where(rng.random((len(X), 3)) < 0.2, np.float32(np.nan), rng.integers(0, 2, (len(X), 3)).astype(np.float32))
    X[7], Y[7] = 0, 0
    monkeypatch.setattr("mlstream.formats.arff.writer.SHORT_CELLS", 0)
    text = "".join(format_arff(sparse.csr_array(X) if is_sparse else X, Y, ("a", "b"), ("k", "l", "m"), title="t"))
    write = sparse_row if is_sparse else dense_row
    assert text.partition("@data\n")[2].splitlines() == [
        write(["?" if np.isnan(label) else f"{label:g}" for label in labels], row)
        for row, labels in zip(X.tolist(), Y.tolist(), strict=True)
    ]


def dense_row(labels, numbers):
    return ",".join([*labels, *map(repr, numbers)])


def sparse_row(labels, numbers):
    cells = [f"{place} {label}" for place, label in enumerate(labels) if label != "0"]
    cells += [f"{place} {number!r}" for place, number in enumerate(numbers, len(labels)) if number]
    return "{" + (",".join(cells) or "0 0") + "}"


def test_wide_tables_are_written_in_small_pieces() -> None:
    X = np.zeros((200, 20_000))
    pieces = list(format_arff(X, np.ones((200, 1), np.uint8), [f"a{i}" for i in range(20_000)], ("y",), title="t"))
    assert max(map(len, pieces)) < 2_000_000
