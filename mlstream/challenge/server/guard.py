"""Checks that each request passes: foreign hosts, tokens in addresses, bodies that are too large."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
# The addresses that take a file. Strangers reach all others, whose bodies hold names and tokens.
_UPLOADS = frozenset({"/api/submissions", "/team/submit"})
_FORM_BYTES = 100_000
# Anything that looks like a secret ends in logs and histories if it is part of an address.
_SECRET_NAMES = frozenset({"token", "code", "authorization", "password", "secret"})
_SECRET_STARTS = ("mlc-", "invite-", "organiser-")
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """An application around another, which refuses, limits, and adds the headers of security.

    `names` are hosts that it may be asked for, besides those of this machine (against DNS rebinding). `max_bytes` is
    the limit of a submission.
    """

    def __init__(self, app: ASGIApp, *, names: frozenset[str], max_bytes: int) -> None:
        self._app = app
        self._names = names | _LOOPBACK
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        problem = self._find_problem(scope)
        if problem is not None:
            await _refuse(send, *problem)
            return
        await self._app(scope, _Limited(receive, self._most(scope)), _with_headers(send))

    def _most(self, scope: Scope) -> int:
        # Beside the file, a form holds names and separators.
        return _FORM_BYTES + (self._max_bytes if scope["path"] in _UPLOADS else 0)

    def _find_problem(self, scope: Scope) -> tuple[int, str, str] | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if _host_name(headers) not in self._names:
            return 421, "wrong_host", "The host must be one that the server was started for (--host, --name)."
        if _holds_secret(scope["query_string"].decode("latin-1")):
            return (
                400,
                "token_in_url",
                "A token must be sent in the header Authorization, or in a form, never in a URL.",
            )
        length = headers.get(b"content-length", "0")
        most = self._most(scope)
        if not length.isdecimal() or int(length) > most:
            return 413, "too_large", f"A request must be of {most:,} bytes at most."
        return None


class TooLarge(Exception):  # noqa: N818 - a reply, not a failure
    """A body that goes on beyond what is allowed."""


class _Limited:
    """Receive a body, and stop where it is too large whatever its header said."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._left = most

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise TooLarge
        return message


def _host_name(headers: Mapping[bytes, str]) -> str:
    host = headers.get(b"host", "").lower()
    return host if host.endswith("]") else host.rpartition(":")[0] or host


def _holds_secret(query: str) -> bool:
    pairs = parse_qsl(query, keep_blank_values=True)
    return any(name.lower() in _SECRET_NAMES or value.startswith(_SECRET_STARTS) for name, value in pairs)


def _with_headers(send: Send) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            added = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in there]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return wrapped


async def _refuse(send: Send, status: int, code: str, message: str) -> None:
    body = json.dumps({"error": {"code": code, "message": message}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    guarded = _with_headers(send)
    await guarded({"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]})
    await guarded({"type": "http.response.body", "body": body})
