"""OpenML's description: its elements in its order, within its alphabets and lengths."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import arff
import pytest
from hypothesis import given

from mlstream.cards.openml import card_openml, has_targets
from mlstream.cards.terms import with_terms
from mlstream.publishing.folder import publish
from mlstream.streams.card_model import StreamCard, TermsCard, load_card
from mlstream.streams.stream import Stream
from tests.mlstream.small_streams import Shape, make_stream, streams

pytestmark = pytest.mark.filterwarnings("ignore:The stream should state:UserWarning")

NAMESPACE = "{http://openml.org/openml}"
CASUAL = r"[a-zA-Z0-9_\-.(),]"
# In the order that OpenML's schema of uploads demands, with what it demands of each.
ALLOWED = {
    "name": rf"{CASUAL}{{1,128}}",
    "description": r"[\x00-\x7f]{1,16384}",
    "format": rf"{CASUAL}{{1,64}}",
    "creator": r"[\x00-\x7f]{1,128}",
    "licence": rf"{CASUAL}{{1,64}}",
    "default_target_attribute": rf"{CASUAL}{{1,1024}}",
    "version_label": rf"{CASUAL}{{1,128}}",
    "citation": r"[\x00-\x7f]{1,1024}",
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


def test_texts_are_in_ascii_and_within_their_lengths() -> None:
    card = make_stream().card
    terms = TermsCard(
        description="Zażółć \u2013 \u201cnaïve\u201d 鳥" + "x" * 20_000,
        citation="Müller\u2019s" * 500,
        creators=["José Ñ", "鳥"],
    )
    found = elements(card.model_copy(update={"terms": terms}))
    require_valid(found)
    # A letter that is no letter with an accent, such as the Polish l, has no other form.
    assert dict(found)["description"].startswith('Zazo?c - "naive" ?xxx')
    assert dict(found)["citation"].startswith("Muller'sMuller's")
    assert [text for tag, text in found if tag == "creator"] == ["Jose N"]
    assert all(dict(found)[tag].endswith("...") for tag in ("description", "citation"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape",
    [Shape(), Shape(sparse=True), Shape(label_names=("two words", "l")), Shape(label_names=("a,b", "ü"))],
    ids=["dense", "sparse", "blank", "comma"],
)
def test_openml_python_takes_the_description_and_the_rows(tmp_path: Path, shape: Shape) -> None:
    openml = pytest.importorskip("openml", reason="openml-python is not installed")
    terms = {"description": "Vögel.", "creators": ["José"], "licence": "MIT", "citation": "José: Vögel."}
    stream = with_terms(make_stream(shape), name="birds ü", **terms)
    folder = publish(stream, tmp_path / "out")
    fields = dict(elements(load_card(folder / "stream.card.json")))
    assert (fields["format"], fields["creator"]) == ("Sparse_ARFF" if shape.sparse else "ARFF", "Jose")
    with (folder / "stream.arff").open() as file:
        rows = arff.load(file, return_type=arff.LOD if shape.sparse else arff.DENSE)
    # All the checks before an upload: alphabets, targets among the attributes, and rows that can be read again.
    dataset = openml.datasets.create_dataset(
        **{field: fields[field] for field in ("name", "description", "creator", "licence", "version_label")},
        contributor=None,
        collection_date=None,
        language=None,
        attributes=rows["attributes"],
        data=rows["data"],
        default_target_attribute=fields.get("default_target_attribute"),
        ignore_attribute=None,
        citation=fields.get("citation"),
    )
    assert dataset.format == fields["format"].lower()
    assert has_targets(stream.card) == ("default_target_attribute" in fields)
