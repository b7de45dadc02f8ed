"""Commands about the tables that have a name."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from mlstream.cli.completion import complete_tables

MinRows = Annotated[int | None, typer.Option("--min-rows", min=0, help="Least number of rows.")]
MaxRows = Annotated[int | None, typer.Option("--max-rows", min=0, help="Largest number of rows.")]
MaxFeatures = Annotated[int | None, typer.Option("--max-features", min=0, help="Largest number of features.")]
MinLabels = Annotated[int | None, typer.Option("--min-labels", min=0, help="Least number of labels.")]
MaxLabels = Annotated[int | None, typer.Option("--max-labels", min=0, help="Largest number of labels.")]

datasets = typer.Typer(help="List the tables that have a name, to use instead of a path, and download them.")


@datasets.callback(invoke_without_command=True)
def list_if_alone(context: typer.Context) -> None:
    """List the tables if no command is given."""
    if context.invoked_subcommand is None:
        list_tables()


@datasets.command("list")
def list_tables(
    text: Annotated[
        str, typer.Argument(help="Words that must all be in its name, domain, licence or citation.", show_default=False)
    ] = "",
    min_rows: MinRows = None,
    max_rows: MaxRows = None,
    max_features: MaxFeatures = None,
    min_labels: MinLabels = None,
    max_labels: MaxLabels = None,
    local: Annotated[bool, typer.Option("--local", help="Only tables that are on this machine.")] = False,
    parts: Annotated[bool, typer.Option("--parts", help="Also training and test parts of tables.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the tables that have a name, and where each is or how to get it.

    A table whose size is not known, "?", is left out where that size is bounded.
    """
    from mlstream.cli import console
    from mlstream.data.selection import Selection, describe_dataset

    sizes = {
        "n_samples": (min_rows, max_rows),
        "n_features": (None, max_features),
        "n_labels": (min_labels, max_labels),
    }
    found = Selection(text=text, sizes=sizes, only_local=local, with_parts=parts).find()
    if as_json:
        typer.echo(json.dumps([describe_dataset(entry, paths) for entry, paths in found], indent=1, ensure_ascii=False))
    else:
        console.show_datasets(found)


@datasets.command()
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
