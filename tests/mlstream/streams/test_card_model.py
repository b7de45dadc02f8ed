"""Cards as JSON: read as written, and nothing unknown passes."""

import json
from pathlib import Path

import pytest
from hypothesis import given

from mlstream.streams.card_model import card_schema, load_card, parse_card
from mlstream.streams.stream import Stream
from tests.loops import check_all
from tests.mlstream.small_streams import make_stream, streams


@given(streams())
def test_a_card_is_read_as_it_was_written(stream: Stream) -> None:
    assert parse_card(stream.card.model_dump_json().encode(), "x") == stream.card


def test_a_card_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(make_stream().card.model_dump_json(indent=1), encoding="utf-8")
    assert load_card(tmp_path / "x.json") == make_stream().card


def test_a_card_of_another_kind_is_one_error_with_the_field(tmp_path: Path) -> None:
    def check(case: tuple[int, tuple[dict[str, object], str]]) -> None:
        number, (change, message) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "x.json"
        path.write_text(json.dumps(json.loads(make_stream().card.model_dump_json()) | change), encoding="utf-8")
        with pytest.raises(ValueError, match=f"x.json must hold a StreamCard of this version: {message}") as caught:
            load_card(path)
        assert "\n" not in str(caught.value)

    check_all(
        enumerate(
            [
                ({"surprise": 1}, "surprise must not be there. Got 1"),
                ({"schema_version": 3}, "schema_version must be 2 at most. Got more; install a newer mlstream"),
                ({"schema_version": 1}, "schema_version must be 2. Got 1"),
                ({"format_version": 1}, "format_version must not be there. Got 1"),
                ({"data_sha256": "abc"}, "data_sha256 must match pattern"),
                ({"files": [{"name": "../x", "n_bytes": 1, "sha256": "0" * 64}]}, r"files.0.name must match pattern"),
                ({"files": [{"name": "..", "n_bytes": 1, "sha256": "0" * 64}]}, r"files.0.name must match pattern"),
                ({"files": [{"name": "a\nb", "n_bytes": 1, "sha256": "0" * 64}]}, r"files.0.name must match pattern"),
                ({"tasks": None}, "tasks must be a list in square brackets. Got None"),
            ]
        ),
        check,
    )


def test_a_card_of_version_1_is_read_as_one_of_version_2() -> None:
    fields = json.loads(make_stream().card.model_dump_json())
    assert fields.pop("schema_version") == 2
    assert parse_card(json.dumps({"format_version": 1} | fields).encode(), "x") == make_stream().card
    with pytest.raises(ValueError, match="x must hold a StreamCard of this version: format_version must not be there"):
        parse_card(json.dumps({"format_version": 2} | fields).encode(), "x")


def test_fields_of_a_scenario_that_hold_nothing_are_not_written() -> None:
    card = make_stream().card
    assert set(card.model_dump()["scenario"]) == {"name", "boundary", "task_identity"}
    marked = card.scenario.model_copy(update={"shared_rows": "mask"})
    assert marked.model_dump()["shared_rows"] == "mask"


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]"])
def test_what_is_no_card_is_one_error(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"x must hold a StreamCard of this version: its content must be .*. Got "):
        parse_card(content, "x")


def text_of(**changes: object) -> bytes:
    return json.dumps(json.loads(make_stream().card.model_dump_json()) | changes).encode()


def task_with(**changes: object) -> dict[str, object]:
    return {**make_stream().card.tasks[0].model_dump(), **changes}


def drift_with(**changes):
    return {"what": ["P(X)"], "pattern": "abrupt", "before": 0, "after": 1, "recurring": False} | changes


def test_a_card_that_means_harm_is_one_short_error() -> None:
    def check(case: tuple[bytes, str]) -> None:
        content, message = case
        with pytest.raises(ValueError, match=message) as caught:
            parse_card(content, "x")
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 300

    check_all(
        [
            (
                text_of(scenario={**make_stream().card.scenario.model_dump(), "task_roles": ["train"]}),
                "task_roles of the card must fit its lists. Got 1 for 2 tasks",
            ),
            (
                text_of(scenario={**make_stream().card.scenario.model_dump(), "emergence": [0]}),
                "emergence of the card must fit its lists. Got 1 for 3 labels",
            ),
            (
                text_of(scenario={**make_stream().card.scenario.model_dump(), "emergence": [0, 0, 99]}),
                "emergence of the card must fit its lists. Got experience 99 of",
            ),
            (text_of(tasks=[task_with(signature=[3])]), "signatures of the card must fit its lists. Got label 3 of 3"),
            (text_of(tasks=[task_with(label_frequencies=[0.5])]), "label_frequencies .* Got 1 for 3 labels"),
            (
                text_of(experiences=[{"tasks": [9], "n_samples": 1}]),
                "tasks of the card must .* Got task 9 of 2",
            ),
            (text_of(label_parents={"k": "x"}), "label_parents of the card must fit its lists. Got unknown label 'x'"),
            (text_of(label_parents={"k": "l", "l": "m", "m": "l"}), "Got label '[lm]' above itself"),
            (text_of(tasks=[]), "tasks of the card must fit its lists. Got an empty list"),
            (text_of(experiences=[]), "experiences of the card must fit its lists. Got an empty list"),
            (
                text_of(label_names=[], tasks=[task_with(signature=[], label_frequencies=[])]),
                "label_names .* Got an empty list",
            ),
            (text_of(label_names=["k", "k", "l"]), "label_names of the card must fit its lists. Got an entry twice"),
            (text_of(feature_names=["a", "a", "b", "c"]), "feature_names of the card must .* Got an entry twice"),
            (text_of(tasks=[task_with(), task_with()]), "names of tasks of the card must .* Got an entry twice"),
            (text_of(tasks=[task_with(signature=[0, 0])]), "Got an entry twice"),
            (text_of(experiences=[{"tasks": [0, 0], "n_samples": 1}]), "Got an entry twice"),
            (text_of(tasks=[task_with(n_label_sets=10**9)]), "n_label_sets and cardinality .* Got 1000000000 and"),
            (text_of(tasks=[task_with(cardinality=99.0)]), r"n_label_sets and cardinality .* Got \d+ and 99\.0"),
            (text_of(drifts=[drift_with(start=9, stop=3)]), "drifts of the card .* Got one from 9 to 3"),
            (text_of(drifts=[drift_with(start=3, stop=10**9)]), "drifts of the card .* Got one from 3 to 1000000000"),
            (text_of(tasks=[task_with(cardinality=float("inf"))]), "cardinality must be a finite number. Got inf"),
            (text_of(tasks=[task_with(n_learning=-1)]), "n_learning must be at least 0. Got -1"),
            (
                text_of(source={"name": "x", "origin": "x", "n_samples": 1, "sha256": "../x"}),
                "sha256 must match pattern",
            ),
            (b"[" * 100_000, "recursion limit exceeded"),
            (b'{"a":' * 100_000, "recursion limit exceeded"),
            (b"!!python/object/apply:os.system [ls]", "its content must be JSON. Got this error: expected value"),
            (b" " * (64 * 2**20 + 1), "x must hold a StreamCard of 67108864 bytes at most. Got more"),
        ],
        check,
    )


def test_a_file_is_not_read_farther_than_a_card_may_be_long(tmp_path: Path) -> None:
    with (tmp_path / "x.json").open("wb") as file:
        file.truncate(10 * 2**30)
    with pytest.raises(ValueError, match="67108864 bytes at most"):
        load_card(tmp_path / "x.json")


def test_the_schema_accepts_what_cards_are_and_nothing_else() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(card_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    card = json.loads(make_stream().card.model_dump_json())
    assert list(validator.iter_errors(card)) == []
    for change in ({"surprise": 1}, {"schema_version": 3}, {"data_sha256": "abc"}, {"tasks": None}):
        assert list(validator.iter_errors(card | change))


def test_cards_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        make_stream().card.name = "other"


def test_a_card_without_persistence_is_written_as_it_was_read() -> None:
    fields = json.loads(make_stream().card.model_dump_json())
    assert fields.pop("persistence").keys() == fields["source"].pop("persistence").keys() == {"repeated", "by_chance"}
    card = parse_card(json.dumps(fields).encode(), "x")
    assert card.persistence is card.source.persistence is None
    assert json.loads(card.model_dump_json()) == fields
