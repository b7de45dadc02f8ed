"""Commands that publish streams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mlstream
from mlstream.cli import console
from mlstream.cli.arguments import (
    AsJson,
    Force,
    OutputFile,
    StreamPath,
    card_document,
    file_option,
    named_options,
    open_stream,
    parse_file,
    require_folder,
    require_output,
    save_new,
    with_parameters,
)
from mlstream.cli.reading import FLAGS, read_terms, term_parameters

if TYPE_CHECKING:
    from mlstream.streams.card_model import StreamCard


def _show_template(asked: bool) -> None:
    from mlstream.cards.about import about_template

    if asked:
        typer.echo(about_template(), nl=False)
        raise typer.Exit


@with_parameters(term_parameters())
def publish(
    stream: StreamPath,
    folder: Annotated[Path, typer.Argument(help="Folder to make.")],
    arff: Annotated[
        bool,
        typer.Option(
            "--arff/--no-arff",
            help="Also write plain rows as ARFF; without them, a stream larger than memory can be published.",
        ),
    ] = True,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Replace a published folder in one step; a folder that holds anything else is refused.",
        ),
    ] = False,
    keep_keys: Annotated[
        bool,
        typer.Option("--keep-keys", help="Publish the keys of rows, too, which may be personal data."),
    ] = False,
    about_template: Annotated[  # noqa: ARG001 - its callback prints, and ends the command.
        bool,
        typer.Option(
            "--about-template",
            callback=_show_template,
            is_eager=True,
            help="Print a file for --about in which every key is explained, and publish nothing.",
        ),
    ] = False,
    as_json: AsJson = False,
    **terms: Any,
) -> None:
    """Write a folder that others can use: NPZ, Parquet, ARFF, card in all forms, citation, hashes.

    The terms complete or replace those that the stream states; to change those of a published folder, publish it onto
    itself with --force.
    """
    with named_options(FLAGS):
        stated = read_terms(terms)
    mlstream.publish(open_stream(stream), folder, arff=arff, force=force, keep_keys=keep_keys, **stated)
    files = sorted(folder.iterdir())
    document = {"folder": folder, "files": files} | card_document(_load_card(folder))
    console.print_outcome(f"Published {folder}: {', '.join(path.name for path in files)}", document, as_json=as_json)


def _load_card(folder: Path) -> StreamCard:
    from mlstream.publishing.folder import CARD

    return mlstream.load_card(folder / CARD)


def upload(
    folder: Annotated[Path, typer.Argument(help="A published folder.")],
    repository: Annotated[str, typer.Argument(help="OWNER/NAME at the hub.")],
    endpoint: Annotated[str | None, typer.Option(help="Address of the hub; by default that of Hugging Face.")] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Make a new repository public; it is private by default.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Upload a published folder to a hub of data sets, in one commit (needs the extra `hub`).

    Permission to write comes from `hf auth login` or the variable HF_TOKEN.
    """
    address = mlstream.upload(folder, repository, endpoint=endpoint, private=not public)
    console.print_outcome(f"Uploaded {folder}: {address}", {"folder": folder, "address": address}, as_json=as_json)


def verify(
    folder: Annotated[Path, typer.Argument(help="A published folder.")],
    hubs: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            help="openml, datacite, zenodo, huggingface or croissant (needs the extra `croissant`): exit with status 1 "
            "if it would refuse the folder. May be repeated.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read a published folder again, and compare everything with its card and hashes.

    All differences are listed, and the exit status is then 1. What a hub of data sets or an archive would miss or
    refuse is listed as advice.
    """
    from mlstream.cards.hubs import list_refusals, require_hubs
    from mlstream.cards.terms import advise_on_terms

    require_hubs(hubs or ())
    card = mlstream.verify(folder)
    refused = list_refusals(card, hubs) if hubs else []
    advice = [] if refused else [*advise_on_terms(card), *([] if hubs else list_refusals(card))]
    document = {"folder": folder, "is_unchanged": True, "refused": refused, "advice": advice} | card_document(card)
    console.print_outcome(f"{folder} is complete and unchanged.", document, as_json=as_json)
    if refused:
        raise ValueError(f"{folder} must be as its hub demands. {' '.join(refused)}")
    for text in [] if as_json else advice:
        console.print_line(f"Advice: {text}")


def regenerate(
    card: Annotated[
        Path, typer.Argument(parser=parse_file, help="A card (.json), a published folder, or the file of a stream.")
    ],
    output: OutputFile,
    table: Annotated[
        Path | None,
        file_option(
            help="File of the table, where it is not one that `mlstream datasets` lists; by default, the file of the "
            "name on the card in the working directory, or in the folder that the variable MLSTREAM_DATA names."
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a stream again from its card, and the table that it was made from.

    The table must be on this machine; its hash is compared with that on the card. `mlstream datasets` lists where each
    registered table is.
    """
    require_output(output, force, table)
    if card.is_dir():
        found = _load_card(card)
    else:
        found = mlstream.load_card(card) if card.suffix.lower() == ".json" else open_stream(str(card)).card
    made = mlstream.regenerate(found, table=table)
    save_new(made, output, ": its data have the hash on the card.", as_json=as_json)


def cards(
    folder: Annotated[Path, typer.Argument(help="Folder to write to.")] = Path("data_cards"),
    as_json: AsJson = False,
) -> None:
    """Write the cards of the streams that this project publishes.

    Streams whose table is not on this machine are listed and left out.
    """
    from mlstream.publishing.folder import write_cards

    require_folder(folder, "FOLDER")
    folder.mkdir(parents=True, exist_ok=True)
    outcomes = {}
    for name, outcome in write_cards(folder):
        outcomes[name] = outcome
        if not as_json:
            console.print_line(f"{name}: {outcome}")
    if as_json:
        console.print_json(outcomes)
