"""Tables that are known by name: where their files are found."""

import gzip
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mlstream._support.content import read_unpacked
from mlstream.data.datasets import load_dataset
from mlstream.data.registry import list_datasets
from tests.loops import check_all

ENTRIES = {entry.name: entry for entry in list_datasets()}
# Tables whose labels an .xml file names, and parts, are of Boomer-Datasets: tests/test_check_registry.py.
COLLECTED = [one for one in ENTRIES.values() if not (one.package or one.part_of or one.files[-1].names_labels)]
LOCAL = [name for name, entry in ENTRIES.items() if not entry.package]


@pytest.fixture(autouse=True)
def nothing_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLSTREAM_DATA", raising=False)
    monkeypatch.setenv("MLSTREAM_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def another_user() -> Iterator[None]:
    """Be a user who may not enter folders of others, where the tests run as root."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield
    os.seteuid(user)


def test_downloads_in_the_home_of_another_user_are_not_there(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    folder = ENTRIES["scene"].cache
    folder.mkdir(parents=True)
    (folder / ENTRIES["scene"].files[0].name).touch()
    assert ENTRIES["scene"].find() is not None
    folder.parent.chmod(0)
    request.getfixturevalue("another_user")
    assert ENTRIES["scene"].find() is None


def test_names_differ_and_every_entry_says_what_it_is() -> None:
    assert len(ENTRIES) == len(list_datasets())
    for entry in list_datasets():
        assert all((entry.domain, entry.licence, entry.citation))
        assert [file.names_labels for file in entry.files].count(True) == (
            entry.table == "labels" and entry.labels is None
        )
        labels = entry.labels
        assert labels is None or (len(labels) if isinstance(labels, tuple) else abs(labels)) == entry.n_labels


def test_a_part_has_all_but_the_rows_and_the_file_of_its_table() -> None:
    parts = [entry for entry in list_datasets() if entry.part_of]
    assert {entry.name.removeprefix(entry.part_of) for entry in parts} == {"-training", "-test"}
    for part in parts:
        whole = ENTRIES[part.part_of]
        assert part.files[1:] == whole.files[1:]
        assert replace(part, name=whole.name, files=whole.files, n_samples=whole.n_samples, part_of="") == whole


def test_rows_of_both_parts_are_those_of_the_table() -> None:
    for name in ("bibtex", "birds", "scene-boomer", "yeast-boomer"):
        assert sum(ENTRIES[f"{name}-{part}"].n_samples or 0 for part in ("training", "test")) == ENTRIES[name].n_samples


def test_tables_of_mulan_s_own_list_have_the_sizes_of_its_table() -> None:
    # tsoumakas/mulan@43f6389, data/multi-label/README.md; bytes differ by repository, rows and columns do not.
    published = {
        "bibtex": (7395, 1836, 159),
        "birds": (645, 260, 19),
        "bookmarks": (87856, 2150, 208),
        "cal500": (502, 68, 174),
        "corel5k": (5000, 499, 374),
        "delicious": (16105, 500, 983),
        "eurlex-dc": (19348, 5000, 412),
        "eurlex-sm": (19348, 5000, 201),
        "eurlex-ev": (19348, 5000, 3993),
        "mediamill": (43907, 120, 101),
        "nus-wide-cvladplus": (269648, 128, 81),
        "scene-boomer": (2407, 294, 6),
        "tmc2007": (28596, 49060, 22),
        "yeast-boomer": (2417, 103, 14),
    }
    sizes = {name: (one.n_samples, one.n_features, one.n_labels) for name, one in ENTRIES.items()}
    assert {name: sizes[name] for name in published} == published


def test_the_tables_of_the_protocol_and_of_pragma_are_known() -> None:
    protocol = {"yeast-osc-mlc", "scene", "slashdot", "reuters-k500", "20ng", "mediamill"}
    protocol |= {"synthetic_monolab", "synthetic_bilab", "synthetic_rand"}
    assert protocol | {"autos", "letter", "hypothyroid", "satimage"} <= ENTRIES.keys()


def test_every_file_has_a_hash_and_every_address_a_hash_a_size_and_a_fixed_version() -> None:
    for file in (file for entry in list_datasets() for file in entry.files):
        for known in (file, *file.downloads):
            assert re.fullmatch("[0-9a-f]{64}", known.sha256)
            assert known.n_bytes > 0
        for source in file.downloads:
            assert re.fullmatch(r"https://[^?#]+/[0-9a-f]{40}/[^?#]+", source.url)
            assert source.file_name in {file.name, f"{file.name}.bz2"}


def test_hashes_and_sizes_are_those_of_the_collected_files(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("multilabel").parent
    text = (folder / "PROVENANCE.md").read_text(encoding="utf-8")
    for entry in COLLECTED:
        for file in entry.files:
            assert f"`{file.sha256}`" in text
            assert all(f"`{source.sha256}`" in text for source in file.downloads)
            path = file.find_in(folder)
            assert (path is None) == (entry.name == "mediamill")
            if path is not None:
                content = read_unpacked(path)
                assert (hashlib.sha256(content).hexdigest(), len(content)) == (file.sha256, file.n_bytes)


def test_yeast_is_embedded() -> None:
    entry = ENTRIES["yeast"]
    assert entry.where == "embedded (river)"
    (path,) = entry.require()
    assert hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest() == entry.files[0].sha256


def test_finding_yeast_does_not_import_river() -> None:
    code = "import sys, mlstream.data.registry as r; assert r.list_datasets()[0].find(); print('river' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_an_absent_file_is_one_line_that_says_what_to_do() -> None:
    def check(name: str) -> None:
        names = [file.name for file in ENTRIES[name].files]
        # MULAN's file is small, and never packed.
        tables = " and ".join(file for file in names if not file.endswith(".xml"))
        header = "".join(f" and {file}" for file in names if file.endswith(".xml"))
        assert ENTRIES[name].where.endswith(f"set MLSTREAM_DATA to a folder that holds {tables}{header}")
        fetched = f"fetched by `mlstream datasets fetch {name}`, or " if ENTRIES[name].is_downloadable else ""
        with pytest.raises(FileNotFoundError) as caught:
            load_dataset(name)
        assert str(caught.value) == (
            f"Data set '{name}' must be {fetched}in the folder that MLSTREAM_DATA names, as {tables} (.gz, .bz2, .xz)"
            f"{header}. Got no variable MLSTREAM_DATA."
        )

    check_all(LOCAL, check)


def test_one_file_of_two_is_not_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLSTREAM_DATA", str(tmp_path))
    (tmp_path / "sat.trn.txt").touch()
    assert ENTRIES["satimage"].find() is None
    (tmp_path / "sat.tst.txt").touch()
    assert ENTRIES["satimage"].find() == (tmp_path / "sat.trn.txt", tmp_path / "sat.tst.txt")


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
