"""Tables of one class a row: what is no number, what is missing, and what is wrong."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from mlstream._support.content import FormatError
from mlstream.data.class_tables import is_hierarchical, read_class_table, read_hierarchical_table
from mlstream.data.datasets import load_dataset
from mlstream.generators import iirc_stream
from tests.loops import check_all

ARFF = b"""@relation t
@attribute 'two words' numeric
@attribute sex {m,f}
@attribute class {sick,well}
@data
1.5,f,well
?,m,sick
"""
HEADER = "@RELATION toy\n% a comment\n@ATTRIBUTE x NUMERIC\n@attribute 'y z' {u,v}\n"
TREE = "@ATTRIBUTE class hierarchical a,b,a/1,a/1/0,b/7\n"
ROWS = "@DATA\n1.5,u,a/1/0\n\n% none\n2,v,b@a\n-3,u,b/7@b\n"


def read(name: str, *contents: bytes, class_first: bool):
    return read_class_table([Path(name)] * len(contents), contents, class_first=class_first)


@pytest.mark.parametrize("text", [b"b,1,x\na,?,y\r\n\nb,2.5,?\n", b"b 1  x\na ? y\n  b\t2.5 ? \n"])
def test_names_are_numbered_alphabetically_and_what_is_missing_is_less(text: bytes) -> None:
    table = read("t.data", text, class_first=True)
    np.testing.assert_array_equal(table.X, [[1, 0], [-1, 1], [2.5, -1]])
    np.testing.assert_array_equal(table.Y, [[0, 1], [1, 0], [0, 1]])
    assert (table.label_names, table.feature_names, table.name) == (("a", "b"), ("x1", "x2"), "t")


def test_arff_has_names_and_the_class_last() -> None:
    table = read("t.arff", ARFF, class_first=False)
    assert (table.feature_names, table.label_names) == (("two words", "sex"), ("sick", "well"))
    np.testing.assert_array_equal(table.X, [[1.5, 0], [-1, 1]])
    np.testing.assert_array_equal(table.Y, [[0, 1], [1, 0]])


def test_the_rows_of_one_file_follow_those_of_the_other() -> None:
    table = read("t.data", b"1,a\n", b"2,b\n3,a\n", class_first=False)
    np.testing.assert_array_equal(table.X[:, 0], [1, 2, 3])
    np.testing.assert_array_equal(table.Y[:, 0], [1, 0, 1])


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("t.data", [b"1,a\n2\n"], "t.data, line 2: a row must hold 2 values. Got 1"),
        ("t.data", [b"1,a\n", b"1,2,a\n"], "t.data must hold rows of 2 values. Got 3"),
        ("t.data", [b" \n"], "t.data must hold at least one row. Got 0"),
        ("t.arff", [ARFF.partition(b"1.5")[0]], "t.arff must hold at least one row. Got 0"),
        ("t.arff", [ARFF + b"1,x,well\n"], "t.arff: .*line 8"),
    ],
)
def test_every_defect_is_one_error(name: str, contents: list[bytes], message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read(name, *contents, class_first=False)
    assert "\n" not in str(caught.value)


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_paths_become_labels_with_everything_above(tmp_path):
    path = write(tmp_path / "toy.arff", HEADER + TREE + ROWS)
    table = load_dataset(path)
    assert table.label_names == ("a", "b", "a/1", "a/1/0", "b/7")
    assert table.label_parents == {"a/1": "a", "a/1/0": "a/1", "b/7": "b"}
    assert table.Y.tolist() == [[1, 0, 1, 1, 0], [1, 1, 0, 0, 0], [0, 1, 0, 0, 1]]
    assert table.feature_names == ("x", "y z=u", "y z=v")
    assert table.X.tolist() == [[1.5, 1, 0], [2, 0, 1], [-3, 1, 0]]
    assert (table.name, table.source) == ("toy", str(path))


def test_columns_are_left_out_but_not_the_classes(tmp_path):
    path = write(tmp_path / "toy.arff", HEADER.replace("{u,v}", "string") + TREE + ROWS)
    table = load_dataset(path, ignore=["y z"])
    assert (table.feature_names, table.reading.ignore) == (("x",), ("y z",))
    with pytest.raises(ValueError, match=r"ignore= or --ignore must not name the classes of .* Got 'class'"):
        load_dataset(path, ignore=["class"])
    for options in ({"tags": "class"}, {"classes": True}, {"present": "a"}):
        with pytest.raises(ValueError, match=f"{next(iter(options))} .* must be left out for a table whose labels"):
            load_dataset(path, **options)


def test_packed_files_and_other_line_ends_are_the_same_table(tmp_path):
    plain, packed = tmp_path / "toy.arff", tmp_path / "toy.arff.gz"
    content = (HEADER + TREE + ROWS).replace("\n", "\r\n").encode()
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    one, other = load_dataset(plain), load_dataset(packed)
    np.testing.assert_array_equal(one.Y, other.Y)
    np.testing.assert_array_equal(one.X, other.X)
    assert one.sha256 == other.sha256


def test_other_files_are_not_taken_for_trees(tmp_path):
    assert not is_hierarchical(write(tmp_path / "a.arff", HEADER + "@data\n1,u\n"))
    assert not is_hierarchical(write(tmp_path / "toy.csv", TREE))
    assert not is_hierarchical(write(tmp_path / "b.arff", "@relation hierarchical\n@attribute hierarchical {a,b}\n"))


def test_rows_of_two_files_follow_each_other(tmp_path):
    paths = [tmp_path / "one.arff", tmp_path / "two.arff"]
    table = read_hierarchical_table(paths, [(HEADER + TREE + ROWS).encode()] * 2)
    assert table.Y.tolist()[:3] == table.Y.tolist()[3:]
    other = HEADER + TREE.replace("b/7", "b/8") + "@DATA\n1,u,b/8\n"
    with pytest.raises(FormatError, match=r"two.arff must declare the classes of .*one.arff. Got others"):
        read_hierarchical_table(paths, [(HEADER + TREE + ROWS).encode(), other.encode()])


def test_errors_say_file_and_line(tmp_path):
    def check(case):
        number, (text, message) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.raises(FormatError, match=message):
            load_dataset(write(folder / "toy.arff", text))

    check_all(
        enumerate(
            [
                (HEADER + TREE + ROWS + "1,u,c\n", r"toy.arff, line 12: classes must be declared ones. Got 'c'"),
                (HEADER + TREE + ROWS + "1,u,\n", r"line 12: classes must be declared ones. Got ''"),
                (HEADER + TREE + ROWS + "1,a\n", r"line 12"),
                (HEADER + TREE + ROWS + "?,u,a\n", r"line 12"),
                (
                    HEADER + TREE.replace("a/1,", "") + ROWS,
                    r"line 5: the class above 'a/1/0' must be declared",
                ),
                (HEADER + TREE.replace("b,", "b,a,") + ROWS, r"line 5: classes must have names that differ"),
                (HEADER + TREE + "@attribute z numeric\n" + ROWS, r"line 6: the column of classes must be the last"),
                (HEADER + TREE, r"toy.arff must declare classes .* and @data"),
                (HEADER + TREE + "@data\n", r"toy.arff must hold at least one row"),
            ]
        ),
        check,
    )


def test_labels_cannot_be_chosen_where_the_tree_says_them(tmp_path):
    path = write(tmp_path / "toy.arff", HEADER + TREE + ROWS)
    with pytest.raises(
        ValueError, match=r"labels .* must be left out for a table whose labels are its tree of classes. Got 2"
    ):
        load_dataset(path, labels=2)


def test_the_radiographs_have_the_published_counts_and_make_a_stream(shared_data):
    table = load_dataset(shared_data("hierarchical/image_clef_train.arff.gz"))
    assert (table.X.shape, table.Y.shape) == ((10000, 80), (10000, 96))
    assert (table.Y.sum(axis=1) == 3).all()
    depths = [name.count("/") for name in table.label_names]
    assert [depths.count(depth) for depth in range(3)] == [8, 25, 63]
    stream = iirc_stream(table, labels_per_task=20)
    introduced = {}
    before = np.zeros(stream.n_labels, dtype=bool)
    for number, (experience, task) in enumerate(zip(stream, stream.tasks, strict=True)):
        for label in np.flatnonzero(experience.label_mask):
            introduced[stream.card.label_names[label]] = number
        before |= task.signature
    assert all(introduced[child] > introduced[parent] for child, parent in stream.card.label_parents.items())
    assert len(introduced) == stream.n_labels


def test_a_row_whose_paths_are_missing_has_unknown_labels(tmp_path):
    path = write(tmp_path / "toy.arff", HEADER + TREE + ROWS + "4,v, ? \n")
    table = load_dataset(path)
    assert table.Y.tolist()[:3] == [[1, 0, 1, 1, 0], [1, 1, 0, 0, 0], [0, 1, 0, 0, 1]]
    assert np.isnan(table.Y[3]).all()
    with pytest.raises(FormatError, match="line 12: column 'x' must have a value in every row; labels only"):
        load_dataset(write(path, HEADER + TREE + ROWS + "?,v,a\n"))
