"""The pages of a challenge in a real browser: by keyboard, on a phone, in the dark, and for a screen reader."""

import pytest

from mlstream.challenge.client import RemoteChallenge
from tests.mlstream.reporting.browser import Browser, find_chromium
from tests.mlstream.reporting.test_accessibility import AUDIT, AXE, GRAVE

CHROMIUM = find_chromium()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]
TAB, ENTER, SPACE = ("Tab", 9), ("Enter", 13, "\r"), (" ", 32, " ")
WIDTHS = (1400, 390)


@pytest.fixture(scope="module")
def tokens(site, tmp_path_factory):
    """Tokens of three teams with submissions, one with a long name and one that is no HTML."""
    folder, found = tmp_path_factory.mktemp("files"), {}
    for team, values in {"The Blue Herons of the Long Northern": (0.3, 0.4), "red": (0.6,), "<i>green": (0.5,)}.items():
        found[team], _ = site.join(team)
        for value in values:
            file = folder / f"a file with a rather long name {value}.csv"
            file.write_bytes(site.file(value))
            RemoteChallenge(site.url, found[team]).submit(file)
    return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(CHROMIUM, tmp_path_factory.mktemp("profile")) as started:
        yield started


def wait_for(browser, text):
    browser.wait_until(f"document.body !== null && document.body.innerText.includes({text!r})")


def press_enter(browser):
    """Send the form that has the focus, and wait for the page that follows."""
    browser.run("window.isOld = true")
    browser.press(*ENTER)
    browser.wait_until("window.isOld === undefined && document.readyState === 'complete'")


def focus(browser, selector):
    """Press the tabulator until an element has the focus, as someone without a mouse does."""
    for _ in range(60):
        if browser.run(f"document.activeElement.matches({selector!r})"):
            return
        browser.press(*TAB)
    raise AssertionError(f"{selector} cannot be reached by keyboard")


def sign_in(browser, site, page, token, expected):
    browser.send("Network.clearBrowserCookies")
    browser.open(f"{site.url}/{page}")
    focus(browser, "#token")
    browser.send("Input.insertText", text=token)
    press_enter(browser)
    wait_for(browser, expected)


def test_a_team_signs_in_submits_and_selects_by_keyboard(site, tokens, browser, tmp_path):
    team = "The Blue Herons of the Long Northern"
    sign_in(browser, site, "team", tokens[team], "submissions are left today")
    file = tmp_path / "by keyboard.csv"
    file.write_bytes(site.file(0.45))
    focus(browser, "input[type=file]")
    # The dialogue that the key opens is the system's; the file is put where it would put it.
    element = browser.send("Runtime.evaluate", expression="document.querySelector('input[type=file]')")["result"]
    browser.send("DOM.setFileInputFiles", files=[str(file)], objectId=element["objectId"])
    browser.press(*TAB)
    press_enter(browser)
    wait_for(browser, "by keyboard.csv")
    browser.wait_until("document.body !== null && !document.body.innerText.includes('being scored')")
    before = site.challenge.status(tokens[team]).selected
    focus(browser, "input[type=radio]")
    browser.press("ArrowDown", 40)
    focus(browser, "form[action='/team/select'] button")
    press_enter(browser)
    assert site.challenge.status(tokens[team]).selected != before
    assert browser.problems == []


def test_the_board_sorts_by_keyboard_and_updates_itself(site, tokens, browser, tmp_path):
    browser.open(f"{site.url}/board")
    names = "[...document.querySelectorAll('.sortable tbody th')].map(cell => cell.textContent)"
    ranked = [row.team for row in site.challenge.leaderboard()]
    assert browser.run(names) == ranked
    focus(browser, ".sortable thead th:nth-child(2) button")
    browser.press(*SPACE)
    assert browser.run(names) == sorted(ranked, key=str.lower)
    browser.press(*SPACE)
    assert browser.run(names) == sorted(ranked, key=str.lower, reverse=True)
    token, _ = site.join("zebra")
    file = tmp_path / "x.csv"
    file.write_bytes(site.file(0.48))
    RemoteChallenge(site.url, token).submit(file)
    browser.run("refresh()")
    browser.wait_until(f"{names}[0] === 'zebra'")
    assert browser.run("document.activeElement.dataset.column") == "1"
    assert browser.problems == []


def test_nothing_is_asked_of_another_host(site, tokens, browser):
    for page in ("", "board", "team", "organiser"):
        browser.open(f"{site.url}/{page}")
        assert all(address.startswith(site.url) for address in browser.requests)
        assert browser.problems == []


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_the_screen(site, tokens, browser, width):
    sign_in(browser, site, "organiser", site.organiser, "Compare log")
    for page in ("", "board", "organiser"):
        browser.open(f"{site.url}/{page}", width=width, touch=width < 500)
        assert browser.run("document.documentElement.scrollWidth") <= width
    sign_in(browser, site, "team", tokens["red"], "submissions are left today")
    browser.open(f"{site.url}/team", width=width, touch=width < 500)
    assert browser.run("document.documentElement.scrollWidth") <= width


@pytest.mark.skipif(AXE is None, reason="needs axe-core: the package axe-playwright-python, or MLSTREAM_AXE")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_no_page_breaks_a_grave_rule_of_accessibility(site, tokens, browser, width, dark):
    sign_in(browser, site, "team", tokens["red"], "submissions are left today")
    browser.open(f"{site.url}/organiser")
    browser.run(f"document.getElementById('token').value = {site.organiser!r}; document.forms[0].submit()")
    wait_for(browser, "Compare log")
    # The policy of the server keeps scripts of others out, this one too.
    browser.send("Page.setBypassCSP", enabled=True)
    for page in ("", "board", "team", "organiser", "nowhere"):
        browser.open(f"{site.url}/{page}", width=width, dark=dark)
        browser.run(AXE.read_text(encoding="utf-8"))
        found = browser.run(AUDIT)
        assert found["passes"] > 5
        assert [rule for rule in found["violations"] if rule["impact"] in GRAVE] == []
    browser.send("Page.setBypassCSP", enabled=False)
