"""The pictures, links and verbs of the README are right; its code is run with that of the docs (test_documents.py)."""

import os
import re
import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_pictures_of_the_readme_are_those_that_the_tool_draws(tmp_path):
    tool = runpy.run_path(str(ROOT / "tools" / "readme_picture.py"))
    drawn = tool["make_pictures"](tmp_path)
    shown = re.findall(r'"(docs/_static/[\w-]+\.svg)"', README)
    assert {path.name for path in drawn} == {Path(path).name for path in shown}
    for path in drawn:
        assert path.read_text(encoding="utf-8") == (ROOT / "docs" / "_static" / path.name).read_text(encoding="utf-8")
        assert path.stat().st_size < 10_000


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_numbers_in_the_picture_can_be_read_on_every_cell(theme):
    colours = runpy.run_path(str(ROOT / "tools" / "readme_picture.py"))["THEMES"][theme]
    ink = luminance(colours.ink)
    page = {"light": 1.0, "dark": luminance("#0d1117")}[theme]
    for other in (page, *map(luminance, colours.heat)):
        assert (max(ink, other) + 0.05) / (min(ink, other) + 0.05) >= 4.5


def luminance(colour):
    """Return the relative luminance of a colour by WCAG 2.1."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_the_readme_is_short_and_its_links_lead_to_files():
    assert len(README.splitlines()) < 150
    files = re.findall(r"\]\((?!http)([^)]+)\)|`(docs/[\w/]+\.rst)`", README)
    assert len(files) >= 4
    for names in files:
        (name,) = filter(None, names)
        assert (ROOT / name).is_file(), name


def test_the_make_verbs_of_the_readme_exist():
    verbs = re.findall(r"(?:`|\$ )make (\w+)", README)
    assert {"demo", "test"} <= set(verbs)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {f"{verb}:" for verb in verbs} <= {line.split(" ")[0] for line in makefile.splitlines()}


def test_make_lists_every_verb_once_and_five_for_everybody():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    verbs = re.search(r"^\.PHONY: (.*)", makefile, re.MULTILINE)[1].split()
    # `make test` hands its flags and targets to the make that runs in it
    surroundings = {
        name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}
    }
    for goals in ([], ["help"]):
        run = subprocess.run(["make", *goals], cwd=ROOT, env=surroundings, check=True, capture_output=True, text=True)
        everybody, _ = run.stdout.split("For maintainers:")
        assert re.findall(r"^  make (\S+) +\S", everybody, re.MULTILINE) == ["demo", "test", "docs", "bench", "clean"]
        listed = re.findall(r"^  make (\S+) +\S", run.stdout, re.MULTILINE)
        assert sorted(listed) == sorted(verbs)
