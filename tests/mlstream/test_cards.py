"""Cards as JSON: read as written, and nothing unknown passes."""

import json
from pathlib import Path

import pytest
from hypothesis import given

from mlstream.cards import load_card, parse_card
from mlstream.stream import Stream
from tests.mlstream.streams import make_stream, streams


@given(streams())
def test_a_card_is_read_as_it_was_written(stream: Stream) -> None:
    assert parse_card(stream.card.model_dump_json().encode(), "x") == stream.card


def test_a_card_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(make_stream().card.model_dump_json(indent=1), encoding="utf-8")
    assert load_card(tmp_path / "x.json") == make_stream().card


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"surprise": 1}, "Got surprise: Extra inputs are not permitted"),
        ({"format_version": 2}, "Got format_version: Input should be 1"),
        ({"data_sha256": "abc"}, "Got data_sha256: String should match pattern"),
        ({"files": [{"name": "../x", "n_bytes": 1, "sha256": "0" * 64}]}, r"Got files.0.name: String should match"),
        ({"tasks": None}, "Got tasks: Input should be a valid array"),
    ],
)
def test_a_card_of_another_kind_is_one_error_with_the_field(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(json.loads(make_stream().card.model_dump_json()) | change), encoding="utf-8")
    with pytest.raises(ValueError, match=f"x.json must hold a StreamCard of this version. {message}") as caught:
        load_card(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]"])
def test_what_is_no_card_is_one_error(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"x must hold a StreamCard of this version. Got "):
        parse_card(content, "x")


def test_cards_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        make_stream().card.name = "other"
