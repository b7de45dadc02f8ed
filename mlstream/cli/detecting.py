"""The command that gives drift detectors the errors of learners, and scores their alarms."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlstream.cli.arguments import require_folder
from mlstream.cli.completion import complete_detectors, complete_strategies, complete_streams
from mlstream.cli.errors import InterruptionError
from mlstream.cli.options import OF_DETECTIONS, read_options, with_options

if TYPE_CHECKING:
    from mlstream.records.detection_record import Detection
    from mlstream.streams.stream import Stream

_SHOWN = {
    "detection_rate": "found",
    "f1": "F1",
    "mean_delay": "delay, rows",
    "false_alarms_per_1000": "false per 1,000",
}


@partial(with_options, panels=OF_DETECTIONS)
def detect(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="STREAMS...",
            help="Streams: .npz, .arff, .train.csv, .train.parquet, published folders, or names such as yeast-tasks.",
            autocompletion=complete_streams,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the records.")],
    detectors: Annotated[
        list[str],
        typer.Option(
            "--detector",
            "-d",
            help="Names split by commas, which `mlstream detectors` lists; with parameters: 'ADWIN(delta=0.01)', "
            "\"LabelDrift(detector='HDDMA')\". May be repeated.",
            autocompletion=complete_detectors,
        ),
    ] = ["ADWIN,DDM,EDDM,HDDMA,HDDMW,KSWIN,PageHinkley,LabelDrift,LabelSetDrift"],  # noqa: B006 - Typer copies it
    learners: Annotated[
        list[str],
        typer.Option(
            "--learner",
            "-l",
            help="Names split by commas, which `mlstream strategies` lists; with parameters: 'NN(learning_rate=0.1)'. "
            "May be repeated.",
            autocompletion=complete_strategies,
        ),
    ] = ["NN_TL"],  # noqa: B006 - Typer copies it
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    **options: Any,
) -> None:
    """Give drift detectors the errors of learners, and score their alarms. Records made earlier are kept.

    Every row is predicted, then learnt. The drifts that are known are those on the card of a synthetic stream, or the
    boundaries at which other tasks come. `mlstream report` draws drifts and alarms along the stream.
    """
    chosen = read_options(options)
    require_folder(output, "--output")
    if files := [name for name in sources if name.endswith(".toml")]:
        raise ValueError(f"STREAMS must be streams; `mlstream run {files[0]}` runs a campaign file. Got {files[0]}.")
    from mlstream.cli import console

    if not quiet:
        console.announce(
            f"{', '.join(detectors)} on {', '.join(learners)} on {', '.join(sources)}; records go to {output}"
        )
    from mlstream.cli.options import parse_detectors, parse_strategies
    from mlstream.publishing.named_streams import open_named
    from mlstream.records.detection_record import require_detected

    named = parse_detectors(detectors), parse_strategies(learners, "--learner")
    streams = [open_named(name) for name in sources]
    require_detected(detect_and_show(named[0], streams, named[1], output, quiet=quiet, **chosen), output)


def detect_and_show(
    detectors: Any, streams: Sequence[Stream], learners: Any, folder: Path, *, quiet: bool, **options: Any
) -> list[Detection]:
    """Run a campaign of detections, and print a line for each."""
    from mlstream.campaign.detection import run_detections
    from mlstream.cli import console

    last: list[tuple[int, int]] = []
    try:
        with nullcontext() if quiet else console.detection_progress() as show:

            def progress(one: Detection, was_kept: bool, n_done: int, n_in_all: int) -> None:
                last[:] = [(n_done, n_in_all)]
                if show is not None:
                    show(one, was_kept, n_done, n_in_all)

            found = run_detections(detectors, streams, learners, folder, progress=progress, **options)
    except KeyboardInterrupt:
        n_done, n_in_all = last[0] if last else (0, "the")
        recorded = f"{n_done} of {n_in_all} detections recorded in {folder}; the same command goes on."
        raise InterruptionError(recorded) from None
    if not quiet:
        _show_scores(found)
    return found


def _show_scores(detections: Sequence[Detection]) -> None:
    from rich.table import Table

    from mlstream.cli.console import wide_console

    heads = ("stream", "learner", "detector", "seed", "status", "drifts", "alarms")
    table = Table(*heads, *_SHOWN.values(), box=None)
    for one in detections:
        counts = str(one.seed), one.status, str(len(one.drifts)), str(len(one.alarms))
        scores = ("-" if (value := one.scores.get(name)) is None else f"{value:.3f}" for name in _SHOWN)
        table.add_row(one.stream, one.learner, one.detector, *counts, *scores)
    wide_console().print(table)
