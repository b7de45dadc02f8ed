"""The checks of the built site find what is wrong, and its zip file has the same bytes each time.

What needs the site itself runs where MLSTREAM_SITE names the zip file that `make docs` writes (`make check-docs`).
"""

import os
import runpy
import zipfile
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.loops import check_all

TOOLS = Path(__file__).parents[1] / "tools"
CHECK = runpy.run_path(str(TOOLS / "check_site.py"))
ZIP = runpy.run_path(str(TOOLS / "zip_site.py"))
ZIPPED = os.environ.get("MLSTREAM_SITE")
# One of each kind: landing page, page with code and tables, formulas, API, gallery, an example with pictures, search.
KINDS = {
    "landing": "index.html",
    "page": "getting_started.html",
    "formulas": "learners/stacks.html",
    "reference": "api/generated/mlstream.evaluate.html",
    "gallery": "auto_examples/index.html",
    "example": "auto_examples/evaluation/plot_displays.html",
    "search": "search.html",
}

GOOD = """<!doctype html><html lang="en"><head><title>t</title><link rel="stylesheet" href="style.css?v=1">
<link rel="next" href="under/b.html"></head><body id="top"><a href="#top">a</a><a href="under/b.html#caf%C3%A9">b</a>
<a href="https://example.org/#x">c</a><a href="mailto:a@example.org">d</a><img src="data:image/png;base64,AA==">
<img srcset="a.png 1x, a.png 2x"><a name="old"></a><a href="#old">e</a><p style="background: url(a.png)">f</p></body>"""
OTHER = '<body><h1 id="café">b</h1><a href="../index.html#top">a</a></body>'


def make_site(folder, extra=""):
    """Write a site of two pages, a style sheet and a picture."""
    (folder / "under").mkdir(parents=True)
    (folder / "index.html").write_text(GOOD + extra, encoding="utf-8")
    (folder / "under" / "b.html").write_text(OTHER, encoding="utf-8")
    (folder / "style.css").write_text("p { background: url('a.png') }", encoding="utf-8")
    (folder / "a.png").write_bytes(b"png")
    return folder


def test_a_site_whose_links_lead_somewhere_has_no_fault(tmp_path, capsys):
    assert CHECK["find_faults"](make_site(tmp_path)) == []
    assert CHECK["main"](tmp_path) == 0
    assert capsys.readouterr().out.startswith("2 pages, ")


def test_a_fault_is_found_with_its_line(tmp_path):
    faults = [
        ('<a href="gone.html">', "must lead to a file of the site"),
        ('<a href="../outside.html">', "must lead to a file of the site"),
        ('<a href="under">', "must lead to a file of the site"),
        ('<a href="under/b.html#tea">', "must lead to an id of under/b.html"),
        ('<a href="#tea">', "must lead to an id of index.html"),
        ('<a href="/style.css">', "must be relative"),
        ('<a href="http://example.org">', "must begin with https://HOST"),
        ('<a href="https://">', "must begin with https://HOST"),
        ('<img src="gone.png">', "must lead to a file of the site"),
        ('<img srcset="a.png 1x, gone.png 2x">', "must lead to a file of the site"),
        ('<script src="https://cdn.example.org/x.js"></script>', "must be a file of the site"),
        ('<link rel="stylesheet" href="//cdn.example.org/x.css">', "must be a file of the site"),
        ("<style>@import 'https://cdn.example.org/x.css'</style>", "must be a file of the site"),
        ('<p style="background: url(gone.png)">', "must lead to a file of the site"),
    ]

    def check(case):
        element, message = case
        # Pages are read once: each case has its own.
        folder = tmp_path / str(faults.index(case))
        site = make_site(folder / "site", f"\n{element}")
        (folder / "outside.html").write_text("<p>out</p>", encoding="utf-8")
        (fault,) = CHECK["find_faults"](site)
        assert fault.startswith("index.html, line 5: ")
        assert message in fault
        assert CHECK["main"](site) == 1

    check_all(faults, check)


def test_style_sheets_are_read_and_a_folder_without_pages_is_a_fault(tmp_path, capsys):
    (tmp_path / "x.css").write_text("a {}\nb { src: url(https://fonts.example.org/x.woff2) }", encoding="utf-8")
    (fault,) = CHECK["find_faults"](tmp_path)
    assert fault.startswith("x.css, line 2: ")
    (tmp_path / "x.css").unlink()
    assert CHECK["main"](tmp_path) == 1


def test_equal_pages_make_equal_bytes(tmp_path):
    for name in ("a", "b"):
        make_site(tmp_path / name)
    (tmp_path / "b" / ".buildinfo").write_text("kept for the next build")
    os.utime(tmp_path / "b" / "index.html", (1, 1))
    (tmp_path / "b" / "a.png").chmod(0o600)
    first, second = (ZIP["zip_site"](tmp_path / name, tmp_path, name) for name in ("a", "b"))
    names = zipfile.ZipFile(first).namelist()
    assert names == sorted(names)
    assert "mlstream-docs-a/under/b.html" in names
    again = ZIP["zip_site"](tmp_path / "b", tmp_path / "a", "a")
    assert again.read_bytes() == first.read_bytes()
    assert second.stat().st_size == first.stat().st_size
    assert not list(tmp_path.rglob("*.partial"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Unpack the built site, as a reader would."""
    if ZIPPED is None:
        pytest.skip("needs the built site: make check-docs")
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(ZIPPED) as archive:
        archive.extractall(folder)
    (root,) = folder.iterdir()
    return root


@pytest.fixture(scope="module")
def browser(site, tmp_path_factory):
    from tests.mlstream.reporting.browser import Browser, find_chromium

    chromium = find_chromium()
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with Browser(chromium, tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_opens_from_disk_without_a_network(site, browser, kind):
    browser.open(site / KINDS[kind])
    assert browser.requests
    assert [address for address in browser.requests if not address.startswith(("file:", "data:"))] == []
    assert browser.problems == []
    assert browser.run("[...document.images].filter(one => !one.complete || one.naturalWidth === 0).length") == 0


def test_formulas_are_drawn(site, browser):
    browser.open(site / KINDS["formulas"])
    assert browser.run("document.querySelector('math[display=block] mfrac').getBoundingClientRect().height") > 20


# Words that people type, and the page that answers them.
SEARCHES = {
@@
}


def test_a_search_finds_first_the_page_that_answers(site, browser):
    def check(case):
        words, page = case
        browser.open(f"{(site / KINDS['search']).as_uri()}?q={quote(words)}")
        browser.wait_until("document.querySelector('ul.search li > a')")
        first = browser.run("document.querySelector('ul.search li > a').getAttribute('href')")
        assert first.partition(".html")[0] == page

    check_all(SEARCHES.items(), check)


@pytest.fixture(scope="module")
def audit():
    # Slow to import: it makes reports.
    from tests.mlstream.reporting import test_accessibility

    if test_accessibility.AXE is None:
        pytest.skip("needs axe-core: the package axe-playwright-python, or MLSTREAM_AXE")
    return test_accessibility.audit


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_no_grave_fault(site, browser, audit, kind, width, dark):
    browser.open(site / KINDS[kind], width=width, dark=dark)
    # Colours fade in.
    browser.wait_until("document.getAnimations().length === 0")
    assert audit(browser) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_no_wider_than_a_telephone(site, browser, kind):
    browser.open(site / KINDS[kind], width=390, touch=True)
    assert browser.run("document.documentElement.scrollWidth") == 390
