"""Downloads from a server that misbehaves: the right file under its name, or nothing under it."""

import bz2
import hashlib
import io
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import requests

from mlstream.data import _connections, registry
from mlstream.data.datasets import fetch_dataset, load_dataset
from mlstream.data.registry import DataFile, DatasetEntry, Download
from tests.loops import check_all
from tests.mlstream.data.loopback import (
    Answer,
    Server,
    cut_after,
    ranged,
    redirect,
    serve,
    silent,
    slow_chunk,
    slow_headers,
    whole,
)

TEXT = b"@relation t\n@attribute y {0,1}\n@attribute a numeric\n@data\n" + b"1,2\n0,3\n" * 50_000
WRONG = bytes(len(TEXT))
SHA256 = hashlib.sha256(TEXT).hexdigest()


@pytest.fixture
def server() -> Iterator[Server]:
    with serve() as server:
        yield server


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MLSTREAM_DATA", raising=False)
    monkeypatch.delenv("MLSTREAM_OFFLINE", raising=False)
    monkeypatch.setenv("MLSTREAM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "t"


@pytest.fixture
def known(server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch) -> DatasetEntry:
    """A table with two mirrors, as the registry would list it."""
    mirrors = tuple(Download(url=server.url(f"/{n}/t.arff"), sha256=SHA256, n_bytes=len(TEXT)) for n in (1, 2))
    file = DataFile(name="t.arff", sha256=SHA256, n_bytes=len(TEXT), downloads=mirrors)
    entry = DatasetEntry(
        name="t",
        domain="x",
        files=(file,),
        labels=1,
        n_samples=100_000,
        n_features=1,
        n_labels=1,
        licence="x",
        citation="x",
    )
    monkeypatch.setattr(registry, "_entries", lambda: (entry,))
    server.answers = {"/1/t.arff": ranged(TEXT), "/2/t.arff": ranged(TEXT)}
    return entry


def left(cache: Path) -> list[str]:
    names = sorted(path.name for path in cache.iterdir()) if cache.exists() else []
    return [name for name in names if not name.endswith(".lock")]


def test_a_file_is_downloaded_once_and_loaded(known: DatasetEntry, server: Server, cache: Path) -> None:
    assert fetch_dataset("t") == fetch_dataset("t") == (cache / "t.arff",)
    assert [path for path, _ in server.asked] == ["/1/t.arff"]
    assert (cache / "t.arff").read_bytes() == TEXT
    table = load_dataset("t")
    assert (table.X.shape, table.sha256, table.licence) == ((100_000, 1), SHA256, "x")


def test_mulan_s_file_is_downloaded_too_and_names_the_labels(
    known: DatasetEntry, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = b'<labels xmlns="http://mulan.sourceforge.net/labels"><label name="y"/></labels>'
    source = Download(url=server.url("/t.xml"), sha256=hashlib.sha256(header).hexdigest(), n_bytes=len(header))
    file = DataFile(name="t.xml", sha256=source.sha256, n_bytes=len(header), downloads=(source,))
    entry = replace(known, files=(*known.files, file), labels=None)
    monkeypatch.setattr(registry, "_entries", lambda: (entry,))
    server.answers["/t.xml"] = ranged(header)
    assert fetch_dataset("t") == (cache / "t.arff", cache / "t.xml")
    table = load_dataset("t")
    assert (table.label_names, table.feature_names, table.sha256) == (("y",), ("a",), SHA256)
    (cache / "t.xml").write_bytes(header.replace(b"y", b"a"))
    with pytest.raises(ValueError, match=r"t.xml must hold data set 't', sha256 "):
        load_dataset("t")


def test_what_lies_in_the_local_folder_is_not_downloaded(
    known: DatasetEntry, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "t.arff.bz2").write_bytes(bz2.compress(TEXT))
    monkeypatch.setenv("MLSTREAM_DATA", str(tmp_path))
    assert fetch_dataset("t") == (tmp_path / "deep" / "t.arff.bz2",)
    assert server.asked == []


def test_a_packed_download_has_a_hash_of_its_own(
    known: DatasetEntry, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = bz2.compress(TEXT)
    source = Download(url=server.url("/t.arff.bz2"), sha256=hashlib.sha256(packed).hexdigest(), n_bytes=len(packed))
    entry = replace(known, files=(replace(known.files[0], downloads=(source,)),))
    monkeypatch.setattr(registry, "_entries", lambda: (entry,))
    server.answers["/t.arff.bz2"] = ranged(packed)
    assert fetch_dataset("t") == (cache / "t.arff.bz2",)
    (cache / "t.arff.bz2").write_bytes(packed[:99])
    assert fetch_dataset("t") == (cache / "t.arff.bz2",)
    assert load_dataset("t").sha256 == SHA256


def test_a_connection_that_is_cut_is_continued_where_it_ended(known: DatasetEntry, server: Server, cache: Path) -> None:
    server.answers["/1/t.arff"] = cut_after(TEXT, len(TEXT) // 3 + 1)
    fetch_dataset("t")
    assert [first for _, first in server.asked] == [None, *(f"bytes={n * (len(TEXT) // 3 + 1)}-" for n in (1, 2))]
    assert left(cache) == ["t.arff"]


def test_an_interrupted_download_is_continued_by_the_next_call_and_by_the_next_mirror(
    known: DatasetEntry, server: Server, cache: Path
) -> None:
    for path in server.answers:
        server.answers[path] = cut_after(TEXT, 1000)
    with pytest.raises(OSError, match=r"t.arff of data set 't' must be sent by one of its addresses"):
        fetch_dataset("t")
    assert left(cache) == [f".{SHA256}.part"]
    server.answers = {"/1/t.arff": whole(b"gone"), "/2/t.arff": ranged(TEXT)}
    server.answers["/1/t.arff"] = lambda request: request.send(b"", 503)
    server.asked.clear()
    fetch_dataset("t")
    assert server.asked == [("/1/t.arff", "bytes=8000-"), ("/2/t.arff", "bytes=8000-")]
    assert left(cache) == ["t.arff"]


def test_a_process_that_is_killed_leaves_a_part_that_the_next_one_continues(
    known: DatasetEntry, server: Server, cache: Path
) -> None:
    release = threading.Event()

    def half(request) -> None:
        request.start(200, Content_Length=len(TEXT))
        request.wfile.write(TEXT[:150_000])
        release.wait(20)

    server.answers["/1/t.arff"] = half
    script = (
        "import sys; from pathlib import Path; from mlstream.data.downloads import retrieve\n"
        "from mlstream.data.registry import Download\n"
        "show = lambda url, n, all: print(n, flush=True) if n >= 150_000 else None\n"
        "source = Download(url=sys.argv[1], sha256=sys.argv[2], n_bytes=int(sys.argv[3]))\n"
        "retrieve(source, Path(sys.argv[4]), progress=show)"
    )
    url = known.files[0].downloads[0].url
    arguments = [sys.executable, "-c", script, url, SHA256, str(len(TEXT)), str(cache)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "150000\n"
        process.kill()
    release.set()
    assert not (cache / "t.arff").exists()
    server.answers["/1/t.arff"] = ranged(TEXT)
    assert fetch_dataset("t")[0].read_bytes() == TEXT
    begun = int((server.asked[-1][1] or "")[6:-1])
    assert 0 < begun <= 150_000


def test_two_at_once_download_once(known: DatasetEntry, server: Server, cache: Path) -> None:
    started = threading.Event()

    def slow(request) -> None:
        started.set()
        time.sleep(0.2)
        request.send(TEXT)

    server.answers["/1/t.arff"] = slow
    with ThreadPoolExecutor() as pool:
        first = pool.submit(fetch_dataset, "t")
        started.wait(10)
        second = pool.submit(fetch_dataset, "t")
        assert first.result() == second.result() == (cache / "t.arff",)
    assert len(server.asked) == 1


def test_a_server_that_cannot_resume_sends_everything_again(known: DatasetEntry, server: Server, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / f".{SHA256}.part").write_bytes(TEXT[:500])
    server.answers["/1/t.arff"] = whole(TEXT)
    assert fetch_dataset("t")[0].read_bytes() == TEXT
    assert server.asked == [("/1/t.arff", "bytes=500-")]


@pytest.mark.parametrize("begun", [WRONG[:500], WRONG, TEXT])
def test_what_was_begun_may_be_wrong_or_complete(
    known: DatasetEntry, server: Server, cache: Path, begun: bytes
) -> None:
    cache.mkdir(parents=True)
    (cache / f".{SHA256}.part").write_bytes(begun)
    assert fetch_dataset("t")[0].read_bytes() == TEXT
    assert left(cache) == ["t.arff"]
    assert (server.asked == []) == (begun == TEXT)


def misaligned(request) -> None:
    request.send(TEXT[7:], 206, Content_Range=f"bytes 7-{len(TEXT) - 1}/{len(TEXT)}")


def test_a_server_that_misbehaves_is_left_for_the_next(known: DatasetEntry, server: Server, cache: Path) -> None:
    def check(case: tuple[Answer, str]) -> None:
        answer, message = case
        shutil.rmtree(cache, ignore_errors=True)
        server.answers = {"/1/t.arff": answer, "/2/t.arff": ranged(TEXT)}
        assert fetch_dataset("t")[0].read_bytes() == TEXT
        assert left(cache) == ["t.arff"]
        (cache / "t.arff").unlink()
        server.answers["/2/t.arff"] = lambda request: request.send(b"", 410)
        with pytest.raises(OSError, match=f"/1/t.arff: .*{message}.*/2/t.arff: 410 Client Error") as caught:
            fetch_dataset("t")
        assert "\n" not in str(caught.value)
        assert not (cache / "t.arff").exists()

    check_all(
        [
            (whole(WRONG), "does not match the known hash"),
            (whole(TEXT + b"more"), f"must send {len(TEXT)} bytes. Got more; deleted for safety"),
            (whole(b"<html>"), "must send .* bytes. Got 6"),
            (misaligned, "must send .* bytes. Got "),
            (lambda request: request.send(b"", 404), "404 Client Error"),
            (lambda request: request.send(b"", 500), "500 Server Error"),
            (redirect("/1/t.arff"), "must redirect at most 5 times"),
            (redirect("file:///etc/passwd"), "must redirect to https only. Got file:///etc/passwd"),
            (redirect("http://[bad"), "Invalid IPv6 URL"),
            (cut_after(TEXT, 0), "Connection|bytes"),
        ],
        check,
    )


def test_redirects_are_followed_and_keep_the_place(known: DatasetEntry, server: Server, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / f".{SHA256}.part").write_bytes(TEXT[:500])
    server.answers |= {"/1/t.arff": redirect("/moved"), "/moved": ranged(TEXT)}
    assert fetch_dataset("t")[0].read_bytes() == TEXT
    assert server.asked == [("/1/t.arff", "bytes=500-"), ("/moved", "bytes=500-")]


def test_a_secure_address_never_leads_to_an_insecure_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def get(_: requests.Session, url: str, **__: object) -> requests.Response:
        response = requests.Response()
        response.raw = io.BytesIO()
        response.status_code, response.headers["location"] = 302, "http://example.org/t.arff"
        return response

    monkeypatch.setattr(requests.Session, "get", get)
    with (
        pytest.raises(ValueError, match=r"must redirect to https only. Got http://example.org/t.arff"),
        _connections._open("https://example.org/t.arff", {}, 1.0),
    ):
        pytest.fail("An insecure address was opened.")


@pytest.mark.parametrize("answer", [slow_headers, slow_chunk])
def test_a_server_that_trickles_is_given_up(
    known: DatasetEntry, server: Server, cache: Path, answer: Callable[[threading.Event, bytes], Answer]
) -> None:
    release = threading.Event()
    server.answers = {f"/{n}/t.arff": answer(release, TEXT) for n in (1, 2)}
    with pytest.raises(OSError, match=r"must send headers, and then bytes, within 0\.2 s\. Got nothing"):
        fetch_dataset("t", timeout_s=0.2)
    release.set()
    assert not (cache / "t.arff").exists()
    # The same server is trusted again once it is quick.
    assert fetch_dataset("t", timeout_s=5)[0].read_bytes() == TEXT


def test_a_silent_server_is_given_up(
    known: DatasetEntry, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_connections, "_ATTEMPTS", 2)
    release = threading.Event()
    server.answers["/1/t.arff"] = silent(release)
    assert fetch_dataset("t", timeout_s=1.0)[0].read_bytes() == TEXT
    release.set()
    assert [path for path, _ in server.asked] == ["/1/t.arff"] * 2 + ["/2/t.arff"]


def test_a_server_that_only_trickles_is_given_up(
    known: DatasetEntry, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trickle(request) -> None:
        request.start(200, Content_Length=len(TEXT))
        for byte in range(400):
            request.wfile.write(TEXT[byte : byte + 1])
            time.sleep(0.01)

    server.answers["/1/t.arff"] = trickle
    monkeypatch.setattr(_connections, "_MIN_BYTES_PER_S", 10**9)
    monkeypatch.setattr(_connections, "_ATTEMPTS", 1)
    assert fetch_dataset("t", timeout_s=1.0)[0].read_bytes() == TEXT
    assert server.asked[1][0] == "/2/t.arff"
    assert 0 < int((server.asked[1][1] or "")[6:-1]) < 400


def test_a_spoilt_file_among_the_downloads_is_refused_and_downloaded_again(known: DatasetEntry, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "t.arff").write_bytes(WRONG)
    with pytest.raises(ValueError, match=f"t.arff must hold data set 't', sha256 {SHA256}. Got "):
        load_dataset("t")
    assert fetch_dataset("t")[0].read_bytes() == TEXT


@pytest.mark.parametrize("how", ["option", "variable"])
def test_offline_opens_no_connection(
    known: DatasetEntry, server: Server, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "variable":
        monkeypatch.setenv("MLSTREAM_OFFLINE", "1")
    message = r"'t' must be fetched by `mlstream datasets fetch t`, or .* No connection is allowed \(offline\)"
    with pytest.raises(FileNotFoundError, match=message):
        fetch_dataset("t", offline=True if how == "option" else None)
    assert server.asked == []


def test_a_table_without_an_address_says_where_to_put_it(known: DatasetEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = replace(known, files=(replace(known.files[0], downloads=()),))
    monkeypatch.setattr(registry, "_entries", lambda: (entry,))
    with pytest.raises(FileNotFoundError, match=r"^Data set 't' must be in the folder that MLSTREAM_DATA names"):
        fetch_dataset("t")


def test_loading_opens_no_connection(known: DatasetEntry, server: Server) -> None:
    with pytest.raises(FileNotFoundError, match="must be fetched by"):
        load_dataset("t")
    assert server.asked == []


def test_progress_is_told_up_to_the_end(known: DatasetEntry) -> None:
    told = []
    fetch_dataset("t", progress=lambda *news: told.append(news))
    url = known.files[0].downloads[0].url
    assert told[-1] == (url, len(TEXT), len(TEXT))
    assert [n for _, n, _ in told] == sorted(n for _, n, _ in told)


def test_an_unknown_name_is_one_error() -> None:
    with pytest.raises(ValueError, match=r"A data set must be one that `mlstream datasets` lists. Got 'x' instead"):
        fetch_dataset("x")
