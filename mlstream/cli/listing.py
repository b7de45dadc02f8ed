"""Commands that list what can be named (strategies, drift detectors, streams, tables), and show and convert streams."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import estimators
import mlstream
from estimators.detectors import DETECTORS, make_detector
from mlstream.cli import console
from mlstream.cli.arguments import (
    AsJson,
    Force,
    StreamPath,
    card_document,
    complete_strategy,
    complete_tables,
    open_stream,
    parse_file,
    require_folder,
    require_output,
    save_new,
)
from mlstream.publishing.presets import PRESETS

if TYPE_CHECKING:
    from estimators.strategies import Strategy
    from mlstream.diagnosis.diagnosis import Diagnosis
    from mlstream.streams.stream import Stream

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
    as_json: AsJson = False,
) -> None:
    """List the strategies that have a name, or the parameters of one and the values that a search tries."""
    found = estimators.STRATEGIES
    if name is None:
        if as_json:
            listed = found.items()
            console.print_json([{"name": key, "summary": one.summary, "package": one.package} for key, one in listed])
        else:
            console.show_lines(("strategy", "what it is"), ((key, _summary(one)) for key, one in found.items()))
        return
    grids = estimators.grid(name)
    if as_json:
        console.print_json(
            {"name": name, "summary": found[name].summary, "package": found[name].package, "grids": grids}
        )
        return
    console.print_line(f"{name}: {_summary(found[name])}")
    rows = [(parameter, ", ".join(map(repr, values))) for one in grids for parameter, values in one.items()]
    if rows:
        console.show_lines(("parameter", "values that a search tries (--tune)"), rows)


def _summary(strategy: Strategy) -> str:
    missing = strategy.to_install
    return f"{strategy.summary} Not here: pip install {missing}" if missing else strategy.summary


def detectors(as_json: AsJson = False) -> None:
    """List the drift detectors that have a name, with their parameters and defaults."""
    found = [(name, summary, make_detector(name).get_params(deep=False)) for name, summary in DETECTORS.items()]
    if as_json:
        keys = ("name", "summary", "parameters")
        console.print_json([dict(zip(keys, detector, strict=True)) for detector in found])
        return
    rows = [
        (name, summary, ", ".join(f"{key}={value!r}" for key, value in parameters.items()))
        for name, summary, parameters in found
    ]
    console.show_lines(("detector", "signals a drift where", "parameters"), rows)


def streams(as_json: AsJson = False) -> None:
    """List the streams that have a name, to use instead of a path."""
    if as_json:
        sizes = ("n_features", "n_labels", "n_tasks", "n_experiences")
        console.print_json(
            [
                {"name": name, "summary": preset.summary, "n_samples": preset.n_rows}
                | {size: getattr(preset, size) for size in sizes}
                for name, preset in PRESETS.items()
            ]
        )
        return
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
    as_json: AsJson = False,
) -> None:
    """Show a stream: tasks, signatures, schedule, drops, origin."""
    if pictures is not None:
        require_folder(pictures, "--pictures")
    opened = open_stream(stream)
    if not as_json:
        console.show_card(opened.card)
    diagnosis = mlstream.diagnose(opened) if full or pictures else None
    drawn = _draw(opened, diagnosis, pictures) if diagnosis and pictures else ()
    shown = diagnosis if full else None
    if as_json:
        console.print_json(card_document(opened.card) | _describe_measured(shown, drawn))
        return
    if shown is not None:
        console.show_diagnosis(shown)
    if drawn:
        console.print_line(f"Drew {', '.join(map(str, drawn))}")


def _draw(stream: Stream, diagnosis: Diagnosis, folder: Path) -> tuple[Path, ...]:
    from mlstream.diagnosis.figures import draw_pictures

    return draw_pictures(stream, diagnosis, folder)


def _describe_measured(diagnosis: Diagnosis | None, drawn: tuple[Path, ...]) -> dict[str, object]:
    """Describe what was measured and drawn for programs, without the numbers of pairs of labels."""
    found: dict[str, object] = {"pictures": drawn} if drawn else {}
    if diagnosis is not None:
        found["diagnosis"] = asdict(
            diagnosis, dict_factory=lambda pairs: {name: value for name, value in pairs if name != "co_occurrence"}
        )
    return found


def convert(
    stream: StreamPath,
    output: Annotated[
        Path,
        typer.Argument(
            parser=parse_file, help="File to write: .npz, .arff, .train.csv (or packed, .gz) or .train.parquet."
        ),
    ],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a stream in another format."""
    _require_own_card(output, Path(stream))
    require_output(output, force)
    save_new(open_stream(stream), output, "", as_json=as_json)


def _require_own_card(output: Path, source: Path) -> None:
    """Refuse to replace the card of the source, without which that could no longer be read."""
    from mlstream.formats.table_io import card_path

    card = card_path(source)
    if source.is_file() and {source.suffix, output.suffix}.isdisjoint({".npz"}) and card_path(output) == card:
        raise ValueError(
            f"The output must have another name than {source}: both would need {card.name}. Got {output} instead."
        )


@datasets.callback(invoke_without_command=True)
def list_if_alone(context: typer.Context, as_json: AsJson = False) -> None:
    """List the tables if no command is given."""
    if context.invoked_subcommand is None:
        list_tables(as_json=as_json)
    elif as_json:
        raise ValueError(f"--json must come after {context.invoked_subcommand}. Got it before.")


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
    as_json: AsJson = False,
) -> None:
    """List the tables that have a name, and where each is or how to get it.

    A table whose size is not known, "?", is left out where that size is bounded.
    """
    from mlstream.data.registry import Selection, describe_dataset

    sizes = {
        "n_samples": (min_rows, max_rows),
        "n_features": (None, max_features),
        "n_labels": (min_labels, max_labels),
    }
    found = Selection(text=text, sizes=sizes, only_local=local, with_parts=parts).find()
    if as_json:
        console.print_json([describe_dataset(entry, paths) for entry, paths in found])
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
    as_json: AsJson = False,
) -> None:
    """Download tables that are not on this machine.

    Interrupted downloads are resumed, and hashes are checked. Tables go to the cache of the system, or to the folder
    that the variable MLSTREAM_CACHE names.
    """
    from mlstream.cli.progress import download_progress

    files = {}
    with download_progress() as progress:
        for name in names:
            files[name] = mlstream.fetch_dataset(name, offline=offline, progress=progress)
            if not as_json:
                console.print_line(f"{name}: {', '.join(map(str, files[name]))}")
    if as_json:
        console.print_json(files)
