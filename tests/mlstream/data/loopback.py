"""A server on this machine that behaves, or misbehaves, as a test says."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers by the path: the server's table of answers."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Range")))
        self.server.answers[self.path](self)

    do_POST = do_PUT = do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def start(self, status: int, **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def send(self, body: bytes, status: int = 200, **headers: object) -> None:
        self.start(status, Content_Length=len(body), **headers)
        self.wfile.write(body)

    @property
    def offset(self) -> int:
        """The first byte that was asked for."""
        return int((self.headers.get("Range") or "bytes=0-")[6:-1])

    def cut(self) -> None:
        self.wfile.flush()
        self.close_connection = True


class Server(ThreadingHTTPServer):
    """A server with a table of answers, which notes what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, str | None]] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is part of the test."""


@contextmanager
def serve() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def whole(content: bytes) -> Answer:
    """Send everything, whatever was asked for."""
    return lambda request: request.send(content)


def ranged(content: bytes) -> Answer:
    """Send what was asked for, as a server does that can resume."""

    def answer(request: Handler) -> None:
        start = request.offset
        if not start:
            request.send(content)
        elif start >= len(content):
            request.send(b"", 416)
        else:
            span = f"bytes {start}-{len(content) - 1}/{len(content)}"
            request.send(content[start:], 206, Content_Range=span)

    return answer


def cut_after(content: bytes, n_bytes: int) -> Answer:
    """Promise everything that was asked for, and hang up after some bytes of it."""

    def answer(request: Handler) -> None:
        start = request.offset
        span = {"Content_Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if start else {}
        request.start(206 if start else 200, Content_Length=len(content) - start, **span)
        request.wfile.write(content[start : start + n_bytes])
        request.cut()

    return answer


def silent(release: threading.Event) -> Answer:
    """Promise something and say nothing more until it is released."""

    def answer(request: Handler) -> None:
        request.start(200, Content_Length=10)
        release.wait(20)

    return answer


def trickle(request: Handler, release: threading.Event, start: bytes, drop: bytes) -> None:
    """Send a start, and then the same few bytes again and again, until it is released or the client hangs up."""
    request.close_connection = True
    request.wfile.write(start)
    for _ in range(200):
        request.wfile.write(drop)
        if release.wait(0.02):
            return


def slow_headers(release: threading.Event, content: bytes) -> Answer:
    """Send header after header, slowly, and in the end what was asked for."""

    def answer(request: Handler) -> None:
        trickle(request, release, b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x")
        request.wfile.write(b"\r\nContent-Length: %d\r\n\r\n" % len(content) + content)

    return answer


def slow_chunk(release: threading.Event, content: bytes) -> Answer:
    """Send the line before a chunk slowly, and in the end the chunk."""

    def answer(request: Handler) -> None:
        start = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x;x=" % len(content)
        trickle(request, release, start, b"x")
        request.wfile.write(b"\r\n" + content + b"\r\n0\r\n\r\n")

    return answer


def redirect(url: str) -> Answer:
    return lambda request: request.send(b"", 302, Location=url)
