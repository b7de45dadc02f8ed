"""Pages for people: rules, board, a team's own page, and the organiser's."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from mlstream._support.templates import page_templates
from mlstream.challenge.clock import board_times, format_time, say_span
from mlstream.challenge.errors import ChallengeError, InvalidSubmission, UnknownToken
from mlstream.challenge.making.bundle import RULES
from mlstream.challenge.making.rules import phase_times, say_ladder, say_metric
from mlstream.challenge.scoring.metric import metric_of
from mlstream.challenge.server.api import host_of
from mlstream.challenge.server.host import Host, list_bundle
from mlstream.challenge.server.plot import MAX_TEAMS, draw_history
from mlstream.challenge.server.uploads import require_team, reserve_file
from mlstream.challenge.state.phases import explain_phase

router = APIRouter()

_TEAM, _ORGANISER = "team", "organiser"
_MAX_AGE_S = 30 * 86_400
_SEE_OTHER = 303
_MAX_FIELDS = 200
# No challenge has more submissions.
_NUMBER = re.compile(r"[0-9]{1,18}")

_TEMPLATES = page_templates("mlstream.challenge.server")
_TEMPLATES.filters |= {"time": format_time, "span": say_span}


@router.get("/")
def rules(request: Request) -> Response:
    """Show the rules, and the files to download."""
    host = host_of(request)
    files = []
    if host.bundle is not None:
        files = [(path.name, path.stat().st_size) for path in list_bundle(host.bundle)]
    times = phase_times(host.challenge.config)
    return _show(request, "rules.html", files=files, rules_file=RULES, times=times, **_facts(host))


@router.get("/data/{name}")
def download(request: Request, name: str) -> Response:
    """Send a file of the bundle."""
    bundle = host_of(request).bundle
    # Only names that are listed: no path leads elsewhere.
    files = [] if bundle is None else list_bundle(bundle)
    found = next((path for path in files if path.name == name), None)
    if found is None:
        raise HTTPException(404, "There is no such file in the bundle.")
    return FileResponse(found, filename=name, media_type="application/octet-stream")


@router.get("/board")
def board(request: Request) -> Response:
    """Show the board."""
    return _show(request, "board.html", **_board(host_of(request)))


@router.get("/board/live")
def live_board(request: Request) -> Response:
    """Show the part of the board that changes, for the page to put in its place."""
    return HTMLResponse(_TEMPLATES.get_template("board_rows.html").render(_board(host_of(request))))


@router.get("/team")
def team(request: Request) -> Response:
    """Show a team's own page, or the form by which it signs in."""
    host, token = host_of(request), request.cookies.get(_TEAM, "")
    try:
        status = host.challenge.status(token)
    except UnknownToken:
        return _show(request, "team_sign_in.html", is_wrong=bool(token))
    now = host.challenge.now()
    is_waiting = any(one.score is None and one.problem is None for one in status.submissions)
    return _show(
        request,
        "team.html",
        status=status,
        **_facts(host),
        until_reset=status.reset - now,
        is_waiting=is_waiting,
        form_token=host.form_token(token),
    )


@router.post("/team/sign-in")
async def sign_in_team(request: Request) -> Response:
    """Begin the session of a team, with its token or by an invitation."""
    host, form = host_of(request), await _read_form(request)
    token = _text(form, "token")
    _require_same_site(request)
    await run_in_threadpool(host.challenge.authenticate, token)
    return _with_cookie(host, "/team", _TEAM, token)


@router.post("/team/register")
async def register_team(request: Request) -> Response:
    """Make a team by an invitation, and show its token once."""
    host, form = host_of(request), await _read_form(request)
    _require_same_site(request)
    token = await run_in_threadpool(host.challenge.register, _text(form, "team"), _text(form, "code"))
    response = _show(request, "token.html", team=_text(form, "team"), token=token, back="/team")
    _set_cookie(host, response, _TEAM, token)
    return response


@router.post("/team/submit")
async def submit(request: Request) -> Response:
    """Take a submission from a form."""
    host, token = host_of(request), request.cookies.get(_TEAM, "")
    # Whoever is not signed in has no file read.
    await require_team(host, request, token)
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise InvalidSubmission("Content-Type must be multipart/form-data, as a form with a file is. Got another type.")
    form = await _read_form(request)
    _require_form(host, token, form)
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise InvalidSubmission("A file must be chosen to be submitted. Got 0 files.")
    await reserve_file(host, file, token)
    return RedirectResponse("/team", _SEE_OTHER)


@router.post("/team/select")
async def select(request: Request) -> Response:
    """Choose the submissions that count at the end."""
    host, token = host_of(request), request.cookies.get(_TEAM, "")
    form = await _read_form(request)
    _require_form(host, token, form)
    numbers = [int(one) for one in form.getlist("submission") if isinstance(one, str) and _NUMBER.fullmatch(one)]
    await run_in_threadpool(host.challenge.select, token, numbers)
    return RedirectResponse("/team", _SEE_OTHER)


@router.post("/team/sign-out")
@router.post("/organiser/sign-out")
async def sign_out(request: Request) -> Response:
    """End a session."""
    _require_same_site(request)
    kind = request.url.path.split("/")[1]
    response = RedirectResponse(f"/{kind}", _SEE_OTHER)
    response.delete_cookie(kind, path=f"/{kind}")
    return response


@router.get("/organiser")
def organiser(request: Request) -> Response:
    """Show the organiser's page, or the form by which the organiser signs in."""
    host, token = host_of(request), request.cookies.get(_ORGANISER, "")
    if not host.is_organiser(token):
        return _show(request, "organiser_sign_in.html", is_wrong=bool(token))
    content = {"teams": host.challenge.teams(), "form_token": host.form_token(token), **_facts(host)}
    return _show(request, "organiser.html", **content)


@router.post("/organiser/sign-in")
async def sign_in_organiser(request: Request) -> Response:
    """Begin the session of the organiser."""
    host, form = host_of(request), await _read_form(request)
    _require_same_site(request)
    if not host.is_organiser(_text(form, "token")):
        raise UnknownToken("The token must be the one that `mlstream challenge serve` printed. Got another.")
    return _with_cookie(host, "/organiser", _ORGANISER, _text(form, "token"))


@router.post("/organiser/{action}")
async def organise(request: Request, action: str) -> Response:
    """Do what the organiser asked for."""
    host, token = host_of(request), request.cookies.get(_ORGANISER, "")
    if not host.is_organiser(token):
        raise UnknownToken("The organiser must be signed in. Got no session.")
    if action not in _ACTIONS:
        raise HTTPException(404, "There is no such page.")
    form = await _read_form(request)
    _require_form(host, token, form)
    return await _ACTIONS[action](request, host, form)


async def _join(request: Request, host: Host, form: FormData) -> Response:
    name = _text(form, "team")
    token = await run_in_threadpool(host.challenge.join, name)
    return _show(request, "token.html", team=name, token=token, back="/organiser")


async def _invite(request: Request, host: Host, _: FormData) -> Response:
    code = await run_in_threadpool(host.challenge.invite)
    return _show(request, "token.html", team=None, token=code, back="/organiser")


async def _merge(_: Request, host: Host, form: FormData) -> Response:
    await run_in_threadpool(host.challenge.merge, _text(form, "kept"), _text(form, "other"))
    return RedirectResponse("/organiser", _SEE_OTHER)


async def _close(_: Request, host: Host, form: FormData) -> Response:
    if _text(form, "sure") != "yes":
        raise ChallengeError("To close, the box must be ticked: there is no way back. Got a form without it.")
    is_early = _text(form, "early") == "yes"
    await run_in_threadpool(lambda: host.challenge.close(early=is_early))
    return RedirectResponse("/board", _SEE_OTHER)


async def _audit(request: Request, host: Host, _: FormData) -> Response:
    report = await run_in_threadpool(host.challenge.audit)
    return _show(request, "audit.html", report=report)


_ACTIONS: dict[str, Callable[[Request, Host, FormData], Awaitable[Response]]] = {
    "join": _join,
    "invite": _invite,
    "merge": _merge,
    "close": _close,
    "audit": _audit,
}


def show_error(request: Request, status: int, message: str, headers: Mapping[str, str]) -> Response:
    """Show why a request was refused, and a way back."""
    response = _show(request, "error.html", status=status, message=message)
    response.status_code = status
    response.headers.update(headers)
    return response


def _show(request: Request, template: str, **content: object) -> HTMLResponse:
    host = host_of(request)
    page = {"name": host.challenge.config.name, "path": request.url.path}
    return HTMLResponse(_TEMPLATES.get_template(template).render(page=page, **content))


def _facts(host: Host) -> dict[str, object]:
    challenge, config = host.challenge, host.challenge.config
    phase, step = challenge.phase(), challenge.feedback.step
    return {
        "config": config,
        "manifest": challenge.manifest,
        "phase": phase,
        "phase_words": explain_phase(phase, config),
        "metric_words": say_metric(config.metric),
        "ladder_words": say_ladder(config.metric, step) if step else "",
    }


def _board(host: Host) -> dict[str, object]:
    challenge, facts = host.challenge, _facts(host)
    is_published = facts["phase"] == "published"
    lower = metric_of(challenge.config.metric).lower_is_better
    rows = challenge.leaderboard()
    history = challenge.history({row.team for row in rows[:MAX_TEAMS]})
    return {
        **facts,
        "rows": rows,
        "log": challenge.head(),
        "times": board_times(rows, challenge.config.timezone),
        "plot": draw_history(history, challenge.now(), lower_is_better=lower),
        "ranking": challenge.ranking() if is_published else None,
    }


async def _read_form(request: Request) -> FormData:
    return await request.form(max_files=1, max_fields=_MAX_FIELDS)


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value.strip() if isinstance(value, str) else ""


def _require_form(host: Host, session: str, form: FormData) -> None:
    """Refuse a form that another site's page may have sent."""
    if not session or not host.is_form_token(session, _text(form, "form_token")):
        raise ChallengeError("The form must come from this page, opened since the server started. Reload the page.")


def _require_same_site(request: Request) -> None:
    """Refuse a sign-in that another site's page sends; browsers name the site that a form comes from."""
    if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        raise ChallengeError("The form must come from a page of this server. Got one of another site.")


def _with_cookie(host: Host, to: str, kind: str, token: str) -> Response:
    response = RedirectResponse(to, _SEE_OTHER)
    _set_cookie(host, response, kind, token)
    return response


def _set_cookie(host: Host, response: Response, kind: str, token: str) -> None:
    response.set_cookie(
        kind,
        token,
        max_age=_MAX_AGE_S,
        path=f"/{kind}",
        secure=host.is_encrypted,
        httponly=True,
        samesite="strict",
    )
