"""CITATION.cff of a stream: what the format demands, and what the card knows."""

import pytest
from hypothesis import given

from mlstream.cards.citation import card_citation
from mlstream.streams.card_model import StreamCard
from mlstream.streams.stream import Stream
from tests.mlstream.small_streams import make_stream, streams

yaml = pytest.importorskip("yaml")


def read(card: StreamCard) -> dict[str, object]:
    return yaml.safe_load(card_citation(card))


@given(streams())
def test_what_the_format_demands_is_there(stream: Stream) -> None:
    found = read(stream.card)
    assert found["cff-version"] == "1.2.0"
    assert (found["type"], found["title"]) == ("dataset", stream.card.name)
    assert found["message"]
    for cited in (found, *found["references"]):
        assert cited["title"]
        assert cited["authors"][0]["name"]


def test_the_source_is_among_the_references_if_it_says_how_to_cite_it() -> None:
    card = make_stream().card
    assert [reference["type"] for reference in read(card)["references"]] == ["software"]
    source = card.source.model_copy(update={"licence": "MIT", "citation": "!!python/name:os.system - {a: *b}"})
    found = read(card.model_copy(update={"source": source}))
    assert found["references"][0]["title"] == "!!python/name:os.system - {a: *b}"
    assert found["license"] == "MIT"
    assert found["identifiers"][0]["value"] == f"sha256:{card.data_sha256}"
