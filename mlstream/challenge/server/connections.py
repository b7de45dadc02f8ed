"""Connections of strangers: so many at once, and not for ever without a request."""

from __future__ import annotations

import asyncio
import resource

from uvicorn.protocols.http.h11_impl import H11Protocol

# Files of the challenge, pipes and connections share what a process may open; without any, it accepts nobody.
_MAX_CONNECTIONS = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2
# A client sends its first request at once.
_FIRST_REQUEST_S = 30.0


class BoundedProtocol(H11Protocol):
    """The protocol of the server, for `uvicorn.Config(http=...)`; too many connections are dropped, and silent ones."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection."""
        super().connection_made(transport)
        if len(self.connections) > _MAX_CONNECTIONS:
            transport.abort()
        else:
            self.loop.call_later(_FIRST_REQUEST_S, self._drop_if_silent)

    def _drop_if_silent(self) -> None:
        if self.cycle is None:
            self.transport.abort()
