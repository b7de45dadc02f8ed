"""Commands that make streams and look at them."""

from __future__ import annotations

from collections.abc import Callable
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
    Stratified,
    StreamPath,
    TaskOrder,
    Unlabelled,
    VisitShares,
    WindowShape,
    open_stream,
    parse_label_lists,
    parse_labels,
    parse_order,
    parse_visits,
    require_output,
    save_new,
)

if TYPE_CHECKING:
    from mlstream.stream import Stream


def generate(
    source: SourceName,
    output: OutputFile,
    labels: LabelColumns = None,
    tasks: Annotated[int, typer.Option(help="Number of clusters of label vectors, before merging.")] = 4,
    seed: Seed = 0,
    starts: Starts = 10,
    variant: Annotated[
        Literal["standard", "published"], typer.Option(help="Clustering: ours, or the procedure of the literature.")
    ] = "standard",
    order: TaskOrder = None,
    visits: VisitShares = "2",
    evaluation: EvaluationShare = 0.30,
    window: Annotated[int, typer.Option(help="Rows around each boundary that mix two tasks; 0 is abrupt.")] = 0,
    shape: WindowShape = "linear",
    unlabelled: Unlabelled = "drop",
    stratified: Stratified = False,
    force: Force = False,
) -> None:
    """Make a stream of tasks from a multi-label table and save it."""
    from mlstream.data.datasets import load_dataset
    from mlstream.generators import task_stream

    require_output(output, force, source)
    stream = task_stream(
        load_dataset(source, labels=parse_labels(labels)),
        n_tasks=tasks,
        n_init=starts,
        variant=variant,
        learning_fractions=parse_visits(visits, evaluation) or (),
        evaluation_fraction=evaluation,
        order=parse_order(order),
        window=window,
        shape=shape,
        unlabelled=unlabelled,
        stratified=stratified,
        seed=seed,
    )
    save_new(stream, output)


def scenario(
    source: SourceName,
    name: Annotated[str, typer.Argument(help="Scenario, such as class-incremental; an unknown one lists them all.")],
    output: OutputFile,
    labels: LabelColumns = None,
    by: Annotated[
        Literal["all", "label-sets", "label-lists", "column", "features", "time"] | None,
        typer.Option(help="What makes a task; by default the first that the scenario allows."),
    ] = None,
    tasks: Annotated[int, typer.Option(help="Number of tasks.")] = 4,
    label_lists: Annotated[
        str | None, typer.Option(help="Labels of each task: 'a,b;c,d'. By default they are dealt at random.")
    ] = None,
    shared_rows: Annotated[
        Literal["mask", "drop"], typer.Option(help="Rows with labels of two lists: show in each its own, or leave out.")
    ] = "mask",
    column: Annotated[str | None, typer.Option(help="Feature whose values are the tasks, or tell the time.")] = None,
    task_identity: Annotated[
        Literal["always", "training", "never"] | None,
        typer.Option(help="When learners may be told the task, where the scenario leaves it open."),
    ] = None,
    pretraining: Annotated[float, typer.Option(help="Share of the rows to pre-train on, in pre-training.")] = 0.5,
    order: TaskOrder = None,
    visits: VisitShares = None,
    evaluation: EvaluationShare = 0.30,
    window: Annotated[
        int | None,
        typer.Option(help="Rows around each boundary that mix two tasks; by default the scenario's."),
    ] = None,
    shape: WindowShape = "linear",
    unlabelled: Unlabelled = "drop",
    stratified: Stratified = False,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Make a stream of a scenario of continual learning from a multi-label table and save it."""
    from mlstream.data.datasets import load_dataset
    from mlstream.generators import scenario_stream

    require_output(output, force, source)
    stream = scenario_stream(
        load_dataset(source, labels=parse_labels(labels)),
        name,
        by=by,
        n_tasks=tasks,
        label_lists=parse_label_lists(label_lists),
        shared_rows=shared_rows,
        column=column,
        task_identity=task_identity,
        pretraining_fraction=pretraining,
        learning_fractions=parse_visits(visits, evaluation),
        evaluation_fraction=evaluation,
        order=parse_order(order),
        window=window,
        shape=shape,
        unlabelled=unlabelled,
        stratified=stratified,
        seed=seed,
    )
    save_new(stream, output)


def synthesise(
    kind: Annotated[
        Literal["monolab", "bilab", "rand", "environments", "hat-and-shirt", "hyperplane", "tree", "rbf"],
        typer.Argument(
            help="Tasks by a matrix of multipliers (monolab, bilab, rand), shifting environments, the example of hats, "
            "or concepts that drift (hyperplane, tree, rbf)."
        ),
    ],
    output: OutputFile,
    rows: Annotated[
        int | None,
        typer.Option(min=1, help="Rows of each task, environment or concept; by default 1000 (hat-and-shirt 600)."),
    ] = None,
    drift_in: Annotated[
        str | None,
        typer.Option(help="What drifts, of hyperplane, tree and rbf: 'P(X),P(Y|X),dependence'; by default P(Y|X)."),
    ] = None,
    pattern: Annotated[
        Literal["abrupt", "gradual", "incremental"] | None,
        typer.Option(
            help="Whether rows of the window come from the old or the new concept (gradual), or from one in between "
            "(incremental). By default abrupt."
        ),
    ] = None,
    window: Annotated[int | None, typer.Option(min=0, help="Rows in which a drift takes place; by default 0.")] = None,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Make a synthetic stream and save it."""
    require_output(output, force)
    drift = {"drift_in": drift_in.split(",") if drift_in else None, "pattern": pattern, "window": window}
    options = {name: value for name, value in drift.items() if value is not None}
    if options and kind not in ("hyperplane", "tree", "rbf"):
        raise ValueError(f"--{next(iter(options)).replace('_', '-')} must go with hyperplane, tree or rbf. Got {kind}.")
    save_new(_synthesise(kind, rows, options, seed), output)


def _synthesise(kind: str, rows: int | None, options: dict[str, Any], seed: int) -> Stream:
    from mlstream import generators

    if rows is not None:
        # Hats and shirts come as copies of six people, once to learn and once to evaluate.
        options |= {"n_copies": max(1, rows // 12)} if kind == "hat-and-shirt" else {"n_rows": rows}
    if kind == "environments":
        return generators.environment_stream(seed=seed, **options)
    if kind == "hat-and-shirt":
        return generators.hat_and_shirt_stream(seed=seed, **options)
    make: Callable[..., Stream] = (
        generators.drifting_stream if kind in ("hyperplane", "tree", "rbf") else generators.multiplier_stream
    )
    return make(kind, seed=seed, **options)


def inspect(
    stream: StreamPath,
    full: Annotated[
        bool, typer.Option("--full", help="Also measure distances between tasks, duplicates, what is never learnt.")
    ] = False,
    pictures: Annotated[Path | None, typer.Option(help="Folder to draw into: PNG and SVG, replaced if there.")] = None,
) -> None:
    """Show what a stream is: tasks, signatures, schedule, drops, origin."""
    from mlstream.cli import console

    opened = open_stream(stream)
    console.show_card(opened.card)
    if not full and pictures is None:
        return
    from mlstream.diagnosis.diagnosis import diagnose

    diagnosis = diagnose(opened)
    if full:
        console.show_diagnosis(diagnosis)
    if pictures is not None:
        from mlstream.diagnosis.figures import draw_pictures

        console.print_line(f"Drew {', '.join(str(path) for path in draw_pictures(opened, diagnosis, pictures))}")


def convert(
    stream: StreamPath,
    output: Annotated[Path, typer.Argument(help="File to write: .npz, .arff, .arff.gz, .csv or .parquet.")],
    force: Force = False,
) -> None:
    """Write a stream in another format."""
    from mlstream.cli import console
    from mlstream.formats import save

    require_output(output, force)
    save(open_stream(stream), output)
    console.print_line(f"Wrote {output}")
