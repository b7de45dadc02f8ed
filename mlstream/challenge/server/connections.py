"""Connections: how many there may be, and how long each may keep the server waiting."""

from __future__ import annotations

import asyncio
import json
import resource
from collections import Counter
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Literal

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_N_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
# Forty threads with the state open, and pipes to what scores.
_OWN_FILES = 160
# Beside its connection, a request has up to two files open. To look through more connections takes too long.
_MAX_CONNECTIONS = min(max(_N_FILES - _OWN_FILES, _N_FILES // 4) // 3, 4096)
_MAX_OF_ADDRESS = max(_MAX_CONNECTIONS // 2, 1)
# A client sends a request at once, and a form with it; so it does the handshake of TLS.
REQUEST_S = 10.0
# Of a team's file, a line of 20 kB/s sends four times as much.
_MIN_BYTES_PER_S = 5_000
# A client that reads so slowly that the system's buffers stay full, of which some hold a megabyte.
_READ_S = 120.0
_LOOK_S = 1.0
# Under this name, a request's state holds the id of the team that its token belongs to.
TEAM = "team"
# Files that a team sends at once. Those of one that sends more are the first to go where there is no room.
_FILES_OF_TEAM = 8

_Awaited = Literal["head", "body", "reader"]


class BoundedProtocol(H11Protocol):
    """The protocol of the server, for `uvicorn.Config(http=...)`, which drops clients that keep it waiting.

    A request must be complete after some seconds, unless it is a team's file, for which a slow line is enough. Where
    there are too many connections, in all or of an address, the one that has kept the server waiting longest is dropped
    for a new one; those of teams that send a file stay, unless one team sends many.
    """

    limits_addresses = True
    _waits_for: tuple[_Awaited, object] | None = None
    _since = 0.0
    _n_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection."""
        super().connection_made(transport)
        self._origin = _origin_of(self.client[0]) if self.client and self.limits_addresses else None
        if self._find_room():
            self._look()
        else:
            self.drop()

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        self._n_bytes += len(data)
        super().data_received(data)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        super().resume_writing()
        self._waits_for = None

    def drop(self) -> None:
        """End the connection at once."""
        self.connections.discard(self)
        self.transport.abort()

    def _find_room(self) -> bool:
        """Return whether this connection may stay, for which another one may have to go."""
        others = [other for other in self.connections if isinstance(other, BoundedProtocol) and other is not self]
        alike = [other for other in others if other._origin == self._origin]
        if self._origin is not None and len(alike) >= _MAX_OF_ADDRESS:
            return _drop_slowest(alike)
        return len(others) < _MAX_CONNECTIONS or _drop_slowest(others)

    def _look(self) -> None:
        """Look whether the client is late, from time to time."""
        if self not in self.connections:
            return
        if self.waited() > self._patience():
            self._give_up()
        self.loop.call_later(_LOOK_S, self._look)

    def waited(self) -> float:
        """Return for how many seconds the client has kept the server waiting."""
        awaited = self._find_awaited()
        now = self.loop.time()
        if awaited is None or self._waits_for != (awaited, self.cycle):
            self._waits_for = None if awaited is None else (awaited, self.cycle)
            self._since, self._n_bytes = now, 0
        return now - self._since

    def _find_awaited(self) -> _Awaited | None:
        """Return what the server waits for, if it is the client that is slow."""
        if self.flow.write_paused or self.transport.is_closing():
            return "reader"
        if self.conn.their_state is h11.SEND_BODY:
            # While reading is paused, the bytes that came have not been used.
            return None if self.flow.read_paused else "body"
        return "head" if self.conn.their_state is h11.IDLE else None

    def sender(self) -> str | None:
        """Return the team that sends its file, by its id, or None."""
        if self.conn.their_state is not h11.SEND_BODY:
            return None
        team: str | None = self.cycle.scope["state"].get(TEAM)
        return team

    def _patience(self) -> float:
        if self._find_awaited() == "reader":
            return _READ_S
        return REQUEST_S + (self._n_bytes / _MIN_BYTES_PER_S if self.sender() else 0.0)

    def _give_up(self) -> None:
        """Drop the connection, with a reply if there is a request without one."""
        is_begun = self.conn.their_state is h11.SEND_BODY or bool(self.conn.trailing_data[0])
        if not is_begun or self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE} or self.transport.is_closing():
            self.drop()
            return
        if self.conn.their_state is h11.SEND_BODY:
            # Whatever the application replies now is not sent.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write(_too_slow())
        self.transport.close()


class ProxiedProtocol(BoundedProtocol):
    """The protocol behind a proxy, whose address all clients have: it knows theirs, and limits them."""

    limits_addresses = False


def _drop_slowest(connections: Collection[BoundedProtocol]) -> bool:
    """Drop the connection that has kept the server waiting longest; return whether there is one."""
    counts = Counter(connection.sender() for connection in connections)
    crowding = {team for team, n in counts.items() if team is not None and n > _FILES_OF_TEAM}
    dropped: set[str | None] = {*crowding} or {None}
    candidates = [connection for connection in connections if connection.sender() in dropped]
    slowest = max(candidates, key=BoundedProtocol.waited, default=None)
    if slowest is None or not slowest.waited():
        return False
    slowest.drop()
    return True


def _origin_of(host: str) -> IPv4Address | int | None:
    """Return whom a connection counts for: an address, or the /64 of one of IPv6, which one client has all of.

    Connections of this machine count for nobody: it may forward those of others.
    """
    address: IPv4Address | IPv6Address | None = ip_address(host.partition("%")[0])
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    if address is None or address.is_loopback:
        return None
    return int(address) >> 64 if isinstance(address, IPv6Address) else address


def _too_slow() -> bytes:
    message = (
        f"A request must be complete within {REQUEST_S:g} s, or a team's file come at {_MIN_BYTES_PER_S:,} bytes a "
        "second. Got less. Send it again."
    )
    body = json.dumps({"error": {"code": "too_slow", "message": message}})
    lines = (
        "HTTP/1.1 408 Request Timeout",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
    )
    return "\r\n".join((*lines, "", body)).encode()
