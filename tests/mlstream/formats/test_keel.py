"""KEEL files: inputs are features, several outputs labels, and each class of a single output a label."""

from pathlib import Path

import numpy as np
import pytest

from mlstream._support.content import FormatError
from mlstream.data.datasets import iter_dataset, load_dataset
from tests.loops import check_all

IRIS = """@relation iris
@attribute sepalLength real [4.3, 7.9]
@attribute color{red,dark blue}
@attribute petals integer [1, 9]
@attribute Class {Iris-setosa, Iris-versicolor}
@inputs sepalLength, color, petals
@outputs Class
@data
5.1, red, 3, Iris-setosa
% a comment
6.0, dark blue, 4, Iris-versicolor

4.9,red,5,<null>
"""
MULTI = """@relation flags
@attribute y1 {0,1}
@attribute a real [0.0,1.0]
@attribute y2 {0,1}
@input a
@output y1, y2
@data
1, 0.5, 0
?, 1e-3, 1
"""


def read(tmp_path: Path, text: str, **options: object):
    path = tmp_path / "x.dat"
    path.write_text(text, encoding="utf-8")
    return load_dataset(path, **options)  # type: ignore[arg-type]


def test_each_class_of_one_output_is_a_label(tmp_path: Path) -> None:
    table = read(tmp_path, IRIS)
    assert table.feature_names == ("sepalLength", "color=red", "color=dark blue", "petals")
    np.testing.assert_array_equal(table.X, [[5.1, 1, 0, 3], [6, 0, 1, 4], [4.9, 1, 0, 5]])
    assert table.label_names == ("Iris-setosa", "Iris-versicolor")
    np.testing.assert_array_equal(table.Y, [[1, 0], [0, 1], [np.nan, np.nan]])
    chunks = list(iter_dataset(tmp_path / "x.dat", chunk_size=2))
    assert {(chunk.feature_names, chunk.label_names) for chunk in chunks} == {(table.feature_names, table.label_names)}
    np.testing.assert_array_equal(
        np.vstack([np.hstack([chunk.X, chunk.Y]) for chunk in chunks]), np.hstack([table.X, table.Y])
    )


def test_several_outputs_are_labels(tmp_path: Path) -> None:
    table = read(tmp_path, MULTI)
    assert (table.feature_names, table.label_names) == (("a",), ("y1", "y2"))
    np.testing.assert_array_equal(table.X, [[0.5], [0.001]])
    np.testing.assert_array_equal(table.Y, [[1, 0], [np.nan, 1]])


def test_whole_numbers_of_a_range_are_classes_and_the_last_column_is_the_output(tmp_path: Path) -> None:
    text = "@relation r\n@attribute 1 real\n@attribute c integer [0, 2]\n@data\n0.5,2\n0.1,0\n"
    table = read(tmp_path, text)
    assert table.label_names == ("c=0", "c=1", "c=2")
    np.testing.assert_array_equal(table.Y, [[0, 0, 1], [1, 0, 0]])


def test_labels_that_are_chosen_are_columns_of_the_file(tmp_path: Path) -> None:
    text = (
        IRIS.replace("Iris-setosa, Iris-versicolor", "yes, no")
        .replace("Iris-setosa", "yes")
        .replace("Iris-versicolor", "no")
    )
    for labels in (-1, ["Class"]):
        table = read(tmp_path, text, labels=labels)
        assert (table.feature_names[-1], table.label_names) == ("petals", ("Class",))
        np.testing.assert_array_equal(table.Y, [[1], [0], [np.nan]])
    np.testing.assert_array_equal(
        read(tmp_path, MULTI.replace("@input a", "@input a, y1"), labels=1).Y, [[1], [np.nan]]
    )


def test_columns_of_any_type_are_left_out(tmp_path: Path) -> None:
    text = MULTI.replace("real [0.0,1.0]", "string").replace("a string", "a string\n@attribute b real")
    table = read(
        tmp_path,
        text.replace("0.5", "half, 3").replace("1e-3", "full, 4").replace("@input a", "@input a, b"),
        ignore=["a"],
    )
    assert (table.feature_names, table.X.tolist()) == (("b",), [[3], [4]])


def test_missing_features_follow_the_option(tmp_path: Path) -> None:
    text = MULTI.replace("0.5", "<null>")
    with pytest.raises(FormatError, match=r"x\.dat, line 8: column 'a' must have a value in every row"):
        read(tmp_path, text)
    np.testing.assert_array_equal(read(tmp_path, text, missing="drop").X, [[0.001]])


def test_every_defect_is_one_error(tmp_path: Path) -> None:
    def check(case: tuple[int, tuple[str, str]]) -> None:
        number, (text, message) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.raises(FormatError, match=message) as caught:
            read(folder, text)
        assert "\n" not in str(caught.value)

    check_all(
        enumerate(
            [
                (MULTI.replace("@data\n", ""), "line 7: a line of a KEEL header must start with @relation"),
                ("@relation x\n", "x.dat must be a KEEL file, with @data after its header"),
                (MULTI.replace("0.5, 0", "0.5"), "line 8: a row must hold 3 values. Got 2"),
                (MULTI.replace("0.5", "0,5"), "line 8: a row must hold 3 values. Got 4"),
                (
                    MULTI.replace("0.5", "half"),
                    "line 8: column 'a' must be a finite number or one of its values.* Got 'half'",
                ),
                (MULTI.replace("1, 0.5", "2, 0.5"), "line 8: column 'y1' must be .* Got '2'"),
                (MULTI.replace("real [0.0,1.0]", "string"), "line 3: column 'a' must be real, integer or .* ignore="),
                (MULTI.replace("@input a", "@input b"), "labels must be given as a number of columns, names"),
                (MULTI.replace("@attribute y2", "@attribute y1"), "line 4: column names must differ. Got 'y1' twice"),
                (MULTI.replace("y2 {0,1}", "y2 {0,0}"), "line 4: the values of column 'y2' must differ. Got '0'"),
                (
                    IRIS.replace("{Iris-setosa, Iris-versicolor}", "real [0, 1]"),
                    "labels must be given as a number of columns, names",
                ),
                (MULTI.split("1, 0.5", maxsplit=1)[0], "x.dat must hold at least one row"),
            ]
        ),
        check,
    )
