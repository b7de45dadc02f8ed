"""Every recipe of docs/contributing/architecture.rst works as it is written, and all that the page names exists.

A recipe is a section below "Six recipes". Each of its blocks says in its caption where it goes: into a new file, or
before, after or instead of the one line that begins so. A block for the console holds the commands to run at the end.
"""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

import metrics

ROOT = Path(__file__).parents[1]
# Where the packages lie: the checkout, or the folder that a wheel is installed into.
SOURCE = Path(metrics.__file__).parents[1]
PACKAGES = ("metrics", "estimators", "mlstream")
PAGE = (ROOT / "docs" / "contributing" / "architecture.rst").read_text(encoding="utf-8")

SECTION = re.compile(r"^(?P<title>.+)\n(?P<line>[=~-])(?P=line)+\n", re.MULTILINE)
BLOCK = re.compile(r"^\.\. code-block:: (\S+)\n(?:   :caption: (.+)\n)?\n((?:   .*\n|\n)+)", re.MULTILINE)
CAPTION = re.compile(
    r"``(?P<file>[^`]+)``, (?:(?P<new>new file)|(?P<where>before|after|instead of) ``(?P<line>[^`]+)``)"
)


class Block(NamedTuple):
    """A block of code: where it goes (nowhere: a command to run), and what it says."""

    caption: str
    code: str


def sections(marker: str) -> dict[str, str]:
    """Return the text of each section whose title is underlined with a marker."""
    found = list(SECTION.finditer(PAGE))
    ends = [*(one.start() for one in found[1:]), len(PAGE)]
    return {one["title"]: PAGE[one.end() : end] for one, end in zip(found, ends, strict=True) if one["line"] == marker}


def blocks(text: str) -> list[Block]:
    return [Block(caption, textwrap.dedent(code).strip("\n") + "\n") for _, caption, code in BLOCK.findall(text)]


RECIPES = {title: blocks(text) for title, text in sections("~").items() if title.startswith("Add ")}


def apply(block: Block, folder: Path) -> Path:
    """Do what the caption of a block says; return the file that was changed."""
    place = CAPTION.fullmatch(block.caption)
    assert place, block.caption
    file = folder / place["file"]
    if place["new"]:
        assert not file.exists(), file
        file.write_text(block.code, encoding="utf-8")
        return file
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    found = [number for number, line in enumerate(lines) if line.strip().startswith(place["line"])]
    assert len(found) == 1, f"{block.caption}: {len(found)} lines begin so"
    start, stop = {"before": (0, 0), "after": (1, 1), "instead of": (0, 1)}[place["where"]]
    margin = re.match(r" *", lines[found[0]])[0]
    lines[found[0] + start : found[0] + stop] = [textwrap.indent(block.code, margin)]
    file.write_text("".join(lines), encoding="utf-8")
    return file


def run(command: str, folder: Path) -> str:
    """Run a command of a reader in a folder, with the packages that are there."""
    program, *arguments = shlex.split(command.removeprefix("$ "))
    options = ["-q", "-p", "no:cacheprovider"] if program == "pytest" else []
    # Few tests run, so that most skips that are allowed do not occur.
    variables = {name: value for name, value in os.environ.items() if name != "MLSTREAM_FORBID_SKIPS"}
    done = subprocess.run(
        [sys.executable, "-m", program, *arguments, *options],
        cwd=folder,
        env=variables | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def copy(tmp_path):
    """Copy the packages, the tests and the list of public names."""
    unwanted = shutil.ignore_patterns("__pycache__", "*.nb[ic]")
    for package in PACKAGES:
        shutil.copytree(SOURCE / package, tmp_path / package, ignore=unwanted)
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=unwanted)
    shutil.copytree(ROOT / "docs" / "api", tmp_path / "docs" / "api", ignore=shutil.ignore_patterns("generated"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_there_are_six_recipes_and_every_block_is_found():
    assert list(RECIPES) == [
        "Add a metric",
        "Add a learner",
        "Add a generator",
        "Add a file format",
        "Add a figure to the report",
        "Add a command",
    ]
    assert sum(map(len, RECIPES.values())) == PAGE.count(".. code-block::")


@pytest.mark.slow
@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_works_as_it_is_written(title, copy):
    changed = {apply(block, copy) for block in RECIPES[title] if block.caption}
    code = [str(file.relative_to(copy)) for file in changed if file.suffix == ".py"]
    run(f"$ ruff check --no-cache {shlex.join(code)}", copy)
    run(f"$ ruff format --check --no-cache {shlex.join(set(code) & ADDED)}", copy)
    commands = [line for block in RECIPES[title] if not block.caption for line in block.code.splitlines()]
    assert commands
    for command in commands:
        output = run(command, copy)
        assert not command.startswith("$ pytest") or " passed" in output, output


def test_a_recipe_that_does_not_fit_is_noticed(tmp_path):
    (tmp_path / "sums.py").write_text("x = 1\nprint(x)\n")
    with pytest.raises(AssertionError, match="0 lines begin so"):
        apply(Block("``sums.py``, after ``no such line``", "x = 2\n"), tmp_path)
    with pytest.raises(AssertionError):
        apply(Block("``sums.py``, new file", "x = 2\n"), tmp_path)
    assert run("$ sums", tmp_path) == "1\n"
    apply(Block("``sums.py``, before ``print(``", "1 / 0\n"), tmp_path)
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        run("$ sums", tmp_path)


# ------------------------------------------------------------------------------------------------------------- names
FILE = re.compile(r"(?:metrics|estimators|mlstream|tests|docs)/[\w/]+\.\w+")
ADDED = set(re.findall(r":caption: ``([^`]+)``, new file", PAGE))


def home(name: str) -> Path:
    return (SOURCE if name.startswith(PACKAGES) else ROOT) / name


def test_every_file_that_the_page_names_exists():
    named = set(FILE.findall(PAGE)) - ADDED
    assert len(named) > 50
    assert sorted(name for name in named if not home(name).is_file()) == []


def defined(file: Path) -> set[str]:
    """Return the functions and classes of a module."""
    kinds = ast.FunctionDef | ast.ClassDef
    return {node.name for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, kinds)}


def test_every_function_and_class_of_a_trip_is_where_the_page_says():
    """After a file and a colon, the words until the next file are about that file."""
    trips = PAGE[PAGE.index("\nSix trips\n") : PAGE.index("\nSix recipes\n")]
    steps = re.findall(r"``((?:metrics|estimators|mlstream)/[\w/]+\.py)``:\s+``([A-Za-z_]+)(?:\(\))?``", trips)
    assert len(steps) > 50
    assert [(file, name) for file, name in steps if name not in defined(home(file))] == []
