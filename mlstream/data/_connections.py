"""Downloads that are continued, over connections that are given up when nothing useful arrives in time."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from mlstream.data.registry import Download, Progress

_REDIRECTS = 5
_ATTEMPTS = 4
_CHUNK = 1 << 16
_MIN_BYTES_PER_S = 1000


class Watch:
    """A timer that shuts sockets down when `extend` has not been called for `timeout_s` seconds.

    A time-out of a socket starts again with each byte, so that a server that sends one byte of a header now and then
    could hold a connection for hours.
    """

    def __init__(self, timeout_s: float) -> None:
        self.has_expired = False
        self._timeout_s = timeout_s
        self._sockets: list[socket.socket] = []
        self._changing = threading.Lock()
        self._ended = threading.Event()
        self.extend()
        self._thread = threading.Thread(target=self._wait, name="mlstream watch", daemon=True)
        self._thread.start()

    def extend(self) -> None:
        """Say that something useful has arrived."""
        self._deadline_s = time.monotonic() + self._timeout_s

    def guard(self, connection: socket.socket) -> None:
        """Watch over a socket, from before anything is sent; a shutdown of the copy ends encrypted ones as well."""
        with self._changing:
            self._sockets.append(socket.socket(fileno=os.dup(connection.fileno())))
            if self.has_expired:
                self._shut_down()

    def end(self) -> None:
        """Stop watching."""
        self._ended.set()
        self._thread.join()
        for copy in self._sockets:
            copy.close()

    def _wait(self) -> None:
        while (left_s := self._deadline_s - time.monotonic()) > 0:
            if self._ended.wait(left_s):
                return
        with self._changing:
            self.has_expired = True
            self._shut_down()

    def _shut_down(self) -> None:
        for copy in self._sockets:
            with suppress(OSError):
                copy.shutdown(socket.SHUT_RDWR)


@contextmanager
def watched_get(url: str, headers: dict[str, str], timeout_s: float) -> Iterator[tuple[requests.Response, Watch]]:
    """Open an address without following redirects, and raise a ConnectionError if nothing useful arrives in time.

    All headers must arrive within `timeout_s`, and after them each part of the body: call `extend` when one has. The
    body is not read yet.
    """
    watch = Watch(timeout_s)
    try:
        with requests.Session() as session:
            for scheme in ("http://", "https://"):
                session.mount(scheme, _Adapter(watch))
            with session.get(url, headers=headers, stream=True, timeout=timeout_s, allow_redirects=False) as response:
                watch.extend()
                yield response, watch
    except OSError as error:
        if watch.has_expired:
            raise ConnectionError(
                f"It must send headers, and then bytes, within {timeout_s:g} s. Got nothing."
            ) from error
        raise
    finally:
        watch.end()


class _Adapter(HTTPAdapter):  # type: ignore[misc]
    """Has each new connection watched."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        super().__init__()

    def get_connection_with_tls_context(self, *arguments: Any, **options: Any) -> Any:
        """Choose the pool of connections, and have those that it opens watched."""
        pool = super().get_connection_with_tls_context(*arguments, **options)
        pool.ConnectionCls = _watched(pool.ConnectionCls, self._watch)
        return pool


def _watched(kind: Any, watch: Watch) -> Any:
    class Watched(kind):  # type: ignore[misc]
        def _new_conn(self) -> socket.socket:
            connection: socket.socket = super()._new_conn()
            watch.guard(connection)
            return connection

    return Watched


class ResumingDownloader:
    """A downloader for `pooch.retrieve`, which compares hashes afterwards.

    Incomplete content is kept in `folder`, in a hidden file named after the hash. `progress` is called, as bytes
    arrive, with the address, how many bytes there are and how many there will be. `timeout_s` is the time in which all
    headers must arrive, and after which a connection without a byte of the file is given up.
    """

    def __init__(self, source: Download, folder: Path, *, progress: Progress | None, timeout_s: float) -> None:
        self.source = source
        self.part = folder / f".{source.sha256}.part"
        self._progress = progress
        self._timeout_s = timeout_s

    def __call__(self, url: str, output_file: str, *_: object) -> None:
        """Get all bytes, and give them the name that pooch asks for."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._continue(url)
                break
            except (ConnectionError, requests.ConnectionError, requests.Timeout):
                if attempt == _ATTEMPTS:
                    raise
        self.part.replace(output_file)

    def _continue(self, url: str) -> None:
        with self.part.open("ab") as file:
            here = file.tell()
            if here == self.source.n_bytes:
                return
            with _open(url, {"Range": f"bytes={here}-"} if here else {}, self._timeout_s) as (response, watch):
                response.raise_for_status()
                if not _continues(response, here):
                    file.truncate(0)
                self._append(response, file, watch)

    def _append(self, response: requests.Response, file: BinaryIO, watch: Watch) -> None:
        n_bytes = file.seek(0, os.SEEK_END)
        patience_s = self._timeout_s + (self.source.n_bytes - n_bytes) / _MIN_BYTES_PER_S
        end_s = time.monotonic() + patience_s
        for chunk in _read(response):
            watch.extend()
            n_bytes += len(chunk)
            if n_bytes > self.source.n_bytes:
                self.part.unlink()
                raise ValueError(f"It must send {self.source.n_bytes} bytes. Got more; deleted for safety.")
            file.write(chunk)
            if self._progress is not None:
                self._progress(self.source.url, n_bytes, self.source.n_bytes)
            if time.monotonic() > end_s:
                raise ConnectionError(f"It must send its bytes within {patience_s:.0f} s. Got {n_bytes} by then.")
        if n_bytes < self.source.n_bytes:
            raise ConnectionError(f"It must send {self.source.n_bytes} bytes. Got {n_bytes}.")


def _continues(response: requests.Response, here: int) -> bool:
    """Tell whether a server goes on where we are; it may send everything again."""
    given = str(response.headers.get("Content-Range", ""))
    return bool(response.status_code == 206) and given.startswith(f"bytes {here}-")


def _read(response: requests.Response) -> Iterator[bytes]:
    """Yield whatever has arrived, even if the connection ends in the middle of a chunk."""
    try:
        while chunk := response.raw.read1(_CHUNK):
            yield chunk
    except HTTPError as error:
        raise ConnectionError(str(error)) from error


@contextmanager
def _open(url: str, headers: Mapping[str, str], timeout_s: float) -> Iterator[tuple[requests.Response, Watch]]:
    """Open an address; redirects are followed a few times, and never from https to anything else."""
    # Bytes that are packed on the way could not be continued.
    wanted = {"Accept-Encoding": "identity", **headers}
    for _ in range(_REDIRECTS + 1):
        with watched_get(url, wanted, timeout_s) as (response, watch):
            if not response.is_redirect:
                yield response, watch
                return
            target = urljoin(url, response.headers["location"])
        if urlsplit(target).scheme not in {"https", urlsplit(url).scheme}:
            raise ValueError(f"It must redirect to https only. Got {target}")
        url = target
    raise ValueError(f"It must redirect at most {_REDIRECTS} times. Got more.")
