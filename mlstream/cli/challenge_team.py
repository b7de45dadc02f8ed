"""Commands of a team of a challenge."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from mlstream._files import read_bounded

_VARIABLE = "MLSTREAM_CHALLENGE_TOKEN"
_MAX_TOKEN_BYTES = 4096

TokenFile = Annotated[
    Path | None,
    typer.Option(help=f"File that holds the token of the team; by default the variable {_VARIABLE}, or a prompt."),
]
OwnFolder = Annotated[Path, typer.Option(help="The organiser's folder, on the organiser's machine.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def submit(
    file: Annotated[Path, typer.Argument(help="Probabilities of all hidden rows: CSV (.gz), NPZ or Parquet.")],
    folder: Annotated[Path | None, typer.Option(help="The organiser's folder, on the organiser's machine.")] = None,
    inbox: Annotated[Path | None, typer.Option(help="Folder that the organiser's account empties.")] = None,
    token_file: TokenFile = None,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait for the reply in an inbox.")] = 600.0,
    as_json: AsJson = False,
) -> None:
    """Send a submission, which uses one query of the day, and print its score on the validation environments.

    The exit status is 0 if it was scored, 2 if the file is no submission, 3 if the budget is spent, 4 if the phase is
    closed, and 5 if the token is unknown.
    """
    from mlstream.cli import console

    if (folder is None) == (inbox is None):
        raise ValueError("One of --folder and --inbox must be given. Got both, or neither.")
    token = _read_token(token_file)
    reply = _submit_to(folder, file, token) if folder is not None else _send(inbox, file, token, timeout)
    if as_json:
        typer.echo(json.dumps(reply))
        return
    console.print_line(
        f"Submission {reply['submission']} scored {reply['score']} on validation; it was query {reply['query']} of its "
        f"day, and {reply['remaining']} remain today."
    )
    if "in_distribution" in reply:
        console.print_line(f"On held-out rows of the training environments, it scored {reply['in_distribution']}.")


def status(folder: OwnFolder, token_file: TokenFile = None, as_json: AsJson = False) -> None:
    """Print the submissions of the team, its budget, and what is selected for the end."""
    from mlstream.challenge.engine import Challenge
    from mlstream.cli import console

    with Challenge.open(folder) as challenge:
        found = challenge.status(_read_token(token_file))
    if as_json:
        described = found._asdict() | {"submissions": [row._asdict() for row in found.submissions]}
        typer.echo(json.dumps(described, default=lambda time: time.isoformat()))
        return
    console.print_line(
        f"Team {found.team!r}, phase {found.phase}: {found.queries_used} queries used today, {found.remaining} remain "
        f"until {found.reset:%Y-%m-%d %H:%M} UTC; {found.invalid_used} files were no submissions."
    )
    rows = [
        (
            str(row.submission),
            row.file_name,
            f"{row.time:%Y-%m-%d %H:%M}",
            row.problem or ("waits" if row.score is None else str(row.score)),
            "selected" if row.is_selected else "",
        )
        for row in found.submissions
    ]
    console.show_lines(("submission", "file", "time (UTC)", "score", ""), rows)


def select(
    submissions: Annotated[list[int], typer.Argument(metavar="ID...", help="Numbers of submissions.")],
    folder: OwnFolder,
    token_file: TokenFile = None,
) -> None:
    """Choose the submissions that count at the end; by default, the one with the best score on validation."""
    from mlstream.challenge.engine import Challenge
    from mlstream.cli import console

    with Challenge.open(folder) as challenge:
        challenge.select(_read_token(token_file), submissions)
    console.print_line(f"Selected: {', '.join(map(str, submissions))}")


def _submit_to(folder: Path, file: Path, token: str) -> dict[str, Any]:
    from mlstream.challenge.engine import Challenge
    from mlstream.challenge.inbox import describe_reply

    with Challenge.open(folder) as challenge:
        return describe_reply(challenge.submit(file, token))


def _send(inbox: Path | None, file: Path, token: str, timeout: float) -> dict[str, Any]:
    from mlstream.challenge.inbox import send

    return send(file, Path(str(inbox)), token, timeout_s=timeout)


def _read_token(file: Path | None) -> str:
    if file is not None:
        return read_bounded(file, _MAX_TOKEN_BYTES).decode("utf-8", "replace").strip()
    return os.environ.get(_VARIABLE) or str(typer.prompt("Token", hide_input=True, err=True)).strip()
