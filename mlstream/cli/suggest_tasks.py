"""The command that suggests a number of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlstream import generators
from mlstream.cli import console
from mlstream.cli.arguments import AsJson, Seed, SourceName, file_option, named_options, require_new, with_parameters
from mlstream.cli.reading import open_table, reading_parameters

_PICTURES = (".png", ".svg", ".pdf")


@with_parameters(reading_parameters())
def suggest_tasks(
    source: SourceName,
    max_tasks: Annotated[int, typer.Option(help="Maximum number of tasks to try.")] = 10,
    starts: Annotated[int, typer.Option(min=1, help="Random starts of the clustering; the best is kept.")] = 10,
    evaluation: Annotated[
        float, typer.Option(help="Share of each task's rows that `mlstream generate` will hold out.")
    ] = 0.30,
    picture: Annotated[Path | None, file_option(help="File to draw into, replaced if there: .png, .svg.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    **reading: object,
) -> None:
    """Suggest a number of tasks for a table: diverse tasks, each with more than one label."""
    if picture is not None:
        # Before any work.
        if picture.suffix.lower() not in _PICTURES:
            raise ValueError(f"--picture must end in {', '.join(_PICTURES)}. Got {picture.name!r} instead.")
        require_new([picture], force=True)
    table = open_table(source, reading)
    with named_options({"max_tasks": "--max-tasks", "n_init": "--starts", "evaluation_fraction": "--evaluation"}):
        suggestion = generators.suggest_n_tasks(
            table, max_tasks=max_tasks, seed=seed, n_init=starts, evaluation_fraction=evaluation
        )
    if not as_json:
        console.show_suggestion(suggestion)
    if picture is not None:
        generators.draw_suggestion(suggestion, picture)
        if not as_json:
            console.print_line(f"Drew {picture}")
    if as_json:
        console.print_json(suggestion._asdict() | {"doubt": suggestion.doubt, "picture": picture})
