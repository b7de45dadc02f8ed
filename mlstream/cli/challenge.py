"""The commands of a challenge, of its organiser and of its teams."""

from __future__ import annotations

from collections.abc import Callable

import typer

from mlstream.cli import challenge_making as making
from mlstream.cli import challenge_organiser as organiser
from mlstream.cli import challenge_team as team

app = typer.Typer(
    help="Host a challenge on environments that nobody has seen, or take part in one.", no_args_is_help=True
)

_ORGANISER: tuple[Callable[..., None], ...] = (
    making.create,
    making.verify,
    organiser.join,
    organiser.invite,
    organiser.merge,
    organiser.score,
    organiser.leaderboard,
    organiser.close,
    organiser.release,
    organiser.audit,
)
_TEAM: tuple[Callable[..., None], ...] = (team.submit, team.status, team.select)

for panel, commands in (("Start here", (making.demo,)), ("The organiser", _ORGANISER), ("A team", _TEAM)):
    for command in commands:
        app.command(rich_help_panel=panel)(command)
