"""What is printed holds what matters, on a terminal and elsewhere."""

import io

import pytest
from rich.console import Console

from mlstream import console
from mlstream.cards import DropCard
from mlstream.presets import make_preset
from mlstream.protocol.campaign import CampaignProgress

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
    with console.campaign_progress() as progress:
        for event in EVENTS:
            progress(event)
    assert capsys.readouterr().out.splitlines() == ENDINGS


def test_on_a_terminal_there_are_bars_and_the_same_lines(monkeypatch):
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True, width=100, highlight=False)
    monkeypatch.setattr(console, "Console", lambda **options: terminal)
    with console.campaign_progress() as progress:
        for event in EVENTS:
            progress(event)
    assert all(line in written.getvalue() for line in ENDINGS)
    assert "3/3" in written.getvalue()


@pytest.mark.parametrize("name", ["yeast-tasks", "synthetic-rand"])
def test_a_card_is_shown_with_every_task_and_visit(name, capsys):
    card = make_preset(name).card
    console.show_card(card)
    shown = capsys.readouterr().out
    assert all(task.name in shown for task in card.tasks)
    schedule = next(line for line in shown.splitlines() if line.startswith("Schedule"))
    assert schedule.count("->") == len(card.experiences) - 1


@pytest.mark.parametrize(
    ("name", "shown"), [("[/bold]", "[/bold]"), ("[red]x", "[red]x"), ("a\x1b[31mb", "a?[31mb"), ("a\nb", "a?b")]
)
def test_names_on_a_card_are_neither_markup_nor_orders_to_the_terminal(name, shown, capsys):
    card = make_preset("synthetic-rand").card
    tasks = [task.model_copy(update={"name": name}) for task in card.tasks]
    drops = [DropCard(what="rows", reason=name, count=1)]
    source = card.source.model_copy(update={"name": name})
    changes = {"name": name, "description": name, "source": source, "tasks": tasks, "drops": drops}
    console.show_card(card.model_copy(update=changes))
    out = capsys.readouterr().out
    assert "\x1b" not in out
    # Name, description, source, one row for each task, one for each of two visits, and the drop.
    assert out.count(shown) == 3 + 4 + 8 + 1
