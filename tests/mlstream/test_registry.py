"""Tables that are known by name: where their files are found."""

import gzip
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from mlstream.datasets import load_dataset
from mlstream.registry import list_datasets

ENTRIES = {entry.name: entry for entry in list_datasets()}
LOCAL = [name for name, entry in ENTRIES.items() if not entry.package]


def test_names_differ_and_every_entry_says_what_it_is() -> None:
    assert len(ENTRIES) == len(list_datasets())
    for entry in list_datasets():
        assert entry.licence
        assert entry.citation
        assert abs(entry.labels) == entry.n_labels


def test_yeast_is_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLSTREAM_DATA", raising=False)
    entry = ENTRIES["yeast"]
    assert entry.where == "embedded (river)"
    path = entry.require()
    assert hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest() == entry.sha256


def test_finding_yeast_does_not_import_river() -> None:
    code = "import sys, mlstream.registry as r; assert r.list_datasets()[0].find(); print('river' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", LOCAL)
def test_an_absent_file_is_one_line_that_says_what_to_set(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLSTREAM_DATA", raising=False)
    assert ENTRIES[name].where == f"set MLSTREAM_DATA to a folder that holds {ENTRIES[name].file}"
    with pytest.raises(FileNotFoundError) as caught:
        load_dataset(name)
    assert str(caught.value) == (
        f"Data set '{name}' must be in the folder that MLSTREAM_DATA names, as {ENTRIES[name].file} (.gz, .bz2, .xz). "
        "Got no variable MLSTREAM_DATA."
    )


def test_a_folder_without_the_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLSTREAM_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=f"Got MLSTREAM_DATA={tmp_path}"):
        load_dataset("scene")


def test_a_file_is_found_anywhere_below_the_folder_packed_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLSTREAM_DATA", str(tmp_path))
    (tmp_path / "a" / "b").mkdir(parents=True)
    path = tmp_path / "a" / "b" / "Scene.arff.bz2"
    path.touch()
    assert ENTRIES["scene"].where == str(path)


def test_another_file_of_the_same_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLSTREAM_DATA", str(tmp_path))
    (tmp_path / "Scene.arff").write_text("@relation t\n@attribute a real\n@data\n1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"Scene.arff must hold data set 'scene', sha256 39282e8c.*\. Got "):
        load_dataset("scene")
