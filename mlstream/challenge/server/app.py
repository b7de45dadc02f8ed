"""The application: routes, errors, and what guards them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from json import JSONDecodeError
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from mlstream._support.version import __version__
from mlstream.challenge.errors import BudgetSpent, ChallengeError, StateFailed, UnknownToken
from mlstream.challenge.server import api, pages
from mlstream.challenge.server.guard import Guard, TooLarge
from mlstream.challenge.server.host import Host

# Where uvicorn's own lines go.
_LOG = logging.getLogger("uvicorn.error")
_PAYLOAD_TOO_LARGE, _UNPROCESSABLE, _SERVER_ERROR = 413, 422, 500
# Codes of what the web framework refuses; all other requests of clients are invalid.
_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}


def build_app(host: Host) -> Guard:
    """Build the application of a challenge, for any server of ASGI; `serve` runs it in uvicorn."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with host.running():
            yield

    app = FastAPI(
        title=host.challenge.config.name,
        version=__version__,
        description="Submissions, budget and board of a challenge.",
        # The pages that FastAPI would make of the schema load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    app.state.host = host
    app.include_router(api.router)
    app.include_router(pages.router, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=Path(__file__).with_name("static")))
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)
    return Guard(app, names=host.names, max_bytes=host.challenge.config.max_bytes)


async def _refuse(request: Request, error: ChallengeError) -> Response:
    """Reply to what the engine refuses; no reply depends on truth."""
    headers, content = {}, {"code": error.code, "message": str(error)}
    if isinstance(error, BudgetSpent):
        seconds = max(int((error.reset - request.app.state.host.challenge.now()).total_seconds()) + 1, 1)
        headers["retry-after"], content["reset"] = str(seconds), error.reset.isoformat()
    if isinstance(error, UnknownToken):
        headers["www-authenticate"] = "Bearer"
    return _reply(request, error.http_status, content, headers)


async def _refuse_for_now(request: Request, error: Exception) -> Response:
    """Reply where the disk is full or the state cannot be read; paths are for the organiser only."""
    _LOG.error("%r: %s", request.url.path, error)
    message = "The server cannot store anything now, and counted nothing. The organiser's log says why."
    return _reply(request, StateFailed.http_status, {"code": StateFailed.code, "message": message}, {})


async def _refuse_content(request: Request, error: RequestValidationError) -> Response:
    if isinstance(error.__cause__, JSONDecodeError):
        message = f"The body must be JSON. Got this error: {error.__cause__}."
    elif (first := error.errors()[0])["loc"] == ("body",) and "json" not in request.headers.get("content-type", ""):
        message = "Content-Type must be application/json, and the body a JSON object. Got another type, or none."
    else:
        message = f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return _reply(request, _UNPROCESSABLE, {"code": "invalid_request", "message": message}, {})


async def _refuse_size(request: Request, _: Exception) -> Response:
    return _reply(request, _PAYLOAD_TOO_LARGE, {"code": "too_large", "message": "The request is too large."}, {})


async def _drop(_: Request, __: Exception) -> Response:
    # Nobody reads it: the client has gone.
    return Response(status_code=400)


async def _refuse_by_status(request: Request, error: HTTPException) -> Response:
    code = "internal" if error.status_code >= _SERVER_ERROR else _CODES.get(error.status_code, "invalid_request")
    # The cause says why a body is not UTF-8, or holds numbers that are too large.
    reason = f": {error.__cause__}" if isinstance(error.__cause__, ValueError) else ""
    content = {"code": code, "message": f"{error.detail}{reason}."}
    return _reply(request, error.status_code, content, dict(error.headers or {}))


async def _fail(request: Request, _: Exception) -> Response:
    content = {"code": "internal", "message": "The server could not do this; its log says why."}
    return _reply(request, _SERVER_ERROR, content, {})


def _reply(request: Request, status: int, content: dict[str, str], headers: dict[str, str]) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": content}, status, headers)
    return pages.show_error(request, status, content["message"], headers)


_HANDLERS: dict[type[Exception], Callable[..., Awaitable[Response]]] = {
    ChallengeError: _refuse,
    StateFailed: _refuse_for_now,
    OSError: _refuse_for_now,
    RequestValidationError: _refuse_content,
    TooLarge: _refuse_size,
    ClientDisconnect: _drop,
    HTTPException: _refuse_by_status,
    Exception: _fail,
}
