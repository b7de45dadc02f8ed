"""Take pictures of the landing page, the gallery and the report, wide as a desktop's window and as a telephone's.

``python -m tools.screenshots build/screenshots docs/_build/html demo/report.html`` opens each page in headless Chromium
and writes ``PAGE-WIDTH.png``, and ``PAGE-WIDTH-dark.png``; `make screenshots` builds the site and the report first. It
ends with an error where a page is wider than the window, so that a reader would have to scroll sideways, or where the
browser asks for anything that is not on this machine.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mlstream.reporting.browser import Browser, find_chromium

WIDTHS = {1400: 900, 390: 844}
# Charts and pictures are drawn when they come into sight.
SCROLL = """(async () => {
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 2) {
    scrollTo({top: y, behavior: "instant"});
    await new Promise(done => setTimeout(() => requestAnimationFrame(done), 100));
  }
  scrollTo({top: 0, behavior: "instant"});
})()"""
PAGES = {"landing": "index.html", "gallery": "auto_examples/index.html"}


def take(browser: Browser, page: Path, name: str, folder: Path) -> list[str]:
    """Write the pictures of a page, and return a line for each fault."""
    faults = []
    for width, height in WIDTHS.items():
        for dark in (False, True):
            path = folder / f"{name}-{width}{'-dark' if dark else ''}.png"
            browser.open(page, width=width, height=height, dark=dark, touch=width < 500)
            browser.wait_until("document.fonts.status === 'loaded'")
            browser.run(SCROLL)
            browser.screenshot(path)
            content = browser.run("document.documentElement.scrollWidth")
            if content > width:
                faults.append(f"{path.name}: the page is {content} pixels wide, in a window of {width}.")
            faults += [f"{path.name}: {address} is loaded." for address in browser.requests if is_elsewhere(address)]
    return faults


def is_elsewhere(address: str) -> bool:
    """Return whether an address is not on this machine."""
    return not address.startswith(("file:", "data:", "blob:", "about:"))


def main(folder: Path, site: Path, report: Path) -> int:
    """Write all pictures, print the faults, and return the exit status."""
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("screenshots need Chromium: apt-get install chromium")
    folder.mkdir(parents=True, exist_ok=True)
    pages = {name: site / place for name, place in PAGES.items()} | {"report": report}
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(chromium, Path(profile)) as browser:
        browser.send("Emulation.setScrollbarsHidden", hidden=True)
        faults = [fault for name, page in pages.items() for fault in take(browser, page, name, folder)]
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    sys.stdout.write(f"{len(pages) * len(WIDTHS) * 2} pictures in {folder}: {len(faults)} faults\n")
    return int(bool(faults))


if __name__ == "__main__":
    raise SystemExit(main(*map(Path, sys.argv[1:])))
