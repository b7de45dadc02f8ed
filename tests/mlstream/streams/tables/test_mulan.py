"""MULAN's label files: names, hierarchy, and nothing that an XML reader can be attacked with."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream._support.content import FormatError
from mlstream.streams.tables.mulan import format_labels, read_labels

HEAD = '<labels xmlns="http://mulan.sourceforge.net/labels">'
BOMB = '<!DOCTYPE labels [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + HEAD + '<label name="&b;"/></labels>'
XML_NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5)


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_nested_labels_are_a_hierarchy(tmp_path: Path) -> None:
    text = (
        f'{HEAD}<!-- c --><label name="a"><label name="b"><label name="c"/></label></label><label name="d"/></labels>'
    )
    labels = read_labels(write(tmp_path / "x.xml", text))
    assert labels == (("a", "b", "c", "d"), {"b": "a", "c": "b"})


@given(st.lists(XML_NAMES, min_size=1, max_size=6, unique=True), st.data())
def test_what_is_written_is_read(tmp_path_factory: Any, names: list[str], data: st.DataObject) -> None:
    # A parent stands before its children, so that no label is its own ancestor.
    parents = {name: data.draw(st.sampled_from(names[:index])) for index, name in enumerate(names) if index}
    parents = {child: parent for child, parent in parents.items() if data.draw(st.booleans())}
    path = write(tmp_path_factory.mktemp("xml") / "x.xml", format_labels(names, parents))
    labels = read_labels(path)
    assert (sorted(labels.names), labels.parents) == (sorted(names), parents)


def test_other_readers_of_xml_find_the_same_names() -> None:
    root = ET.fromstring(format_labels(["a<b", 'say "hi"', "é"], {"é": "a<b"}))  # noqa: S314 - our own text
    found = [element.get("name") for element in root.iter("{http://mulan.sourceforge.net/labels}label")]
    assert found == ["a<b", "é", 'say "hi"']


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "be a MULAN label file .XML.. Got: no element found"),
        ("a,b", "be a MULAN label file .XML.. Got: syntax error"),
        ("<data/>", "with the root <labels>. Got <data>"),
        (f"{HEAD}</labels>", "name each label once. Got none"),
        (f'{HEAD}<label name="a"/><label name="a"/></labels>', "name each label once. Got 'a' twice"),
        (f"{HEAD}<label/></labels>", 'hold <label name="..."> only. Got <label>'),
        (f'{HEAD}<other name="a"/></labels>', "only. Got <other>"),
        (BOMB, "without a document type. Got one"),
    ],
)
def test_every_defect_is_one_error_that_names_the_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=f"x.xml must .*{message}"):
        read_labels(write(tmp_path / "x.xml", text))


def test_an_attack_in_another_encoding_is_refused_too(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="without a document type"):
        read_labels(write(tmp_path / "x.xml", BOMB, "utf-16"))


def test_deep_nesting_ends_no_process(tmp_path: Path) -> None:
    n_levels = 20_000
    text = HEAD + "".join(f'<label name="{level}">' for level in range(n_levels)) + "</label>" * n_levels + "</labels>"
    assert len(read_labels(write(tmp_path / "x.xml", text)).parents) == n_levels - 1


def test_real_files_hold_as_many_labels_as_documented(shared_data: Any) -> None:
    counts = {"bibtex.xml": 159, "Corel5k.xml": 374, "tmc2007-500.xml": 22}
    for name, n_labels in counts.items():
        assert len(read_labels(shared_data(f"multilabel-extra/{name}")).names) == n_labels


@pytest.mark.parametrize("encoding", ["utf-4", "utf-7", "\x07", "big5"])
def test_an_encoding_that_no_xml_has_is_one_error(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?><labels/>', encoding="utf-8")
    with pytest.raises(FormatError, match=r"x.xml must be a MULAN label file \(XML\)|must name each label once"):
        read_labels(path)


@pytest.mark.parametrize("depth", [1200, 20_000])
def test_a_long_chain_of_labels_is_written_and_read(tmp_path: Path, depth: int) -> None:
    names = [f"n{level}" for level in range(depth)]
    parents = dict(zip(names[1:], names[:-1], strict=True))
    labels = read_labels(write(tmp_path / "x.xml", format_labels(names[::-1], parents)))
    assert labels == (tuple(names), parents)


def test_children_stand_in_their_parents_in_the_order_of_their_names() -> None:
    body = format_labels(["b", "a", "d", "c", "e"], {"c": "a", "d": "a", "e": "c"}).splitlines()[2:-1]
    assert body == [
        ' <label name="b"></label>',
        ' <label name="a">',
        '  <label name="d"></label>',
        '  <label name="c">',
        '   <label name="e"></label>',
        "  </label>",
        " </label>",
    ]
