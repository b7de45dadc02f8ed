"""Pictures of a card: well-formed, and drawn where the card says; charts that Plotly accepts."""

from itertools import accumulate
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

from mlstream.plotting.labels import label_chart, label_svg
from mlstream.plotting.schedule import schedule_chart, schedule_svg
from mlstream.streams.card_model import DriftCard, ExperienceCard
from mlstream.streams.stream import Stream
from tests.mlstream.plotting.plotly_checks import require_valid
from tests.mlstream.records.run_records import ORDER, SIZES, TASKS, make_card
from tests.mlstream.small_streams import Shape, make_stream, streams

SVG = "{http://www.w3.org/2000/svg}"


def find(text: str, tag: str) -> list[ET.Element]:
    return list(ET.fromstring(text).iter(SVG + tag))  # noqa: S314 - our own text


@given(streams())
def test_every_picture_is_well_formed_whatever_the_names(stream: Stream) -> None:
    for draw in (label_svg, schedule_svg):
        assert find(draw(stream.card), "title")


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "&amp;", "a\x00\x1b[31m", "]]>", "\u202e"])
def test_names_are_not_markup(name: str) -> None:
    card = make_stream(Shape(label_names=(name, "l"))).card.model_copy(update={"name": name})
    for draw in (label_svg, schedule_svg):
        assert find(draw(card), "script") == []


def test_cells_that_are_filled_are_the_signatures() -> None:
    card = make_stream().card
    cells = [rect for rect in find(label_svg(card), "rect") if rect.get("stroke-width") == "0.5"]
    filled = [cell.get("fill") != "none" for cell in cells]
    assert filled == [label in task.signature for task in card.tasks for label in range(len(card.label_names))]


def test_shades_grow_with_the_share() -> None:
    card = make_stream().card
    task = card.tasks[0].model_copy(update={"signature": [0, 1, 2], "label_frequencies": [0.0, 0.2, 1.0]})
    picture = label_svg(card.model_copy(update={"tasks": [task]}))
    shades = [rect.get("fill") for rect in find(picture, "rect") if rect.get("stroke-width") == "0.5"]
    assert shades[0] == "#deebf7"
    assert shades[2] == "#08306b"
    assert shades[0] > shades[1] > shades[2]


def test_bars_lie_in_the_lane_of_their_task_one_after_the_other() -> None:
    card = make_stream(Shape(sizes=(6, 0, 3))).card
    bars = [rect for rect in find(schedule_svg(card), "rect") if rect.get("stroke") == "white"]
    widths = [float(bar.get("width")) for bar in bars]
    assert widths[0] == pytest.approx(2 * widths[-1], abs=0.02)
    assert float(bars[-1].get("x")) == pytest.approx(float(bars[0].get("x")) + widths[0], abs=0.02)
    assert sum(widths) == pytest.approx(960 - 150 - 30, abs=0.05)


def test_known_drifts_are_marked() -> None:
    card = make_stream(Shape(sizes=(6, 3))).card
    drift = DriftCard(what=["P(X)"], pattern="gradual", start=3, stop=8, before=0, after=1, recurring=False)
    before, after = (find(schedule_svg(card.model_copy(update={"drifts": drifts})), "line") for drifts in ([], [drift]))
    assert len(after) == len(before) + 1
    assert float(after[-1].get("x1")) == pytest.approx(150 + 780 * 3 / 9)


def test_many_labels_fit_the_width() -> None:
    card = make_stream(Shape(label_names=tuple(f"label {n}" for n in range(400)))).card
    right = [float(rect.get("x")) + float(rect.get("width")) for rect in find(label_svg(card), "rect")[1:]]
    assert max(right) <= 960


def test_charts_hold_nothing_that_plotly_does_not_know():
    for chart in (label_chart(make_card()), schedule_chart(make_card())):
        require_valid(chart)


def test_a_label_outside_the_signature_is_blank_and_others_have_their_share():
    card = make_card()
    (heat,) = label_chart(card).views[0].data
    for row, task in zip(heat["z"], card.tasks, strict=True):
        for label, share in enumerate(row):
            assert share == (round(task.label_frequencies[label], 4) if label in task.signature else None)
    assert any(None in row for row in heat["z"])


def test_many_labels_get_room_and_no_numbers():
    few, many = label_chart(make_card()), label_chart(make_card(n_labels=101))
    assert few.views[0].data[0]["texttemplate"]
    assert not many.views[0].data[0]["texttemplate"]
    assert many.min_width > 1000 > few.min_width
    assert many.views[0].data[0]["showscale"]


def test_the_schedule_has_a_bar_where_each_experience_is():
    (bars,) = schedule_chart(make_card()).views[0].data
    ends = [base + size for base, size in zip(bars["base"], bars["x"], strict=True)]
    assert ends == list(accumulate(SIZES))
    assert bars["y"] == [TASKS[task] for task in ORDER]


def test_an_experience_of_two_tasks_has_two_bars():
    card = make_card().model_copy(update={"experiences": [ExperienceCard(tasks=[0, 2], n_samples=30)]})
    (bars,) = schedule_chart(card).views[0].data
    assert (bars["y"], bars["x"], bars["base"]) == (["task 0", "task 2"], [30, 30], [0, 0])
