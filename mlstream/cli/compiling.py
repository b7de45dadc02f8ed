"""The command that compiles kernels before anybody waits for them."""

from __future__ import annotations

from typing import Annotated

import typer

from mlstream.cli.completion import complete_strategies


def warm_up(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STRATEGY]...",
            help="Names that `mlstream strategies` lists, or other-learners, PRAGMA, detectors, ARFF; all by default.",
            autocompletion=complete_strategies,
        ),
    ] = None,
) -> None:
    """Compile learners for this machine now, so that no first call waits. What is compiled already takes no time."""
    from mlstream.cli import console
    from mlstream.evaluation.compile_ahead import compilable, compile_ahead

    wanted = names or list(compilable())
    n_kernels, cpu_s = 0, 0.0
    with console.compilation_progress(len(wanted)) as show:
        for one in compile_ahead(wanted):
            show(one)
            n_kernels, cpu_s = n_kernels + one.n_kernels, cpu_s + one.cpu_s
    console.print_line(
        f"{console.counted_kernels(n_kernels)} compiled in {cpu_s:.1f} s of processor time; the others were there."
    )
