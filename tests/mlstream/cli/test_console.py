"""Tables and cards are printed completely."""

import pytest

from mlstream.cli import console
from mlstream.cli.campaigns import show_results
from mlstream.generators import Suggestion
from mlstream.publishing.presets import make_preset
from mlstream.streams.card_model import DropCard
from tests.mlstream.records.run_records import make_run


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
    # A description may have several lines.
    description = "a b" if name == "a\nb" else shown
    assert out.splitlines()[0] == f"{shown}: {description}"
    # Name, source, one row for each task, one for each of two visits, and the drop.
    assert out.replace(f": {description}", "", 1).count(shown) == 2 + 4 + 8 + 1


def test_labels_and_the_first_features_are_named(capsys):
    card = make_preset("synthetic-rand").card
    words = [f"proto={word}" for word in ("tcp", "udp", "icmp")]
    names = ["id", *words, "answer", *(f"feature number {place}" for place in range(2000))]
    console.show_card(card.model_copy(update={"feature_names": names, "feature_values": {"id": ("a", "b")}}))
    lines = capsys.readouterr().out.splitlines()
    assert f"Labels: {', '.join(card.label_names)}" in lines
    shown = next(line for line in lines if line.startswith("Features: "))
    assert shown.startswith("Features: id, proto=... (3), answer, feature number 0, feature number 1, ")
    assert shown.endswith("feature number 13 and 1,986 more")
    assert "Categories: id (2 values)" in lines


def test_scores_of_environments_and_hierarchies_have_columns_where_there_are_any(capsys):
    plain = make_run()
    show_results([plain])
    assert "nce_worst" not in capsys.readouterr().out
    show_results([plain, make_run(stream="far", scores=plain.scores | {"nce_worst": -0.25})])
    shown = capsys.readouterr().out
    assert "nce_worst" in shown
    assert "-0.250" in shown


def test_metrics_asked_for_by_name_are_shown(capsys):
    plain = make_run()
    show_results([plain, make_run(seed=1, scores=plain.scores | {"lrap": 0.625, "lrap_held_out": 0.5})])
    shown = capsys.readouterr().out
    assert shown.splitlines()[0].split()[-2:] == ["lrap", "seconds"]
    assert "0.625" in shown


def test_a_suggestion_is_shown_with_what_it_was_chosen_from(capsys):
    console.show_suggestion(Suggestion(3, (2, 3), (1, 3), (0.25, 0.5), (1.0, 0.375)))
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["2", "1", "0.250", "100%"] in shown
    assert shown[-1] == ["Suggested:", "3", "tasks."]


@pytest.mark.parametrize(
    ("n_tasks", "n_made", "doubt"),
    [
        (1, (1, 2), "Of every other number, clusters with one label, or nearly one label set, are merged"),
        (3, (1, 3), "Of every number of which as many tasks are made, one has 75% of the rows or more"),
    ],
)
def test_a_suggestion_that_generate_would_doubt_says_so_first(capsys, n_tasks, n_made, doubt):
    console.show_suggestion(Suggestion(n_tasks, (2, 3), n_made, (0.25, 0.5), (0.5, 0.75)))
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"{doubt}: `mlstream scenario TABLE task-based` finds tasks by other rules")


def means_in(shown):
    """Return the words of each line below the heading of the means."""
    return [line.split() for line in shown.partition("with standard deviations where they differ:\n")[2].splitlines()]


def test_repeated_runs_have_means_over_seeds(capsys):
    scores = make_run().scores
    runs = [make_run("a", seed, scores=scores | {"acc": acc}) for seed, acc in enumerate((0.25, 0.75))]
    show_results([*runs, make_run("b", scores=scores | {"acc": None})])
    means = means_in(capsys.readouterr().out)
    place = means[0].index("acc")
    # Twice the distance to the mean, squared, over one degree of freedom: 0.125.
    assert "0.500 ± 0.354" in " ".join(means[1])
    assert means[2][means[0].index("runs")] == "1"
    assert "-" in means[2][place:]


def test_runs_that_are_all_the_same_have_no_spread_and_one_line_says_why(capsys):
    same = [make_run("mean", seed, scores={"acc": 0.1 + 0.2, "bwt": -0.25}) for seed in range(3)]
    near = [make_run("NN", seed, scores={"acc": 0.5 + 1e-5 * seed}) for seed in range(3)]
    show_results([*same, *near])
    shown = capsys.readouterr().out
    _, first, second, *notes = means_in(shown)
    assert first[1:6] == ["mean", "defaults", "3", "-", "0.300"]
    assert "-0.250" in first
    assert second[5:8] == ["0.500", "±", "<0.001"]
    assert "0.000" not in shown
    assert " ".join(notes[0]).startswith(
        "Runs of mean have the same scores where only their seed differs: this learner"
    )
    assert len(notes) == 1


def test_runs_that_are_not_repeated_have_no_means(capsys):
    show_results([make_run("a"), make_run("b")])
    assert "Means" not in capsys.readouterr().out


def test_scores_under_one_rule_are_shown_with_the_rule(capsys):
    show_results([make_run("a")])
    assert "decided" not in capsys.readouterr().out
    show_results([make_run("a", settings=make_run().settings | {"decision": "half"})])
    assert "Labels were decided at a probability of one half." in capsys.readouterr().out


def test_names_in_brackets_are_shown_as_they_are(capsys):
    run = make_run("a[bold]")
    show_results([run.model_copy(update={"scores": run.scores | {"acc[half]": 0.123}})])
    shown = capsys.readouterr().out
    assert "a[bold]" in shown
    assert "acc[half]" in shown
