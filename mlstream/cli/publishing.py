"""Commands that publish streams, and the tables they are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlstream.cli.arguments import Force, OutputFile, StreamPath, open_stream, require_output

datasets = typer.Typer(help="List the tables that can be named instead of a path, and download them.")


@datasets.callback(invoke_without_command=True)
def list_if_alone(context: typer.Context) -> None:
    """List the tables unless a command says otherwise."""
    if context.invoked_subcommand is None:
        list_tables()


@datasets.command("list")
def list_tables() -> None:
    """List the tables that can be named, and where each is or how to have it."""
    from mlstream.cli import console
    from mlstream.data.registry import list_datasets

    console.show_datasets(list_datasets())


@datasets.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="Names that `mlstream datasets list` shows.")],
    offline: Annotated[
        bool | None, typer.Option("--offline/--online", help="Open no connection; by default as MLSTREAM_OFFLINE says.")
    ] = None,
) -> None:
    """Download tables that are not on this machine; what was begun is continued, and hashes are compared.

    They go to the cache of the system, or to the folder that the variable MLSTREAM_CACHE names.
    """
    from mlstream.cli import console
    from mlstream.data.downloads import fetch_dataset

    with console.download_progress() as progress:
        for name in names:
            paths = fetch_dataset(name, offline=offline, progress=progress)
            console.say(f"{name}: {', '.join(map(str, paths))}")


def publish(
    stream: StreamPath,
    folder: Annotated[Path, typer.Argument(help="Folder to make.")],
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Replace a published folder that holds nothing else, in one step: old or new, never none.",
        ),
    ] = False,
) -> None:
    """Write a folder that others can use: NPZ, ARFF, card in all forms, citation, hashes."""
    from mlstream.cli import console
    from mlstream.publishing.folder import publish as publish_stream

    publish_stream(open_stream(stream), folder, force=force)
    console.say(f"Published {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")


def upload(
    folder: Annotated[Path, typer.Argument(help="A published folder.")],
    repository: Annotated[str, typer.Argument(help="OWNER/NAME at the hub.")],
    endpoint: Annotated[str | None, typer.Option(help="Address of the hub; by default that of Hugging Face.")] = None,
    public: Annotated[bool, typer.Option("--public", help="Let all see a repository that is made.")] = False,
) -> None:
    """Upload a published folder to a hub of data sets, in one commit (needs the extra `hub`).

    The leave to write comes from `hf auth login` or the variable HF_TOKEN.
    """
    from mlstream.cli import console
    from mlstream.interop.hub import upload as upload_folder

    console.say(f"Uploaded {folder}: {upload_folder(folder, repository, endpoint=endpoint, private=not public)}")


def verify(folder: Annotated[Path, typer.Argument(help="A published folder.")]) -> None:
    """Read a published folder again and compare everything with its card and hashes.

    What differs is said, all of it, and the exit status is 1.
    """
    from mlstream.cli import console
    from mlstream.publishing.folder import verify as verify_folder

    verify_folder(folder)
    console.say(f"{folder} is complete and unchanged.")


def regenerate(
    card: Annotated[Path, typer.Argument(help="A card (.json).")],
    output: OutputFile,
    force: Force = False,
) -> None:
    """Make a stream again from its card alone.

    The table that it was made of must be on this machine; `mlstream datasets` says where each is.
    """
    from mlstream.card_model import load_card
    from mlstream.cli import console
    from mlstream.formats import save
    from mlstream.publishing.folder import regenerate as regenerate_stream

    require_output(output, force)
    save(regenerate_stream(load_card(card)), output)
    console.say(f"Wrote {output}: the same data as the card says.")


def cards(
    folder: Annotated[Path, typer.Argument(help="Folder to write to.")] = Path("data_cards"),
) -> None:
    """Write the cards of the streams that this project publishes.

    Those whose table is not on this machine are left out, and named.
    """
    from mlstream.cli import console
    from mlstream.publishing.presets import write_cards

    folder.mkdir(parents=True, exist_ok=True)
    for name, outcome in write_cards(folder):
        console.say(f"{name}: {outcome}")
