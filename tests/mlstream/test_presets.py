"""The cards in data_cards/ are those that the project's streams have today."""

from pathlib import Path

import pytest

from mlstream.cards import load_card
from mlstream.presets import list_presets, make_preset, write_cards

CARDS = Path(__file__).parents[2] / "data_cards"


def without_versions(card):
    return card.model_copy(update={"versions": {}})


@pytest.mark.parametrize("name", list_presets())
def test_a_card_is_that_of_its_stream(name, monkeypatch, shared_data):
    monkeypatch.setenv("MLSTREAM_DATA", str(shared_data("multilabel")))
    assert without_versions(load_card(CARDS / f"{name}.card.json")) == without_versions(make_preset(name).card)


def test_every_card_has_its_page():
    assert {path.name.removesuffix(".card.json") for path in CARDS.glob("*.json")} == set(list_presets())
    assert {path.stem for path in CARDS.glob("*.md")} - {"README"} == set(list_presets())


def test_cards_of_tables_that_cannot_be_had_are_left_as_they_are(tmp_path, monkeypatch):
    monkeypatch.delenv("MLSTREAM_DATA", raising=False)
    outcomes = dict(write_cards(tmp_path))
    assert outcomes["yeast-tasks"] == "written"
    assert outcomes["scene-tasks"].startswith("left out: ")
    assert "Scene.arff" in outcomes["scene-tasks"]
    assert not (tmp_path / "scene-tasks.card.json").exists()


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"one of yeast-tasks, .* Got 'yeast' instead"):
        make_preset("yeast")
