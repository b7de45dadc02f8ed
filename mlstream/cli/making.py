"""Commands that make streams and look at them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from mlstream.cli.arguments import (
    Force,
    OutputFile,
    Seed,
    SourceName,
    StreamPath,
    open_stream,
    parse_labels,
    parse_order,
    require_absent,
)


def generate(
    source: SourceName,
    output: OutputFile,
    labels: Annotated[
        str | None,
        typer.Option(help="Label columns: N (first N), -N (last N), names split by commas, or a MULAN .xml file."),
    ] = None,
    tasks: Annotated[int, typer.Option(help="Number of clusters of label vectors, before merging.")] = 4,
    seed: Seed = 0,
    starts: Annotated[int, typer.Option(help="Random starts of the clustering; the best is kept.")] = 10,
    variant: Annotated[
        Literal["standard", "published"], typer.Option(help="Clustering: ours, or the procedure of the literature.")
    ] = "standard",
    order: Annotated[
        str | None,
        typer.Option(help="random, similarity, dissimilarity, interleaved, or the task of each visit: 1,0,1,0."),
    ] = None,
    unlabelled: Annotated[
        Literal["drop", "keep"], typer.Option(help="What to do with rows without any label.")
    ] = "drop",
    stratified: Annotated[bool, typer.Option(help="Split each task by label set.")] = False,
    force: Force = False,
) -> None:
    """Make a stream of tasks from a multi-label table and save it."""
    from mlstream import console
    from mlstream.datasets import load_dataset
    from mlstream.formats import save
    from mlstream.generators import task_stream

    require_absent(output, force)
    stream = task_stream(
        load_dataset(source, labels=parse_labels(labels)),
        n_tasks=tasks,
        n_init=starts,
        variant=variant,
        order=parse_order(order),
        unlabelled=unlabelled,
        stratified=stratified,
        seed=seed,
    )
    save(stream, output)
    console.say(f"Wrote {output}: {stream!r}")


def scenario(
    source: SourceName,
    name: Annotated[str, typer.Argument(help="Scenario, such as class-incremental; an unknown one lists them all.")],
    output: OutputFile,
    labels: Annotated[str | None, typer.Option(help="Label columns, as for `mlstream generate`.")] = None,
    tasks: Annotated[int, typer.Option(help="Number of tasks.")] = 4,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Make a stream of a scenario of continual learning from a multi-label table and save it."""
    from mlstream import console
    from mlstream.datasets import load_dataset
    from mlstream.formats import save
    from mlstream.generators import scenario_stream

    require_absent(output, force)
    stream = scenario_stream(load_dataset(source, labels=parse_labels(labels)), name, n_tasks=tasks, seed=seed)
    save(stream, output)
    console.say(f"Wrote {output}: {stream!r}")


def synthesise(
    kind: Annotated[
        Literal["monolab", "bilab", "rand", "environments", "hat-and-shirt"],
        typer.Argument(help="Tasks by a matrix of multipliers, shifting environments, or the example of hats."),
    ],
    output: OutputFile,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Make a synthetic stream, with default parameters, and save it."""
    from mlstream import console
    from mlstream.formats import save
    from mlstream.generators import environment_stream, hat_and_shirt_stream, multiplier_stream

    require_absent(output, force)
    if kind == "environments":
        stream = environment_stream(seed=seed)
    elif kind == "hat-and-shirt":
        stream = hat_and_shirt_stream(seed=seed)
    else:
        stream = multiplier_stream(kind, seed=seed)
    save(stream, output)
    console.say(f"Wrote {output}: {stream!r}")


def inspect(
    stream: StreamPath,
    full: Annotated[
        bool, typer.Option("--full", help="Also measure distances between tasks, duplicates, what is never learnt.")
    ] = False,
    pictures: Annotated[Path | None, typer.Option(help="Folder to draw into: PNG and SVG, replaced if there.")] = None,
) -> None:
    """Show what a stream is: tasks, signatures, schedule, drops, origin."""
    from mlstream import console

    opened = open_stream(stream)
    console.show_card(opened.card)
    if not full and pictures is None:
        return
    from mlstream.diagnosis import diagnose

    diagnosis = diagnose(opened)
    if full:
        console.show_diagnosis(diagnosis)
    if pictures is not None:
        from mlstream.diagnosis_figures import draw_pictures

        console.say(f"Drew {', '.join(str(path) for path in draw_pictures(opened, diagnosis, pictures))}")


def convert(
    stream: StreamPath,
    output: Annotated[Path, typer.Argument(help="File to write: .npz, .arff or .arff.gz.")],
    force: Force = False,
) -> None:
    """Write a stream in another format."""
    from mlstream import console
    from mlstream.formats import save

    require_absent(output, force)
    save(open_stream(stream), output)
    console.say(f"Wrote {output}")
