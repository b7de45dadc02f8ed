"""Everything that the README says can be done works, in the order of the README."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.slow
def test_every_command_of_the_readme_runs(tmp_path):
    commands = [line[2:].split("#")[0] for block in blocks("console") for line in block.splitlines()]
    ours = [shlex.split(command)[1:] for command in commands if command.startswith("mlstream")]
    assert len(ours) >= 6
    for arguments in ours:
        done = subprocess.run(
            [sys.executable, "-m", "mlstream", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"mlstream {shlex.join(arguments)}\n{done.stderr}"
    assert (tmp_path / "runs" / "report.html").stat().st_size > 1_000_000


def test_the_python_block_of_the_readme_prints_what_stands_below_it(tmp_path):
    (code,), (output,) = blocks("python"), blocks("text")
    script = tmp_path / "readme.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, env=os.environ.copy())
    assert done.returncode == 0, done.stderr
    assert done.stdout == output


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
        # The files at the root do not lie beside the tests that run against a wheel.
        (name,) = filter(None, names)
        assert not name.startswith("docs/") or (ROOT / name).is_file()


def test_the_make_verbs_of_the_readme_exist():
    verbs = re.findall(r"(?:`|\$ )make (\w+)", README)
    assert {"demo", "test"} <= set(verbs)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {f"{verb}:" for verb in verbs} <= {line.split(" ")[0] for line in makefile.splitlines()}
