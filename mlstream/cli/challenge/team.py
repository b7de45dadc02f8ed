"""Commands of a team of a challenge."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import estimators
from mlstream._support.files import read_bounded
from mlstream.challenge.clock import format_time
from mlstream.challenge.replies import describe_reply
from mlstream.cli import console
from mlstream.cli.arguments import AsJson, Force, file_option, parse_file, require_new
from mlstream.cli.challenge.organiser import open_challenge
from mlstream.cli.options import parse_strategies

if TYPE_CHECKING:
    from mlstream.challenge.client import RemoteChallenge

_VARIABLE = "MLSTREAM_CHALLENGE_TOKEN"
_MAX_TOKEN_BYTES = 4096

TokenFile = Annotated[
    Path | None,
    file_option(help=f"File that holds the token of the team; by default the variable {_VARIABLE}, or a prompt."),
]
ServerUrl = Annotated[str | None, typer.Option(help="Address of the server, such as https://host.example.")]
OwnFolder = Annotated[Path | None, typer.Option(help="The organiser's folder, on the organiser's machine.")]


def predict(
    bundle: Annotated[Path, typer.Argument(metavar="PUB", help="The bundle of a challenge.")],
    strategy: Annotated[
        str, typer.Option("--strategy", "-s", help="A name that `mlstream strategies` lists, or NAME(parameter=value).")
    ],
    output: Annotated[Path, file_option("--output", "-o", help="CSV file to write.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the order of the training rows, and of the learner.")] = 0,
    force: Force = False,
) -> None:
    """Train one of our learners on the rows of a bundle, and write a submission."""
    import numpy as np

    from mlstream.challenge.predicting import read_bundle, write_submission

    require_new([output], force)
    found = parse_strategies([strategy])[strategy.strip()]
    learner = estimators.make_strategy(found) if isinstance(found, str) else found
    if "random_state" in learner.get_params():
        learner.set_params(random_state=seed)
    rows = read_bundle(bundle)
    # Rows come environment by environment; what learns row by row would forget the first ones.
    order = np.random.default_rng(seed).permutation(len(rows.Y))
    learner.partial_fit(rows.X[order], rows.Y[order][:, rows.scored])
    prob = write_submission(learner, rows, output)
    console.print_line(f"Wrote {output}: {len(prob):,} rows, {prob.shape[1]} labels")


def submit(
    file: Annotated[
        Path, typer.Argument(parser=parse_file, help="Probabilities of all hidden rows: CSV (.gz), NPZ or Parquet.")
    ],
    url: ServerUrl = None,
    folder: OwnFolder = None,
    inbox: Annotated[Path | None, typer.Option(help="Folder that the organiser's account empties.")] = None,
    token_file: TokenFile = None,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait for the score.")] = 600.0,
    as_json: AsJson = False,
) -> None:
    """Send a submission, which uses one query of the day, and print its score on the validation environments.

    The exit status is 0 if it was scored, 2 if the file is no submission, 3 if the budget is spent, 4 if the phase is
    closed, and 5 if the token is unknown.
    """
    _require_one({"--url": url, "--folder": folder, "--inbox": inbox})
    token = _read_token(token_file)
    if url is not None:
        from mlstream.cli.progress import download_progress

        with download_progress() as bars:
            progress = None if bars is None else partial(bars, file.name)
            reply = _connect(url, token).submit(file, progress=progress, timeout_s=timeout)
    elif folder is not None:
        with open_challenge(str(folder)) as challenge:
            reply = describe_reply(challenge.submit(file, token))
    else:
        from mlstream.challenge.inbox import send

        reply = send(file, Path(str(inbox)), token, timeout_s=timeout)
    if as_json:
        console.print_json(reply)
        return
    console.print_line(
        f"Submission {reply['submission']}: the reported score on validation is {reply['score']}. It was query "
        f"{reply['query']} of its day, and {reply['remaining']} remain today."
    )
    if reply.get("repeats_best"):
        console.print_line(
            "This repeats the best score so far (at first, that of constant predictions): the submission is not better "
            "by the step that RULES.md states."
        )
    if "in_distribution" in reply:
        console.print_line(f"On held-out rows of the training environments, it is {reply['in_distribution']}.")


def status(
    url: ServerUrl = None, folder: OwnFolder = None, token_file: TokenFile = None, as_json: AsJson = False
) -> None:
    """Print the submissions of the team, its budget, and what is selected for the end."""
    _require_one({"--url": url, "--folder": folder})
    token = _read_token(token_file)
    if url is not None:
        found = _connect(url, token).status()
    else:
        with open_challenge(str(folder)) as challenge:
            found = challenge.status(token)
    if as_json:
        described = found._asdict() | {"submissions": [row._asdict() for row in found.submissions]}
        console.print_json(described)
        return
    console.print_line(
        f"Team {found.team!r}, phase {found.phase}: {found.queries_used} queries used today, {found.remaining} remain "
        f"until {format_time(found.reset, found.timezone)}; files that were no submissions: {found.invalid_used}."
    )
    rows = [
        (
            str(row.submission),
            row.file_name,
            format_time(row.time, found.timezone),
            row.problem or ("waits" if row.score is None else str(row.score)),
            "selected" if row.is_selected else "",
        )
        for row in found.submissions
    ]
    console.show_lines(("submission", "file", "time", "score", ""), rows)


def select(
    submissions: Annotated[list[int], typer.Argument(metavar="ID...", help="Numbers of submissions.")],
    url: ServerUrl = None,
    folder: OwnFolder = None,
    token_file: TokenFile = None,
) -> None:
    """Choose the submissions that count at the end; by default, the one with the best score on validation."""
    _require_one({"--url": url, "--folder": folder})
    token = _read_token(token_file)
    if url is not None:
        _connect(url, token).select(submissions)
    else:
        with open_challenge(str(folder)) as challenge:
            challenge.select(token, submissions)
    console.print_line(f"Selected: {', '.join(map(str, submissions))}")


def _require_one(options: dict[str, object]) -> None:
    given = [name for name, value in options.items() if value is not None]
    if len(given) != 1:
        raise ValueError(f"One of {', '.join(options)} must be given. Got {' and '.join(given) or 0} instead.")


def _connect(url: str, token: str) -> RemoteChallenge:
    from mlstream.challenge.client import RemoteChallenge

    return RemoteChallenge(url, token)


def _read_token(file: Path | None) -> str:
    if file is not None:
        return read_bounded(file, _MAX_TOKEN_BYTES).decode("utf-8", "replace").strip()
    return os.environ.get(_VARIABLE) or str(typer.prompt("Token", hide_input=True, err=True)).strip()
