"""Looking for registered tables: by words, by size, by place."""

import json
from pathlib import Path

import pytest

from mlstream.data import registry
from mlstream.data.registry import DataFile, DatasetEntry, Selection, describe_dataset

SIZES = {"n_samples": 100, "n_features": 10, "n_labels": 5}


def make_files(name: str) -> tuple[DataFile, ...]:
    return (DataFile(name=f"{name}.arff", sha256="0" * 64, n_bytes=8),)


def make_entry(name: str, **changes: object) -> DatasetEntry:
    fields = {
        "domain": "text",
        "files": make_files(name),
        "labels": 5,
        "licence": "MIT",
        "citation": "Read: Chains. 2011.",
    }
    return DatasetEntry(**{"name": name, **fields, **SIZES, **changes})  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four tables and a part; below this folder lies what a test puts there."""
    header = DataFile(name="wide.xml", sha256="1" * 64, n_bytes=8)
    entries = (
        make_entry("small"),
        make_entry("small-test", part_of="small", n_samples=None),
        make_entry(
            "wide", n_features=1000, citation="Džeroski: Trees.", labels=None, files=(*make_files("wide"), header)
        ),
        make_entry("long", n_samples=10_000, domain="music"),
        make_entry("unknown", n_samples=None, n_features=None, licence="none"),
    )
    monkeypatch.setattr(registry, "list_datasets", lambda: entries)
    monkeypatch.setenv("MLSTREAM_DATA", str(tmp_path))
    monkeypatch.setenv("MLSTREAM_CACHE", str(tmp_path / "cache"))
    return tmp_path


def find(**choices: object) -> str:
    return " ".join(entry.name for entry, _ in Selection(**choices).find())  # type: ignore[arg-type]


def test_whole_tables_are_listed_in_their_order_and_parts_on_demand() -> None:
    assert find() == "small wide long unknown"
    assert find(with_parts=True) == "small small-test wide long unknown"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wid", "wide"),
        ("MUSIC", "long"),
        ("mit  text", "small wide"),
        ("džeroski", "wide"),
        ("chains", "small long unknown"),
    ],
)
def test_every_word_is_in_name_domain_licence_or_citation(text: str, expected: str) -> None:
    assert find(text=text) == expected


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({"n_samples": (100, None)}, "small wide long"),
        ({"n_samples": (101, None)}, "long"),
        ({"n_samples": (None, 100)}, "small wide"),
        ({"n_features": (10, 999)}, "small long"),
        ({"n_features": (None, 999), "n_samples": (None, 999)}, "small"),
        ({"n_labels": (5, 5)}, "small wide long unknown"),
        ({"n_samples": (None, None)}, "small wide long unknown"),
    ],
)
def test_bounds_are_within_and_a_size_that_is_not_known_is_within_none(
    sizes: dict[str, tuple[int | None, int | None]], expected: str
) -> None:
    assert find(sizes=sizes) == expected


def test_local_tables_are_those_with_all_their_files(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "small.arff.gz").touch()
    (folder / "wide.arff").touch()
    assert find(only_local=True) == "small"
    (folder / "wide.xml").touch()
    assert {entry.name: paths for entry, paths in Selection(only_local=True).find()} == {
        "small": (folder / "deep" / "small.arff.gz",),
        "wide": (folder / "wide.arff", folder / "wide.xml"),
    }


def test_where_nothing_fits_one_line_says_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"^'smal1' and the options must fit .*--parts.*; did you mean 'small'\?$"):
        find(text="smal1")
    with pytest.raises(ValueError, match=r"^The options must fit at least one data set. Drop one. Got no data set.$"):
        find(sizes={"n_labels": (6, None)}, with_parts=True)


def test_a_description_is_json_that_says_which_columns_are_labels(folder: Path) -> None:
    (folder / "long.arff").touch()
    found = {entry.name: describe_dataset(entry, paths) for entry, paths in Selection().find()}
    assert json.loads(json.dumps(found)) == found
    assert {name: one["labels"] for name, one in found.items()} == {
        "small": 5,
        "wide": "wide.xml",
        "long": 5,
        "unknown": 5,
    }
    assert [file["path"] for file in found["long"]["files"]] == [str(folder / "long.arff")]
    assert [file["path"] for file in found["wide"]["files"]] == [None, None]
    assert (found["unknown"]["n_samples"], found["unknown"]["licence"]) == (None, "none")
