"""The demo does the whole job, and what it leaves behind stands alone."""

import re
from itertools import product
from pathlib import Path
from statistics import fmean, stdev

import pytest

from mlstream.cli.demo import SEEDS, STRATEGIES, run_demo
from mlstream.formats import load
from mlstream.generators import reordered_tasks, resplit_rows
from mlstream.publishing.folder import verify
from mlstream.records.run_record import load_runs


@pytest.mark.slow
def test_the_demo_leaves_a_published_stream_complete_runs_and_a_report(tmp_path):
    page = run_demo(tmp_path / "demo")
    verify(tmp_path / "demo" / "yeast-stream")
    stream = load(tmp_path / "demo" / "yeast-stream" / "stream.npz")
    runs = load_runs(tmp_path / "demo" / "runs")
    assert sorted((run.strategy, run.seed) for run in runs) == sorted(product(STRATEGIES, SEEDS))
    assert {run.status for run in runs} == {"done"}
    varied = [resplit_rows(reordered_tasks(stream, seed=seed), seed=seed).card.data_sha256 for seed in SEEDS]
    assert {(run.seed, run.stream_sha256) for run in runs} == set(zip(SEEDS, varied, strict=True))
    html = page.read_text(encoding="utf-8")
    assert all(name in html for name in STRATEGIES)
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=[\"']?http", html)
    require_printed_results(runs)


def require_printed_results(runs):
    """Compare the table of the README with the runs: a part of them, every number, and in bold the best of a column."""
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    cell = r"(\S*\d[^|]*)"
    rows = re.findall(rf"^\| (\w+) \| [^|]+ \| {cell} \| {cell} \| {cell} \|$", readme, re.MULTILINE)
    printed = {name: [number.strip() for number in numbers] for name, *numbers in rows}
    scores = {
        name: [[run.scores[score] for run in runs if run.strategy == name] for score in ("ba_macro", "acc", "bwt")]
        for name in STRATEGIES
    }
    assert len(printed) >= 5
    assert printed.keys() <= scores.keys()
    for name, numbers in printed.items():
        assert [number.replace("*", "") for number in numbers] == list(map(show, scores[name]))
    for column in range(3):
        means = {name: float(numbers[column].strip("*").partition(" ")[0]) for name, numbers in printed.items()}
        bold = {name for name, numbers in printed.items() if numbers[column].startswith("**")}
        assert bold == {name for name, mean in means.items() if mean == max(means.values())}


def show(values):
    """Write a mean and, where values differ, a standard deviation, as the shell prints them."""
    return f"{fmean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(set(values)) > 1 else "")


@pytest.mark.slow
def test_a_demo_that_fails_leaves_nothing_and_a_second_try_works(tmp_path, monkeypatch):
    monkeypatch.setattr("mlstream.cli.demo.STRATEGIES", ("mean",))
    with monkeypatch.context() as broken:
        broken.setattr("mlstream.cli.demo.report", _fail)
        with pytest.raises(OSError, match="no room"):
            run_demo(tmp_path / "new" / "demo")
    assert list((tmp_path / "new").iterdir()) == []
    assert run_demo(tmp_path / "new" / "demo").exists()


def test_a_demo_whose_run_fails_says_so_and_keeps_the_traceback(tmp_path, monkeypatch):
    monkeypatch.setattr("mlstream.cli.demo.STRATEGIES", ("mean",))
    monkeypatch.setattr("mlstream.campaign.executors.evaluate", _fail)
    with pytest.raises(
        RuntimeError, match=r"3 of 3 runs failed.* Got OSError: no room \((.*)/mean-seed0-order0-split0\.json"
    ) as told:
        run_demo(tmp_path / "demo")
    assert all("_fail" in run.error for run in load_runs(tmp_path / "demo" / "runs"))
    assert str(tmp_path / "demo" / "runs" / "runs") in str(told.value)
    assert (tmp_path / "demo" / "report.html").exists()


def _fail(*_, **__):
    raise OSError("no room")
