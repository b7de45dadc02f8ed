"""The browser of the tests: what it does reaches the element that is meant."""

import pytest

from tests.mlstream.reporting.browser import Browser, find_chromium

CHROMIUM = find_chromium()
# Charts that are drawn late do so: what stands below them moves down for a while.
GROWING = """<!doctype html><title>t</title>
<div id="above" style="height: 10px"></div><button>below</button><div style="height: 3000px"></div>
<script>
  const began = Date.now();
  const grow = () => {
    document.querySelector("#above").style.height = `${Date.now() - began}px`;
    if (Date.now() - began < 1500) requestAnimationFrame(grow);
  };
  grow();
  let clicks = 0;
  document.querySelector("button").addEventListener("click", () => clicks++);
</script>"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
def test_a_click_reaches_an_element_that_moves_once(tmp_path):
    (tmp_path / "page.html").write_text(GROWING)
    with Browser(CHROMIUM, tmp_path / "profile") as browser:
        browser.open(tmp_path / "page.html")
        browser.click("button")
        assert browser.run("clicks") == 1
        browser.click("button")
        assert browser.run("clicks") == 2
