"""Connections that are given up when nothing useful arrives in time, whatever trickles in."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import requests
from requests.adapters import HTTPAdapter


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
