"""The commands of a challenge, of its organiser and of its teams."""

from __future__ import annotations

from collections.abc import Callable

import typer

from mlstream.cli.challenge import creation, organiser, team

app = typer.Typer(
    help="Host a challenge on environments that nobody has seen, or take part in one.", no_args_is_help=True
)

_ORGANISER: tuple[Callable[..., None], ...] = (
    creation.create,
    creation.verify,
    organiser.join,
    organiser.invite,
    organiser.merge,
    organiser.serve,
    organiser.score,
    organiser.leaderboard,
    organiser.close,
    organiser.release,
    organiser.audit,
    creation.export,
)
_TEAM: tuple[Callable[..., None], ...] = (team.predict, team.submit, team.status, team.select)

for panel, commands in (("Start here", (creation.demo,)), ("The organiser", _ORGANISER), ("A team", _TEAM)):
    for command in commands:
        app.command(rich_help_panel=panel)(command)
