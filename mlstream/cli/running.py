"""Commands that run learners on streams, and report on the runs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

import mlstream
from mlstream._support.files import ends_as_folder
from mlstream.cli import console
from mlstream.cli.arguments import (
    AsJson,
    Quiet,
    complete_detectors,
    complete_strategies,
    complete_streams,
    file_option,
    open_stream,
    require_folder,
    with_parameters,
)
from mlstream.cli.options import OF_DETECTIONS, option_parameters, parse_detectors, parse_strategies, read_options
from mlstream.evaluation.cpu_ledger import CpuLedger, cpu_part

if TYPE_CHECKING:
    from mlstream.campaign.campaign import CampaignProgress
    from mlstream.cli.campaigns import Outcome

Events: TypeAlias = "list[CampaignProgress]"

# By default, MLflow reports its use to its makers, and prints an address for each run.
_QUIET_MLFLOW = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true"}


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to create; it must not exist.")] = Path("demo"),
    browse: Annotated[bool, typer.Option("--browse/--no-browse", help="Open the report when done.")] = True,
) -> None:
    """Run everything on embedded real data (Yeast): stream, card, files, runs, report."""
    from mlstream.cli.demo import run_demo

    report = run_demo(output)
    if browse and sys.stdout.isatty():
        typer.launch(report.resolve().as_uri())


def warm_up(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STRATEGY]...",
            help="Names that `mlstream strategies` lists, or other-learners, PRAGMA, detectors, ARFF; all by default.",
            autocompletion=complete_strategies,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile learners for this machine now, so that no first call waits. What is compiled already takes no time."""
    from mlstream.cli.progress import compilation_progress, counted_kernels
    from mlstream.evaluation.compile_ahead import compilable, compile_ahead

    wanted = names or list(compilable())
    n_kernels, cpu_s = 0, 0.0
    with console.keep_for_json(as_json), compilation_progress(len(wanted)) as show:
        for one in compile_ahead(wanted):
            show(one)
            n_kernels, cpu_s = n_kernels + one.n_kernels, cpu_s + one.cpu_s
    console.print_outcome(
        f"{counted_kernels(n_kernels)} compiled in {cpu_s:.1f} s of processor time; the others were there.",
        {"n_kernels": n_kernels, "cpu_time_s": cpu_s},
        as_json=as_json,
    )


@with_parameters(option_parameters())
def run(
    context: typer.Context,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="CONFIG.toml | STREAMS...",
            help="A campaign file; or streams: .npz, .arff, .train.csv, .train.parquet, published folders, or names "
            "such as yeast-tasks.",
            autocompletion=complete_streams,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the records; required, unless a campaign file names it."),
    ] = None,
    strategies: Annotated[
        list[str],
        typer.Option(
            "--strategies",
            "-s",
            help="Names split by commas, which `mlstream strategies` lists; with parameters: 'NN(learning_rate=0.1)'. "
            "May be repeated.",
            autocompletion=complete_strategies,
        ),
    ] = ["NN,NN_TL,BR_HT"],  # noqa: B006 - Typer copies it
    quiet: Quiet = False,
    times: Annotated[
        bool,
        typer.Option("--times", help="Print at the end where CPU time went: into learners' calls, or what else."),
    ] = False,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Import and call the classes that a campaign file names: this runs their code."),
    ] = False,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Run learners on streams: test-then-train, transfer matrix, resources. Runs recorded earlier are kept.

    A run that fails stops no other; the exit status is 1 once all have ended. Of streams that share a name, the first
    keeps it, and the others get -2, -3 and so on added to it; --name of `mlstream generate` makes better names.

    A campaign file holds the same options under the names that Python uses; only --output, --jobs, --dask, --decision,
    --quiet, --times, --trust and --json may be combined with one. A campaign file that names a class runs its code:
    read a file that someone else wrote before you trust it.
    """
    began_s, chosen = time.perf_counter(), read_options(options)
    ended: list[CampaignProgress] = []
    files = [name for name in sources if name.lower().endswith((".toml", ".toml/"))]
    if files:
        _require_one_file(files[0], len(sources))
    if output is not None:
        require_folder(output, "--output")
    with console.keep_for_json(as_json), CpuLedger() as ledger:
        if files:
            names = [one.name for one in context.command.params if one.name and _is_typed(context, one.name)]
            typed = {name: chosen.get(name) for name in names}
            outcome = _run_file(Path(sources[0]), output, typed, quiet=quiet, trust=trust, ended=ended)
        else:
            outcome = _run_streams(sources, strategies, output, quiet=quiet, ended=ended, **chosen)
        if not quiet and not as_json:
            outcome.show()
    from mlstream.cli.campaigns import show_times, sum_parts

    if as_json:
        console.print_json(outcome.describe(ended) | {"cpu_time_s": sum_parts(ended, ledger)})
    elif times and not quiet:
        show_times(ended, ledger, time.perf_counter() - began_s)
    outcome.require_success()


def _require_one_file(file: str, n_sources: int) -> None:
    if ends_as_folder(file):
        raise ValueError(f"A campaign file must be a file, whose name does not end in '/'. Got {file!r} instead.")
    if n_sources > 1:
        raise ValueError(f"A campaign file must be the only source. Got {file} among {n_sources} sources.")


def _run_streams(
    sources: Sequence[str], strategies: Sequence[str], output: Path | None, *, quiet: bool, ended: Events, **chosen: Any
) -> Outcome:
    """Run strategies on streams by the options that were typed."""
    if output is None:
        raise ValueError("--output must name the folder of the records. Got nothing.")
    if not quiet:
        console.announce(f"{', '.join(strategies)} on {', '.join(sources)}; records go to {output}")
    learners = parse_strategies(strategies)
    # Where this cannot be imported, because a module is missing, no stream is read.
    from mlstream.cli.campaigns import Outcome, run_and_show

    with cpu_part("streams"):
        streams = [open_stream(name) for name in sources]
    return Outcome(output, run_and_show(learners, streams, output, quiet=quiet, ended=ended, **chosen))


def _run_file(
    path: Path, output: Path | None, typed: Mapping[str, Any], *, quiet: bool, trust: bool, ended: Events
) -> Outcome:
    """Run a campaign file, and write its report."""
    if not quiet:
        console.announce(str(path))
    from mlstream.cli.campaigns import run_file

    return run_file(path, output, typed, quiet=quiet, trust=trust, ended=ended)


def _is_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


@with_parameters(option_parameters(OF_DETECTIONS))
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
    quiet: Quiet = False,
    as_json: AsJson = False,
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
    with console.keep_for_json(as_json):
        if not quiet:
            console.announce(
                f"{', '.join(detectors)} on {', '.join(learners)} on {', '.join(sources)}; records go to {output}"
            )
        named = parse_detectors(detectors), parse_strategies(learners, "--learner")
        from mlstream.cli.campaigns import Outcome, detect_and_show

        streams = [open_stream(name) for name in sources]
        found = detect_and_show(named[0], streams, named[1], output, quiet=quiet, **chosen)
    outcome = Outcome(output, detections=found)
    if as_json:
        console.print_json(outcome.describe())
    elif not quiet:
        outcome.show()
    outcome.require_success()


def report(
    directory: Annotated[Path, typer.Argument(help="Folder that `mlstream run` or `mlstream detect` wrote.")],
    output: Annotated[
        Path | None, file_option("--output", "-o", help="Page to write; DIRECTORY/report.html if absent.")
    ] = None,
    tables: Annotated[
        bool, typer.Option("--tables", help="Also write the folder tables: CSV, Markdown, LaTeX.")
    ] = False,
    figures: Annotated[bool, typer.Option("--figures", help="Also write the folder figures: PNG, SVG.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write one self-contained HTML page about all runs and detections of a folder."""
    page = mlstream.report(directory, output, tables=tables, figures=figures)
    if not as_json:
        console.print_line(f"Wrote {page}")
        return
    from mlstream.cli.campaigns import load_outcome

    folders = {name: page.parent / name for name, is_made in (("tables", tables), ("figures", figures)) if is_made}
    console.print_json(load_outcome(directory, page).describe() | folders)


def track(
    directory: Annotated[Path, typer.Argument(help="Folder that `mlstream run` wrote.")],
    to: Annotated[str, typer.Option(help="Address of the server: http://127.0.0.1:5000.")],
    experiment: Annotated[str, typer.Option(help="Experiment that holds the runs; created if absent.")] = ("mlstream"),
    as_json: AsJson = False,
) -> None:
    """Write all records of a folder to an MLflow server (needs the extra `mlflow`); those that it has are kept.

    Name and password are taken from MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN.
    """
    from mlstream.cli.progress import tracking_progress

    for name, value in _QUIET_MLFLOW.items():
        os.environ.setdefault(name, value)
    with console.keep_for_json(as_json), tracking_progress() as progress:
        n_written, n_kept, page = mlstream.track(directory, to, experiment=experiment, progress=progress)
    document = {"n_written": n_written, "n_existed": n_kept, "page": page}
    console.print_outcome(f"Wrote {n_written} runs; {n_kept} existed. {page}", document, as_json=as_json)
