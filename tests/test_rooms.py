"""The picture of the rooms shows the imports that there are, and can be read."""

import itertools
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import metrics

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "_extensions"))
import layered_layout
import rooms

# Where the packages lie: the checkout, or the folder that a wheel is installed into.
SOURCE = Path(metrics.__file__).parents[1]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def graph():
    return rooms.read_imports(SOURCE)


@pytest.fixture(scope="module")
def picture(graph):
    with pytest.MonkeyPatch.context() as patch:
        # Imports are read once.
        patch.setattr(rooms, "read_imports", lambda _: graph)
        return ET.fromstring(rooms.draw(SOURCE))  # noqa: S314 - our own


def elements(picture, kind):
    return [one for one in picture.iter() if one.get("class") == kind]


def edges(box):
    x, y, width, height = (float(box.get(name)) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


@pytest.mark.slow
def test_the_rooms_and_their_imports_are_those_that_the_linter_of_imports_finds(graph):
    grimp = pytest.importorskip("grimp")
    found = grimp.build_graph(*rooms.PACKAGES, cache_dir=None)

    def room(module):
        package, _, rest = module.partition(".")
        return (package, package) if package == "metrics" else (package, rest.partition(".")[0]) if rest else None

    expected = {room(module): set() for module in found.modules if room(module)}
    for module in found.modules:
        for imported in found.find_modules_directly_imported_by(module):
            if room(module) and room(imported) and room(module) != room(imported):
                expected[room(module)].add(room(imported))
    assert graph == expected


@pytest.mark.slow
def test_every_room_is_a_box_with_its_name(picture, graph):
    names = [one.text for one in picture.iter(f"{SVG}text")]
    assert sorted(names) == sorted([*(name for _, name in graph), *rooms.PACKAGES])
    assert len(elements(picture, "box")) == len(graph)


@pytest.mark.slow
def test_no_two_boxes_overlap_and_all_lie_on_the_page(picture):
    boxes = [edges(box) for box in elements(picture, "box")]
    for (left, top, right, bottom), (other_left, other_top, other_right, other_bottom) in itertools.combinations(
        boxes, 2
    ):
        assert right <= other_left or other_right <= left or bottom <= other_top or other_bottom <= top
    _, _, width, height = map(float, picture.get("viewBox").split())
    assert all(left >= 0 and right <= width and top >= 0 and bottom <= height for left, top, right, bottom in boxes)


def points(arrow):
    numbers = list(map(float, re.findall(r"-?[\d.]+", arrow.get("d"))))
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    # Of each bend: the two handles, and the point where it ends.
    return [pairs[0], *pairs[3::3]]


def test_arrows_go_downwards_and_through_no_box(picture, graph):
    arrows = [points(arrow) for arrow in elements(picture, "arrow")]
    assert len(arrows) == sum(map(len, rooms.without_shortcuts(graph).values()))
    for arrow in arrows:
        assert all(y < y2 for (_, y), (_, y2) in itertools.pairwise(arrow))
        for left, top, right, bottom in map(edges, elements(picture, "box")):
            # Lines are straight beside the boxes of a row, and bent between rows only.
            within = [x for (x, y), (x2, y2) in itertools.pairwise(arrow) if x == x2 and y < bottom and top < y2]
            assert not any(left < x < right for x in within)
            assert not any(left < x < right and top < y < bottom for x, y in arrow)


def test_every_arrow_joins_the_boxes_of_its_rooms():
    graph = {"a": {"b", "d"}, "b": {"c"}, "c": set(), "d": {"c"}}
    layout = layered_layout.lay_out([["a"], ["b"], ["d"], ["c"]], graph, dict.fromkeys("abcd", 50.0), [0] * 4)
    assert set(layout.routes) == {("a", "b"), ("a", "d"), ("b", "c"), ("d", "c")}
    for (start, end), route in layout.routes.items():
        assert route[0] == (layout.places[start].x, layout.places[start].top + layered_layout.BOX_HEIGHT)
        assert route[-1] == (layout.places[end].x, layout.places[end].top - 2)


def test_boxes_of_a_row_are_ordered_so_that_arrows_do_not_cross():
    graph = {"a": {"z"}, "b": {"y"}, "c": {"x"}, "x": set(), "y": set(), "z": set()}
    layout = layered_layout.lay_out([["a", "b", "c"], ["x", "y", "z"]], graph, dict.fromkeys("abcxyz", 50.0), [0, 0])
    x = {node: place.x for node, place in layout.places.items()}
    assert all(x[start] == pytest.approx(x[end]) for start, end in layout.routes)


def test_shortcuts_are_left_out_and_nothing_else():
    a, b, c, d = (("mlstream", name) for name in "abcd")
    graph = {a: {b, c, d}, b: {c}, c: set(), d: {c}}
    assert rooms.without_shortcuts(graph) == {a: {b, d}, b: {c}, c: set(), d: {c}}


def test_what_can_be_reached_stays_the_same_without_shortcuts(graph):
    def reached(room, imports):
        found, waiting = set(), [room]
        while waiting:
            more = imports[waiting.pop()] - found
            found |= more
            waiting += more
        return found

    drawn = rooms.without_shortcuts(graph)
    for room, others in drawn.items():
        assert reached(room, drawn) == reached(room, graph)
        for other in others:
            assert other not in reached(room, {**drawn, room: others - {other}})


def test_a_circle_is_an_error_that_names_it():
    a, b = ("mlstream", "a"), ("mlstream", "b")
    with pytest.raises(ValueError, match=r"in a circle\. Got mlstream\.\w <- mlstream\.\w <- mlstream\.\w\.$"):
        rooms.without_shortcuts({a: {b}, b: {a}})


def test_a_room_stands_below_all_that_import_it(graph):
    row = {room: place for place, row in enumerate(rooms.rows_of(graph)) for room in row}
    assert row.keys() == graph.keys()
    assert all(row[room] < row[other] for room, others in graph.items() for other in others)


def test_imports_are_found_wherever_they_stand(tmp_path):
    for name, text in {
        "mlstream/top.py": "def f():\n    from mlstream import below\n",
        "mlstream/below.py": "import estimators.base.tree\n",
        "estimators/base/tree.py": "from metrics.labels import ba\n",
        "metrics/labels.py": "from metrics import _means\n",
        "metrics/_means.py": "import numpy\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert rooms.read_imports(tmp_path) == {
        ("mlstream", "top"): {("mlstream", "below")},
        ("mlstream", "below"): {("estimators", "base")},
        ("estimators", "base"): {("metrics", "metrics")},
        ("metrics", "metrics"): set(),
    }
