"""The whole job on embedded real data, small enough to watch."""

from __future__ import annotations

from pathlib import Path

from mlstream import console
from mlstream.datasets import load_dataset
from mlstream.formats import load
from mlstream.generators import task_stream
from mlstream.protocol.campaign import run_campaign
from mlstream.protocol.report import report
from mlstream.publishing import publish, verify

STRATEGIES = ("NN", "NN_TL", "NN_TLH_mini_memories", "BR_HT", "LC_HT", "CC_HT", "last_class", "mean", "1NN")


def run_demo(output: Path, *, seed: int = 0) -> Path:
    """Make a stream of tasks from Yeast, publish it, run learners on it, and write the report.

    Parameters
    ----------
    output : Path
        Folder to make.
    seed : int
        Source of everything random.

    Returns
    -------
    Path
        The report.

    Raises
    ------
    FileExistsError
        If `output` exists.
    """
    if output.exists():
        raise FileExistsError(f"{output} must not exist yet: name another folder with --output.")
    output.mkdir(parents=True)
    published = output / "yeast-stream"

    console.say("1. Cluster the label sets of Yeast (2,417 rows, 103 features, 14 labels) into tasks that come back")
    stream = task_stream(load_dataset("yeast"), seed=seed)
    console.show_card(stream.card)

    console.say(f"2. Publish it in {published}: NPZ, ARFF, card, readable page, hashes; then verify the folder")
    publish(stream, published)
    verify(published)

    console.say("3. Test-then-train, and after each experience an evaluation on every task")
    with console.campaign_progress() as progress:
        results = run_campaign(STRATEGIES, [load(published / "stream.npz")], [seed], output / "runs", progress=progress)
    console.show_results(results)

    page = report(output / "runs", output / "report.html")
    console.say(f"4. The report: open {page} in a browser")
    return page
