"""Commands that make a challenge, compare its files with what they must be, and play one through."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from mlstream.cli import console
from mlstream.cli.arguments import Force, file_option, open_stream, require_new
from mlstream.cli.challenge.organiser import Folder, show_ranking
from mlstream.cli.errors import show_warning


def create(
    config: Annotated[Path, file_option(help="The rules: challenge.toml.")],
    folder: Annotated[Path, typer.Option(metavar="ORG", help="The organiser's folder, to be made.")],
    bundle: Annotated[Path, typer.Option(metavar="PUB", help="The bundle for contestants, to be made.")],
    stream: Annotated[
        str | None,
        typer.Argument(help="A stream, or a name that `mlstream streams` lists; by default, that of the rules."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Accept hidden environments of few rows.")] = False,
) -> None:
    """Make a challenge: the organiser's folder, which nobody else may read, and the bundle for contestants."""
    from mlstream.challenge import Challenge
    from mlstream.challenge.config import read_config
    from mlstream.challenge.making import create, rules

    wanted = read_config(config)
    if stream is None and wanted.stream is None:
        raise ValueError(f"STREAM must be given, or stream in {config}. Got neither.")
    # A path in the rules, as in a campaign file, starts from their folder.
    found = open_stream(stream) if stream else open_stream(str(wanted.stream), config.parent)
    with Challenge.create(found, config, folder, bundle, force=force) as challenge:
        manifest = challenge.manifest
    for line in create.advise(found, manifest):
        show_warning(line)
    for phase, time in rules.phase_times(wanted):
        console.print_line(f"{phase[0].upper()}{phase[1:]}: {time}")
    console.print_line(f"Created {folder}: keep it private. It holds truth and state.")
    console.print_line(
        f"Created {bundle}: publish it. A submission holds {manifest.n_hidden} rows and "
        f"{len(manifest.scored_labels)} labels."
    )


def verify(
    folder: Folder,
    bundle: Annotated[Path | None, typer.Option(metavar="PUB", help="The bundle, or a copy of it.")] = None,
) -> None:
    """Compare the truth, and the bundle, with what the stream and the rules lead to.

    All differences are listed, and the exit status is then 1.
    """
    from mlstream.challenge.making.create import verify_challenge

    problems = verify_challenge(folder, bundle)
    for line in problems:
        console.print_line(f"Wrong: {line}")
    if problems:
        raise typer.Exit(1)
    console.print_line(f"{folder} is as it was made.")


def export(
    folder: Folder,
    to: Annotated[Literal["codabench"], typer.Option(help="The platform.")],
    output: Annotated[Path, file_option("--output", "-o", metavar="ZIP", help="File to write: truth is in it.")],
    development_ends: Annotated[
        str | None, typer.Option(help="End of the development phase, in UTC, where the rules name none.")
    ] = None,
    force: Force = False,
) -> None:
    """Write a challenge as a competition bundle of another platform, check it, and try its scoring program."""
    from mlstream.challenge.codabench.check import check_bundle, try_sample
    from mlstream.challenge.codabench.export import export_codabench
    from mlstream.challenge.config import parse_time

    require_new([output], force)
    ends = None if development_ends is None else parse_time("--development-ends", development_ends)
    differences = export_codabench(folder, output, development_ends=ends)
    problems = check_bundle(output)
    if problems:
        raise ValueError(f"{output} must pass the checks of {to}. Got this: {'; '.join(problems)}.")
    for task, scores in try_sample(output).items():
        console.print_line(f"The sample submission in task {task}: {scores}")
    for line in differences:
        show_warning(line)
    show_warning(f"{output} holds truth, for the organiser's upload only. Keep it private.")
    console.print_line(f"Wrote {output}: it passes the checks of {to}.")


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to create; it must not exist.")],
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the environments; by default a large one is drawn.")
    ] = None,
) -> None:
    """Play a challenge of 12 synthetic environments through: five teams, rankings and a page."""
    from mlstream.cli.challenge.demo import run_challenge_demo

    ranking, page = run_challenge_demo(output, seed=seed)
    show_ranking(ranking)
    console.print_line(f"The page: open {page} in a browser")
