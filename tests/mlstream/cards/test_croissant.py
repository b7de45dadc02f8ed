"""Croissant: accepted by its own library, which reads our rows through it."""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given

from mlstream.card_model import load_card
from mlstream.cards.croissant import card_croissant
from mlstream.cards.limits import known_limits
from mlstream.data.datasets import load_dataset
from mlstream.generators import multiplier_stream, task_stream
from mlstream.publishing.folder import publish
from mlstream.stream import Stream
from tests.mlstream.streams import Shape, make_stream, streams

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
def test_the_library_of_croissant_accepts_the_description(folder: Path) -> None:
    issues = read_dataset(folder).metadata.ctx.issues
    assert issues.errors == set()
    # Only whoever publishes knows the day.
    assert all("datePublished" in warning for warning in issues.warnings)
    assert read_dataset(folder).metadata.data_limitations == known_limits(load_card(folder / "stream.card.json"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "shape",
    [
        Shape(),
        Shape(dtype=np.float32, by_row=True),
        Shape(unknown=0.3),
        Shape(sparse=True),
        Shape(label_names=("two words", "a,b", "é 日本"), feature_names=("{x}", "@data", "http://x y", "#", "null")),
        Shape(sizes=(0, 1), evaluation_sizes=(0, 0)),
    ],
    ids=["dense", "float32", "unknown", "sparse", "odd", "empty"],
)
def test_the_library_of_croissant_reads_every_record(tmp_path: Path, shape: Shape) -> None:
    stream = make_stream(shape)
    found = read_records(publish(stream, tmp_path / "out"))
    require_same(found, stream)
    assert ("stream" in found) == (not shape.sparse)


@pytest.mark.filterwarnings("ignore")
@given(streams())
@example(make_stream(Shape(feature_names=("it's", "b", "c", "d"))))
@example(make_stream(Shape(feature_names=("50%", "b", "c", "d"))))
@example(make_stream(Shape(feature_names=(" lead", "b", "c", "d"))))
@example(make_stream(Shape(label_names=("?", "l", "m"))))
@example(make_stream(Shape(label_names=("", "l", "m"))))
def test_no_name_keeps_the_library_from_reading_a_record_set_that_is_there(stream: Stream) -> None:
    with tempfile.TemporaryDirectory() as folder:
        require_same(read_records(publish(stream, Path(folder) / "out")), stream)


@pytest.mark.filterwarnings("ignore")
def test_a_stream_of_a_csv_table_is_read_as_well(tmp_path: Path) -> None:
    names = ["a label", "50 m, flat", "é"]
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 2, (40, 2)), rng.random(40).round(3)])
    lines = [",".join(f'"{name}"' for name in names), *(f"{k:.0f},{m:.0f},{x}" for k, m, x in rows)]
    (tmp_path / "own.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    stream = task_stream(load_dataset(tmp_path / "own.csv", labels=names[:2]), n_tasks=2, n_init=1)
    found = read_records(publish(stream, tmp_path / "out"))
    require_same(found, stream)
    assert "stream" in found


def read_dataset(folder: Path) -> Any:
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs the extra `croissant`")
    return mlcroissant.Dataset(str(folder / "croissant.json"))


def read_records(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Read every record set that the description names, as its own library reads it; fields without their set."""
    dataset = read_dataset(folder)
    assert dataset.metadata.ctx.issues.errors == set()
    return {
        one.id: [
            {field.removeprefix(f"{one.id}/"): value for field, value in row.items()} for row in dataset.records(one.id)
        ]
        for one in dataset.metadata.record_sets
    }


def require_same(found: dict[str, list[dict[str, Any]]], stream: Stream) -> None:
    tasks = stream.card.tasks
    assert found.pop("tasks") == [
        {"name": one.name, "learn": one.n_learning, "evaluate": one.n_evaluation, "cardinality": one.cardinality}
        for one in tasks
    ]
    assert found.pop("experiences") == [
        {"number": number, "tasks": " + ".join(tasks[task].name for task in one.tasks), "rows": one.n_samples}
        for number, one in enumerate(stream.card.experiences, 1)
    ]
    parts = {"stream": stream.experiences, "stream.evaluation": stream.evaluation_sets}
    assert found.keys() in ({*parts}, set())
    # Decimals that are read as double are the numbers of the stream once they are rounded to its type.
    number = np.asarray(stream.experiences[0].X).dtype.type
    for name, records in found.items():
        expected = [[*y, *x] for part in parts[name] for y, x in zip(part.Y, part.X, strict=True)]
        columns = [str(place) for place in range(len(stream.card.label_names) + len(stream.card.feature_names))]
        assert [[read_cell(one[column], number) for column in columns] for one in records] == [
            [read_cell(cell, number) for cell in row] for row in expected
        ]


def read_cell(value: Any, number: type) -> Any:
    """Return a number, or the sign of an unknown label; labels are bytes where some are unknown."""
    cell = value.decode() if isinstance(value, bytes) else "?" if np.isnan(value) else value
    return cell if cell == "?" else number(cell)
