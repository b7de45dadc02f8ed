"""What tells labels from features: a number, names, MULAN's file, MEKA's title, a card."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlstream._support.content import FormatError
from mlstream.streams.tables.labels import choose_labels, normalise_rule
from mlstream.streams.tables.mulan import format_labels
from mlstream.streams.tables.table import Column, Table
from tests.loops import check_all
from tests.mlstream.small_streams import Shape, make_stream

NAMES = ("k", "l", "a", "b", "m")
XML = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="m"><label name="k"></label></label></labels>'


def make_table(path: Path = Path("x.arff"), relation: str = "") -> Table:
    return Table(path, tuple(map(Column, NAMES)), np.zeros((0, 5)), np.zeros(0, dtype=np.int64), relation)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [(2, [0, 1]), (-1, [4]), (np.int64(1), [0]), (["m", "k"], [4, 0]), (("l",), [1]), (np.array(["l"]), [1])],
)
def test_a_number_counts_from_an_end_and_names_keep_their_order(rule: Any, expected: list[int]) -> None:
    assert choose_labels(make_table(), normalise_rule(rule)).indices == expected


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("t: -C 2", [0, 1]),
        ("t: -C -2", [3, 4]),
        ("t: -R -C 3 -split-number 10", [0, 1, 2]),
        ("a: b: -C 1", [0]),
        ("'t: -C 2'", [0, 1]),
    ],
)
def test_the_title_says_it_as_in_meka(relation: str, expected: list[int]) -> None:
    assert choose_labels(make_table(relation=relation), None).indices == expected


@pytest.mark.parametrize("relation", ["t -C 2", "t: -c 2", "t: -C2", "t: -C two", "t: -C 2.5", ""])
def test_a_title_that_is_not_mekas_says_nothing(relation: str) -> None:
    with pytest.raises(
        FormatError, match=r"x.arff: labels must be given .* neither a card, nor -C in the title, nor x.xml"
    ):
        choose_labels(make_table(relation=relation), None)


def test_mulans_file_of_the_same_name_says_it_in_the_order_of_the_columns(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text(XML, encoding="utf-8")
    chosen = choose_labels(make_table(tmp_path / "x.arff.gz"), None)
    assert chosen == ([0, 4], {"k": "m"})
    assert choose_labels(make_table(), normalise_rule(tmp_path / "x.xml")) == chosen


def write_labels(path: Path, *names: str) -> Path:
    path.write_text(format_labels(names, {}), encoding="utf-8")
    return path


def test_a_card_comes_first_and_an_argument_before_it(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text(XML, encoding="utf-8")
    table = make_table(tmp_path / "x.arff", "t: -C 2")
    card = make_stream(Shape(label_names=("b", "a"))).card
    assert choose_labels(table, None, card).indices == [3, 2]
    assert choose_labels(table, -1, card).indices == [4]


@pytest.mark.parametrize(
    ("n_titled", "in_xml", "got"),
    [
        (2, ("b", "m"), r"2 columns \('k' to 'l'\) by -C, 2 columns \('b' to 'm'\) by x\.xml"),
        (2, ("k",), r"2 columns \('k' to 'l'\) by -C, 1 column \('k'\) by x\.xml"),
        (-2, ("l", "b"), r"2 columns \('b' to 'm'\) by -C, 2 columns \('l' to 'b'\) by x\.xml"),
        (0, ("k",), r"no column by -C, 1 column \('k'\) by x\.xml"),
        (45, ("b", "m"), r"5 columns \('k' to 'm'\) by -C, 2 columns \('b' to 'm'\) by x\.xml"),
    ],
)
def test_a_stale_title_never_overrules_mulans_file(
    tmp_path: Path, n_titled: int, in_xml: tuple[str, ...], got: str
) -> None:
    xml = write_labels(tmp_path / "x.xml", *in_xml)
    table = make_table(tmp_path / "x.arff", f"t: -C {n_titled}-weka.filters.unsupervised.instance.NonSparseToSparse")
    with pytest.raises(FormatError, match=rf"x\.arff: -C {n_titled} in the title and x\.xml must name .* Got {got}"):
        choose_labels(table, None)
    with pytest.raises(FormatError, match=r"labels= or --labels decides: a number, names, or .*x\.xml"):
        choose_labels(table, None)
    assert choose_labels(table, 1).indices == [0]
    assert choose_labels(table, ("m",)).indices == [4]
    assert [NAMES[index] for index in choose_labels(table, str(xml)).indices] == list(in_xml)


@pytest.mark.parametrize(("n_titled", "in_xml"), [(2, ("l", "k")), (-2, ("b", "m"))])
def test_a_title_that_agrees_with_mulans_file_changes_nothing(
    tmp_path: Path, n_titled: int, in_xml: tuple[str, ...]
) -> None:
    write_labels(tmp_path / "x.xml", *in_xml)
    chosen = choose_labels(make_table(tmp_path / "x.arff", f"t: -C {n_titled}"), None)
    assert {NAMES[index] for index in chosen.indices} == set(in_xml)


def test_the_hierarchy_of_mulans_file_is_read_where_a_title_counts_its_labels_too(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text('<labels><label name="k"><label name="l"/></label></labels>', encoding="utf-8")
    assert choose_labels(make_table(tmp_path / "x.arff", "t: -C 2"), None) == ([0, 1], {"l": "k"})


@pytest.mark.parametrize("name", ["x-train.arff", "x-test.arff.gz"])
def test_mulans_file_of_the_whole_table_holds_for_its_two_parts(tmp_path: Path, name: str) -> None:
    write_labels(tmp_path / "x.xml", "b", "m")
    assert choose_labels(make_table(tmp_path / name), None).indices == [3, 4]
    with pytest.raises(FormatError, match=r"-C 2 in the title and x\.xml must name the same labels"):
        choose_labels(make_table(tmp_path / name, "t: -C 2"), None)
    own = write_labels(tmp_path / f"{name.partition('.')[0]}.xml", "k", "l")
    assert choose_labels(make_table(tmp_path / name, "t: -C 2"), None).indices == [0, 1], own


@pytest.mark.parametrize("relation", ["", "t: -C 2"])
def test_mulans_file_of_another_table_is_one_error_that_names_the_way_out(tmp_path: Path, relation: str) -> None:
    xml = write_labels(tmp_path / "x.xml", "k", "z")
    table = make_table(tmp_path / "x.arff", relation)
    with pytest.raises(
        FormatError, match=r"x\.xml must name columns of x\.arff\. Got 'z'.* labels= or --labels decides"
    ):
        choose_labels(table, None)
    xml.write_text("<catalogue/>", encoding="utf-8")
    with pytest.raises(FormatError, match=r"x\.xml must be a MULAN .* Got <catalogue>.* labels= or --labels decides"):
        choose_labels(table, None)
    assert choose_labels(table, 2).indices == [0, 1]


def test_a_rule_that_does_not_fit_is_one_error() -> None:
    def check(case: tuple[Any, str]) -> None:
        rule, message = case
        with pytest.raises(ValueError, match=message):
            choose_labels(make_table(), normalise_rule(rule))

    check_all(
        [
            (0, "the number of labels must be between 1 and 4. Got 0"),
            (5, "the number of labels must be between 1 and 4. Got 5"),
            (-5, "between 1 and 4. Got -5"),
            (["z"], "labels must be columns, each named once. Got 'z', which is not a column"),
            ([0], "Got '0', which is not a column"),
            (["k", "k"], "Got a name twice"),
            ([], "labels must be some of the 5 columns, and features the others. Got 0 labels"),
            (NAMES, "Got 5 labels"),
            ("k", "labels must be a number of columns, a list of names, or a MULAN .xml file. Got 'k'"),
            (1.5, "Got 1.5"),
        ],
        check,
    )
