"""Files that are sent: onto the disk piece by piece, and gone if the sending stops."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request

from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.replies import Reservation
from mlstream.challenge.server.connections import TEAM
from mlstream.challenge.server.host import Host
from mlstream.challenge.state.submitting import Arrival

_PIECE_BYTES = 2**20
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
    await require_team(host, request, token)
    return await _reserve(host, request.stream(), token, name)


async def require_team(host: Host, request: Request, token: str) -> None:
    """Raise UnknownToken unless a token is a team's, for whose file the server waits longer."""
    setattr(request.state, TEAM, await run_in_threadpool(host.challenge.authenticate, token))


async def reserve_file(host: Host, file: UploadFile, token: str) -> Reservation:
    """Reserve a query for a file from a form."""
    return await _reserve(host, _pieces(file), token, file.filename or "")


async def _reserve(host: Host, pieces: AsyncIterator[bytes], token: str, name: str) -> Reservation:
    with Arrival(host.challenge.folder) as arrival:
        async for some in _join(pieces):
            await run_in_threadpool(arrival.write, *some)

        def reserve() -> Reservation:
            return host.challenge.reserve_received(arrival.finish(), token, file_name=name or "submission")

        reservation = await run_in_threadpool(reserve)
    # The first one may have been left unscored, by a process that died.
    host.score_later(reservation)
    return reservation


async def _join(pieces: AsyncIterator[bytes]) -> AsyncIterator[list[bytes]]:
    """Yield several pieces at once: to hand one to a thread takes longer than to write it."""
    joined: list[bytes] = []
    n_bytes = 0
    async for piece in pieces:
        joined.append(piece)
        n_bytes += len(piece)
        if n_bytes >= _PIECE_BYTES:
            yield joined
            joined, n_bytes = [], 0
    yield joined


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(_PIECE_BYTES):
        yield piece
