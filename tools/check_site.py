"""Check the built site without a network: every link leads somewhere, and no page loads anything from elsewhere.

``python tools/check_site.py docs/_build/html`` prints a line for each fault, and ends with status 1 if there is one. A
relative address must be that of a file of the site, and what follows ``#`` an id of that page. An address elsewhere
must begin with ``https://HOST``; whether it is there is not asked.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

LINKS = {"href", "action"}
LOADS = {"src", "poster", "data"}
# Of <link>; other relations, such as "next" and "canonical", are links.
LOADED_RELATIONS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "manifest"}
LOADED_FROM_HREF = {"image", "use"}
# The theme leaves it among its static files; nobody sees it.
THEME_TEMPLATE = "webpack-macros.html"
STYLE_LOADS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class Reference(NamedTuple):
    """An address in a file, the line where it stands, and whether a browser loads it without being asked to."""

    line: int
    address: str
    is_loaded: bool


class Page(HTMLParser):
    """The ids and references of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.references: list[Reference] = []
        self._is_style = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the id and the addresses of an element."""
        values = {name: value or "" for name, value in attrs}
        self._is_style = tag == "style"
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        loads_href = tag in LOADED_FROM_HREF or (tag == "link" and LOADED_RELATIONS & {*values.get("rel", "").split()})
        for name, value in values.items():
            if name in LINKS | LOADS:
                self._keep(value, is_loaded=name in LOADS or bool(loads_href))
            elif name == "srcset":
                for part in value.split(","):
                    self._keep(part.split()[0], is_loaded=True)
            elif name == "style":
                self._keep_style(value)

    def handle_data(self, data: str) -> None:
        """Keep the addresses of a style sheet within the page."""
        if self._is_style:
            self._keep_style(data)

    def handle_endtag(self, tag: str) -> None:
        """Leave a style sheet."""
        self._is_style = self._is_style and tag != "style"

    def _keep_style(self, text: str) -> None:
        for address in style_addresses(text):
            self._keep(address, is_loaded=True)

    def _keep(self, address: str, *, is_loaded: bool) -> None:
        self.references.append(Reference(self.getpos()[0], address.strip(), is_loaded))


def style_addresses(text: str) -> Iterator[str]:
    """Return what a style sheet loads."""
    return (first or second for first, second in STYLE_LOADS.findall(text))


@cache
def read_page(path: Path) -> Page:
    """Read a page once."""
    return Page(path.read_text(encoding="utf-8"))


def references(path: Path) -> list[Reference]:
    """Return the references of a page or a style sheet."""
    if path.suffix == ".html":
        return read_page(path).references
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return [Reference(number, address, True) for number, line in lines for address in style_addresses(line)]


def find_fault(path: Path, reference: Reference, site: Path) -> str | None:
    """Return what is wrong with a reference."""
    parts = urlsplit(reference.address)
    if parts.scheme in {"data", "mailto"}:
        return None
    if not (parts.scheme or parts.netloc):
        return find_fault_within(path, unquote(parts.path), unquote(parts.fragment), site.resolve())
    if reference.is_loaded:
        return "must be a file of the site, which is read without a network"
    return None if parts.scheme == "https" and parts.netloc else "must begin with https://HOST"


def find_fault_within(path: Path, to: str, fragment: str, site: Path) -> str | None:
    """Return what is wrong with a relative address, from one file of the site to another."""
    target = (path.parent / to).resolve() if to else path.resolve()
    if to.startswith("/"):
        return "must be relative, since the site is also opened from a folder"
    if not target.is_relative_to(site) or not target.is_file():
        return "must lead to a file of the site"
    if target.suffix == ".html" and fragment not in {"", *read_page(target).ids}:
        return f"must lead to an id of {target.relative_to(site)}"
    return None


def find_faults(site: Path) -> list[str]:
    """Return a line for each reference of the site that leads nowhere, or is loaded from elsewhere."""
    return [
        f"{path.relative_to(site)}, line {reference.line}: {reference.address!r} {fault}."
        for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")])
        if path.name != THEME_TEMPLATE
        for reference in references(path)
        if (fault := find_fault(path, reference, site))
    ]


def main(site: Path) -> int:
    """Print the faults of a site, and return the exit status."""
    faults = find_faults(site)
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    pages = list(site.rglob("*.html"))
    count = sum(len(read_page(page).references) for page in pages)
    sys.stdout.write(f"{len(pages)} pages, {count} links and files that they load: {len(faults)} faults\n")
    return int(bool(faults) or not pages)


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
