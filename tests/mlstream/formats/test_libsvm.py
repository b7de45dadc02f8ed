"""Multi-label LIBSVM files, and those of the extreme-classification repository."""

import tracemalloc
import warnings
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from mlstream._support.content import FormatError
from mlstream.data.datasets import iter_dataset, load_dataset
from mlstream.formats.libsvm import read_libsvm
from mlstream.streams.stream import Dataset
from mlstream.streams.tables.table import gather
from tests.loops import check_all


def read(tmp_path: Path, text: str, **options: Any) -> Dataset:
    path = tmp_path / "x.svm"
    path.write_text(text, encoding="utf-8")
    return load_dataset(path, **options)


def to_lists(X: Any) -> list[list[float]]:
    return X.toarray().tolist() if sparse.issparse(X) else X.tolist()


VALUES = st.sampled_from([0.0, 1.0, -2.5, 1e-300, 123456789.0]) | st.just(0.0)


@given(st.integers(1, 6), st.integers(2, 5), st.integers(1, 4), st.booleans(), st.data())
def test_what_scikit_learn_writes_is_read_as_it_was(
    n_rows: int, n_features: int, n_labels: int, zero_based: bool, data: st.DataObject
) -> None:
    X = data.draw(hnp.arrays(float, (n_rows, n_features), elements=VALUES))
    Y = data.draw(hnp.arrays(int, (n_rows, n_labels), elements=st.integers(0, 1)))
    # The corners show where numbers begin and end.
    X[0, [0, -1]] = Y[0] = 1
    file = BytesIO()
    dump_svmlight_file(X, Y, file, multilabel=True, zero_based=zero_based)
    file.seek(0)
    table = gather(read_libsvm(file, Path("x.svm")))
    assert table.names == (*(f"f{place}" for place in range(n_features)), *map(str, range(n_labels)))
    np.testing.assert_array_equal(table.cells.toarray(), np.hstack([X, Y]))
    # Scikit-learn loses rows without anything.
    file.seek(0)
    there = X.any(axis=1) | Y.any(axis=1)
    peer, _ = load_svmlight_file(file, n_features=n_features, multilabel=True, zero_based=zero_based)
    np.testing.assert_array_equal(table.cells.toarray()[there, :n_features], peer.toarray())


def test_every_dialect_is_read_as_it_stands(tmp_path: Path) -> None:
    def check(case: tuple[str, list[list[float]], list[list[int]], list[str]]) -> None:
        text, X, Y, labels = case
        table = read(tmp_path, text)
        assert (to_lists(table.X), table.Y.tolist(), list(table.label_names)) == (X, Y, labels)
        chunks = list(iter_dataset(tmp_path / "x.svm", chunk_size=1))
        assert [[to_lists(chunk.X)[0], chunk.Y[0].tolist()] for chunk in chunks] == list(
            map(list, zip(X, Y, strict=True))
        )

    check_all(
        [
            ("# c\n1,3 1:.5 3:-2e3\n 2:1\n12 1:1 # end\n", [[0.5, 0, -2000], [0, 1, 0], [1, 0, 0]],
             [[1, 1, 0], [0, 0, 0], [0, 0, 1]], ["1", "3", "12"]),
            ("\ufeff1 1:1\n2 2:2\n", [[1, 0], [0, 2]], [[1, 0], [0, 1]], ["1", "2"]),
            ("1.0,2.0 1:1\n+1 2:2\n", [[1, 0], [0, 2]], [[1, 1], [1, 0]], ["1", "2"]),
            ("1\t3:3\t1:1 \r\n1,1 2:2\r\n", [[1, 0, 3], [0, 2, 0]], [[1], [1]], ["1"]),
            ("+1 1:1\n-1 2:2\n", [[1, 0], [0, 2]], [[1], [0]], ["1"]),
            ("1 0:1\n2 1:2\n", [[1, 0], [0, 2]], [[1, 0], [0, 1]], ["1", "2"]),
            ("1 1:1\n\n\n2 1:2", [[1], [2]], [[1, 0], [0, 1]], ["1", "2"]),
            ("2 3 3\n0,2 0:1 1:2.5\n 1:1\n", [[1, 2.5, 0], [0, 1, 0]], [[1, 0, 1], [0, 0, 0]], ["0", "1", "2"]),
            ("3 2 2\n1 1:1\n\n0\n\n", [[0, 1], [0, 0], [0, 0]], [[0, 1], [0, 0], [1, 0]], ["0", "1"]),
            ("1 1:9007199254740992\n", [[2.0**53]], [[1]], ["1"]),
        ],
        check,
    )  # fmt: skip


def test_parts_of_a_table_have_one_width(tmp_path: Path) -> None:
    whole = read(tmp_path, "0,2 1:0.5 3:1\n1 2:0.25\n")
    for labels in (3, ["0", "1", "2"]):
        # Neither part shows whether numbers begin with 0.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            part = read(tmp_path, "1 1:0.5\n1 2:0.25\n", labels=labels, n_features=3)
        said = " ".join(str(one.message) for one in caught)
        assert "features are numbered from 1, as none has the index 0" in said
        assert ("labels are numbered from 0" in said) == (labels == 3)
        assert (part.feature_names, part.label_names) == (whole.feature_names, whole.label_names)
        assert (to_lists(part.X), part.Y.tolist()) == ([[0.5, 0, 0], [0, 0.25, 0]], [[0, 1, 0], [0, 1, 0]])


def test_labels_that_are_not_wanted_are_left_out_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"x\.svm: 2 labels that labels= does not name were left out"):
        table = read(tmp_path, "1,3 1:1\n2 1:2\n", labels=["3", "7"])
    assert (table.label_names, table.Y.tolist()) == (("3", "7"), [[1, 0], [0, 0]])


def test_every_defect_is_one_error_that_says_what_it_got(tmp_path: Path) -> None:
    def check(case: tuple[str, dict[str, Any], str]) -> None:
        text, options, message = case
        with pytest.raises(FormatError, match=rf"x\.svm{message}") as caught:
            read(tmp_path, text, **options)
        assert "\n" not in str(caught.value)

    check_all(
        [
            ("1 1:1\n1 x\n", {}, ", line 2: a row must be labels and index:value. Got '1 x'"),
            ("1 9999999999:1\n", {}, ", line 1: a row must be labels and index:value"),
            ("1 qid:3 1:1\n", {}, ", line 1: a row must be labels and index:value"),
            ("1 1:nan\n", {}, ", line 1: a row must be labels and index:value"),
            ("1 1:1 1:2\n", {}, ", line 1: an index must occur once in a row. Got 1"),
            ("\n1 1:1e999\n", {}, ", line 2: values must be finite numbers. Got inf"),
            (" 1:1\n", {}, " must have at least one label, .* Got no label"),
            ("", {}, " must have at least one label, .* Got no label"),
            ("\x00", {}, ", line 1: a row must be labels and index:value"),
            ("-1 1:1\n0 1:1\n1 1:1\n", {}, " must have at least one label, numbered from 0 on, or .* Got label -1"),
            ("2 3 3\n3 0:1\n1\n", {}, ", line 2: labels must be 0 to 2, as its first line says. Got 3"),
            ("2 3 3\n0 0:1\n1 3:1\n", {}, ", line 3: indices must be 0 to 2, as its first line says. Got 3"),
            ("2 3 3\n0 0:1\n", {}, " must hold 2 rows, as its first line says. Got 1"),
            ("1 1:1\n2 2:1\n", {"n_features": 1}, ", line 2: indices must be 1 to 1, as n_features= or .* Got 2"),
            ("0 1:1\n2 2:1\n", {"labels": 2}, ", line 2: labels must be 0 to 1, as labels= or .* says. Got 2"),
            ("1 1:1\n", {"labels": ["one"]}, ": labels must be named by their numbers, each once. Got 'one'"),
            ("1 1:1\n", {"labels": ["1", "1"]}, ": labels must be named by their numbers, each once. Got a name twice"),
            ("1 1:1\n", {"labels": "x.xml"}, ": labels must be names or a number, .* Got 'x.xml'"),
        ],
        check,
    )


@pytest.mark.slow  # Five seconds: the least size at which a table of floats would be found.
def test_a_hundred_thousand_labels_are_read_in_bounded_memory(tmp_path: Path) -> None:
    rng, n_rows, n_labels = np.random.default_rng(0), 500, 100_000
    labels = rng.integers(0, n_labels, (n_rows, 5))
    rows = [f"{','.join(map(str, row))} {place}:0.5" for place, row in enumerate(labels.tolist())]
    (tmp_path / "x.svm").write_text("\n".join([f"{n_rows} {n_rows} {n_labels}", *rows, ""]), encoding="utf-8")
    tracemalloc.start()
    table = load_dataset(tmp_path / "x.svm")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (table.X.shape, table.Y.shape, table.X.nnz) == ((n_rows, n_rows), (n_rows, n_labels), n_rows)
    assert table.Y[np.arange(n_rows)[:, None], labels].all()
    assert table.Y.sum() == sum(len(set(row)) for row in labels.tolist())
    assert peak < 4 * table.Y.nbytes
