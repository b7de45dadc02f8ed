"""Commands that make special kinds of streams: refined labels, environments, perturbed streams; and number tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mlstream.cli.arguments import (
    EvaluationShare,
    Force,
    LabelColumns,
    OutputFile,
    Seed,
    SourceName,
    Starts,
    StreamPath,
    Unlabelled,
    open_stream,
    parse_labels,
    parse_numbers_by_name,
    read_hierarchy,
    read_lists,
    require_output,
    save_new,
)

if TYPE_CHECKING:
    from mlstream.stream import Stream


def iirc(
    source: SourceName,
    output: OutputFile,
    labels: LabelColumns = None,
    hierarchy: Annotated[
        str | None,
        typer.Option(
            help="names (rec.autos is below rec), discover (a label never without another one is below it), or a JSON "
            "file {child: parent}. By default that of the table, or discover."
        ),
    ] = None,
    introductions: Annotated[
        str | None,
        typer.Option(
            help="JSON file with one list of labels for each task, what it introduces; or a published order with its "
            "hierarchy and shares, NAME:NUMBER, such as iirc-cifar100:3. By default the order is drawn."
        ),
    ] = None,
    labels_per_task: Annotated[int, typer.Option(help="Greatest number of labels that a task introduces.")] = 5,
    first_labels: Annotated[
        int | None, typer.Option(help="The same for the first task; by default twice as many.")
    ] = None,
    plain_first: Annotated[
        bool, typer.Option("--plain-first", help="Let labels without super- and subclasses come in the first task.")
    ] = False,
    superclass_share: Annotated[float, typer.Option(help="Share of a subclass's rows shown as its superclass.")] = 0.4,
    subclass_share: Annotated[float, typer.Option(help="Share of a subclass's rows shown as itself.")] = 0.8,
    superclass_cap: Annotated[int, typer.Option(help="Subclasses from which on a superclass gets no more rows.")] = 8,
    information: Annotated[
        Literal["incomplete", "complete"], typer.Option(help="Show new labels only, or all introduced so far.")
    ] = "incomplete",
    evaluation: EvaluationShare = 0.30,
    min_support: Annotated[int, typer.Option(help="Least number of rows of a label whose parent is discovered.")] = 1,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Make a stream that introduces superclasses first and refines them later (IIRC), and save it."""
    from mlstream.data.datasets import load_dataset
    from mlstream.generators import iirc_stream

    require_output(output, force, source)
    options = {
        "hierarchy": read_hierarchy(hierarchy),
        "labels_per_task": labels_per_task,
        "first_labels": first_labels,
        "plain_first": plain_first,
        "superclass_share": superclass_share,
        "subclass_share": subclass_share,
        "superclass_cap": superclass_cap,
        "information": information,
        "evaluation_fraction": evaluation,
        "min_support": min_support,
    } | _read_introductions(introductions)
    save_new(iirc_stream(load_dataset(source, labels=parse_labels(labels)), **options, seed=seed), output)


def _read_introductions(text: str | None) -> dict[str, Any]:
    """Read what each task introduces, and whatever else a published order says."""
    from mlstream.generators import published_order

    if text is None:
        return {}
    if text.endswith(".json"):
        return {"introductions": read_lists(Path(text))}
    name, _, number = text.partition(":")
    if number and not number.isdecimal():
        raise ValueError(f"--introductions must be a .json file, or NAME:NUMBER. Got {text!r} instead.")
    return published_order(name, int(number or 0))


def carve(
    source: SourceName,
    output: OutputFile,
    labels: LabelColumns = None,
    roles: Annotated[
        str, typer.Option(help="Role of each environment, of train, validation, test and unseen, split by commas.")
    ] = "train,train,train,validation,test,unseen",
    by: Annotated[
        Literal["features", "column", "time"],
        typer.Option(help="Environments are clusters of the features, values of a column, or slices of time."),
    ] = "features",
    column: Annotated[str | None, typer.Option(help="Feature whose values count, or tell the time.")] = None,
    evaluation: EvaluationShare = 0.30,
    unlabelled: Unlabelled = "keep",
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Carve environments with roles out of a multi-label table and save them as a stream."""
    from mlstream.data.datasets import load_dataset
    from mlstream.generators import carve_environments

    require_output(output, force, source)
    stream = carve_environments(
        load_dataset(source, labels=parse_labels(labels)),
        roles.split(","),
        by=by,
        column=column,
        evaluation_fraction=evaluation,
        unlabelled=unlabelled,
        seed=seed,
    )
    save_new(stream, output)


def perturb(
    stream: StreamPath,
    kind: Annotated[
        Literal[
            "delayed-labels",
            "duplicated-rows",
            "missing-features",
            "missing-labels",
            "noisy-features",
            "noisy-labels",
            "rare-labels",
            "reordered-rows",
            "reordered-tasks",
            "resplit-rows",
        ],
        typer.Argument(help="What to do to the learning rows; but for resplit-rows, evaluation sets stay."),
    ],
    output: OutputFile,
    rate: Annotated[
        float | None, typer.Option(help="What share is hit, 0 to 1: of missing-*, noisy-labels, duplicated-rows.")
    ] = None,
    per: Annotated[
        Literal["label", "row"] | None,
        typer.Option(help="Of missing-labels: single labels (default), or all of a row."),
    ] = None,
    scale: Annotated[
        float | None, typer.Option(help="Of noisy-features: noise, in deviations of each feature.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option(help="Of rare-labels: share of its rows that a label keeps, a=0.1,b=0.5.")
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(help="Of delayed-labels: rows that come between a row and its label, 20 or a=20,b=100."),
    ] = None,
    jitter: Annotated[int | None, typer.Option(help="Of delayed-labels: greatest number of further rows.")] = None,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Make a stream of a stream: labels late, missing, wrong or rare, features missing or noisy, rows moved."""
    from mlstream.generators import FROM_STREAMS

    require_output(output, force, stream)
    shares = None if keep is None else parse_numbers_by_name(keep, "--keep", float)
    waits = None if delay is None else int(delay) if delay.isdecimal() else parse_numbers_by_name(delay, "--delay", int)
    given = {"rate": rate, "per": per, "scale": scale, "keep": shares, "delay": waits, "jitter": jitter}
    chosen = {name: value for name, value in given.items() if value is not None}
    change = FROM_STREAMS[kind.replace("-", "_")]
    _require_options(kind, chosen, change)
    save_new(change(open_stream(stream), **chosen, seed=seed), output)


def suggest_tasks(
    source: SourceName,
    labels: LabelColumns = None,
    most: Annotated[int, typer.Option(help="Greatest number of tasks to try.")] = 10,
    starts: Starts = 10,
    picture: Annotated[Path | None, typer.Option(help="File to draw into, replaced if there: .png, .svg.")] = None,
    seed: Seed = 0,
) -> None:
    """Suggest how many tasks to make of a table: diverse ones, and none with one label only."""
    from mlstream.cli import console
    from mlstream.data.datasets import load_dataset
    from mlstream.generators import draw_suggestion, suggest_n_tasks

    table = load_dataset(source, labels=parse_labels(labels))
    suggestion = suggest_n_tasks(table, most=most, seed=seed, n_init=starts)
    console.show_suggestion(suggestion)
    if picture is not None:
        draw_suggestion(suggestion, picture)
        console.print_line(f"Drew {picture}")


def _require_options(kind: str, chosen: Mapping[str, object], change: Callable[..., Stream]) -> None:
    """Refuse options that the perturbation does not have, and the lack of one that it needs."""
    known = {name: one for name, one in signature(change).parameters.items() if name not in ("stream", "seed")}
    options = ", ".join(f"--{name}" for name in known) or "none"
    for name in chosen:
        if name not in known:
            raise ValueError(f"The options of {kind} must be of: {options}. Got --{name}.")
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in chosen:
            raise ValueError(f"{kind} must have the option --{name}. Got {', '.join(chosen) or 'no option'}.")
