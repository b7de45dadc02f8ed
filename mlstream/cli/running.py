"""Commands that run learners on streams, and report."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from mlstream.cli.arguments import parse_seeds

# MLflow reports to its makers that it was used, and prints an address for each run, unless it is told otherwise.
_QUIET_MLFLOW = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true"}


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to make; must not exist.")] = Path("demo"),
    browse: Annotated[bool, typer.Option("--browse/--no-browse", help="Open the report when done.")] = True,
) -> None:
    """Do the whole job on embedded real data (Yeast): stream, card, files, runs, report."""
    from mlstream.cli.demo import run_demo

    report = run_demo(output)
    if browse and sys.stdout.isatty():
        typer.launch(report.resolve().as_uri())


def run(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="CONFIG.toml | STREAMS...",
            help="A campaign file; or streams: .npz, .arff, .csv, .parquet, published folders, or names such as "
            "yeast-tasks.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the records; needed, unless a campaign file names it."),
    ] = None,
    strategies: Annotated[
        str | None,
        typer.Option(
            "--strategies",
            "-s",
            help="Names split by commas; an unknown one lists them all. By default NN,NN_TL,BR_HT.",
        ),
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="Seeds split by commas; by default 0.")] = None,
    label_space: Annotated[
        Literal["task", "seen", "all"] | None,
        typer.Option(help="Labels that count: of the row's task (default), of all tasks seen so far, or all."),
    ] = None,
    energy: Annotated[bool | None, typer.Option(help="Measure energy by CodeCarbon (default).")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Processes, by default 1; -1: as many as cores.")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler whose workers run everything: tcp://HOST:8786.")
    ] = None,
) -> None:
    """Run learners on streams: test-then-train, transfer matrix, resources. What is recorded already is kept.

    A run that fails stops no other; the exit status is 1 once all have ended.

    A campaign file that names a class runs its code: read a file that someone else wrote before you run it.
    """
    if jobs == 0:
        raise ValueError("--jobs must be a number of processes, or -1 for as many as cores. Got 0.")
    if len(sources) == 1 and sources[0].lower().endswith(".toml"):
        own = {"--strategies": strategies, "--seeds": seeds, "--label-space": label_space, "--energy": energy}
        _run_file(Path(sources[0]), output, jobs, dask, [name for name, value in own.items() if value is not None])
        return
    from mlstream.campaign.campaign import run_campaign
    from mlstream.campaign.config import open_named
    from mlstream.cli import console
    from mlstream.records.run_record import require_success

    if output is None:
        raise ValueError("--output must name the folder of the records. Got nothing.")
    with console.campaign_progress() as progress:
        results = run_campaign(
            [name.strip() for name in ("NN,NN_TL,BR_HT" if strategies is None else strategies).split(",")],
            [open_named(name) for name in sources],
            parse_seeds("0" if seeds is None else seeds),
            output,
            label_space=label_space or "task",
            energy="none" if energy is False else "codecarbon",
            n_jobs=jobs or 1,
            dask=dask,
            progress=progress,
        )
    console.show_results(results)
    require_success(results, output)


def _run_file(path: Path, output: Path | None, jobs: int | None, dask: str | None, refused: list[str]) -> None:
    """Run a campaign file, and write its report."""
    from mlstream.campaign.campaign import run_campaign
    from mlstream.campaign.config import load_config, open_named
    from mlstream.cli import console
    from mlstream.records.run_record import require_success
    from mlstream.reporting.report import report as write_report

    if refused:
        raise ValueError(
            f"{path} must say what is run: only --output, --jobs and --dask go with it. Got {', '.join(refused)}."
        )
    # Classes may lie beside the campaign file.
    sys.path.insert(0, str(path.resolve().parent))
    config = load_config(path)
    folder = output or (path.parent / config.directory if config.directory else None)
    if folder is None:
        raise ValueError(f"{path} must say the directory of the records, or --output must. Got neither.")
    with console.campaign_progress() as progress:
        results = run_campaign(
            config.learners(),
            [open_named(name, path.parent) for name in config.streams],
            config.seeds,
            folder,
            orders=config.orders,
            splits=config.splits,
            n_jobs=jobs or config.jobs,
            dask=dask or config.dask,
            progress=progress,
            config=path.read_text(encoding="utf-8"),
            **config.options,
        )
    console.show_results(results)
    console.say(f"Wrote {write_report(folder)}")
    require_success(results, folder)


def report(
    directory: Annotated[Path, typer.Argument(help="Folder that `mlstream run` wrote.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Page to write; DIRECTORY/report.html if absent.")
    ] = None,
    tables: Annotated[
        bool, typer.Option("--tables", help="Also write the folder tables: CSV, Markdown, LaTeX.")
    ] = False,
    figures: Annotated[bool, typer.Option("--figures", help="Also write the folder figures: PNG, SVG.")] = False,
) -> None:
    """Write one self-contained HTML page about all runs of a folder."""
    from mlstream.cli import console
    from mlstream.reporting.report import report as write_report

    console.say(f"Wrote {write_report(directory, output, tables=tables, figures=figures)}")


def track(
    directory: Annotated[Path, typer.Argument(help="Folder that `mlstream run` wrote.")],
    to: Annotated[str, typer.Option(help="Address of the server: http://127.0.0.1:5000.")],
    experiment: Annotated[str, typer.Option(help="Experiment that holds the runs; made if it is not there.")] = (
        "mlstream"
    ),
) -> None:
    """Write all records of a folder to an MLflow server (needs the extra `mlflow`); those that are there are kept.

    Name and password are taken from MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN.
    """
    from mlstream.cli import console
    from mlstream.interop.mlflow import track as track_runs

    for name, value in _QUIET_MLFLOW.items():
        os.environ.setdefault(name, value)
    with console.tracking_progress() as progress:
        n_written, n_kept, page = track_runs(directory, to, experiment=experiment, progress=progress)
    console.say(f"Wrote {n_written} runs; {n_kept} were there. {page}")
