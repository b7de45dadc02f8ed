"""OpenML's description: its elements in its order, within its alphabets and lengths."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

from mlstream.card_model import StreamCard
from mlstream.cards.openml import card_openml
from mlstream.stream import Stream
from tests.mlstream.streams import Shape, make_stream, streams

NAMESPACE = "{http://openml.org/openml}"
CASUAL = r"[a-zA-Z0-9_\-.(),]"
# In the order that OpenML's schema of uploads demands, with what it demands of each.
ALLOWED = {
    "name": rf"{CASUAL}{{1,128}}",
    "description": r"[\s\S]+",
    "format": rf"{CASUAL}{{1,64}}",
    "creator": r"[\x00-\x7f]{1,128}",
    "licence": rf"{CASUAL}{{1,64}}",
    "default_target_attribute": rf"{CASUAL}{{1,1024}}",
    "version_label": rf"{CASUAL}{{1,128}}",
    "citation": r"[\s\S]+",
    "tag": r"[a-zA-Z0-9_\-.]{1,64}",
}


def elements(card: StreamCard) -> list[tuple[str, str]]:
    root = ET.fromstring(card_openml(card).encode())  # noqa: S314 - our own text
    assert root.tag == f"{NAMESPACE}data_set_description"
    return [(child.tag.removeprefix(NAMESPACE), child.text or "") for child in root]


def require_valid(found: list[tuple[str, str]]) -> None:
    order = [list(ALLOWED).index(tag) for tag, _ in found]
    assert order == sorted(order)
    assert [tag for tag, _ in found][:3] == ["name", "description", "format"]
    for tag, text in found:
        assert re.fullmatch(ALLOWED[tag], text)


@given(streams())
def test_every_card_has_a_valid_description(stream: Stream) -> None:
    require_valid(elements(stream.card))


@pytest.mark.parametrize("name", ["", "a b/ü", "<&>", "\x00\x1b", "]]>", "x" * 999])
def test_names_outside_the_alphabet_are_changed(name: str) -> None:
    require_valid(elements(make_stream().card.model_copy(update={"name": name, "description": f"of {name}"})))


def test_labels_are_the_targets_if_openml_can_name_them() -> None:
    assert ("default_target_attribute", "k,l,m") in elements(make_stream().card)
    for names in (("two words", "l"), ("a,b", "l"), tuple(f"label{n}" for n in range(200))):
        card = make_stream(Shape(label_names=names)).card
        assert "default_target_attribute" not in dict(elements(card))


def test_licence_and_citation_are_there_if_they_are_known() -> None:
    card = make_stream().card
    assert not {"licence", "citation"} & dict(elements(card)).keys()
    source = card.source.model_copy(update={"licence": "CC BY 4.0", "citation": "A & B: C. 2001."})
    found = dict(elements(card.model_copy(update={"source": source})))
    assert (found["licence"], found["citation"]) == ("CC-BY-4.0", "A & B: C. 2001.")
