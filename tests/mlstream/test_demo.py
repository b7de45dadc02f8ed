"""The demo does the whole job, and what it leaves behind stands alone."""

import re

import pytest

from mlstream.demo import STRATEGIES, run_demo
from mlstream.protocol.results import load_runs
from mlstream.publishing import verify


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
