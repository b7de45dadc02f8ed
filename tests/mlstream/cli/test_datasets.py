"""`mlstream datasets list` as people and programs read it."""

import json

import pytest

from mlstream.data.registry import list_datasets
from tests.mlstream.cli.commands import invoke


@pytest.fixture(autouse=True)
def nothing_local(tmp_path, monkeypatch):
    monkeypatch.delenv("MLSTREAM_DATA", raising=False)
    monkeypatch.setenv("MLSTREAM_CACHE", str(tmp_path / "cache"))


def listed(*arguments):
    return [line.split()[0] for line in invoke("datasets", "list", *arguments).stdout.splitlines()[1:]]


def test_whole_tables_are_listed_and_parts_on_demand():
    assert "birds" in listed()
    assert {"birds-training", "birds-test"} <= set(listed("--parts"))
    assert not {"birds-training", "birds-test"} & set(listed())


def test_tables_are_found_by_words_and_sizes():
    assert listed("ecml", "--min-labels", "900", "--max-labels", "1000") == ["delicious"]
    assert listed("mulan", "--max-rows", "600", "--max-features", "100") == ["cal500", "foodtruck"]
    assert listed("--min-rows", "200000") == ["nus-wide-cvladplus"]


def test_a_size_that_is_not_known_is_a_question_mark():
    row = invoke("datasets", "list", "langlog").stdout.splitlines()[1].split()
    assert row == ["langlog", "text", "?", "?", "75", "1.7", "mlstream", "datasets", "fetch", "langlog"]


def test_only_local_tables_are_listed_on_demand(tmp_path, monkeypatch):
    assert listed("--local") == ["yeast"]
    monkeypatch.setenv("MLSTREAM_DATA", str(tmp_path))
    (tmp_path / "Scene.arff.bz2").touch()
    assert listed("--local") == ["yeast", "scene"]


def test_where_nothing_fits_the_command_fails_with_one_line():
    result = invoke("datasets", "list", "brds")
    assert result.exit_code == 1
    assert "'brds' and the options must fit at least one data set" in str(result.exception)
    assert "did you mean 'birds'?" in str(result.exception)


def test_json_has_every_term_hash_and_address():
    (found,) = json.loads(invoke("datasets", "list", "cal500", "--json").stdout)
    entry = next(entry for entry in list_datasets() if entry.name == "cal500")
    assert (found["n_samples"], found["n_features"], found["n_labels"], found["labels"]) == (502, 68, 174, "cal500.xml")
    assert (found["licence"], found["citation"]) == (entry.licence, entry.citation)
    assert [(one["sha256"], one["urls"]) for one in found["files"]] == [
        (file.sha256, [download.url for download in file.downloads]) for file in entry.files
    ]
