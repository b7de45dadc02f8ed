"""Commands that make a challenge, check it, and play one through."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlstream.cli.arguments import StreamPath
from mlstream.cli.challenge_organiser import Folder

_BUNDLE = "The bundle of contestants, or a copy of it."


def create(
    stream: StreamPath,
    config: Annotated[Path, typer.Option(help="The rules: challenge.toml.")],
    folder: Annotated[Path, typer.Option(metavar="ORG", help="The organiser's folder, to be made: truth and state.")],
    bundle: Annotated[Path, typer.Option(metavar="PUB", help="The bundle for contestants, to be made elsewhere.")],
    force: Annotated[
        bool, typer.Option("--force", help="Accept hidden environments of fewer rows than min_rows.")
    ] = False,
) -> None:
    """Make a challenge of a stream with environments: a private folder, and a bundle to publish."""
    from mlstream.challenge.create import advise
    from mlstream.challenge.engine import Challenge
    from mlstream.cli import console
    from mlstream.cli.arguments import open_stream

    loaded = open_stream(stream)
    with Challenge.create(loaded, config, folder, bundle, force=force) as challenge:
        manifest = challenge.manifest
    for line in advise(loaded, manifest):
        typer.echo(f"Warning: {line}", err=True)
    console.print_line(f"Wrote {folder}: {len(manifest.environments)} environments; keep it private")
    console.print_line(f"Wrote {bundle}: {manifest.n_hidden:,} hidden rows; give it to contestants")


def verify(
    folder: Folder,
    bundle: Annotated[Path | None, typer.Option(metavar="PUB", help=_BUNDLE)] = None,
) -> None:
    """Compare the organiser's folder, and the bundle, with what `create` makes of the stream.

    The exit status is 1 if something differs.
    """
    from mlstream.challenge.verify import verify_challenge
    from mlstream.cli import console

    found = verify_challenge(folder, bundle)
    for line in found:
        console.print_line(f"Differs: {line}")
    if found:
        raise typer.Exit(1)
    console.print_line(f"{folder} is as it was made." if bundle is None else f"{folder} and {bundle} are as made.")


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to create; it must not exist.")],
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the environments; by default a large one is drawn.")
    ] = None,
) -> None:
    """Play a challenge of 12 synthetic environments through: five teams, rankings and a page."""
    from mlstream.cli.challenge_demo import run_challenge_demo
    from mlstream.cli.challenge_organiser import show_ranking

    ranking, page = run_challenge_demo(output, seed=seed)
    show_ranking(ranking)
    typer.echo(f"The page: open {page} in a browser")
