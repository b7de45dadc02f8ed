"""Croissant: accepted by its own library, which reads our rows through it."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from mlstream.card_model import load_card
from mlstream.cards.croissant import card_croissant
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
    assert described["conformsTo"] == "http://mlcommons.org/croissant/1.1"


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


@pytest.mark.filterwarnings("ignore")
def test_the_library_of_croissant_accepts_the_description(folder: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs the extra `croissant`")
    issues = mlcroissant.Dataset(str(folder / "croissant.json")).metadata.ctx.issues
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
