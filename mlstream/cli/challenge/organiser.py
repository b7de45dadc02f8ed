"""Commands of the organiser of a challenge: teams, scoring, the server, the end."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlstream._support.files import write_text_atomically
from mlstream.challenge.clock import board_times, format_time
from mlstream.cli import console
from mlstream.cli.arguments import AsJson, file_option

if TYPE_CHECKING:
    from mlstream.challenge import Challenge
    from mlstream.challenge.scoring.ranking import FinalRanking, RankedTeam

_POLL_S = 1.0

Folder = Annotated[Path, typer.Argument(metavar="ORG", help="The organiser's folder.")]


def open_challenge(folder: Path | str) -> Challenge:
    """Open the organiser's folder of a challenge."""
    from mlstream.challenge import Challenge

    return Challenge.open(folder)


def join(
    folder: Folder, team: Annotated[str, typer.Argument(help="Name of the team: 1 to 40 printable characters.")]
) -> None:
    """Add a team; the last line is its token, which is shown this once."""
    from mlstream.challenge.state.teams import team_of_token

    with open_challenge(folder) as challenge:
        token = challenge.join(team)
    console.print_line(f"Team {team!r} has joined with the id {team_of_token(token)}. Its token, shown this once:")
    typer.echo(token)


def invite(folder: Folder) -> None:
    """Make an invitation, by which one team can register; the last line is its code, which is shown this once."""
    with open_challenge(folder) as challenge:
        typer.echo(challenge.invite())


def merge(
    folder: Folder,
    kept: Annotated[str, typer.Argument(metavar="TEAM", help="The team that stays.")],
    other: Annotated[str, typer.Argument(metavar="TEAM", help="The team that becomes a part of it.")],
) -> None:
    """Merge two teams; submissions, and what they used today, are added up."""
    with open_challenge(folder) as challenge:
        challenge.merge(kept, other)
    console.print_line(f"Team {other!r} is a part of team {kept!r} now; both tokens are valid.")


def clock(
    folder: Folder,
    accept: Annotated[bool, typer.Option("--accept", help="Confirm that the clock is right, which is logged.")] = False,
) -> None:
    """Compare the clock of this machine with the last event; after a wrong clock or a long pause, accept it.

    The exit status is 1 if events are refused.
    """
    with open_challenge(folder) as challenge:
        found = challenge.accept_clock() if accept else challenge.compare_clock()
    console.print_line(
        f"This machine: {format_time(found.now, to='seconds')}; last event: {format_time(found.last, to='seconds')}"
    )
    if found.problem is None:
        console.print_line("Events are recorded by this clock.")
    elif accept:
        console.print_line("Accepted: events are recorded by this clock from now on. Budgets are as they were.")
    else:
        console.print_line(found.problem)
        raise typer.Exit(1)


def score(
    folder: Folder,
    inbox: Annotated[Path, typer.Option(help="Folder that teams move their submissions into.")],
    watch: Annotated[
        bool | None, typer.Option("--watch/--once", help="Look again every second until interrupted, or look once.")
    ] = None,
) -> None:
    """Score submissions that come through an inbox, and what a crash left unscored."""
    from mlstream.challenge.inbox import Inbox

    if watch is None:
        raise ValueError("One of --watch and --once must be given. Got neither.")
    with open_challenge(folder) as challenge:
        n_done = challenge.complete_pending()
        if n_done:
            console.print_line(f"Completed {n_done} submissions that were waiting.")
        box = Inbox(challenge, inbox)
        while True:
            for line in box.empty():
                console.print_line(line)
            if not watch:
                return
            time.sleep(_POLL_S)


def serve(
    folder: Annotated[Path, typer.Argument(help="The organiser's folder.")],
    bundle: Annotated[Path | None, typer.Option(help="The bundle, for its files to be downloaded.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen at; beyond this machine, only encrypted.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    name: Annotated[
        list[str] | None, typer.Option(help="Name of the host in addresses, where it is not --host; may be repeated.")
    ] = None,
    certificate: Annotated[Path | None, file_option(help="Certificate, as a PEM file.")] = None,
    key: Annotated[Path | None, file_option(help="Key of the certificate, as a PEM file.")] = None,
    behind_tls_proxy: Annotated[
        bool, typer.Option("--behind-tls-proxy", help="A proxy of yours encrypts, and forwards to this server.")
    ] = False,
    new_token: Annotated[bool, typer.Option("--new-token", help="Replace the token of the organiser.")] = False,
) -> None:
    """Serve a challenge: rules, data, board, a page for each team, and the organiser's page.

    One server runs on a folder. The first start prints the organiser's token.
    """
    from mlstream.challenge.server.serve import Address, serve

    at = Address(host, port, tuple(name or ()), certificate, key, behind_tls_proxy)
    serve(folder, bundle, at=at, new_token=new_token, say=console.print_line)


def leaderboard(
    folder: Folder,
    as_json: AsJson = False,
    html: Annotated[
        Path | None, file_option(help="Page to write, with the rankings once they are published; it is replaced.")
    ] = None,
) -> None:
    """Print the public board: best score, submissions and time of each team, and the head of the log."""
    with open_challenge(folder) as challenge:
        rows, log, zone = challenge.leaderboard(), challenge.head(), challenge.config.timezone
        if html is not None:
            from mlstream.challenge.page import render_page

            write_text_atomically(html, render_page(challenge))
    if as_json:
        console.print_json([row._asdict() for row in rows])
        return
    console.show_lines(
        ("rank", "team", "score", "submissions", "time"),
        [
            (str(row.rank), row.team, str(row.score), str(row.n_submissions), time)
            for row, time in zip(rows, board_times(rows, zone), strict=True)
        ],
    )
    console.print_line(f"Head of the log after {log.n_events} events: {log.head}")


def close(
    folder: Folder,
    early: Annotated[bool, typer.Option("--early", help="Close before the time that the rules name.")] = False,
    as_json: AsJson = False,
) -> None:
    """End a challenge: score each selected submission once, and print both rankings; again, print the same."""
    with open_challenge(folder) as challenge:
        ranking = challenge.close(early=early)
    if as_json:
        console.print_json(ranking)
    else:
        show_ranking(ranking)


def release(folder: Folder, to: Annotated[Path, typer.Option(help="Folder to make.")]) -> None:
    """Write the labels of all hidden rows, and the rankings, to a new folder, once the challenge is closed."""
    with open_challenge(folder) as challenge:
        challenge.release(to)
    console.print_line(f"Released {to}: {', '.join(sorted(path.name for path in to.iterdir()))}")


def audit(
    folder: Folder,
    head: Annotated[
        str | None, typer.Option(help="Head of the log that an earlier audit printed; the log must still hold it.")
    ] = None,
    files: Annotated[
        bool, typer.Option("--files", help="Read all stored submissions again, beside comparing their sizes.")
    ] = False,
) -> None:
    """Check log, tables and files against each other, and list submissions that look made to learn labels.

    The exit status is 1 if something was changed.
    """
    with open_challenge(folder) as challenge:
        report = challenge.audit(head, files=files)
    for line in report.problems:
        console.print_line(f"Broken: {line}")
    for line in report.flags:
        console.print_line(f"Look at {line}")
    console.print_line(f"Head of the log: {report.head}")
    if not report.is_whole:
        raise typer.Exit(1)
    console.print_line("Log, tables and files agree.")


def show_ranking(ranking: FinalRanking) -> None:
    """Print both rankings, and the head of the log."""
    for title, rows in (("Generalisation", ranking.generalisation), ("Robustness", ranking.robustness)):
        console.print_line(f"{title}, {ranking.metric}, {'lower' if ranking.lower_is_better else 'higher'} is better:")
        console.show_lines(("rank", "team", "score", "95 %", "tied within noise"), _cells(rows))
    console.print_line(f"Head of the log: {ranking.head}")


def _cells(rows: Iterable[RankedTeam]) -> Iterable[tuple[str, ...]]:
    for row in rows:
        interval = "" if row.low is None else f"{row.low:.4f} to {row.high:.4f}"
        tied = f"with rank {row.tied_with_rank}" if row.tied_with_rank < row.rank else ""
        yield str(row.rank), row.team, f"{row.score:.6f}", interval, tied
