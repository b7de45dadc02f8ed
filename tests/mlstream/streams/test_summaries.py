"""Tables, streams, parts, cards and runs are shown in a line, and in notebooks as a page that needs nothing else."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy import sparse

from mlstream import Dataset
from mlstream._support import html as _html
from mlstream.streams.stream import Experience, Task
from tests.loops import check_all
from tests.mlstream.records.run_records import make_failed, make_run
from tests.mlstream.small_streams import Shape, make_stream

STREAM = make_stream(Shape(sizes=(6, 2, 3, 5), unknown=0.2))
TABLE = Dataset([[0.5, 1], [2, 3]], [[1, 0], [1, 1]], ["a", "b"], ["k", "l"], "tiny", source="t.csv")
SHOWN = {
    "table": TABLE,
    "stream": STREAM,
    "experience": STREAM.experiences[0],
    "evaluation set": STREAM.evaluation_sets[1],
    "mixed experience": make_stream(Shape(by_row=True, sizes=(12,))).experiences[0],
    "empty experience": make_stream().experiences[1],
    "card": STREAM.card,
    "run": make_run(),
    "failed run": make_failed(),
}


def read(page):
    """Parse a page, which is XML too."""
    return ET.fromstring(page)  # noqa: S314 - our own


def texts(page):
    return [text for text in read(page).itertext() if text]


def bars(page):
    """Return the lane, the left edge and the width of each bar."""
    found = [one for one in read(page).iter() if one.tag.endswith("rect")]
    return [(float(one.get("y")) // 22, float(one.get("x")), float(one.get("width"))) for one in found]


def test_a_line_shows_sizes_and_no_arrays():
    def check(case):
        shown, expected = case
        assert repr(shown) == str(shown) == expected

    check_all(
        [
            (TABLE, "Dataset('tiny': 2 rows, 2 features, 2 labels)"),
            (replace(TABLE, X=sparse.csr_array(TABLE.X)), "Dataset('tiny': 2 rows, 2 sparse features, 2 labels)"),
            (Task("t", np.array([True, False, True])), "Task('t': 2 of 3 labels)"),
            (SHOWN["experience"], "Experience(6 rows, 4 features, 3 labels; task 0)"),
            (SHOWN["mixed experience"], "Experience(12 rows, 4 features, 3 labels; tasks 0, 1)"),
            (SHOWN["empty experience"], "Experience(0 rows, 4 features, 3 labels; no task)"),
            (SHOWN["evaluation set"], "EvaluationSet(2 rows, 4 features, 3 labels; task 1)"),
            (STREAM, "Stream('hand: made': 4 experiences of 2 tasks, 16 rows, 4 features, 3 labels)"),
            (STREAM.card, "StreamCard('hand: made': 4 experiences of 2 tasks, 16 rows, 4 features, 3 labels)"),
            (SHOWN["failed run"], "RunResult('1NN' on 'yeast', seed 1: failed)"),
        ],
        check,
    )


def test_the_line_of_a_run_names_its_seeds_and_main_scores():
    run = make_run(seed=3, order_seed=1).model_copy(update={"scores": {"acc": 0.61234, "bwt": None, "rmse": 0.1}})
    assert repr(run) == "RunResult('NN' on 'yeast', seed 3, order 1: done, acc 0.612)"


def test_a_page_is_well_formed_and_needs_nothing_else():
    def check(name):
        page = SHOWN[name]._repr_html_()
        read(page)
        assert "<script" not in page
        assert set(re.findall(r"https?://[^\"' <]*", page)) <= {"http://www.w3.org/2000/svg"}
        # No colour of its own for text or ground: those of the page, light or dark, are taken.
        assert set(re.findall(r"#[0-9a-f]{3,8}", page)) <= {_html._BAR}
        assert not re.search(r"background:(?!none)|[^-]color:", page)

    check_all(SHOWN, check)


def test_bars_can_be_seen_on_white_and_on_black():
    def luminance(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light = luminance(_html._BAR)
    assert min(1.05 / (light + 0.05), (light + 0.05) / 0.05) >= 3


def test_the_page_of_a_table_states_sizes_and_label_shares():
    found = texts(TABLE._repr_html_())
    assert {"tiny" in text for text in found[:1]} == {True}
    assert {"2", "2 (float64, dense)", "t.csv", "100.0%", "50.0%"} <= set(found)


def test_the_page_of_a_stream_shows_each_visit_in_proportion():
    page = STREAM._repr_html_()
    assert {"task 0", "task 1", STREAM.card.description} <= set(texts(page))
    found = bars(page)
    sizes = [len(part) for part in STREAM]
    assert [lane for lane, _, _ in found] == [0, 1, 0, 1]
    widths = [width + 1 for _, _, width in found]
    np.testing.assert_allclose(np.array(widths) / sum(widths), np.array(sizes) / sum(sizes), rtol=1e-3)
    starts = [left for _, left, _ in found]
    np.testing.assert_allclose(np.diff(starts), widths[:-1], atol=0.02)


@pytest.mark.parametrize("name", ["<b>&\"'", "a\nb\x00", "\ud800"])
def test_names_cannot_break_a_page(name):
    page = Dataset([[0.5]], [[1]], ["a"], [name], name)._repr_html_()
    shown = "".join(character if character.isprintable() else "?" for character in name)
    assert texts(page)[0] == f"Dataset {shown}"
    assert page.encode()


def test_many_tasks_labels_and_experiences_are_cut_and_counted():
    page = _html.schedule([f"t{number}" for number in range(30)], [10] * 30, [[number] for number in range(30)])
    assert len(bars(page)) == 24
    assert "row 1; 6 more tasks are not shown" in texts(page)
    assert "share; 6 more are not shown" in texts(_html.shares("share", {f"l{number}": 0.5 for number in range(30)}))
    assert "40 more are not shown" in texts(_html.summary("t", {}, _html.table(("a",), [(1,)] * 100)))


def test_bars_too_many_to_be_seen_are_joined_and_cover_the_same():
    page = _html.schedule(["a", "b"], [1] * 5000, [[0] if number < 2500 else [1] for number in range(5000)])
    (first, left, width), (second, after, other) = bars(page)
    assert (first, second) == (0, 1)
    np.testing.assert_allclose([left, width + 1, after, other + 1], [170, 295, 465, 295], atol=0.02)


def test_an_experience_without_rows_or_masks_has_a_page():
    none = np.empty(0, np.int64)
    part = Experience(np.empty((0, 2)), np.empty((0, 3), np.uint8), none, np.ones((0, 3), bool), none)
    assert "0" in texts(part._repr_html_())
