"""Croissant: accepted by its own library, which reads our rows through it."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from mlstream.card_model import load_card
from mlstream.cards.croissant import card_croissant
from mlstream.cards.limits import known_limits
from mlstream.generators import multiplier_stream
from mlstream.publishing.folder import publish
from tests.mlstream.streams import Shape, make_stream

# Streams made by hand state no terms, which `publish` warns of.
pytestmark = pytest.mark.filterwarnings("ignore:The stream should state:UserWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(make_stream(Shape(label_names=("k", 'l "x", é', "m"))), tmp_path_factory.mktemp("pub") / "out")


def test_files_and_hashes_are_those_of_the_card(folder: Path) -> None:
    described = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    card = load_card(folder / "stream.card.json")
    files = [(file["@id"], file["contentUrl"], file["sha256"]) for file in described["distribution"]]
    assert files == [(file.name, file.name, file.sha256) for file in card.files]
    assert described["conformsTo"] == ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]


def test_every_column_is_a_field_of_both_tables() -> None:
    card = load_card_with_files()
    described = json.loads(card_croissant(card))
    columns = [*card.label_names, *card.feature_names]
    for records in described["recordSet"][:2]:
        assert [field["source"]["extract"]["column"] for field in records["field"]] == columns
        assert len({field["@id"] for field in records["field"]}) == len(columns)


def load_card_with_files():
    from mlstream.card_model import FileCard

    files = [FileCard(name=name, n_bytes=1, sha256="0" * 64) for name in ("stream.arff", "stream.evaluation.arff")]
    return make_stream().card.model_copy(update={"files": files})


def test_a_drawn_stream_says_what_drew_it_and_derives_from_nothing() -> None:
    card = multiplier_stream("rand", seed=7).card
    described = json.loads(card_croissant(card))
    assert described["rai:hasSyntheticData"] is True
    assert "prov:wasDerivedFrom" not in described
    activity = described["prov:wasGeneratedBy"]
    assert activity["@type"] == "prov:Activity"
    for fact in (f"mlstream {card.versions['mlstream']}", "multiplier_stream", "seed 7", '"multipliers": "rand"'):
        assert fact in activity["prov:label"]
    assert described["rai:dataLimitations"] == known_limits(card)


def test_a_stream_of_a_table_names_the_table_and_its_hash() -> None:
    card = make_stream().card
    source = card.source.model_copy(update={"name": "hand", "origin": "hand.csv", "sha256": "ab" * 32})
    described = json.loads(card_croissant(card.model_copy(update={"source": source})))
    assert described["prov:wasDerivedFrom"] == {
        "@type": "prov:Entity",
        "@id": f"urn:sha256:{'ab' * 32}",
        "prov:label": "hand (hand.csv)",
    }
    # Whether the rows of a table were measured is for its authors to say.
    assert "rai:hasSyntheticData" not in described


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("is_sparse", [False, True])
def test_every_record_set_can_be_generated(tmp_path: Path, is_sparse: bool) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs the extra `croissant`")
    stream = make_stream(Shape(sparse=is_sparse))
    folder = publish(stream, tmp_path / "out")
    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    assert dataset.metadata.ctx.issues.errors == set()
    counts = {one.id: sum(1 for _ in dataset.records(one.id)) for one in dataset.metadata.record_sets}
    rows = {"stream": sum(part.n_samples for part in stream.card.experiences)}
    rows["stream.evaluation"] = sum(task.n_evaluation for task in stream.card.tasks)
    expected = {"tasks": len(stream.card.tasks), "experiences": len(stream.card.experiences)}
    assert counts == (expected if is_sparse else rows | expected)


@pytest.mark.filterwarnings("ignore")
def test_the_library_of_croissant_accepts_the_description(folder: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs the extra `croissant`")
    metadata = mlcroissant.Dataset(str(folder / "croissant.json")).metadata
    issues = metadata.ctx.issues
    assert metadata.data_limitations == known_limits(load_card(folder / "stream.card.json"))
    assert issues.errors == set()
    # Only whoever publishes knows the day.
    assert all("datePublished" in warning for warning in issues.warnings)


@pytest.mark.filterwarnings("ignore")
def test_the_library_of_croissant_reads_our_rows(tmp_path: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs the extra `croissant`")
    stream = make_stream()
    folder = publish(stream, tmp_path / "out")
    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    rows = [[float(value) for value in record.values()] for record in dataset.records("stream")]
    expected = np.concatenate([np.hstack([part.Y, part.X]) for part in stream])
    np.testing.assert_allclose(rows, expected)
    tasks = [record["tasks/learn"] for record in itertools.islice(dataset.records("tasks"), 9)]
    assert tasks == [task.n_learning for task in stream.card.tasks]


@pytest.mark.filterwarnings("ignore")
def test_the_library_of_croissant_reads_unknown_labels(tmp_path: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs the extra `croissant`")
    stream = make_stream(Shape(unknown=0.3))
    folder = publish(stream, tmp_path / "out")
    records = mlcroissant.Dataset(str(folder / "croissant.json")).records("stream")
    rows = [[value.decode() for value in list(record.values())[:3]] for record in records]
    expected = np.concatenate([part.Y for part in stream])
    np.testing.assert_array_equal([[np.nan if cell == "?" else float(cell) for cell in row] for row in rows], expected)
