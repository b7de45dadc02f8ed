"""Croissant: accepted by its own library, which reads our rows through it."""

import json
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from scipy import sparse

from mlstream.cards.croissant import card_croissant
from mlstream.cards.limits import known_limits
from mlstream.data.datasets import load_dataset
from mlstream.generators import multiplier_stream, task_stream
from mlstream.publishing.folder import publish
from mlstream.streams.card_model import load_card
from mlstream.streams.stream import Stream
from tests.loops import check_all
from tests.mlstream.small_streams import Shape, make_stream, streams

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


def test_every_column_is_a_field_of_both_tables(folder: Path) -> None:
    described = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    card = load_card(folder / "stream.card.json")
    columns = ["experience", "task", "row", *card.label_names, *card.feature_names]
    for records, name in zip(described["recordSet"][:2], ("stream.train", "stream.test"), strict=True):
        assert records["@id"] == name
        assert {field["source"]["fileObject"]["@id"] for field in records["field"]} == {f"{name}.parquet"}
        assert [field["source"]["extract"]["column"] for field in records["field"]] == columns
        assert len({field["@id"] for field in records["field"]}) == len(columns)


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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_library_of_croissant_accepts_the_description(folder: Path) -> None:
    issues = read_dataset(folder).metadata.ctx.issues
    assert issues.errors == set()
    # Only whoever publishes knows the day.
    assert all("datePublished" in warning for warning in issues.warnings)
    assert read_dataset(folder).metadata.data_limitations == known_limits(load_card(folder / "stream.card.json"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_library_of_croissant_reads_every_row(tmp_path: Path) -> None:
    def check(case: tuple[int, tuple[bool, Shape]]) -> None:
        number, (is_sparse, shape) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        stream = make_stream(replace(shape, sparse=is_sparse))
        found = read_records(publish(stream, folder / "out"))
        assert {"stream.train", "stream.test"} <= found.keys()
        require_same(found, stream)

    check_all(
        enumerate(
            product(
                [False, True],
                [
                    Shape(),
                    Shape(dtype=np.float32, by_row=True),
                    Shape(unknown=0.3),
                    Shape(label_names=("it's", "50%", '"'), feature_names=("task", "task_", "a, b", "\n", "index")),
                    Shape(sizes=(0, 1), evaluation_sizes=(0, 0)),
                ],
            )
        ),
        check,
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@given(streams())
@example(make_stream(Shape(label_names=("", "l", "m"))))
@example(make_stream(Shape(feature_names=("index", "level_0", "c", "d"))))
@example(make_stream(Shape(feature_names=("index", "level_0", "c", "d"), sparse=True)))
def test_no_name_keeps_the_library_from_reading_a_record_set_that_is_there(stream: Stream) -> None:
    with tempfile.TemporaryDirectory() as folder:
        require_same(read_records(publish(stream, Path(folder) / "out")), stream)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_rows_are_read_without_arff_files_as_well(tmp_path: Path) -> None:
    stream = make_stream()
    found = read_records(publish(stream, tmp_path / "out", arff=False))
    assert "stream.train" in found
    require_same(found, stream)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_names_that_labels_share_with_features_stay_apart(tmp_path: Path) -> None:
    stream = make_stream(Shape(label_names=("k", "l", "m"), feature_names=("l", "l_", "c", "k")))
    found = read_records(publish(stream, tmp_path / "out", arff=False))["stream.train"]
    assert list(found[0]) == ["experience", "task", "row", "k", "l", "m", "l__", "l_", "c", "k_"]
    expected = [[*y, *x] for part in stream for y, x in zip(part.Y, part.X, strict=True)]
    assert [list(record.values())[3:] for record in found] == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_stream_of_a_csv_table_is_read_as_well(tmp_path: Path) -> None:
    names = ["a label", "50 m, flat", "é"]
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 2, (40, 2)), rng.random(40).round(3)])
    lines = [",".join(f'"{name}"' for name in names), *(f"{k:.0f},{m:.0f},{x}" for k, m, x in rows)]
    (tmp_path / "own.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    stream = task_stream(load_dataset(tmp_path / "own.csv", labels=names[:2]), n_tasks=2, n_init=1)
    found = read_records(publish(stream, tmp_path / "out"))
    assert "stream.train" in found
    require_same(found, stream)


def read_dataset(folder: Path) -> Any:
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs the extra `croissant`")
    return mlcroissant.Dataset(str(folder / "croissant.json"))


def read_records(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Read every record set that the description names, as its own library reads it; fields by name."""
    dataset = read_dataset(folder)
    assert dataset.metadata.ctx.issues.errors == set()
    found = {}
    for one in dataset.metadata.record_sets:
        names = {field.id: field.name for field in one.fields}
        found[one.id] = [{names[key]: value for key, value in record.items()} for record in dataset.records(one.id)]
    return found


def require_same(found: dict[str, list[dict[str, Any]]], stream: Stream) -> None:
    """Compare records with the stream, from which they are written out again, cell by cell."""
    tasks = stream.card.tasks
    assert found.pop("tasks") == [
        {"name": one.name, "learn": one.n_learning, "evaluate": one.n_evaluation, "cardinality": one.cardinality}
        for one in tasks
    ]
    assert found.pop("experiences") == [
        {"number": number, "tasks": " + ".join(tasks[task].name for task in one.tasks), "rows": one.n_samples}
        for number, one in enumerate(stream.card.experiences, 1)
    ]
    assert found.keys() in ({"stream.train", "stream.test"}, set())
    if found:
        learnt = [[number, part.task_ids[i], part, i] for number, part in enumerate(stream) for i in range(len(part.Y))]
        held_out = [[None, part.task_id, part, i] for part in stream.evaluation_sets for i in range(len(part.Y))]
        require_rows(found["stream.train"], learnt, stream)
        require_rows(found["stream.test"], held_out, stream)


def require_rows(records: list[dict[str, Any]], expected: list[list[Any]], stream: Stream) -> None:
    assert len(records) == len(expected)
    for record, (experience, task, part, i) in zip(records, expected, strict=True):
        values = (list_cells if sparse.issparse(part.X) else dense_cells)(part, i, stream)
        cells = list(record.items())
        roles = [value for _, value in cells[: -len(values)]]
        assert roles[:3] == [experience, stream.tasks[task].name.encode(), part.row_ids[i]]
        # The fourth is the number of a mask, where masks go by row.
        assert len(roles) == 3 + any(one.label_mask.ndim == 2 for one in stream)
        assert cells[-len(values) :] == values


def dense_cells(part: Any, i: int, stream: Stream) -> list[tuple[str, Any]]:
    labels = zip(stream.card.label_names, part.Y[i].tolist(), strict=True)
    features = zip(stream.card.feature_names, part.X[i].tolist(), strict=True)
    return [*((name, None if np.isnan(value) else value) for name, value in labels), *features]


def list_cells(part: Any, i: int, stream: Stream) -> list[tuple[str, Any]]:
    X, labels = part.X[[i]], part.Y[i].tolist()
    unknown = [label for label, value in enumerate(labels) if np.isnan(value)]
    has_unknown = any(np.isnan(one.Y).any() for one in (*stream.experiences, *stream.evaluation_sets))
    return [
        ("labels", [label for label, value in enumerate(labels) if value == 1]),
        *([("unknown_labels", unknown)] if has_unknown else []),
        ("indices", X.indices.tolist()),
        ("values", X.data.tolist()),
    ]
