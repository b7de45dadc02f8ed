"""The demo does the whole job, and what it leaves behind stands alone."""

import re
from pathlib import Path

import pytest

from mlstream.cli.demo import STRATEGIES, run_demo
from mlstream.publishing.folder import verify
from mlstream.records.run_record import load_runs


@pytest.mark.slow
def test_the_demo_leaves_a_published_stream_complete_runs_and_a_report(tmp_path):
    page = run_demo(tmp_path / "demo")
    card = verify(tmp_path / "demo" / "yeast-stream")
    runs = load_runs(tmp_path / "demo" / "runs")
    assert sorted(run.strategy for run in runs) == sorted(STRATEGIES)
    assert {run.status for run in runs} == {"done"}
    assert {run.stream_sha256 for run in runs} == {card.data_sha256}
    html = page.read_text(encoding="utf-8")
    assert all(name in html for name in STRATEGIES)
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=[\"']?http", html)
    require_printed_results(runs)


def require_printed_results(runs):
    """Compare the table of the README with the runs: a part of them, every number, and in bold the best of a column."""
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| [^|]+ \| (\S*\d\S*) \| (\S*\d\S*) \| (\S*\d\S*) \|$", readme, re.MULTILINE)
    printed = {name: numbers for name, *numbers in rows}
    scores = {run.strategy: [run.scores[name] for name in ("ba_macro", "acc", "bwt")] for run in runs}
    assert len(printed) >= 5
    assert printed.keys() <= scores.keys()
    for name, numbers in printed.items():
        assert [number.strip("*") for number in numbers] == [f"{score:.3f}" for score in scores[name]]
    for column in range(3):
        best = max(float(numbers[column].strip("*")) for numbers in printed.values())
        bold = {float(numbers[column].strip("*")) for numbers in printed.values() if numbers[column].startswith("**")}
        assert bold == {best}


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
    monkeypatch.setattr("mlstream.campaign.worker.evaluate", _fail)
    with pytest.raises(
        RuntimeError, match=r"1 of 1 runs failed.* Got OSError: no room \((.*)/mean-seed0\.json"
    ) as told:
        run_demo(tmp_path / "demo")
    (run,) = load_runs(tmp_path / "demo" / "runs")
    assert "_fail" in run.error
    assert str(tmp_path / "demo" / "runs" / "runs") in str(told.value)
    assert (tmp_path / "demo" / "report.html").exists()


def _fail(*_, **__):
    raise OSError("no room")
