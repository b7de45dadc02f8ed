"""Drift detection in the report: what is drawn and listed is what the records hold."""

import json
import re
from statistics import mean, stdev

import pytest

from mlstream.plotting.alarms import AlarmLane, AlarmMark, DriftSpan, Timeline, alarm_figure, alarm_view
from mlstream.records.detection_record import load_detections, save_detection
from mlstream.records.run_record import save_card
from mlstream.reporting.detection import alarm_lanes, detection_headline, detection_part
from mlstream.reporting.detection_tables import delay_table, detection_table, group_detections
from mlstream.reporting.report import report
from tests.mlstream.records.detections import (
    ALARMS,
    DRIFTS,
    N_ROWS,
    make_detection,
    make_failed_detection,
    write_detections,
)
from tests.mlstream.records.run_records import make_card, write_campaign
from tests.mlstream.reporting.browser import Browser, find_chromium
from tests.mlstream.reporting.test_report import Page, packed

CHROMIUM = find_chromium()
CARD = make_card()


@pytest.fixture(scope="module")
def detections(tmp_path_factory):
    return load_detections(write_detections(tmp_path_factory.mktemp("detections")))


@pytest.fixture(scope="module")
def part(detections):
    return detection_part(detections, {"yeast": CARD})


def by_name(view):
    return {trace["name"]: trace for trace in view.data if "name" in trace}


def row_of(table, *names):
    titles = [column.title for column in table.columns]
    found = next(row for row in table.rows if tuple(cell.text for cell in row[: len(names)]) == names)
    return dict(zip(titles, found, strict=True))


def test_there_is_a_view_for_each_learner_and_seed(part):
    (stream,) = part.streams
    names = [view.name for view in stream.chart.views]
    assert names == ["BR_HT, seed 0", "BR_HT, seed 1", "NN_TL, seed 0", "NN_TL, seed 1"]


def test_the_chart_shows_the_truth_above_and_every_alarm_below(part):
    view = part.streams[0].chart.views[2]
    traces = by_name(view)
    assert traces["Known drift"]["x"] == [drift.start for drift in DRIFTS]
    assert view.layout["yaxis"]["categoryarray"] == ["drifts", "ADWIN", "DDM", "LabelDrift"]
    assert view.layout["yaxis"]["autorange"] == "reversed"
    bars = view.data[0]
    assert (bars["base"], bars["x"]) == ([260, 686, 1106], [40, 40, 40])
    drawn = {
        (lane, row): trace
        for trace in ("Alarm in time", "False alarm")
        for row, lane in zip(traces[trace]["x"], traces[trace]["y"], strict=True)
    }
    assert sorted(drawn) == sorted((name, row) for name, seeds in ALARMS.items() for row in seeds[0])
    assert drawn["ADWIN", 100] == "False alarm"
    assert drawn["ADWIN", 300] == drawn["ADWIN", 310] == "Alarm in time"
    assert drawn["LabelDrift", 1200] == "Alarm in time"
    shades = [shape for shape in view.layout["shapes"] if shape["type"] == "rect"]
    assert [(shape["x0"], shape["x1"]) for shape in shades] == [(260, 360), (686, 786), (1106, 1206)]


def test_what_is_shown_on_hover_states_the_delay_and_the_labels(part):
    traces = by_name(part.streams[0].chart.views[2])
    texts = dict(zip(traces["Alarm in time"]["x"], traces["Alarm in time"]["text"], strict=True))
    assert texts[300] == "row 300, +40 rows from drift 1"
    assert texts[290] == "row 290, +30 rows from drift 1; Class1, Class13"
    assert traces["False alarm"]["text"] == ["row 100, false alarm"]
    assert traces["Known drift"]["text"][0] == "drift 1, rows 260 to 300: task 3 to task 1: gradual"


def test_the_summary_says_what_the_chart_shows(part):
    assert part.streams[0].chart.views[2].summary == (
        "On the errors of NN_TL, seed 0: drifts found of 3, and false alarms in brackets: "
        "ADWIN 2 (1), DDM 0 (0), LabelDrift 3 (0)."
    )


def test_scores_are_means_over_seeds(detections, part):
    table = part.streams[0].scores
    row = row_of(table, "ADWIN", "NN_TL")
    values = [one.scores["f1"] for one in detections if (one.detector, one.learner) == ("ADWIN", "NN_TL")]
    assert row["F1"].value == mean(values)
    assert row["F1"].text == f"{mean(values):.3f} ± {stdev(values):.3f}"
    assert row["Runs"].text == "2 done"
    delays = [(40 + 14) / 2, (40 + 4) / 2]
    assert (row["Delay, rows"].value, row["Delay, rows"].text) == (mean(delays), f"{mean(delays):,.0f} ± 4")
    assert row["Error of the learner"].text == "0.400"
    f1 = [row["F1"].value for row in (dict(zip([c.title for c in table.columns], r, strict=True)) for r in table.rows)]
    assert f1 == sorted(f1, reverse=True)


def test_the_best_are_marked_and_what_is_undefined_has_a_reason(part):
    table = part.streams[0].scores
    silent = row_of(table, "DDM", "BR_HT")
    assert (silent["Delay, rows"].text, silent["Delay, rows"].note) == ("n/a", "No drift was found.")
    assert silent["False alarms per 1,000"].is_best
    assert silent["Time between false alarms"].note == "There was no false alarm."
    assert row_of(table, "LabelDrift", "NN_TL")["Drifts found"].is_best
    assert not silent["Drifts found"].is_best
    assert row_of(table, "DDM", "NN_TL")["Runs"].text == "1 done, 1 failed"
    partial = row_of(table, "ADWIN", "NN_TL")["Time between false alarms"]
    assert partial.note == "In 1 of 2 runs. There was no false alarm."


def test_delays_are_listed_drift_by_drift(part):
    learners = dict(part.streams[0].delays)
    first, second, third, false = ([cell.text for cell in row] for row in learners["NN_TL"].rows)
    assert first == ["1", "260", "300", "task 3 to task 1: gradual", "+40 (2 of 2)", "missed", "+25 (2 of 2)"]
    assert second[4:] == ["+9 (2 of 2)", "missed", "+34 (1 of 2)"]
    assert third[4:] == ["missed", "missed", "+49 (2 of 2)"]
    assert false == ["false alarms", "", "", "", "1", "0", "2"]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([make_detection("DDM")], "No detector found a drift."),
        ([make_failed_detection()], "No detector has an F1 on every stream: nothing is compared."),
        (
            [make_detection("ADWIN", rows=(260, 686, 1106))],
            "ADWIN on the errors of NN_TL has the highest F1, 1.000; nothing is compared.",
        ),
        (
            [make_detection("ADWIN", rows=(260, 686, 1106)), make_detection("DDM", rows=(260, 686))],
            "ADWIN on the errors of NN_TL has the highest F1, 1.000; that of DDM on NN_TL is next, 0.200 lower; no",
        ),
        (
            [make_detection(name, rows=(260,), stream=stream) for name in ("A", "B") for stream in "st"],
            "A on the errors of NN_TL has the highest F1 on average over 2 streams, 0.500; that of B on NN_TL is next, "
            "as high; no test of chance.",
        ),
    ],
)
def test_the_headline_names_the_best_and_the_next(found, message):
    assert detection_headline(group_detections(found)).startswith(message)


def test_of_a_stream_without_drifts_only_false_alarms_are_shown():
    found = [make_detection("ADWIN", rows=(100, 900), drifts=[])]
    (stream,) = detection_part(found, {"yeast": CARD}).streams
    assert stream.notices == ["This stream has no known drift: every alarm is a false one."]
    assert stream.delays == []
    row = row_of(stream.scores, "ADWIN", "NN_TL")
    assert (row["F1"].text, row["F1"].note) == ("n/a", "The stream has no drift that is known.")
    assert row["False alarms per 1,000"].value == 2000 / N_ROWS


def test_detections_of_other_drifts_or_limits_are_not_drawn_over_each_other():
    other = make_detection("DDM", rows=(), settings={"errors": "subset", "max_delay": 9, "max_early": 0})
    (stream,) = detection_part([make_detection(), other], {"yeast": CARD}).streams
    assert stream.chart.views[0].layout["yaxis"]["categoryarray"] == ["drifts", "ADWIN"]
    assert dict(stream.facts)["In time: rows after the end of a drift"] == "60, 9"


def test_where_all_failed_there_is_a_table_and_no_chart():
    part = detection_part([make_failed_detection()], {"yeast": CARD})
    assert part.streams[0].chart is None
    assert (part.failed[0].reason, part.n_failed) == ("ValueError: values must be 0 or 1.", 1)
    assert row_of(part.streams[0].scores, "DDM", "NN_TL")["F1"].note == "Every run failed."


def test_a_page_of_detections_alone_is_whole(tmp_path):
    page = Page(report(write_detections(tmp_path, streams=("yeast", "other"))).read_text(encoding="utf-8"))
    words = " ".join(" ".join(page.words).split())
    assert "3 drift detectors on 2 streams" in words
    assert "22 detections of drifts , and 2 that failed: see why" in words.replace("drifts,", "drifts ,")
    for text in (
        "Drift by drift",
        "Detections that failed",
        "The drift detectors ADWIN, DDM and LabelDrift were given",
    ):
        assert text in words, text
    assert "A matrix R" not in words
    assert "Estimators" not in words
    assert page.n_plots == len(packed(page)[0].splitlines()) == 2
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.references) <= set(page.ids)
    assert {address[1:] for address in page.addresses if address.startswith("#")} <= set(page.ids)


@pytest.mark.slow
def test_beside_runs_detections_have_a_section_of_their_own(tmp_path):
    alone = report(write_campaign(tmp_path / "runs")).read_text(encoding="utf-8")
    page = Page(report(write_detections(write_campaign(tmp_path / "both"))).read_text(encoding="utf-8"))
    words = " ".join(" ".join(page.words).split())
    assert "6 strategies on yeast" in words
    assert "11 detections of drifts" in words
    assert page.n_plots == Page(alone).n_plots + 1
    assert "Drift detection" not in alone
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.references) <= set(page.ids)


def test_names_are_shown_and_never_run(tmp_path):
    save_card(make_card("<i>s"), tmp_path)
    save_detection(make_detection("<script>x</script>", "<b>%{x}", stream="<i>s", rows=(300,)), tmp_path)
    text = report(tmp_path).read_text(encoding="utf-8")
    assert "<script>x" not in text
    assert "<i>s" not in text
    (view,) = json.loads(packed(Page(text))[0])
    # The summary is set as text, what is drawn is read by Plotly.
    assert "<script>" not in json.dumps([view["data"], view["layout"]])
    assert view["layout"]["yaxis"]["categoryarray"] == ["drifts", "&lt;script&gt;x&lt;/script&gt;"]


def test_the_card_of_every_stream_must_be_there(tmp_path):
    save_detection(make_detection(), tmp_path)
    with pytest.raises(FileNotFoundError, match=r"must hold the card of every stream .* Got no card of yeast"):
        report(tmp_path)
    assert not (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_tables_and_figures_are_files_too(tmp_path):
    report(write_detections(tmp_path, learners=("NN_TL",)), tables=True, figures=True)
    lines = (tmp_path / "tables" / "detection-yeast.csv").read_text().splitlines()
    assert lines[0].startswith("Detector,Learner,Drifts found,F1,Precision,Recall,")
    assert len(lines) == 4
    assert (tmp_path / "tables" / "delays-yeast-NN_TL.md").exists()
    assert (tmp_path / "tables" / "detection-yeast.tex").exists()
    assert len(list((tmp_path / "figures").glob("alarms-yeast-*.png"))) == 2
    assert len(list((tmp_path / "figures").glob("alarms-yeast-*.svg"))) == 2
    assert not (tmp_path / "report.csv").exists()


def test_the_figure_for_print_shows_the_same(detections):
    timeline, lanes = alarm_lanes([one for one in detections if (one.learner, one.seed) == ("NN_TL", 0)])
    axes = alarm_figure("t", timeline, lanes).axes[0]
    points = {drawn.get_label(): drawn.get_offsets().data.tolist() for drawn in axes.collections if drawn.get_label()}
    assert points["Known drift"] == [[260, 0], [686, 0], [1106, 0]]
    assert points["False alarm"] == [[100, 1]]
    assert sorted(points["Alarm in time"]) == [[290, 3], [300, 1], [310, 1], [700, 1], [720, 3], [1200, 3]]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["drifts", "ADWIN", "DDM", "LabelDrift"]


def test_windows_end_with_the_stream_and_abrupt_drifts_have_no_bar():
    timeline = Timeline(100, [DriftSpan(5, 5, "a"), DriftSpan(95, 95, "b")], max_delay=20, max_early=10)
    view = alarm_view("", timeline, [AlarmLane("drifts", [AlarmMark(6, True, "x")])], "s")
    assert list(timeline.windows) == [(0, 25), (85, 100)]
    assert view.data[0]["x"] == [0, 0]
    # A detector that is called as the lane of the truth has a lane of its own.
    assert view.layout["yaxis"]["categoryarray"] == ["drifts", "drifts (2)"]


@pytest.mark.parametrize("detector", ["ADWIN", "LabelDrift"])
def test_tables_stand_alone(detector):
    groups = group_detections([make_detection(detector)])["yeast"]
    assert row_of(detection_table(groups), detector, "NN_TL")["Runs"].text == "1 done"
    assert re.fullmatch(r"\+\d+|missed", delay_table(groups).rows[0][4].text)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_in_a_browser_views_and_legend_switch_the_chart_and_nothing_overflows(tmp_path, width, dark):
    page = report(write_detections(tmp_path / "d"))
    with Browser(CHROMIUM, tmp_path / "profile") as browser:
        browser.open(page, width=width, dark=dark)
        plot = "document.querySelector('#detection .plot')"
        browser.run(f"{plot}.scrollIntoView()")
        browser.wait_until(f"{plot}.data !== undefined")
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
        lanes = f"{plot}.querySelectorAll('.yaxislayer-above .ytick').length"
        browser.wait_until(f"{lanes} === 4")
        assert browser.run(f"{plot}.data.map(trace => trace.x.length)") == [3, 3, 6, 1]
        browser.click("#detection .switch label:nth-of-type(2)")
        browser.wait_until(f"{plot}.data[2].x.length === 4")
        assert "seed 1" in browser.run("document.querySelector('#detection figcaption').textContent")
        browser.click("#detection .legend button:nth-of-type(3)")
        browser.wait_until(f"{plot}.data[3].visible === false")
        assert browser.run(f"{plot}.data[2].visible") is True
        assert browser.problems == []


def test_thousands_are_split_in_every_number_of_rows():
    settings = {"errors": "subset", "max_delay": 5250, "max_early": 0}
    (stream,) = detection_part([make_detection(settings=settings)], {"yeast": CARD}).streams
    facts = dict(stream.facts)
    assert (facts["In time: rows after the end of a drift"], facts["Errors"]) == ("5,250", "subset")
