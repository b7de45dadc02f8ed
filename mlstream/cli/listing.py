"""Commands that list what can be named: strategies, drift detectors and streams."""

from __future__ import annotations

from typing import Annotated

import typer

from mlstream.cli.completion import complete_strategy


def strategies(
    name: Annotated[
        str | None, typer.Argument(help="Show the parameters of this strategy.", autocompletion=complete_strategy)
    ] = None,
) -> None:
    """List the strategies that have a name, or the parameters of one and the values that a search tries."""
    from estimators.strategies import STRATEGIES, grid
    from mlstream.cli import console

    if name is None:
        console.show_lines(("strategy", "what it is"), [(key, one.summary) for key, one in STRATEGIES.items()])
        return
    grids = grid(name)
    console.print_line(f"{name}: {STRATEGIES[name].summary}")
    rows = [(parameter, ", ".join(map(repr, values))) for one in grids for parameter, values in one.items()]
    if rows:
        console.show_lines(("parameter", "values that a search tries (--tune)"), rows)


def detectors() -> None:
    """List the drift detectors that have a name, with their parameters and defaults."""
    from estimators.detectors import DETECTORS, make_detector
    from mlstream.cli import console

    rows = []
    for name, summary in DETECTORS.items():
        parameters = make_detector(name).get_params(deep=False)
        rows.append((name, summary, ", ".join(f"{key}={value!r}" for key, value in parameters.items())))
    console.show_lines(("detector", "signals a drift where", "parameters"), rows)


def streams() -> None:
    """List the streams that have a name, to use instead of a path."""
    from mlstream.cli import console
    from mlstream.publishing.presets import PRESETS

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
