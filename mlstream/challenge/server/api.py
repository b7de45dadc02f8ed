"""Requests of programs; the schema of OpenAPI is made of what stands here."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, status
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

from mlstream.challenge.errors import InvalidSubmission, UnknownSubmission, UnknownToken
from mlstream.challenge.replies import Phase, Reservation, describe_reply
from mlstream.challenge.server.host import Host
from mlstream.challenge.server.uploads import reserve_body

router = APIRouter(prefix="/api")
_bearer = HTTPBearer(
    auto_error=False, description="The token that the registration or `mlstream challenge join` showed."
)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


class SubmissionState(BaseModel):
    """A submission, as its team sees it."""

    submission: int
    state: Literal["scoring", "scored", "invalid"]
    query: int | None = Field(default=None, description="How many queries of that day were used, this one included.")
    remaining: int | None = Field(default=None, description="Queries left today.")
    score: float | None = Field(default=None, description="Reported score on validation.")
    in_distribution: float | None = None
    repeats_best: Literal[True] | None = Field(
        default=None, description="True if the score is the best so far, since this one is not better by a step."
    )
    problem: str | None = Field(default=None, description="Why the file is no submission.")


class OwnSubmission(BaseModel):
    """A submission in the list of its team."""

    submission: int
    file_name: str
    time: datetime
    score: float | None = Field(description="Null while it is not scored, or if it was rejected.")
    in_distribution: float | None
    problem: str | None
    is_selected: bool


class TeamState(BaseModel):
    """Budget and submissions of a team."""

    team: str
    phase: Phase
    queries_used: int
    remaining: int
    reset: datetime
    invalid_used: int
    submissions: list[OwnSubmission]
    selected: list[int]
    timezone: str = Field(description="In which the rules state times beside UTC.")


class Selection(BaseModel):
    """The submissions that count at the end."""

    submissions: list[int]


class Registration(BaseModel):
    """A team with an invitation."""

    team: str
    code: str


class NewTeam(BaseModel):
    """A team that was made; the token cannot be shown again."""

    token: str


class LogEnd(BaseModel):
    """The end of the log."""

    n_events: int
    head: str = Field(description="Hash of the last event.")


class BoardEntry(BaseModel):
    """A row of the public board."""

    rank: int
    team: str
    score: float
    n_submissions: int
    time: datetime


def host_of(request: Request) -> Host:
    """Return what the application offers."""
    host: Host = request.app.state.host
    return host


def token_of(credentials: HTTPAuthorizationCredentials | None) -> str:
    """Return the token of a request; UnknownToken is raised if it has none."""
    if credentials is None:
        raise UnknownToken("A token must be sent as `Authorization: Bearer TOKEN`. Got no such header.")
    return credentials.credentials


@router.post(
    "/submissions",
    status_code=status.HTTP_202_ACCEPTED,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        },
        "parameters": [
            {"name": "X-File-Name", "in": "header", "schema": {"type": "string"}, "description": "Percent-encoded."}
        ],
    },
)
async def submit(request: Request, credentials: Credentials) -> SubmissionState:
    """Send a submission: the body is the file. It is stored and counted when this returns, and scored soon after."""
    reservation = await reserve_body(host_of(request), request, token_of(credentials))
    return SubmissionState(submission=reservation.submission, state="scoring")


@router.get("/submissions/{number}")
def submission(request: Request, number: int, credentials: Credentials) -> SubmissionState:
    """Return the state of a submission of the team."""
    challenge, token = host_of(request).challenge, token_of(credentials)
    found = next((one for one in challenge.status(token).submissions if one.submission == number), None)
    if found is None:
        raise UnknownSubmission(f"A submission must be one of the team. Got {number} instead.")
    if found.problem is not None:
        return SubmissionState(submission=number, state="invalid", problem=found.problem)
    if found.score is None:
        return SubmissionState(submission=number, state="scoring")
    try:
        reply = challenge.complete(Reservation(number, False))
    except InvalidSubmission as error:
        return SubmissionState(submission=number, state="invalid", problem=str(error))
    return SubmissionState.model_validate({"state": "scored", **describe_reply(reply)})


@router.get("/status")
def team_status(request: Request, credentials: Credentials) -> TeamState:
    """Return budget, submissions and selection of the team."""
    found = host_of(request).challenge.status(token_of(credentials))
    submissions = [OwnSubmission(**one._asdict()) for one in found.submissions]
    return TeamState(**{**found._asdict(), "submissions": submissions, "selected": list(found.selected)})


@router.put("/selection", status_code=status.HTTP_204_NO_CONTENT, response_model=None)
def select(request: Request, selection: Selection, credentials: Credentials) -> None:
    """Choose the submissions that count at the end, in place of those chosen before."""
    host_of(request).challenge.select(token_of(credentials), selection.submissions)


@router.post("/teams", status_code=status.HTTP_201_CREATED)
def register(request: Request, registration: Registration) -> NewTeam:
    """Make a team by an invitation of the organiser, which is used up."""
    return NewTeam(token=host_of(request).challenge.register(registration.team, registration.code))


@router.get("/leaderboard")
def leaderboard(request: Request) -> list[BoardEntry]:
    """Return the public board of the development phase."""
    return [BoardEntry(**row._asdict()) for row in host_of(request).challenge.leaderboard()]


@router.get("/log")
def log(request: Request) -> LogEnd:
    """Return the end of the log: one that was noted must be in every later log."""
    return LogEnd(**host_of(request).challenge.head()._asdict())
