"""Files that are sent: onto the disk piece by piece, and gone if the sending stops."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request

from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.replies import Reservation
from mlstream.challenge.server.host import Host

_PIECE_BYTES = 2**18
_TYPES = frozenset({"", "application/octet-stream", "text/csv", "application/gzip", "application/x-npz"})


async def reserve_body(host: Host, request: Request, token: str) -> Reservation:
    """Reserve a query for the file that is the body of a request.

    Raises ChallengeError as `Challenge.reserve` does, and if the type of the content is not that of a submission.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _TYPES:
        raise InvalidSubmission(
            "Content-Type must be application/octet-stream or text/csv, and the body the file itself. Got another type."
        )
    name = unquote(request.headers.get("x-file-name", ""))
    # Nobody else's bytes are worth the disk.
    await run_in_threadpool(host.challenge.authenticate, token)
    async with _scratch_file(host, request.stream()) as path:
        return await _reserve(host, path, token, name)


async def reserve_file(host: Host, file: UploadFile, token: str) -> Reservation:
    """Reserve a query for a file from a form."""
    async with _scratch_file(host, _pieces(file)) as path:
        return await _reserve(host, path, token, file.filename or "")


async def _reserve(host: Host, path: Path, token: str, name: str) -> Reservation:
    reservation = await run_in_threadpool(host.challenge.reserve, path, token, file_name=name or "submission")
    # The first one may have been left unscored, by a process that died.
    host.score_later(reservation)
    return reservation


@asynccontextmanager
async def _scratch_file(host: Host, pieces: AsyncIterator[bytes]) -> AsyncIterator[Path]:
    folder = host.challenge.folder.scratch
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"upload-{secrets.token_hex(8)}"
    try:
        with path.open("xb") as file:
            async for piece in pieces:
                await run_in_threadpool(file.write, piece)
        yield path
    finally:
        path.unlink(missing_ok=True)


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(_PIECE_BYTES):
        yield piece
