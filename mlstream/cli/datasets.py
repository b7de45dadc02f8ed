"""Commands about the tables that have a name."""

from __future__ import annotations

from typing import Annotated

import typer

from mlstream.cli.completion import complete_tables

commands = typer.Typer(help="List the tables that have a name, to use instead of a path, and download them.")


@commands.callback(invoke_without_command=True)
def list_if_alone(context: typer.Context) -> None:
    """List the tables if no command is given."""
    if context.invoked_subcommand is None:
        list_tables()


@commands.command("list")
def list_tables() -> None:
    """List the tables that have a name, and where each is or how to get it."""
    from mlstream.cli import console
    from mlstream.data.registry import list_datasets

    console.show_datasets(list_datasets())


@commands.command()
def fetch(
    names: Annotated[
        list[str], typer.Argument(help="Names that `mlstream datasets list` shows.", autocompletion=complete_tables)
    ],
    offline: Annotated[
        bool | None,
        typer.Option(
            "--offline/--online", help="Open no connection; the default is that of the variable MLSTREAM_OFFLINE."
        ),
    ] = None,
) -> None:
    """Download tables that are not on this machine.

    Interrupted downloads are resumed, and hashes are checked. Tables go to the cache of the system, or to the folder
    that the variable MLSTREAM_CACHE names.
    """
    from mlstream.cli import console
    from mlstream.data.downloads import fetch_dataset

    with console.download_progress() as progress:
        for name in names:
            paths = fetch_dataset(name, offline=offline, progress=progress)
            console.print_line(f"{name}: {', '.join(map(str, paths))}")
