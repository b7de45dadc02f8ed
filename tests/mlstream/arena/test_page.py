"""The page of the arena: its numbers are those of the records; in a browser, each leads to them, by mouse and keys."""

import json
import re
from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata

from mlstream import arena
from mlstream.analysis.score_info import score_heading
from mlstream.arena.page import render_page
from tests.mlstream.arena.drawn_records import NAMES, join_arena, make_record, make_records
from tests.mlstream.reporting.browser import Browser, find_chromium
from tests.mlstream.reporting.test_accessibility import AXE, audit

CHROMIUM = find_chromium()
_SUITE = arena.load_suite(1)
# Whichever streams are in the lite part, some are here.
SUITE = _SUITE.model_copy(
    update={"streams": [one.model_copy(update={"lite": not at % 2}) for at, one in enumerate(_SUITE.streams)]}
)
STREAMS = [one.name for one in SUITE.streams]
EVIL = "<img src=x onerror=alert(1)>"

in_browser = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]
TAB, ENTER, ESCAPE, DOWN, RIGHT = (
    ("Tab", 9),
    ("Enter", 13, "\r"),
    ("Escape", 27),
    ("ArrowDown", 40),
    ("ArrowRight", 39),
)


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


def make_page(records=None, joined=()):
    return render_page(SUITE, make_records() if records is None else records, {one.learner: one for one in joined})


def newcomer(streams=STREAMS, name="MyLearner"):
    return make_record(name, streams, quality=0.7, cost=3.0, seed=99)


@pytest.fixture(scope="module")
def data():
    return data_of(make_page())


def value_of(cell, score):
    return cell.scores.get(score, np.nan) if cell.status == "done" else np.nan


def ranks_on(stream, records, score):
    """Rank learners on a stream: those without a score share the last places."""
    if score.metric == "rank":
        score = SUITE.scores(next(entry.board for entry in SUITE.streams if entry.name == stream))[0]
    values = np.array([value_of(one.cells[stream], score.name) for one in records])
    sign = -1.0 if score_heading(score.metric).better == "higher" else 1.0
    return rankdata(np.where(np.isnan(values), np.inf, sign * values))


def test_ranks_are_those_of_the_scores_in_the_records(data):
    records = make_records()
    for scope, board in product(data["scopes"], SUITE.boards):
        names = [one.name for one in SUITE.entries(scope, board)]
        complete = [one for one in records.values() if one.cells.keys() >= set(names)]
        for score in SUITE.scores(board):
            expected = np.array([ranks_on(name, complete, score) for name in names]).T
            shown = data["rankings"][f"{scope}/{board}/{score.name}"]
            learners = [data["learners"][place]["name"] for place in shown["learners"]]
            order = [learners.index(one.learner) for one in complete]
            np.testing.assert_allclose(np.array(shown["stream_ranks"])[order], expected)
            np.testing.assert_allclose(np.array(shown["ranks"])[order], expected.mean(axis=1), atol=1e-4)
            assert {data["learners"][place]["name"] for place in shown["left_out"]} == records.keys() - set(learners)


def test_the_page_holds_every_cell_as_it_is_recorded(data):
    for learner, record in enumerate(make_records().values()):
        found = {}
        for stream, held, cell in zip(STREAMS, data["held"], data["cells"][learner], strict=True):
            if cell is not None:
                status, wall_s, cpu_s, energy_j, scores, error = cell
                names = [data["scores"][place] for place in held]
                known = {name: value for name, value in zip(names, scores, strict=True) if value is not None}
                found[stream] = type(record.cells[stream])(
                    status=status, scores=known, wall_s=wall_s, cpu_s=cpu_s, energy_j=energy_j, error=error
                )
        assert found == record.cells


def test_nobody_that_finished_beats_the_front_in_score_and_joules(data):
    ranking = data["rankings"]["full/tasks/rmse"]
    streams = [data["streams"][place][0] for place in ranking["streams"]]
    points = {}
    for record in make_records().values():
        cells = [record.cells.get(name) for name in streams]
        if all(cell is not None and cell.status == "done" for cell in cells):
            points[record.learner] = (
                sum(cell.energy_j for cell in cells),
                np.mean([cell.scores["rmse"] for cell in cells]),
            )
    front = {
        name
        for name, one in points.items()
        if not any(other != one and other[0] <= one[0] and other[1] <= one[1] for other in points.values())
    }
    assert {data["learners"][ranking["learners"][place]]["name"] for place in ranking["front"]} == front


def test_the_lite_part_states_how_its_mean_ranks_agree_with_the_whole(data):
    lite, full = (data["rankings"][f"{scope}/worlds/acc"] for scope in ("lite", "full"))
    pairs = [
        (rank, full["ranks"][full["learners"].index(learner)])
        for learner, rank in zip(lite["learners"], lite["ranks"], strict=True)
        if learner in full["learners"]
    ]
    places = rankdata(pairs, axis=0)
    assert lite["agreement"] == pytest.approx(np.corrcoef(places.T)[0, 1], abs=1e-3)
    assert full["agreement"] is None


def test_costs_are_sums_over_the_streams_of_the_board(data):
    ranking = data["rankings"]["full/worlds/acc"]
    streams = [data["streams"][place][0] for place in ranking["streams"]]
    records = list(make_records().values())
    for place, cpu_s, times in zip(ranking["learners"], ranking["cpu_s"], ranking["times"], strict=True):
        if any(records[place].cells[name].status == "failed" for name in streams):
            assert cpu_s is times is None
        else:
            own, reference = (sum(one.cells[name].cpu_s for name in streams) for one in (records[place], records[0]))
            assert cpu_s == pytest.approx(own, abs=1e-4)
            assert times == pytest.approx(own / reference, rel=1e-3)


def test_streams_that_one_user_alone_has_run_on_leave_nobody_out():
    worlds = [one.name for one in SUITE.entries("full", "worlds")]
    records = {name: make_record(name, worlds[:3], quality=0.5, cost=1.0, seed=1) for name in ("NN", "mean")}
    data = data_of(make_page(records, [newcomer()]))
    assert len(data["rankings"]["full/worlds/acc"]["learners"]) == 3
    assert [one["kind"] for one in data["learners"]] == ["ours", "baseline", "yours"]


def test_a_joined_strategy_stands_beside_the_record_that_is_shipped():
    data = data_of(make_page(make_records(NAMES[:2]), [newcomer(name="NN")]))
    assert [one["name"] for one in data["learners"]] == ["StreamRidge", "NN", "NN (yours)"]


@pytest.mark.parametrize("n_learners", [0, 1])
def test_without_two_learners_there_is_a_page_without_ranks(n_learners):
    page = make_page(make_records(NAMES[:n_learners]))
    assert data_of(page)["rankings"] == {}
    assert ("No learner has a record yet" in page) == (n_learners == 0)


def test_texts_of_records_are_escaped():
    page = make_page(make_records((*NAMES[:4], EVIL)), [newcomer(name=f"{EVIL}</script>")])
    assert "<img" not in page
    assert page.count("</script>") == 2


def test_a_page_of_fifty_learners_is_smaller_than_three_megabytes():
    names = [f"a_learner_with_a_long_name_{number}" for number in range(52)]
    assert len(make_page({name: make_record(name, STREAMS, quality=0.5, cost=1.0, seed=1) for name in names})) < 3e6


def test_a_joined_learner_comes_from_its_folder(tmp_path):
    folder = join_arena(tmp_path / "mine")
    page = arena.write_page(tmp_path / "page", [folder])
    learners = data_of(page.read_text(encoding="utf-8"))["learners"]
    assert {"name": "mine", "kind": "yours"}.items() <= learners[-1].items()
    with pytest.raises(ValueError, match="two called 'mine'"):
        arena.write_page(tmp_path / "page", [folder, folder])


# In a browser.


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(CHROMIUM, tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(make_page(joined=[newcomer()]), encoding="utf-8")
    return path


def open_at(browser, page, view="", **options):
    """Open a page anew: another view of the page that is open would not load it again."""
    browser.open("about:blank")
    browser.open(f"{page.resolve().as_uri()}#{view}", **options)


def column(browser, place, root="#table"):
    return browser.run(f"[...document.querySelectorAll('{root} tbody tr')].map(row => row.cells[{place}].innerText)")


def set_filter(browser, key, value):
    field = f"document.querySelector('#filters [data-key={key}]')"
    browser.run(f"{field}.value = {value!r}")
    browser.run(f"['input', 'change'].forEach(kind => {field}.dispatchEvent(new Event(kind, {{bubbles: true}})))")


def press_until(browser, condition):
    for _ in range(80):
        if browser.run(condition):
            return
        browser.press(*TAB)
    raise AssertionError(f"{condition} is not reached by the tabulator")


class TestInBrowser:
    pytestmark = in_browser

    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    @pytest.mark.parametrize("width", [1400, 390])
    @pytest.mark.parametrize("view", ["", "learner=StreamRidge"])
    def test_it_fits_the_screen_and_asks_for_nothing(self, browser, page, view, width, dark):
        open_at(browser, page, view, width=width, dark=dark, touch=width < 500)
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert [one for one in browser.requests if not one.startswith(("file:", "data:", "about:"))] == []
        assert browser.problems == []

    @pytest.mark.skipif(AXE is None, reason="needs axe-core: the package axe-playwright-python, or MLSTREAM_AXE")
    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    @pytest.mark.parametrize("width", [1400, 390])
    def test_axe_finds_no_grave_fault(self, browser, page, width, dark):
        browser.send("Page.setBypassCSP", enabled=True)
        for view in ("", "learner=LwF"):
            open_at(browser, page, view, width=width, dark=dark)
            browser.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")
            assert audit(browser) == []
            browser.run("document.querySelector('main section:not([hidden]) td .number').click()")
            assert browser.run("document.querySelector('dialog').open")
            assert audit(browser) == []

    def test_every_score_of_every_board_is_shown_with_the_ranks_of_the_records(self, browser, page):
        records = {**make_records(), "MyLearner": newcomer()}
        open_at(browser, page)
        for board, entry in SUITE.boards.items():
            set_filter(browser, "board", board)
            names = [one.name for one in SUITE.entries("full", board)]
            complete = [one for one in records.values() if one.cells.keys() >= set(names)]
            for score in SUITE.scores(board):
                set_filter(browser, "score", score.metric)
                set_filter(browser, "rule", score.decision or "none")
                means = np.mean([ranks_on(name, complete, score) for name in names], axis=0)
                expected = {one.learner: mean for one, mean in zip(complete, means, strict=True)}
                shown = [name.split()[0] for name in column(browser, 0)]
                assert sorted(shown) == sorted(expected)
                ranks = [float(text) for text in column(browser, 1)]
                assert ranks == sorted(ranks)
                np.testing.assert_allclose(ranks, [expected[name] for name in shown], atol=0.0501)
            assert entry.title == browser.run("document.querySelector('#board-title').textContent")
        assert browser.problems == []

    def test_a_number_leads_to_the_record_it_is_made_from(self, browser, page):
        open_at(browser, page, "board=worlds&score=acc&rule=half")
        browser.run("document.querySelector('#table tbody tr:nth-child(2) td:nth-child(4) .number').click()")
        learner = column(browser, 0)[1].split()[0]
        assert learner in browser.run("document.querySelector('#dialog-title').textContent")
        stream, shown = column(browser, 0, "#dialog")[3], column(browser, 1, "#dialog")[3]
        browser.run("document.querySelector('#dialog tbody tr:nth-child(4) .number').click()")
        record = json.loads(browser.run("document.querySelector('#dialog pre').textContent"))
        cell = {**make_records(), "MyLearner": newcomer()}[learner].cells[stream]
        assert record["scores"] == cell.scores
        assert (record["learner"], record["stream"], record["cpu_s"]) == (learner, stream, cell.cpu_s)
        assert shown == f"{cell.scores['acc[half]']:.3f}"

    def test_the_keyboard_reaches_filters_headings_numbers_and_their_records(self, browser, page):
        open_at(browser, page)
        press_until(browser, "document.activeElement.dataset.key === 'board'")
        press_until(browser, "document.activeElement.matches('#table th button[data-key=cpu]')")
        browser.press(*ENTER)
        assert browser.run("document.activeElement.closest('th').getAttribute('aria-sort')") == "ascending"
        costs = [float(text.replace(",", "")) for text in column(browser, 5) if text != "n/a"]
        assert costs == sorted(costs)
        press_until(browser, "document.activeElement.matches('#table tbody a')")
        browser.press(*DOWN)
        browser.press(*RIGHT)
        where = "document.activeElement.getAttribute('aria-label')"
        name = column(browser, 0)[1].split()[0]
        before = browser.run(where)
        assert before.startswith(f"{name}, mean rank")
        browser.press(*ENTER)
        browser.wait_until("document.querySelector('dialog').open")
        press_until(browser, "document.activeElement.matches('dialog tbody .number')")
        browser.press(*ENTER)
        assert browser.run("document.querySelector('dialog pre') !== null")
        browser.press(*ESCAPE)
        browser.wait_until("!document.querySelector('dialog').open")
        assert browser.run(where) == before
        browser.press(*TAB)
        assert not browser.run("document.activeElement.matches('#table tbody *')")

    def test_the_agreement_of_the_lite_part_leads_to_the_ranks_behind_it(self, browser, page):
        open_at(browser, page, "scope=lite")
        lite = dict(zip(column(browser, 0), column(browser, 1), strict=True))
        browser.run("document.querySelector('#shown .number').click()")
        assert dict(zip(column(browser, 0, "#dialog"), column(browser, 1, "#dialog"), strict=True)) == {
            name.split()[0]: rank for name, rank in lite.items() if name.split()[0] in column(browser, 0, "#dialog")
        }
        browser.run("document.querySelector('#dialog tbody .number').click()")
        browser.run("document.querySelector('#dialog .buttons button').click()")
        assert browser.run("document.querySelector('#dialog-title').textContent") == "The lite part, and the whole"

    def test_it_opens_with_a_board_on_which_the_learner_of_the_reader_is_ranked(self, browser, tmp_path):
        lite = [one.name for one in SUITE.entries("lite", "hierarchy")]
        path = tmp_path / "index.html"
        path.write_text(make_page(joined=[newcomer(lite)]), encoding="utf-8")
        open_at(browser, path)
        assert browser.run("document.querySelector('#board-title').textContent") == "Overall"
        assert any(name.startswith("MyLearner") for name in column(browser, 0))

    def test_the_coverage_counts_the_runs_of_each_learner(self, browser, page):
        open_at(browser, page)
        browser.run("document.querySelector('#coverage button').click()")
        rows = zip(*(column(browser, place, "#dialog") for place in range(5)), strict=True)
        states = ("done", "capped", "failed")
        for (name, *shown), record in zip(rows, [*make_records().values(), newcomer()], strict=True):
            counts = [sum(cell.status == status for cell in record.cells.values()) for status in states]
            assert (name, *map(int, shown)) == (record.learner, *counts, len(STREAMS) - len(record.cells))

    def test_filters_hide_learners_and_the_address_keeps_the_view(self, browser, page):
        open_at(browser, page)
        set_filter(browser, "cost", "10")
        times = column(browser, 5)
        assert 0 < len(times) < len(NAMES)
        assert all(float(text.replace(",", "")) <= 10 for text in times)
        set_filter(browser, "q", "MYLEARN")
        names = column(browser, 0)
        assert [name.split()[0] for name in names] == ["MyLearner"]
        view = browser.run("location.hash.slice(1)")
        open_at(browser, page, view)
        assert column(browser, 0) == names
        browser.run("document.querySelector('#filters [data-key=yours]').click()")
        assert column(browser, 0) == []

    def test_the_page_of_a_learner_lists_its_streams_and_goes_back(self, browser, page):
        open_at(browser, page)
        browser.run("[...document.querySelectorAll('#table tbody a')].find(a => a.textContent === 'LwF').click()")
        browser.wait_until("document.querySelector('#learner h2')?.textContent === 'LwF'")
        assert not browser.run("document.querySelector('#table').checkVisibility()")
        streams = "[...document.querySelectorAll('#learner table')].at(-1).tBodies[0]"
        assert browser.run(f"[...{streams}.rows].map(row => row.cells[0].textContent)") == STREAMS
        states = browser.run(f"[...{streams}.rows].map(row => row.cells[7].textContent)")
        cells = make_records()["LwF"].cells
        assert [one.replace("stopped", "capped") for one in states] == [cells[name].status for name in STREAMS]
        browser.run("history.back()")
        browser.wait_until("document.querySelector('#table').checkVisibility()")

    def test_hostile_names_are_shown_and_never_run(self, browser, tmp_path):
        path = tmp_path / "index.html"
        path.write_text(make_page(make_records((EVIL, *NAMES[:4])), [newcomer(name=f"{EVIL}</script>")]))
        open_at(browser, path)
        assert any(EVIL in name for name in column(browser, 0))
        browser.run("document.querySelector('#table tbody .number').click()")
        browser.run("document.querySelector('#dialog tbody .number').click()")
        assert browser.run("document.querySelectorAll('img').length") == 0
        assert browser.problems == []

    @pytest.mark.parametrize("n_learners", [0, 1])
    def test_a_page_without_ranks_says_so(self, browser, tmp_path, n_learners):
        path = tmp_path / "index.html"
        path.write_text(make_page(make_records(NAMES[:n_learners])))
        for view in ("learner=StreamRidge", ""):
            open_at(browser, path, view)
            assert browser.problems == []
        assert "Nothing is ranked here" in browser.run("document.querySelector('#shown').textContent")
        assert not browser.run("document.querySelector('#pareto').checkVisibility()")

    def test_without_scripts_there_is_a_table_and_a_note(self, browser, page):
        browser.send("Emulation.setScriptExecutionDisabled", value=True)
        try:
            open_at(browser, page)
            assert "runs no script" in browser.run("document.body.innerText")
            assert len(column(browser, 0, "#overview")) == len(NAMES) + 1
            assert not browser.run("document.querySelector('#filters').checkVisibility()")
        finally:
            browser.send("Emulation.setScriptExecutionDisabled", value=False)

    def test_on_paper_it_is_light_and_whole(self, browser, page):
        open_at(browser, page, width=1040, dark=True)
        dark = [{"name": "prefers-color-scheme", "value": "dark"}]
        browser.send("Emulation.setEmulatedMedia", media="print", features=dark)
        try:
            assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            assert not browser.run("document.querySelector('#filters').checkVisibility()")
            assert (
                browser.run("""[...document.querySelectorAll('th, td')].filter(one => one.checkVisibility() &&
                one.getBoundingClientRect().right > innerWidth + 1).length""")
                == 0
            )
        finally:
            browser.send("Emulation.setEmulatedMedia", media="")
