"""All steps on embedded real data, in about a minute."""

from __future__ import annotations

import warnings
from pathlib import Path

from mlstream._support.files import atomic_folder
from mlstream.campaign.campaign import run_campaign
from mlstream.cli import console
from mlstream.cli.campaigns import show_results
from mlstream.cli.progress import campaign_progress
from mlstream.data.datasets import load_registered
from mlstream.formats import load
from mlstream.generators import task_stream
from mlstream.publishing.folder import publish, verify
from mlstream.records.run_record import require_success
from mlstream.records.run_result import RunResult
from mlstream.reporting.report import report

STRATEGIES = (
    "StreamRidge",
    "NN",
    "NN_TL",
    "NN_TLH_mini_memories",
    "BR_HT",
    "LC_HT",
    "CC_HT",
    "last_class",
    "mean",
    "1NN",
)
SEEDS = (0, 1, 2)


def run_demo(output: Path) -> Path:
    """Make a stream of tasks from Yeast, publish it, run learners on it, write the report, and return its path.

    The folder is created under another name and renamed at the end: it is complete or absent, and a FileExistsError is
    raised if it exists. A RuntimeError means that a run failed; the folder is complete then, too.
    """
    if output.exists():
        raise FileExistsError(f"{output} must not exist yet: name another folder with --output.")
    output.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(output) as folder:
        results = _fill(folder, output)
    require_success(results, output / "runs")
    page = output / "report.html"
    console.print_line(f"4. The report: open {page} in a browser")
    return page


def _fill(folder: Path, output: Path) -> list[RunResult]:
    """Fill `folder`, which is renamed to `output` afterwards."""
    published = folder / "yeast-stream"

    console.print_line("1. Cluster the label sets of Yeast (2,417 rows, 103 features, 14 labels) into recurring tasks")
    stream = task_stream(load_registered("yeast"), seed=0)
    console.show_card(stream.card)

    console.print_line(
        f"2. Publish it in {output / published.name}: NPZ, ARFF, card, readable page, hashes; then verify the folder"
    )
    with warnings.catch_warnings():
        # What the stream should state is for those who publish it to others.
        warnings.filterwarnings("ignore", "The stream should state", UserWarning)
        publish(stream, published)
    verify(published)

    console.print_line(
        "3. Test-then-train, and after each experience an evaluation on every task; three times, each with another "
        "order of tasks and another split of rows"
    )
    streams = [load(published / "stream.npz")]
    with campaign_progress() as progress:
        results = run_campaign(STRATEGIES, streams, SEEDS, folder / "runs", vary=True, progress=progress)
    show_results(results)
    report(folder / "runs", folder / "report.html")
    return results
