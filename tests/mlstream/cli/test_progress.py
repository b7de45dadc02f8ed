"""Progress is shown completely, on a terminal and elsewhere."""

import io
import time

from rich.console import Console

from mlstream.campaign.campaign import CampaignProgress
from mlstream.cli import progress as module
from mlstream.cli.progress import campaign_progress

EVENTS = [
    CampaignProgress("s", "NN", 0, "running", 50, 100, 0, 3),
    CampaignProgress("s", "NN", 0, "done", 100, 100, 1, 3),
    CampaignProgress("s", "mean", 0, "kept", 100, 100, 2, 3),
    CampaignProgress("s", "[bold]", 1, "failed", 20, 100, 3, 3),
]
ENDINGS = [
    "[1/3] NN on s, seed 0: done",
    "[2/3] mean on s, seed 0: recorded earlier",
    "[3/3] [bold] on s, seed 1: failed",
]


def test_without_a_terminal_there_is_one_line_per_run(capsys):
    with campaign_progress() as progress:
        for event in EVENTS:
            progress(event)
    assert capsys.readouterr().out.splitlines() == ENDINGS


def test_on_a_terminal_there_are_bars_and_the_same_lines(monkeypatch):
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True, width=100, highlight=False)
    monkeypatch.setattr(module, "SafeConsole", lambda **options: terminal)
    with campaign_progress() as progress:
        for event in EVENTS:
            progress(event)
    assert all(line in written.getvalue() for line in ENDINGS)
    assert "3/3" in written.getvalue()


def test_bars_tell_rows_a_second_and_the_worker_of_each_run(monkeypatch):
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True, width=160, highlight=False)
    monkeypatch.setattr(module, "SafeConsole", lambda **options: terminal)
    with campaign_progress() as progress:
        for met in (0, 4000, 8000):
            progress(CampaignProgress("s", "[b]", 0, "running", met, 9000, 0, 2, 1, None, "vm 17"))
            progress(CampaignProgress("s", "NN", 0, "running", met, 9000, 0, 2, None, 3, "vm 18"))
            time.sleep(0.02)
    shown = written.getvalue()
    assert all(text in shown for text in ("[b] on s, seed 0, order 1", "NN on s, seed 0, split 3", "vm 17", "vm 18"))
    assert "rows/s" in shown
