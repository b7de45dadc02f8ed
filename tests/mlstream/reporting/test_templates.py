"""The page in a real browser: it is drawn, sorted, switched, and read by people who see or touch it differently."""

import json
import re
import statistics
from itertools import combinations, pairwise

import pytest

from mlstream.records.run_record import save_card, save_run
from mlstream.records.run_result import PhaseResources
from mlstream.reporting.report import report
from tests.mlstream.plotting.plotly_checks import palettes
from tests.mlstream.records.run_records import ORDER, STRATEGIES, make_card, make_run, write_campaign
from tests.mlstream.reporting.browser import Browser, find_chromium

CHROMIUM = find_chromium()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]

ALL_DRAWN = "[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('.main-svg'))"
CURVES = "document.querySelector('#stream-1-curves .plot')"
SCORES = "document.querySelector('#stream-1-table')"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(CHROMIUM, tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return report(write_campaign(tmp_path_factory.mktemp("campaign")))


@pytest.fixture
def desktop(browser, page):
    """Show the page on a wide screen; tests leave legends and switches as they found them."""
    if browser.shown != {"page": page, "width": 1400, "dark": False, "touch": False}:
        browser.open(page, width=1400)
        browser.wait_until(ALL_DRAWN)
    browser.run("document.querySelectorAll('[aria-sort]').forEach(head => head.removeAttribute('aria-sort'))")
    return browser


def column(browser, title):
    """Read a column of the table of scores from top to bottom, as it is shown."""
    script = f"""(() => {{
      const table = {SCORES};
      const head = [...table.tHead.rows[0].cells].find(cell => cell.textContent.trim().startsWith({json.dumps(title)}));
      return [...table.tBodies[0].rows].map(row => row.cells[head.cellIndex].textContent.trim());
    }})()"""
    return browser.run(script)


def numbers(texts):
    return [None if text == "n/a" else float(text.split()[0].replace("\N{MINUS SIGN}", "-")) for text in texts]


def tooltip(browser, selector):
    """Point into a chart and read what it tells."""
    browser.point(selector, at=(0.3, 0.6))
    layer = f"document.querySelector('{selector} .hoverlayer')"
    browser.wait_until(f"{layer}.textContent !== ''")
    return browser.run(f"{layer}.textContent")


def choose(browser, selector, place):
    """Choose an option of a list by its place."""
    chosen = f"document.querySelector('{selector}')"
    browser.run(f"{chosen}.selectedIndex = {place}")
    browser.run(f"{chosen}.dispatchEvent(new Event('change', {{bubbles: true}}))")


def head_of(title):
    return (
        f"[...{SCORES}.querySelectorAll('th button')].find(b => b.textContent.trim().startsWith({json.dumps(title)}))"
    )


def test_the_page_opens_without_errors_and_asks_for_nothing(desktop):
    assert desktop.problems == []
    assert [address for address in desktop.requests if not address.startswith(("file:", "data:", "blob:"))] == []
    assert len([address for address in desktop.requests if address.startswith("file:")]) == 1


def test_every_chart_is_drawn_with_its_tasks_and_boundaries(desktop):
    n_measured = len(STRATEGIES)
    assert desktop.run("document.querySelectorAll('.plot').length") == 3 + 2 * n_measured + 2
    assert desktop.run(f"{CURVES}.querySelectorAll('.scatterlayer .trace path.js-line').length") == n_measured
    assert desktop.run(f"{CURVES}.querySelectorAll('.shapelayer path').length") == len(ORDER) - 1
    names = desktop.run(f"[...{CURVES}.querySelectorAll('.x2tick text')].map(text => text.textContent)")
    assert names == [f"task {task}" for task in ORDER]


def test_names_above_the_curves_do_not_run_into_each_other(desktop):
    boxes = desktop.run(f"""[...{CURVES}.querySelectorAll('.x2tick text')]
        .map(text => text.getBoundingClientRect()).map(box => [box.left, box.right])""")
    assert all(right < left for (_, right), (left, _) in pairwise(boxes))


def test_a_click_on_a_heading_sorts_best_first_then_worst_first(desktop):
    for title, best_first in (("ACC", True), ("RMSE", False)):
        desktop.run(f"{head_of(title)}.id = 'pressed'")
        desktop.click("#pressed")
        shown = numbers(column(desktop, title))
        assert shown == sorted(shown, reverse=best_first)
        desktop.click("#pressed")
        assert numbers(column(desktop, title)) == shown[::-1]
        desktop.run("document.querySelector('#pressed').removeAttribute('id')")


def test_undefined_scores_come_last_whichever_way_a_column_is_sorted(desktop):
    for direction in ("ascending", "descending"):
        desktop.run(f"{head_of('FM')}.click()")
        shown = numbers(column(desktop, "FM"))
        assert shown[-1] is None
        known = shown[:-1]
        assert None not in known
        assert known == sorted(known, reverse=direction == "descending")


def test_headings_can_be_reached_and_pressed_with_the_keyboard(desktop):
    desktop.run(f"{SCORES}.querySelector('th button').focus()")
    for _ in range(5):
        desktop.press("Tab", 9)
    title = desktop.run("document.activeElement.closest('th').textContent.trim()")
    assert title.startswith("ACC")
    desktop.press("Enter", 13, "\r")
    assert desktop.run("document.activeElement.closest('th').getAttribute('aria-sort')") == "descending"
    shown = numbers(column(desktop, "ACC"))
    assert shown == sorted(shown, reverse=True)
    assert desktop.run(f"{SCORES}.querySelectorAll('[aria-sort]').length") == 1


def test_names_sort_as_text(desktop):
    desktop.run(f"{head_of('Strategy')}.click()")
    names = column(desktop, "Strategy")
    assert names[0] == "1NN"
    desktop.run(f"{head_of('Strategy')}.click()")
    assert column(desktop, "Strategy") == names[::-1]


def test_the_switch_shows_the_sliding_window_and_keeps_hidden_what_was_hidden(desktop):
    button = "document.querySelector('#stream-1-curves .legend button')"
    strategy = desktop.run(f"{button}.textContent.trim()")
    desktop.run(f"{button}.click()")
    assert desktop.run(f"{button}.getAttribute('aria-pressed')") == "false"
    desktop.run("document.querySelectorAll('#stream-1-curves .switch input')[1].click()")
    shown = desktop.run(f"{CURVES}.data.filter(trace => trace.visible && trace.name).map(trace => trace.name)")
    assert strategy not in shown
    assert len(shown) == len(STRATEGIES) - 1
    windowed = [make_run("NN", seed).curves["ba_macro"].windowed[5] for seed in (0, 1)]
    drawn = desktop.run(f"{CURVES}.data.find(trace => trace.name === 'NN').y[5]")
    assert abs(drawn - statistics.fmean(windowed)) < 1e-4
    desktop.run(f"{button}.click()")
    assert desktop.run(f"{CURVES}.data.every(trace => trace.visible)")
    desktop.run("document.querySelectorAll('#stream-1-curves .switch input')[0].click()")


def test_the_legend_of_tasks_switches_every_strategy_at_once(desktop):
    panel = "document.querySelector('#stream-1-transfer')"
    hidden = (
        f"[...{panel}.querySelectorAll('.plot')].flatMap(plot => plot.data).filter(trace => trace.visible === false)"
    )
    desktop.run(f"{panel}.querySelector('.legend button').click()")
    assert desktop.run(f"{hidden}.map(trace => trace.name)") == ["task 0"] * len(STRATEGIES)
    desktop.run(f"{panel}.querySelector('.legend button').click()")
    assert desktop.run(f"{hidden}.length") == 0


def test_pointing_at_a_line_tells_its_value(desktop):
    text = tooltip(desktop, "#stream-1-curves .plot")
    assert all(name in text for name in ("NN_TL", "last_class"))
    last = f"{CURVES}.data.find(trace => trace.name === 'NN_TL')"
    shown = re.search(r"NN_TL : (0\.\d{3})", text)[1]
    assert shown in desktop.run(f"{last}.y.map(y => (y ?? 0).toFixed(3))")
    desktop.send("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)


def test_dark_follows_the_readers_choice_even_while_the_page_is_open(browser, page):
    light, dark = palettes()
    colour = f"{CURVES}.data[0].line.color"
    browser.open(page, dark=True)
    browser.wait_until(ALL_DRAWN)
    assert browser.run(colour) == dark["series-0"]
    background = "getComputedStyle(document.body).backgroundColor"
    assert (
        browser.run(background)
        == f"rgb({', '.join(str(int(dark['paper'][place : place + 2], 16)) for place in (1, 3, 5))})"
    )
    browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    browser.wait_until(f"{colour} === '{light['series-0']}'")
    assert browser.run(background) == "rgb(255, 255, 255)"
    assert browser.problems == []


def test_the_page_fits_a_phone(browser, page):
    browser.open(page, width=390, height=844, touch=True)
    browser.wait_until(ALL_DRAWN)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth && innerWidth === 390")
    outside = """[...document.querySelectorAll('h1, h2, h3, h4, p, figcaption, button, dd, label')]
        .filter(one => !one.closest('table') && one.getBoundingClientRect().right > innerWidth + 1).length"""
    assert browser.run(outside) == 0
    assert browser.run(f"{CURVES}.layout.dragmode") is False
    assert browser.problems == []


def test_headings_landmarks_captions_and_charts_are_there_for_a_screen_reader(desktop):
    levels = desktop.run("[...document.querySelectorAll('h1, h2, h3, h4')].map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(level <= before + 1 for before, level in pairwise(levels))
    for landmark in ("header", "nav[aria-label]", "main", "footer"):
        assert desktop.run(f"document.querySelectorAll('body {landmark}').length") == 1, landmark
    assert desktop.run("[...document.querySelectorAll('table')].every(one => one.caption.textContent.trim())")
    assert desktop.run("[...document.querySelectorAll('th')].every(one => one.scope)")
    described = """[...document.querySelectorAll('.plot')].every(one => one.getAttribute('role') === 'img' &&
        one.ariaLabel && document.getElementById(one.getAttribute('aria-describedby')).textContent.length > 40)"""
    assert desktop.run(described)
    assert desktop.run(
        "[...document.querySelectorAll('button, input, select, summary')].every(one => one.tabIndex === 0)"
    )
    assert desktop.run("document.documentElement.lang") == "en"


def test_hostile_names_are_shown_and_never_run(browser, tmp_path):
    evil = "<img src=x onerror=hacked=1>%{x}<b>"
    tasks = [f"{evil}{number}" for number in range(4)]
    card = make_card("s", tasks=tuple(tasks))
    save_card(card.model_copy(update={"label_names": [evil, *card.label_names[1:]]}), tmp_path)
    for strategy in ("<script>hacked=1</script>", "NN"):
        save_run(make_run(strategy, 0, "s", task_names=tasks), tmp_path)
    browser.open(report(tmp_path))
    browser.wait_until(ALL_DRAWN)
    assert "<script>hacked=1</script>" in tooltip(browser, "#stream-1-curves .plot")
    labels = "#stream-1-what .plot"
    ticks = f"[...document.querySelectorAll('{labels} .ytick text')].map(text => text.textContent)"
    assert any(text.startswith("<img src=x") for text in browser.run(ticks))
    assert "<img src=x" in tooltip(browser, labels)
    assert browser.run("typeof hacked") == "undefined"
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert browser.problems == []


def test_several_streams_have_an_overview_and_all_their_charts_in_the_end(browser, tmp_path):
    browser.open(report(write_campaign(tmp_path, streams=("a", "b"))))
    assert browser.run("[...document.querySelectorAll('main > section')].map(one => one.id)") == [
        "pareto",
        "overview",
        "statistics",
        "stream-1",
        "stream-2",
        "strategies",
        "methods",
    ]
    assert browser.run("document.querySelectorAll('.plot').length") == 3 + 2 * 17
    browser.run("document.querySelector('#statistics').scrollIntoView({behavior: 'instant'})")
    diagram = "document.querySelector('#statistics .plot')"
    browser.wait_until(f"{diagram}.querySelector('.main-svg') !== null")
    assert browser.run(f"{diagram}.data[0].hovertemplate.includes('mean rank')")
    choose(browser, "#statistics select", 1)
    browser.wait_until(f"{diagram}.querySelectorAll('.trace').length > 0")
    browser.run("document.querySelector('#stream-2-cost').scrollIntoView({behavior: 'instant'})")
    browser.wait_until("document.querySelector('#stream-2-cost .plot .main-svg') !== null")
    browser.wait_until(ALL_DRAWN)
    assert browser.problems == []


def test_the_whole_benchmark_fits_a_page_of_ten_megabytes_whose_charts_are_drawn_as_they_are_needed(browser, tmp_path):
    # More seeds make no larger page: figures are means over them.
    for stream in (f"stream-{number}" for number in range(9)):
        save_card(make_card(stream), tmp_path)
        for number in range(17):
            save_run(make_run(f"strategy_{number:02}", 0, stream), tmp_path)
    page = report(tmp_path)
    assert page.stat().st_size < 10e6
    browser.open(page)
    assert browser.run("document.querySelectorAll('.plot').length") > 300
    assert browser.run("document.querySelectorAll('.plot .main-svg').length") < 200
    browser.run("document.querySelector('#overview th:last-child button').click()")
    assert browser.run("document.querySelectorAll('#overview [aria-sort]').length") == 1
    assert browser.problems == []


def test_with_many_scores_a_list_chooses_and_the_caption_follows(browser, tmp_path):
    for seed in (0, 1):
        run = make_run("NN", seed)
        names = ("ba_macro", "rmse", "precision_at_k", "hamming_loss")
        curves, R = (dict.fromkeys(names, part["ba_macro"]) for part in (run.curves, run.R))
        save_run(run.model_copy(update={"curves": curves, "R": R}), tmp_path)
    save_card(make_card(), tmp_path)
    browser.open(report(tmp_path))
    browser.wait_until(ALL_DRAWN)
    assert browser.run("document.querySelectorAll('#stream-1-curves .switch select').length") == 1
    assert browser.run("document.querySelectorAll('#stream-1-transfer .switch input').length") == 4
    caption = "document.querySelector('#stream-1-curve-text').textContent"
    assert "BA_macro over all rows" in browser.run(caption)
    select = "document.querySelector('#stream-1-curves select')"
    browser.run(f"{select}.value = 'RMSE, last 100 rows'")
    browser.run(f"{select}.dispatchEvent(new Event('change', {{bubbles: true}}))")
    assert "RMSE over the last 100 rows" in browser.run(caption)
    assert "BA_macro" not in browser.run(caption)
    assert browser.run(f"{CURVES}.layout.yaxis.title.text") == "RMSE"
    browser.run("document.querySelectorAll('#stream-1-transfer .switch input')[1].click()")
    texts = "[...document.querySelectorAll('#stream-1-transfer figcaption')].map(one => one.textContent)"
    assert all("RMSE" in text and "BA_macro" not in text for text in browser.run(texts))
    assert browser.problems == []


def test_on_paper_no_column_is_cut(browser, tmp_path):
    scores = {f"score_number_{place:02}": 0.123 + place / 100 for place in range(24)}
    for seed in (0, 1):
        save_run(make_run("a_strategy_with_a_long_name", seed, scores={**scores, "acc": 0.5 + seed / 10}), tmp_path)
    save_card(make_card(), tmp_path)
    browser.open(report(tmp_path), width=1040)
    browser.wait_until(ALL_DRAWN)
    cut = """[...document.querySelectorAll('th, td')].filter(one => one.checkVisibility() &&
        one.getBoundingClientRect().right > innerWidth + 1).length"""
    assert browser.run(cut) > 0, "on a screen, the table scrolls"
    browser.send("Emulation.setEmulatedMedia", media="print")
    try:
        assert browser.run(cut) == 0
        assert browser.run("""[...document.querySelectorAll('#stream-1-table td')].every(
            one => getComputedStyle(one).overflowWrap === 'normal')""")
        assert browser.run(
            "[...document.querySelectorAll('.scroll')].every(one => getComputedStyle(one).overflowX === 'visible')"
        )
    finally:
        browser.send("Emulation.setEmulatedMedia", media="")


@pytest.mark.parametrize("width", [1400, 390])
def test_names_of_points_cover_no_other_name(browser, page, width):
    browser.open(page, width=width)
    browser.wait_until(ALL_DRAWN)
    boxes = browser.run("""[...document.querySelectorAll('#pareto .plot, #stream-1-cost .plot')].map(plot =>
        [...plot.querySelectorAll('.textpoint text')].map(text => text.getBoundingClientRect()).map(
            box => [box.left, box.top, box.right, box.bottom]))""")
    assert all(len(each) >= 2 for each in boxes)
    for one, other in (pair for each in boxes for pair in combinations(each, 2)):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


@pytest.mark.parametrize("width", [1400, 390])
def test_names_of_points_are_not_cut_at_the_edge(browser, tmp_path, width):
    save_card(make_card(), tmp_path)
    for name in ("mean", "1NN", "NN"):
        run = make_run(name)
        # The best one is the dearest: its name stands beside a point at the right edge.
        acc = {"mean": 0.5, "NN": 0.6, "1NN": 0.7}[name]
        phase = PhaseResources(wall_time_s=10 * acc, cpu_time_s=1, energy_kwh=acc)
        resources = run.resources.model_copy(update={"phases": {"online": phase}})
        save_run(run.model_copy(update={"scores": {**run.scores, "acc": acc}, "resources": resources}), tmp_path)
    browser.open(report(tmp_path), width=width)
    browser.wait_until(ALL_DRAWN)
    overhangs = browser.run("""[...document.querySelectorAll('#pareto .plot, #stream-1-cost .plot')].flatMap(plot => {
        const edge = plot.querySelector('.main-svg').getBoundingClientRect();
        return [...plot.querySelectorAll('.textpoint text')].map(text => text.getBoundingClientRect()).map(
            box => Math.max(box.right - edge.right, edge.left - box.left, box.bottom - edge.bottom));
    })""")
    assert len(overhangs) >= 4
    assert max(overhangs) <= 0
