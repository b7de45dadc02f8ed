"""The cards in data_cards/ are those that the project's streams have today."""

from pathlib import Path

import pytest

from mlstream.data.datasets import load_dataset
from mlstream.generators import task_stream
from mlstream.publishing.folder import card_files, write_cards
from mlstream.publishing.presets import (
    PRESETS,
    list_presets,
    make_preset,
    warn_of_other_data,
)
from mlstream.streams.card_model import card_schema, load_card
from tests.loops import check_all

CARDS = Path(__file__).parents[3] / "data_cards"


def without_versions(card):
    return card.model_copy(update={"versions": {}})


@pytest.mark.slow
def test_a_card_is_that_of_its_stream(monkeypatch, shared_data):
    monkeypatch.setenv("MLSTREAM_DATA", str(shared_data("multilabel").parent))

    def check(name):
        assert without_versions(load_card(CARDS / f"{name}.card.json")) == without_versions(make_preset(name).card)

    check_all(list_presets(), check)


def test_the_files_of_a_card_are_those_that_are_written_today():
    def check(name):
        files = card_files(load_card(CARDS / f"{name}.card.json"), name)
        assert len(files) == 4
        for file, text in files.items():
            assert (CARDS / file).read_text(encoding="utf-8") == text

    check_all(list_presets(), check)


def test_the_listed_size_is_that_on_the_card():
    def check(name):
        card, preset = load_card(CARDS / f"{name}.card.json"), PRESETS[name]
        n_rows = sum(experience.n_samples for experience in card.experiences)
        assert preset.data_sha256 == card.data_sha256
        assert preset[3:] == (n_rows, *map(len, (card.feature_names, card.label_names, card.tasks, card.experiences)))

    check_all(list_presets(), check)


def test_there_is_nothing_else_among_the_cards():
    suffixes = ("card.json", "md", "signatures.svg", "schedule.svg")
    expected = {f"{name}.{suffix}" for name in list_presets() for suffix in suffixes}
    assert {path.name for path in CARDS.iterdir()} == expected | {"README.md", "stream-card.schema.json"}


def test_the_schema_is_that_of_the_cards():
    assert (CARDS / "stream-card.schema.json").read_text(encoding="utf-8") == card_schema()


def test_the_stand_in_says_that_it_is_one():
    assert "STAND-IN for mediamill, not its data" in (CARDS / "mediamill-stand-in.md").read_text(encoding="utf-8")


def test_newsgroups_are_refined_below_the_hierarchies_of_usenet(monkeypatch, shared_data):
    monkeypatch.setenv("MLSTREAM_DATA", str(shared_data("multilabel").parent))
    parents = make_preset("20ng-iirc").card.label_parents
    counts = {top: list(parents.values()).count(top) for top in ("comp", "rec", "sci", "talk")}
    assert counts == {"comp": 5, "rec": 4, "sci": 4, "talk": 4}
    assert len(parents) == 17


@pytest.mark.slow
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


def test_a_published_stream_is_told_by_its_data_from_others_of_its_name(recwarn):
    def check(name):
        card = load_card(CARDS / f"{name}.card.json")
        warn_of_other_data([card, card.model_copy(update={"name": f"{name}-2", "data_sha256": "0" * 64})])
        assert recwarn.list == []
        with pytest.warns(UserWarning, match=f"^This project publishes other data as {name}, and results .* --name"):
            warn_of_other_data([card.model_copy(update={"data_sha256": "0" * 64})])

    check_all(list_presets(), check)


def test_a_stream_of_another_seed_has_other_data():
    with pytest.warns(UserWarning, match="yeast-tasks"):
        warn_of_other_data([task_stream(load_dataset("yeast"), n_init=1, seed=1).card])
