"""Figures for papers show the records' own numbers."""

import errno
from pathlib import Path

import numpy as np
import pytest
from matplotlib.cbook import is_math_text

from mlstream.analysis.comparison import compare_all, ranking_of
from mlstream.analysis.costs import cost_points
from mlstream.analysis.curves import stream_curves
from mlstream.analysis.groups import group_runs
from mlstream.analysis.transfer import transfer
from mlstream.plotting.critical_difference import rank_figure
from mlstream.plotting.pareto_front import cost_figure
from mlstream.plotting.score_curves import curve_figure
from mlstream.plotting.transfer_matrix import transfer_figure
from mlstream.records.run_record import load_runs
from mlstream.reporting.figures import write_figures
from tests.mlstream.records.run_records import SIZES, STRATEGIES, TASKS, make_run, write_campaign

RUNS = [make_run(name, seed, stream) for stream in ("x", "y") for name in STRATEGIES for seed in (0, 1)]
STREAMS = group_runs(RUNS)


def draw_curves(groups):
    return curve_figure(*stream_curves(groups, "ba_macro", "windowed"))


def draw_tasks(group):
    return transfer_figure(group.label, transfer(group, "ba_macro"))


def lines(figure):
    return {line.get_label(): line for line in figure.axes[0].lines}


def test_curves_are_means_over_seeds():
    drawn = lines(draw_curves(STREAMS["x"]))
    curves = [run.curves["ba_macro"] for run in RUNS if run.strategy == "NN" and run.stream == "x"]
    assert np.allclose(drawn["NN"].get_ydata(), np.mean([curve.windowed for curve in curves], axis=0))
    assert list(drawn["NN"].get_xdata()) == curves[0].n_rows
    assert set(STRATEGIES) <= drawn.keys()


def test_tasks_and_costs_and_ranks_are_drawn():
    group = STREAMS["x"][0]
    tasks = lines(draw_tasks(group))
    R = np.mean([run.R["ba_macro"] for run in group.runs], axis=0)
    assert np.allclose(tasks["task 2"].get_ydata(), R[:, 2])
    costs = cost_figure(cost_points(STREAMS["x"])[0].points, "ACC", "Wall time, s")
    assert costs.axes[0].get_xscale() == "log"
    assert len(costs.axes[0].containers) == len(STRATEGIES)
    diagram = rank_figure(ranking_of(compare_all(STREAMS)[0]))
    shown = " ".join(text.get_text() for text in diagram.axes[0].texts)
    assert all(name in shown for name in STRATEGIES)
    assert sum(SIZES[:1]) in [line.get_xdata()[0] for line in draw_curves(STREAMS["x"]).axes[0].lines]


@pytest.mark.slow
@pytest.mark.parametrize("name", [r"$\frac$", "a$b$c", "_NN", r"\$x", "x\ny"])
def test_names_are_drawn_as_they_are(tmp_path, name):
    tasks = [name, *TASKS[1:]]
    runs = [make_run(one, 0, stream, task_names=tasks) for stream in ("x", "y") for one in (name, "BR_HT", "NN")]
    streams = group_runs(runs)
    for draw in (lambda: draw_curves(streams["x"]), lambda: draw_tasks(streams["x"][0])):
        figure = draw()
        figure.savefig(tmp_path / "figure.svg")
        shown = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        assert name in [text.replace(r"\$", "$").strip() for text in shown]
        assert not any(is_math_text(text) for text in shown)
    diagram = rank_figure(ranking_of(compare_all(streams)[0]))
    diagram.savefig(tmp_path / "figure.svg")
    assert name in [text.get_text().replace(r"\$", "$").strip() for text in diagram.axes[0].texts]


@pytest.mark.slow
def test_every_figure_is_written_twice_and_the_same_records_give_the_same_files(tmp_path):
    streams = group_runs(load_runs(write_campaign(tmp_path / "runs", strategies=("NN", "BR_HT"))))
    written = list(write_figures(tmp_path / "a", streams, []))
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert {path.stem for path in written} >= {"curves-yeast", "tasks-yeast-NN", "acc-against-time-yeast"}
    again = list(write_figures(tmp_path / "b", streams, []))
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]


def test_costs_are_not_drawn_against_a_score_that_no_run_has(tmp_path):
    run = make_run("NN", 0, "x")
    lacking = run.model_copy(update={"scores": {**run.scores, "acc": None}})
    names = {path.stem for path in write_figures(tmp_path, group_runs([lacking]), [])}
    assert names
    assert not any(name.startswith("acc-against") for name in names)


def test_a_figure_that_cannot_be_drawn_leaves_the_older_one(tmp_path, monkeypatch):
    groups = {"x": STREAMS["x"][:1]}
    first = next(write_figures(tmp_path, groups, []))
    before = first.read_bytes()

    def draw_half(figure, path, **_):
        Path(path).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", draw_half)
    with pytest.raises(OSError, match=f"No space left on device.*{first.name}"):
        next(write_figures(tmp_path, groups, []))
    assert [path.name for path in tmp_path.iterdir()] == [first.name]
    assert first.read_bytes() == before
