"""Commands that list what can be named (strategies, drift detectors, streams, tables), and show and convert streams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import estimators
import mlstream
from estimators.detectors import DETECTORS, make_detector
from mlstream.cli import console
from mlstream.cli.arguments import Force, StreamPath, open_stream, parse_file, require_folder, require_output
from mlstream.cli.completion import complete_strategy, complete_tables
from mlstream.publishing.presets import PRESETS

MinRows = Annotated[int | None, typer.Option("--min-rows", min=0, help="Least number of rows.")]
MaxRows = Annotated[int | None, typer.Option("--max-rows", min=0, help="Largest number of rows.")]
MaxFeatures = Annotated[int | None, typer.Option("--max-features", min=0, help="Largest number of features.")]
MinLabels = Annotated[int | None, typer.Option("--min-labels", min=0, help="Least number of labels.")]
MaxLabels = Annotated[int | None, typer.Option("--max-labels", min=0, help="Largest number of labels.")]

datasets = typer.Typer(help="List the tables that have a name, to use instead of a path, and download them.")


def strategies(
    name: Annotated[
        str | None, typer.Argument(help="Show the parameters of this strategy.", autocompletion=complete_strategy)
    ] = None,
) -> None:
    """List the strategies that have a name, or the parameters of one and the values that a search tries."""
    if name is None:
        console.show_lines(
            ("strategy", "what it is"), [(key, one.summary) for key, one in estimators.STRATEGIES.items()]
        )
        return
    grids = estimators.grid(name)
    console.print_line(f"{name}: {estimators.STRATEGIES[name].summary}")
    rows = [(parameter, ", ".join(map(repr, values))) for one in grids for parameter, values in one.items()]
    if rows:
        console.show_lines(("parameter", "values that a search tries (--tune)"), rows)


def detectors() -> None:
    """List the drift detectors that have a name, with their parameters and defaults."""
    rows = []
    for name, summary in DETECTORS.items():
        parameters = make_detector(name).get_params(deep=False)
        rows.append((name, summary, ", ".join(f"{key}={value!r}" for key, value in parameters.items())))
    console.show_lines(("detector", "signals a drift where", "parameters"), rows)


def streams() -> None:
    """List the streams that have a name, to use instead of a path."""
    columns = ("stream", "rows", "features", "labels", "tasks", "visits", "what it is")
    rows = [
        (
            name,
            f"{one.n_rows:,}",
            *map(str, (one.n_features, one.n_labels, one.n_tasks, one.n_experiences)),
            one.summary,
        )
        for name, one in PRESETS.items()
    ]
    console.show_lines(columns, rows)


def inspect(
    stream: StreamPath,
    full: Annotated[
        bool,
        typer.Option("--full", help="Also measure distances between tasks, and find duplicates and unlearnt labels."),
    ] = False,
    pictures: Annotated[Path | None, typer.Option(help="Folder to draw into: PNG and SVG, replaced if there.")] = None,
) -> None:
    """Show a stream: tasks, signatures, schedule, drops, origin."""
    if pictures is not None:
        require_folder(pictures, "--pictures")
    opened = open_stream(stream)
    console.show_card(opened.card)
    if not full and pictures is None:
        return
    diagnosis = mlstream.diagnose(opened)
    if full:
        console.show_diagnosis(diagnosis)
    if pictures is not None:
        from mlstream.diagnosis.figures import draw_pictures

        console.print_line(f"Drew {', '.join(str(path) for path in draw_pictures(opened, diagnosis, pictures))}")


def convert(
    stream: StreamPath,
    output: Annotated[
        Path,
        typer.Argument(
            parser=parse_file, help="File to write: .npz, .arff, .train.csv (or packed, .gz) or .train.parquet."
        ),
    ],
    force: Force = False,
) -> None:
    """Write a stream in another format."""
    _require_own_card(output, Path(stream))
    require_output(output, force)
    mlstream.save(open_stream(stream), output)
    console.print_line(f"Wrote {output}")


def _require_own_card(output: Path, source: Path) -> None:
    """Refuse to replace the card of the source, without which that could no longer be read."""
    from mlstream.formats.stream_files import card_path

    card = card_path(source)
    if source.is_file() and {source.suffix, output.suffix}.isdisjoint({".npz"}) and card_path(output) == card:
        raise ValueError(
            f"The output must have another name than {source}: both would need {card.name}. Got {output} instead."
        )


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
    from mlstream.cli.progress import download_progress

    with download_progress() as progress:
        for name in names:
            paths = mlstream.fetch_dataset(name, offline=offline, progress=progress)
            console.print_line(f"{name}: {', '.join(map(str, paths))}")
