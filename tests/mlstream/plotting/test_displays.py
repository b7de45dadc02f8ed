"""Displays show the numbers of records, streams and tables: what is drawn is read back from the axes."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from estimators import StreamRidgeClassifier
from mlstream import plotting
from mlstream.plotting import (
    AlarmBudgetDisplay,
    CriticalDifferenceDisplay,
    ExplanationDisplay,
    LabelFrequencyDisplay,
    ParetoFrontDisplay,
    PredictionSetsDisplay,
    ReliabilityDisplay,
    ScheduleDisplay,
    ScoreCurvesDisplay,
    TransferMatrixDisplay,
)
from mlstream.plotting.matplotlib_parts import ink_on
from mlstream.streams.stream import Dataset
from tests.loops import check_all
from tests.mlstream.evaluation.streams import SIZES, VISITS, make_stream
from tests.mlstream.records.run_records import ORDER, TASKS, make_capped, make_failed, make_run

RUN = make_run("NN_TL")
MATRIX = np.array(RUN.R["ba_macro"])
STREAM = make_stream()
CAMPAIGN = [make_run(name, 0, stream) for stream in ("a", "b", "c") for name in ("NN", "NN_TL", "BR_HT", "mean")]
MAKERS = {
    "transfer": lambda **options: TransferMatrixDisplay.from_result(RUN, **options),
    "lines": lambda **options: TransferMatrixDisplay.from_result(RUN, kind="lines", **options),
    "curves": lambda **options: ScoreCurvesDisplay.from_results([RUN], **options),
    "schedule": lambda **options: ScheduleDisplay.from_stream(STREAM, **options),
    "labels": lambda **options: LabelFrequencyDisplay.from_stream(STREAM, **options),
    "bars": lambda **options: LabelFrequencyDisplay.from_dataset(make_table(), **options),
    "ranks": lambda **options: CriticalDifferenceDisplay.from_runs(CAMPAIGN, **options),
    "front": lambda **options: ParetoFrontDisplay.from_runs(CAMPAIGN, **options),
    "explanation": lambda **options: ExplanationDisplay.from_explanation(explain_row(), **options),
    "budgets": lambda **options: AlarmBudgetDisplay.from_predictions(ALARMS, {"NN": SCORES}, **options),
    "sets": lambda **options: PredictionSetsDisplay.from_predictions(ALARMS, {"NN": SETS}, alpha=0.1, **options),
    "reliability": lambda **options: ReliabilityDisplay.from_predictions(ALARMS, {"NN": SCORES}, **options),
}
SETS = np.array([[1, 0], [-1, 1], [0, 1], [-2, -1]])
ALARMS = np.array([[1, 0], [0, 0], [0, 1], [1, 0]])
SCORES = np.array([[0.9, 0.2], [0.3, 0.1], [0.4, 0.8], [0.2, 0.7]])


def make_table(Y=((1, 0), (1, 1), (0, 0), (1, 0))):
    return Dataset(np.zeros((len(Y), 1)), np.array(Y, dtype=float), ("x",), ("rain", "wind"), "days")


def explain_row():
    X = np.random.default_rng(0).normal(size=(400, 12))
    learner = StreamRidgeClassifier(random_state=0).partial_fit(X, X[:, :2] > 1, classes=["scan", "worm"])
    return learner.explain(X[:1] + 2)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_nothing_is_cut_off_at_the_edge_of_a_new_figure(make):
    figure = make().figure_
    figure.draw_without_rendering()
    drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) > -0.01


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_display_draws_into_the_axes_it_is_given_or_into_new_ones(make):
    figure, axes = plt.subplots(1, 2)
    display = make(ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert not axes[0].has_data()
    again = display.plot()
    assert again is display
    assert display.figure_ is not figure
    assert display.figure_.number in plt.get_fignums()


def test_every_public_name_is_a_display_that_is_made_from_something():
    for name in plotting.__all__:
        display = getattr(plotting, name)
        assert name.endswith("Display")
        assert [one for one in dir(display) if one.startswith("from_")]
        assert callable(display.plot)


def test_the_heat_map_holds_the_matrix_and_its_axes_name_steps_and_tasks():
    display = TransferMatrixDisplay.from_result(RUN)
    np.testing.assert_array_equal(display.im_.get_array().filled(np.nan), MATRIX)
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == list(TASKS)
    steps = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert steps == ["0: before", *(f"{step}: task {task}" for step, task in enumerate(ORDER, 1))]
    shown = {(text.get_position()[1], text.get_position()[0]): text.get_text() for text in display.ax_.texts}
    assert shown == {cell: f"{score:.2f}" for cell, score in np.ndenumerate(MATRIX)}
    frames = {(patch.get_y() + 0.5, patch.get_x() + 0.5) for patch in display.ax_.patches}
    assert frames == set(enumerate(ORDER, 1))


def test_numbers_can_be_read_on_every_colour():
    display = TransferMatrixDisplay(np.linspace(0, 1, 12).reshape(4, 3), [[0], [1], [2]]).plot()
    for text in display.ax_.texts:
        column, row = text.get_position()
        background = display.im_.to_rgba(display.im_.get_array()[row, column])[:3]
        assert contrast(plt.matplotlib.colors.to_rgb(text.get_color()), background) >= 4.5


def test_ink_has_enough_contrast_on_every_grey():
    def check(grey):
        ink = {"black": (0, 0, 0), "white": (1, 1, 1)}[ink_on((grey, grey, grey))]
        assert contrast(ink, (grey, grey, grey)) >= 4.5

    check_all(np.linspace(0, 1, 41), check)


def contrast(one, other):
    """Return the contrast of two colours by the formula of WCAG 2.1."""

    def luminance(colour):
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


def test_undefined_cells_hold_no_number():
    R = [[0.5, np.nan], [0.9, 0.4]]
    display = TransferMatrixDisplay(R, [[0]]).plot()
    assert sorted(text.get_text() for text in display.ax_.texts) == ["0.40", "0.50", "0.90"]


def test_lines_hold_a_column_each():
    display = TransferMatrixDisplay.from_result(RUN, kind="lines", linewidth=3)
    assert display.im_ is None
    assert [line.get_label() for line in display.lines_] == list(TASKS)
    np.testing.assert_array_equal(np.column_stack([line.get_ydata() for line in display.lines_]), MATRIX)
    assert {line.get_linewidth() for line in display.lines_} == {3}


def test_rows_that_a_capped_run_did_not_come_to_are_left_out():
    display = TransferMatrixDisplay.from_result(make_capped())
    assert display.R.shape == (6, 4)
    assert len(display.order) == 5


def test_curves_are_means_over_seeds_and_boundaries_stand_where_experiences_end():
    runs = [make_run(name, seed) for name in ("NN", "NN_TL") for seed in (0, 1)]
    for kind in ("windowed", "cumulative"):
        display = ScoreCurvesDisplay.from_results([*runs, make_failed("1NN")], kind=kind)
        assert [line.get_label() for line in display.lines_] == ["NN", "NN_TL"]
        for line, name in zip(display.lines_, ("NN", "NN_TL"), strict=True):
            curves = [run.curves["ba_macro"] for run in runs if run.strategy == name]
            values = np.array([getattr(curve, kind) for curve in curves], dtype=float)
            np.testing.assert_allclose(line.get_ydata(), values.mean(axis=0))
            assert line.get_xdata().tolist() == curves[0].n_rows
        boundaries = [line.get_xdata()[0] for line in display.ax_.lines[len(display.lines_) :]]
        assert boundaries == np.cumsum(runs[0].experience_sizes)[:-1].tolist()


def test_results_of_one_class_are_kept_apart_by_the_names_of_a_mapping():
    first, second = make_run("Net", 0), make_run("Net", 0, curves=make_run("BR_HT").curves)
    display = ScoreCurvesDisplay.from_results({"slow": first, "fast": second})
    drawn = {line.get_label(): line.get_ydata().tolist() for line in display.lines_}
    assert drawn == {"slow": first.curves["ba_macro"].windowed, "fast": second.curves["ba_macro"].windowed}


def test_the_schedule_has_a_bar_for_each_task_of_each_experience_as_high_as_its_share():
    display = ScheduleDisplay.from_stream(STREAM)
    starts = np.cumsum([0, *SIZES])
    expected = []
    for place, (tasks, experience) in enumerate(zip(VISITS, STREAM, strict=True)):
        for task in tasks:
            share = np.count_nonzero(experience.task_ids == task) / len(experience)
            expected.append([starts[place], task - 0.4 * share, starts[place + 1], task + 0.4 * share])
    extents = [bar.get_paths()[0].get_extents() for bar in display.bars_]
    np.testing.assert_allclose([[box.x0, box.y0, box.x1, box.y1] for box in extents], expected)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["task 0", "task 1", "task 2"]


def test_frequencies_of_a_stream_are_counted_over_all_its_rows_and_blank_outside_the_signature():
    display = LabelFrequencyDisplay.from_stream(STREAM)
    drawn = display.im_.get_array().filled(np.nan)
    for task, (row, held_out) in enumerate(zip(drawn, STREAM.evaluation_sets, strict=True)):
        Y = np.vstack([*(part.Y[part.task_ids == task] for part in STREAM), held_out.Y])
        signature = STREAM.tasks[task].signature
        np.testing.assert_allclose(row[signature], Y.mean(axis=0)[signature], atol=1e-6)
        assert np.isnan(row[~signature]).all()


@pytest.mark.parametrize(
    ("Y", "expected"),
    [(((1, 0), (1, 1), (0, 0), (1, 0)), [0.75, 0.25]), (((1, 0), (np.nan, 1), (0, np.nan), (1, 0)), [2 / 3, 1 / 3])],
    ids=["known", "unknown cells"],
)
def test_frequencies_of_a_table_are_among_the_rows_where_the_label_is_known(Y, expected):
    display = LabelFrequencyDisplay.from_dataset(make_table(Y))
    np.testing.assert_allclose([bar.get_height() for bar in display.bars_], expected)
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["rain", "wind"]


def test_a_table_may_be_named_or_a_frame_whose_labels_are_named():
    assert LabelFrequencyDisplay.from_dataset("yeast").label_names[0] == "Class1"
    frame = pd.DataFrame({"x": [0.5, 1.5], "rain": [True, False], "wind": [True, True]})
    display = LabelFrequencyDisplay.from_dataset(frame, labels=["rain", "wind"])
    assert display.frequencies.tolist() == [0.5, 1.0]


def test_ranks_are_those_of_the_scores_and_bars_join_what_lies_within_the_critical_difference():
    display = CriticalDifferenceDisplay.from_runs(CAMPAIGN, score="acc")
    by_stream = [[run.scores["acc"] for run in CAMPAIGN if run.stream == stream] for stream in ("a", "b", "c")]
    # Slowly: one, and a rank more for each that is better, half a one for each equal.
    ranks = [
        np.mean([1 + sum(b > row[i] for b in row) + sum(b == row[i] for b in row) / 2 - 0.5 for row in by_stream])
        for i in range(4)
    ]
    np.testing.assert_allclose(display.ranks, ranks)
    by_name = dict(zip(display.names, display.ranks, strict=True))
    for clique in display.cliques:
        assert by_name[clique[-1]] - by_name[clique[0]] < display.critical_difference
    shown = [text.get_text().strip() for text in display.ax_.texts]
    assert set(display.names) <= set(shown)
    assert f"critical difference {display.critical_difference:.2f}" in shown


def test_what_cannot_be_drawn_is_an_error_that_names_the_way_out():
    def check(case):
        call, message = case
        with pytest.raises(ValueError, match=message):
            call()

    check_all(
        [
            (lambda: TransferMatrixDisplay.from_result(RUN, score="bwt"), r"\(ba_macro\)\. Got 'bwt'"),
            (lambda: TransferMatrixDisplay.from_result(make_failed()), r"\(none: the run failed\)\. Got 'ba_macro'"),
            (lambda: TransferMatrixDisplay(MATRIX, [[0]]), r"each of the 1 experiences.*Got shape \(9, 4\)"),
            (
                lambda: TransferMatrixDisplay(MATRIX, RUN.order, task_names=["a"]),
                "name the 4 columns of R. Got 1 names",
            ),
            (lambda: TransferMatrixDisplay.from_result(RUN, kind="heat"), "'matrix' or 'lines'. Got 'heat'"),
            (lambda: ScoreCurvesDisplay.from_results(CAMPAIGN), "one stream. Got 3 streams: a, b, c"),
            (lambda: ScoreCurvesDisplay.from_results([RUN], score="acc"), r"\(ba_macro\)\. Got 'acc'"),
            (lambda: ScoreCurvesDisplay.from_results([RUN], kind="all"), "'windowed' or 'cumulative'. Got 'all'"),
            (lambda: ScoreCurvesDisplay([[1]], [[1, 2]], names=["a"], experience_sizes=[1]), r"Got \[1\] rows, \[2\]"),
            (
                lambda: ScoreCurvesDisplay.from_results([RUN, RUN]),
                "pass a mapping.* Got 2 runs of NN_TL on yeast with seed 0",
            ),
            (lambda: CriticalDifferenceDisplay.from_runs([*CAMPAIGN, *CAMPAIGN]), "Got 2 runs of NN on a with seed 0"),
            (lambda: ScheduleDisplay([[1, 0]], [5, 5]), r"\(2, 2\)\. Got shape \(1, 2\)"),
            (lambda: LabelFrequencyDisplay([0.5], label_names=["a", "b"]), "each of the 1. Got 2 names"),
            (lambda: LabelFrequencyDisplay([[0.5]], task_names=["a", "b"]), "each of the 1. Got 2 names"),
            (lambda: LabelFrequencyDisplay(0.5), "one or two dimensions. Got 0"),
            (lambda: CriticalDifferenceDisplay.from_runs([RUN]), "Got 1 runs of 1 strategies on 1 streams"),
            (lambda: CriticalDifferenceDisplay([1.0], ["a"], critical_difference=1, n_streams=3), "at least two names"),
        ],
        check,
    )


def test_matplotlib_is_imported_where_it_draws_only():
    sources = [path.read_text(encoding="utf-8") for path in Path(plotting.__file__).parent.rglob("*.py")]
    lines = [
        line for source in sources for line in source.splitlines() if re.match(r" *(from|import) matplotlib", line)
    ]
    assert lines
    assert all(line.startswith("    ") for line in lines)


def test_one_run_is_drawn_as_a_list_of_one():
    alone, listed = (ScoreCurvesDisplay.from_results(runs) for runs in (RUN, [RUN]))
    assert alone.names == listed.names == [RUN.strategy]
    np.testing.assert_array_equal(alone.lines_[0].get_ydata(), listed.lines_[0].get_ydata())


def test_a_front_is_drawn_from_the_numbers_it_is_made_of():
    display = ParetoFrontDisplay(["dear", "cheap", "beaten"], [90.0, 0.5, 1.0], [0.8, 0.6, 0.6]).plot()
    assert display.front == ["cheap", "dear"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in display.points_] == [(90, 0.8), (0.5, 0.6), (1, 0.6)]
    assert (display.front_.get_xdata().tolist(), display.front_.get_ydata().tolist()) == ([0.5, 90], [0.6, 0.8])
    assert (display.ax_.get_xscale(), display.ax_.get_xlabel()) == ("log", "Energy, J")
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["dear", "cheap", "beaten"]
    assert ParetoFrontDisplay(["a", "b"], [0, 9], [0, 1]).plot().ax_.get_xscale() == "linear"


def test_a_front_of_runs_takes_those_that_finished():
    runs = [make_run("NN"), make_run("1NN"), make_capped("BR_HT"), make_failed("mean")]
    display = ParetoFrontDisplay.from_runs(runs, score="ba_macro", cost="time")
    assert display.names == ["NN", "1NN"]
    seconds = [sum(phase.wall_time_s for phase in run.resources.phases.values()) for run in runs[:2]]
    np.testing.assert_allclose(display.costs, seconds)
    np.testing.assert_allclose(display.scores, [run.scores["ba_macro"] for run in runs[:2]])
    assert (display.cost_name, display.score_name) == ("Wall time, s", "BA_macro")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ParetoFrontDisplay(["a"], [1, 2], [1]), r"costs must hold .* Got shape \(2,\) and 1 names"),
        (lambda: ParetoFrontDisplay([], [], []), "costs must hold a finite number for each of at least one name"),
        (lambda: ParetoFrontDisplay(["a"], [1], [np.nan]), "scores must hold a finite number"),
        (lambda: ParetoFrontDisplay(["a"], [-1], [1]), "costs must be at least 0. Got -1 instead"),
        (lambda: ParetoFrontDisplay.from_runs([RUN], score="rmse"), "score must be one of which more is better"),
        (lambda: ParetoFrontDisplay.from_runs([RUN], cost="money"), "cost must be 'energy' or 'time'. Got 'money'"),
        (lambda: ParetoFrontDisplay.from_runs([make_capped()]), "runs must have finished, .* Got capped ones only"),
        (lambda: ParetoFrontDisplay.from_runs([make_failed()]), "runs must have finished, .* Got none"),
    ],
)
def test_a_front_that_cannot_be_drawn_says_why(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_line_is_the_recall_at_budgets_and_a_marker_what_was_decided():
    display = AlarmBudgetDisplay.from_predictions(
        ALARMS,
        {"NN": SCORES, "mean": 1 - SCORES},
        period=2,
        budgets=[1, 2, 4],
        y_pred={"NN": SCORES > 0.25},
        period_name="day",
    )
    assert display.lines_[0].get_xdata().tolist() == [1, 2, 4]
    np.testing.assert_allclose(display.lines_[0].get_ydata(), [2 / 3, 2 / 3, 1])
    (point,) = display.points_
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (2.5, pytest.approx(2 / 3))
    assert display.ax_.get_xlabel() == "Alarms per day"


def test_wrong_budgets_of_alarms_are_refused():
    with pytest.raises(ValueError, match="recalls must hold a row for each of 1 names"):
        AlarmBudgetDisplay(["NN"], [1, 2], [[0.5]])
    with pytest.raises(ValueError, match=r"y_pred must be of learners in y_score. Got 'ridge', and NN"):
        AlarmBudgetDisplay.from_predictions(ALARMS, {"NN": SCORES}, y_pred={"ridge": ALARMS})


def test_bars_of_an_explanation_lead_from_the_base_to_the_score():
    explanation = explain_row()
    display = ExplanationDisplay.from_explanation(explanation, label="worm", k=3)
    bars = list(display.bars_)
    assert bars[0].get_x() == pytest.approx(explanation.base[1])
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(explanation.scores[0, 1])
    ticks = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert ticks == [*(name for name, _ in explanation.top(3, label="worm")), "other features", "interactions"]
    with pytest.raises(ValueError, match="contributions must hold a number for each of 2 names"):
        ExplanationDisplay(["a", "b"], [1.0], base=0.0)


def test_prediction_sets_are_drawn_window_by_window():
    Y = np.array(ALARMS, dtype=float)
    Y[2] = np.nan
    display = PredictionSetsDisplay.from_predictions(Y, {"NN": SETS}, alpha=0.1, window=2)
    np.testing.assert_allclose(display.lines_[0].get_ydata(), [0.75, 0.5])
    np.testing.assert_allclose(display.below_.lines[0].get_ydata(), [0.5, 0.5])
    assert display.lines_[0].get_xdata().tolist() == [2, 4]
    whole = PredictionSetsDisplay.from_predictions(Y, {"NN": SETS}, alpha=0.1, window=1, average="subset")
    np.testing.assert_array_equal(whole.coverages["NN"], [1, 0, np.nan, 0])
    with pytest.raises(TypeError, match=r"sets must be a mapping of names to sets\. Got ndarray"):
        PredictionSetsDisplay.from_predictions(Y, SETS, alpha=0.1)
    with pytest.raises(ValueError, match="coverages and n_open must have the same names, with a value for each of 1"):
        PredictionSetsDisplay([1], {"NN": [1.0]}, {}, alpha=0.1)
    with pytest.raises(ValueError, match=r"alpha must be a finite number in \[0, 1\]. Got \(0.01, 0.1\)"):
        PredictionSetsDisplay.from_predictions(Y, {"NN": SETS}, alpha=(0.01, 0.1))


def test_a_reliability_diagram_draws_filled_bins_and_numbers_of_cells():
    display = ReliabilityDisplay.from_predictions(ALARMS, {"NN": SCORES, "turned": 1 - SCORES}, n_bins=2)
    np.testing.assert_allclose(display.lines_[0].get_xdata(), [0.24, 0.8])
    np.testing.assert_allclose(display.lines_[0].get_ydata(), [0.2, 2 / 3])
    assert display.below_.lines[0].get_ydata().tolist() == [5, 3]
    alone = ReliabilityDisplay.from_predictions(ALARMS, {"wind": SCORES}, n_bins=2, label_mask=[False, True])
    np.testing.assert_allclose(alone.lines_[0].get_ydata(), [0, 0.5])
    free = plt.figure().add_axes((0.2, 0.5, 0.7, 0.4))
    beneath = ReliabilityDisplay.from_predictions(ALARMS, {"NN": SCORES}, ax=free).below_
    assert beneath.get_window_extent().y1 < free.get_window_extent().y0
    with pytest.raises(TypeError, match=r"y_proba must be a mapping of names to probabilities. Got list"):
        ReliabilityDisplay.from_predictions(ALARMS, [SCORES])
