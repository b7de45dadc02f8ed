"""What tells labels from features: a number, names, MULAN's file, MEKA's title, a card."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlstream.formats.content import FormatError
from mlstream.formats.labels import choose_labels, normalise_rule
from mlstream.formats.table import Column, Table
from tests.mlstream.streams import Shape, make_stream

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


def test_a_card_comes_first_then_the_title_then_mulans_file(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text(XML, encoding="utf-8")
    table = make_table(tmp_path / "x.arff", "t: -C 2")
    card = make_stream(Shape(label_names=("b", "a"))).card
    assert choose_labels(table, None, card).indices == [3, 2]
    assert choose_labels(table, None).indices == [0, 1]
    assert choose_labels(table, -1, card).indices == [4]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (0, "the number of labels must be between 1 and 4. Got 0"),
        (5, "the number of labels must be between 1 and 4. Got 5"),
        (-5, "between 1 and 4. Got -5"),
        (["z"], "labels must be columns, each named once. Got 'z', which is no column"),
        ([0], "Got '0', which is no column"),
        (["k", "k"], "Got a name twice"),
        ([], "labels must be some of the 5 columns, and features the others. Got 0 labels"),
        (NAMES, "Got 5 labels"),
        ("k", "labels must be a number of columns, a list of names, or a MULAN .xml file. Got 'k'"),
        (1.5, "Got 1.5"),
    ],
)
def test_a_rule_that_does_not_fit_is_one_error(rule: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        choose_labels(make_table(), normalise_rule(rule))
