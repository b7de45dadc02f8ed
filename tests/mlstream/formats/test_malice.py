"""Files made to harm: one error, in bounded time and memory, nothing executed, nothing written."""

import bz2
import gzip
import json
import lzma
import os
import resource
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mlstream._support.content import FormatError
from mlstream.data.datasets import iter_dataset, load_dataset
from mlstream.data.event_files import read_events
from mlstream.data.live_sources import follow_csv
from mlstream.formats import load, save
from mlstream.formats.npz import load_npz
from mlstream.publishing.named_streams import open_named
from mlstream.streams.card_model import load_card
from mlstream.streams.tables.mulan import read_labels
from mlstream.streams.tables.table import Table
from tests.loops import check_all
from tests.mlstream.small_streams import make_stream

HEAD = b"@relation 'x: -C 1'\n@attribute y {0,1}\n@attribute a real\n@data\n"
MIB = 2**20


@contextmanager
def bounded(n_bytes: int) -> Iterator[None]:
    """Fail if Python takes more memory than so, or the processor more than some seconds."""
    tracemalloc.start()
    start = time.process_time()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n_bytes
    assert time.process_time() - start < 30


@pytest.mark.parametrize("name", ["x.arff", "x.csv"])
def test_a_line_of_ten_gigabytes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(HEAD if name == "x.arff" else b"y,a\n")
        # A hole: zeros that take no room on the disk.
        file.truncate(10 * 2**30)
    with bounded(100 * MIB), pytest.raises(FormatError, match=rf"{name}: a line must be at most \d+ bytes long"):
        load_dataset(path, labels=1)


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)])
def test_a_bomb_of_blank_lines(tmp_path: Path, suffix: str, pack: Callable[..., Any]) -> None:
    path = tmp_path / f"x.arff{suffix}"
    with pack(path, "wb") as file:
        file.write(HEAD)
        for _ in range(100):
            file.write(b"\n" * MIB)
    read = load_dataset if suffix == ".gz" else lambda path: list(iter_dataset(path))
    with bounded(50 * MIB), pytest.raises(FormatError, match="must unpack to at most 200 times its size"):
        read(path)


@pytest.mark.parametrize("content", [b"1,\x00\n", b"\x00\n", b"1,0.5\x00\n", HEAD + b"\x00"])
def test_nul_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.arff"
    path.write_bytes(HEAD + content)
    with pytest.raises(FormatError, match=r"x.arff, line \d+: "):
        load_dataset(path)


def test_nul_bytes_in_a_header(tmp_path: Path) -> None:
    path = tmp_path / "x.arff"
    path.write_bytes(b"\x00" + HEAD + b"1,1\n")
    with pytest.raises(FormatError, match=r"x.arff, line 1: a line of an ARFF header must start with"):
        load_dataset(path)


def test_mixed_encodings(tmp_path: Path) -> None:
    path = tmp_path / "x.arff"
    text = "@relation 'x: -C 1'\n@attribute y {0,1}\n@attribute é {à,b}\n@data\n"
    path.write_bytes(text.encode() + b"1,b\n1,\xe0\n")
    with pytest.raises(FormatError, match=r"x.arff, line 6: text must be UTF-8, as it was before"):
        load_dataset(path)


SLOW_TEXTS = {
    "blanks in a cell": b"1,a" + b" " * 200_000 + b"'\n",
    "blanks before a word": b"1," + b" " * 200_000 + b"x\n",
    "quotes that never close": b"'" + b"\\'" * 200_000 + b"\n",
    "quotes that never close in a cell": b"1,'" + b"\\'" * 200_000 + b"\n",
    "an index of many digits": b"{" + b"9" * 200_000 + b" 1}\n",
    "an index twice": b"{" + b",".join(b"%d 1" % index for index in range(50_000)) + b",0 1}\n",
    "weights": b"{0 1}" + b",{" * 100_000 + b"\n",
    "a number of many digits": b"1," + b"9" * 200_000 + b"\n",
    "an exponent of many digits": b"1,1e" + b"9" * 200_000 + b"\n",
}


def test_texts_that_make_readers_slow(tmp_path: Path) -> None:
    def check(case: tuple[int, str]) -> None:
        number, title = case
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "x.arff"
        path.write_bytes(HEAD + SLOW_TEXTS[title])
        start = time.process_time()
        with pytest.raises(FormatError, match=r"x.arff, line 5: "):
            load_dataset(path)
        assert time.process_time() - start < 5

    check_all(enumerate(SLOW_TEXTS), check)


def test_an_entity_bomb(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(12))
    path = tmp_path / "x.xml"
    text = f'<!DOCTYPE labels [<!ENTITY a0 "ha">{entities}]><labels><label name="&a12;"/></labels>'
    path.write_text(text, encoding="utf-8")
    with bounded(20 * MIB), pytest.raises(FormatError, match="without a document type"):
        read_labels(path)


def test_an_entity_that_reads_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    path = tmp_path / "x.xml"
    entity = f'<!DOCTYPE labels [<!ENTITY a SYSTEM "{tmp_path / "secret"}">]>'
    path.write_text(f'{entity}<labels><label name="b">&a;</label></labels>', encoding="utf-8")
    with pytest.raises(FormatError, match="without a document type"):
        read_labels(path)


def test_label_files_without_an_end_or_a_bottom(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    with path.open("wb") as file:
        file.truncate(2**30)
    with bounded(20 * MIB), pytest.raises(FormatError, match=r"x.xml must be a MULAN label file, of \d+ bytes at most"):
        read_labels(path)
    path.write_text("<labels>" + '<label name="a">' * 100_000, encoding="utf-8")
    with pytest.raises(FormatError, match=r"x.xml must be a MULAN label file \(XML\)"):
        read_labels(path)
    path.write_text("<labels>" + '<label name="a"/>' * 100_000 + "</labels>", encoding="utf-8")
    with pytest.raises(FormatError, match=r"must name each label once. Got 'a' twice"):
        read_labels(path)


@pytest.mark.parametrize("name", ["../escaped.npy", "/escaped.npy", "..\\escaped.npy", "a/../../escaped.npy"])
def test_members_of_an_archive_that_climb_out(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    save(make_stream(), folder / "x.npz")
    with zipfile.ZipFile(folder / "x.npz", "a") as archive, archive.open("card.npy") as card:
        content = card.read()
        archive.writestr(name, content)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FormatError, match=r"must hold the arrays of a stream. Got an unknown"):
        load(folder / "x.npz")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_card_that_names_files_elsewhere(tmp_path: Path) -> None:
    save(make_stream(), tmp_path / "x.arff")
    card = tmp_path / "x.card.json"
    card.write_text(card.read_text(encoding="utf-8").replace('"x.arff"', '"../x.arff"'), encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.(arff|card)"):
        load(tmp_path / "x.arff")


def test_an_archive_that_claims_a_petabyte(tmp_path: Path) -> None:
    save(make_stream(), tmp_path / "x.npz")
    content = (tmp_path / "x.npz").read_bytes()
    (tmp_path / "x.npz").write_bytes(content.replace(b"(14, 4), }          ", b"(99999999999999, 4), }"[:20]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with bounded(20 * MIB), pytest.raises(FormatError, match=r"x.npz"):
        load(tmp_path / "x.npz")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


def test_a_label_file_that_never_ends_or_never_starts(tmp_path: Path) -> None:
    (tmp_path / "x.arff").write_bytes(HEAD + b"1,0.5\n")
    (tmp_path / "zeros.xml").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.xml")
    for name, got in (("zeros.xml", "a device"), ("pipe.xml", "a named pipe")):
        with bounded(10 * MIB), pytest.raises(OSError, match=f"{name} must be a plain file. Got {got}"):
            load_dataset(tmp_path / "x.arff", labels=tmp_path / name)


def test_a_stream_or_card_that_never_starts(tmp_path: Path) -> None:
    for name, read in (("x.npz", load_npz), ("x.card.json", load_card)):
        os.mkfifo(tmp_path / name)
        with pytest.raises(OSError, match=f"{name} must be a plain file. Got a named pipe"):
            read(tmp_path / name)


@pytest.mark.parametrize("name", ["x.csv", "x.npz", "x.train.csv"])
def test_every_reader_of_a_path_says_that_it_is_a_pipe(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    readers: list[Callable[[], object]] = [
        lambda: load_dataset(path, labels=1),
        lambda: next(iter_dataset(path, labels=1)),
        lambda: read_events(path, time="t", labels="y"),
        lambda: open_named(str(path)),
        lambda: next(iter(follow_csv(path, labels=1))),
    ]
    for read in readers if name == "x.csv" else [lambda: load(path), lambda: open_named(str(path))]:
        with pytest.raises(OSError, match=f"{name} must be a plain file. Got a named pipe"):
            read()


def test_a_member_with_a_newline_in_its_name_is_one_line(tmp_path: Path) -> None:
    save(make_stream(), tmp_path / "x.npz")
    with zipfile.ZipFile(tmp_path / "x.npz", "a") as archive:
        archive.writestr("x\n\x1b[31mError: disk full.npy", archive.read("learning_Y.npy"))
    with pytest.raises(FormatError, match=r"an unknown 'x\\n\\x1b\[31mError: disk full'") as caught:
        load(tmp_path / "x.npz")
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_short_file_of_thirty_thousand_labels(tmp_path: Path) -> None:
    path = tmp_path / "x.libsvm"
    path.write_text("".join(f"{label} 1:1\n" for label in range(30_000)), encoding="utf-8")
    with (
        bounded(100 * MIB),
        pytest.raises(FormatError, match=r"30,000 rows of 30,000 labels must need at most 200 .* Got 0\.84 GiB"),
    ):
        load_dataset(path)


def test_a_card_that_claims_trillions_of_rows(tmp_path: Path) -> None:
    save(make_stream(), tmp_path / "x.arff")
    path = tmp_path / "x.card.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    card["experiences"][0]["n_samples"] = 3 * 10**13
    card["tasks"][0]["n_learning"] = 3 * 10**13
    path.write_text(json.dumps(card), encoding="utf-8")
    with bounded(10 * MIB), pytest.raises(ValueError, match=r"x\.card\.json.*must .*\. Got ") as caught:
        load(tmp_path / "x.arff")
    assert "\n" not in str(caught.value)


def test_names_of_columns_are_put_together_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.csv"
    path.write_text(",".join(f"c{column}" for column in range(400)) + "\n" + ",".join(["0"] * 400) + "\n")
    counted, real = [], Table.names.fget
    monkeypatch.setattr(Table, "names", property(lambda table: counted.append(1) or real(table)))
    assert load_dataset(path, labels=300).label_names == tuple(f"c{column}" for column in range(300))
    assert len(counted) < 10
