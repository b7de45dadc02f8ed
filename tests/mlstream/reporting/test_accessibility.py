"""The report breaks no rule of axe-core that it calls serious or critical, light and dark, wide and narrow."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from mlstream.records.run_record import save_card, save_run
from mlstream.reporting.report import report
from tests.mlstream.records.detections import write_detections
from tests.mlstream.records.run_records import make_card, make_run, write_campaign
from tests.mlstream.reporting.browser import Browser, find_chromium

CHROMIUM = find_chromium()
GRAVE = ("serious", "critical")
# The result is a promise; nodes are reduced to what a message needs.
AUDIT = """axe.run(document, {resultTypes: ["violations"]}).then(found => ({
  passes: found.passes.length,
  violations: found.violations.map(rule => ({
    id: rule.id, impact: rule.impact, help: rule.help, n: rule.nodes.length,
    nodes: rule.nodes.slice(0, 5).map(node => node.target.join(" ") + ": " + node.failureSummary),
  })),
}))"""
SPOILT = """<!doctype html><html lang="en"><title>t</title><main><h1>t</h1>
<p style="color: #aaa; background: #fff">pale</p><img src="data:,"><select><option>1</select></main></html>"""


def find_axe() -> Path | None:
    """Find axe.min.js: the file that MLSTREAM_AXE names, or that of the package axe-playwright-python."""
    spec = find_spec("axe_playwright_python")
    folders = (spec.submodule_search_locations if spec else None) or []
    path = Path(os.environ.get("MLSTREAM_AXE", next((f"{folder}/axe.min.js" for folder in folders), "")))
    return path if path.is_file() else None


AXE = find_axe()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
    pytest.mark.skipif(AXE is None, reason="needs axe-core: the package axe-playwright-python, or MLSTREAM_AXE"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(CHROMIUM, tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write a page of one stream with drift detection, one of several with statistics, and one of detections alone."""
    one, several, alone = (tmp_path_factory.mktemp(name) for name in ("one", "several", "alone"))
    write_campaign(one)
    for stream in ("s", "t", "u"):
        save_card(make_card(stream), several)
        for strategy in ("NN", "BR_HT", "mean", "1NN"):
            save_run(make_run(strategy, 0, stream), several)
    write_detections(alone)
    return {"one": report(write_detections(one)), "several": report(several), "detections": report(alone)}


def audit(browser: Browser) -> list[dict]:
    """Return what axe-core objects to in the page that is open, if it is grave."""
    browser.run(f"{AXE.read_text(encoding='utf-8')}; 0")
    found = browser.run(AUDIT)
    assert found["passes"] > 0
    return [rule for rule in found["violations"] if rule["impact"] in GRAVE]


def test_the_audit_finds_what_is_wrong(browser, tmp_path):
    page = tmp_path / "spoilt.html"
    page.write_text(SPOILT, encoding="utf-8")
    browser.open(page)
    assert {rule["id"] for rule in audit(browser)} == {"color-contrast", "image-alt", "select-name"}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("name", ["one", "several", "detections"])
def test_the_report_has_no_grave_fault(browser, pages, name, width, dark):
    browser.open(pages[name], width=width, dark=dark)
    browser.wait_until("document.querySelector('.plot .main-svg') !== null")
    browser.run("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert audit(browser) == []
