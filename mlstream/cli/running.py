"""Commands that run learners on streams, and report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from mlstream.cli.arguments import open_stream, parse_seeds


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to make; must not exist.")] = Path("demo"),
    browse: Annotated[bool, typer.Option("--browse/--no-browse", help="Open the report when done.")] = True,
) -> None:
    """Do the whole job on embedded real data (Yeast): stream, card, files, runs, report."""
    from mlstream.demo import run_demo

    report = run_demo(output)
    if browse and sys.stdout.isatty():
        typer.launch(report.resolve().as_uri())


def run(
    streams: Annotated[list[Path], typer.Argument(help="Streams: .npz, .arff, .arff.gz, or published folders.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the records; runs done already are kept.")],
    strategies: Annotated[str, typer.Option("--strategies", "-s", help="Names split by commas.")] = "NN,NN_TL,BR_HT",
    seeds: Annotated[str, typer.Option(help="Seeds split by commas.")] = "0",
    label_space: Annotated[
        Literal["task", "seen", "all"],
        typer.Option(help="Labels that count: of the row's task, of all tasks seen so far, or all."),
    ] = "task",
    energy: Annotated[bool, typer.Option(help="Measure energy.")] = True,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes.")] = 1,
) -> None:
    """Run learners on streams: test-then-train, transfer matrix, resources."""
    from mlstream import console
    from mlstream.protocol.campaign import run_campaign

    with console.campaign_progress() as progress:
        results = run_campaign(
            strategies.split(","),
            [open_stream(path) for path in streams],
            parse_seeds(seeds),
            output,
            label_space=label_space,
            energy="codecarbon" if energy else "none",
            n_jobs=jobs,
            progress=progress,
        )
    console.show_results(results)


def report(
    directory: Annotated[Path, typer.Argument(help="Folder that `mlstream run` wrote.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Page to write; DIRECTORY/report.html if absent.")
    ] = None,
) -> None:
    """Write one self-contained HTML page about all runs of a folder."""
    from mlstream import console
    from mlstream.protocol.report import report as write_report

    console.say(f"Wrote {write_report(directory, output)}")
