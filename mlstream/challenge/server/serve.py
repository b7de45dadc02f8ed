"""Running the server: one a folder, and never in clear beyond this machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from pathlib import Path

import uvicorn
from filelock import lock_descriptor

from mlstream.challenge.engine import Challenge
from mlstream.challenge.server.app import build_app
from mlstream.challenge.server.connections import REQUEST_S, BoundedProtocol, ProxiedProtocol
from mlstream.challenge.server.host import Host, new_organiser_token, require_bundle

_LOCK = "serve.lock"
_SHUTDOWN_S = 10
_N_SCORING = os.cpu_count() or 1


@dataclass(frozen=True)
class Address:
    """Address at which a server listens; beyond this machine, what travels must be encrypted."""

    host: str = "127.0.0.1"
    port: int = 8000  # 0 takes a free one.
    names: tuple[str, ...] = ()  # Names of the host in addresses, besides those of this machine and `host`.
    certificate: Path | None = None  # A PEM file, as the key.
    key: Path | None = None
    behind_tls_proxy: bool = False  # Whether a proxy of the organiser encrypts, and forwards to this server.

    @property
    def is_encrypted(self) -> bool:
        """Whether what travels beyond this machine is encrypted."""
        return self.behind_tls_proxy or self.certificate is not None


def serve(
    folder: str | os.PathLike[str],
    bundle: str | os.PathLike[str] | None = None,
    *,
    at: Address = Address(),
    new_token: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Serve a challenge until it is interrupted.

    With the bundle, its files can be downloaded. `say` takes each line for the organiser: the address, and a new token.
    Raises ValueError if tokens would travel in clear, or the bundle is not that of the challenge; BlockingIOError if
    another server runs on the folder.
    """
    _require_encryption(at)
    with _only_server(Path(folder)), Challenge.open(folder, n_processes=_N_SCORING) as challenge:
        public = None if bundle is None else Path(bundle)
        if public is not None:
            require_bundle(public, challenge.manifest.bundle_sha256)
        if new_token or not challenge.folder.organiser_token.exists():
            say(f"Token of the organiser (it is not shown again): {new_organiser_token(challenge.folder)}")
        offered = Host(
            challenge,
            public,
            names=frozenset({at.host, *at.names}),
            is_encrypted=at.is_encrypted,
            n_scoring=_N_SCORING,
        )
        app = build_app(offered)
        config = uvicorn.Config(
            app,
            host=at.host,
            port=at.port,
            http=ProxiedProtocol if at.behind_tls_proxy else BoundedProtocol,
            # Another protocol would have bounds of its own.
            ws="none",
            log_level="warning",
            server_header=False,
            # Names of clients are nobody's business; tokens are in no address.
            access_log=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_SHUTDOWN_S,
            ssl_certfile=at.certificate,
            ssl_keyfile=at.key,
        )
        _Server(config, "https" if at.certificate else "http", say).run()


class _Server(uvicorn.Server):
    """A server that says where it listens."""

    def __init__(self, config: uvicorn.Config, scheme: str, say: Callable[[str], None]) -> None:
        super().__init__(config)
        self._scheme, self._say = scheme, say

    async def startup(self, sockets: object = None) -> None:
        """Start to listen."""
        if self.config.is_ssl:
            # uvicorn leaves it at a minute, during which no protocol knows of the connection.
            loop = asyncio.get_running_loop()
            limited = partial(loop.create_server, ssl_handshake_timeout=REQUEST_S)
            loop.create_server = limited  # type: ignore[method-assign]
        await super().startup(sockets)  # type: ignore[arg-type]
        if self.should_exit:
            return
        address = self.servers[0].sockets[0].getsockname()
        name = f"[{address[0]}]" if ":" in address[0] else address[0]
        self._say(f"Serving at {self._scheme}://{name}:{address[1]} (Ctrl-C ends it)")


def _require_encryption(at: Address) -> None:
    if (at.certificate is None) != (at.key is None):
        raise ValueError("--certificate and --key must be given together. Got one of them.")
    if at.is_encrypted or at.host == "localhost":
        return
    try:
        is_local = ip_address(at.host).is_loopback
    except ValueError:
        is_local = False
    if not is_local:
        raise ValueError(
            "--host must be 127.0.0.1 unless --certificate and --key, or --behind-tls-proxy, are there: tokens must "
            f"not travel in clear. Got {at.host!r} instead."
        )


@contextmanager
def _only_server(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder, which the system drops when the process ends."""
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not lock_descriptor(handle, blocking=False):
            raise BlockingIOError(f"{folder} must be served once. Got another server on it; stop that first.")
        yield
    finally:
        os.close(handle)
