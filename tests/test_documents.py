"""Every code block of every page in docs/ runs, in the order of its page; README.md has tests of its own.

A block that cannot run has a comment before it: ``.. not run: REASON``. A page that needs a file of the shared data
says ``.. needs: PATH``. Commands other than `mlstream` are verbs of the Makefile, or benchmarks, which CI runs.
"""

import doctest
import os
import re
import shlex
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from mlstream import load_config, save
from mlstream.campaign.config import DetectionConfig
from mlstream.challenge.config import read_config
from mlstream.cli import app
from tests.mlstream.evaluation.streams import make_stream
from tests.pages import pages

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"(?:^\.\. not run: (?P<reason>.+(?:\n   .+)*)\n\n)?"
    r"^\.\. code-block:: (?P<language>\S*)\n\n(?P<code>(?:   .*\n|\n)+)",
    re.MULTILINE,
)
# Pages whose blocks have tests of their own: the recipes of one go into files, the other is checked by section.
ELSEWHERE = {"contributing/architecture", "campaigns/published_tables"}
# What readers of a page have, and its blocks do not make.
LEARNERS = "from tests.mlstream.evaluation.streams import Online as Perceptron\n"


class Block(NamedTuple):
    """A block of code, the line of the page where it begins, and why it is not run."""

    language: str
    code: str
    line: int
    reason: str | None


def blocks(text: str) -> list[Block]:
    """Return the code blocks of a page."""
    return [
        Block(
            found["language"],
            textwrap.dedent(found["code"]).strip("\n") + "\n",
            text.count("\n", 0, found.start("code")) + 1,
            found["reason"],
        )
        for found in BLOCK.finditer(text)
    ]


PAGES = {name: path.read_text(encoding="utf-8") for name, path in pages().items()}
BLOCKS = {name: blocks(text) for name, text in PAGES.items() if name not in ELSEWHERE}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Enter an empty folder with the files that readers have."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my-streams").mkdir()
    (tmp_path / "my_learners.py").write_text(LEARNERS)
    for path in ("news.npz", "my-streams/news.npz"):
        save(make_stream(), tmp_path / path)
    return tmp_path


def run_python(block: Block, names: dict[str, object], page: str) -> None:
    """Run lines, as a reader would type them."""
    exec(compile(block.code, f"{page}.rst, line {block.line}", "exec"), names)  # noqa: S102 - our own pages


def run_session(block: Block, names: dict[str, object], page: str) -> None:
    """Run a session, and compare what it prints."""
    test = doctest.DocTestParser().get_doctest(block.code, names, page, f"{page}.rst", block.line)
    failures: list[str] = []
    result = doctest.DocTestRunner().run(test, out=failures.append, clear_globs=False)
    assert result.attempted > 0
    assert not result.failed, "".join(failures)
    names.update(test.globs)


def run_console(block: Block, names: dict[str, object], page: str) -> None:
    """Run what starts `mlstream`; the rest must be verbs of the Makefile, or benchmarks that exist."""
    for line in block.code.splitlines():
        program, *arguments = shlex.split(line.removeprefix("$ "), comments=True)
        if program == "mlstream":
            done = CliRunner().invoke(app, arguments)
            assert done.exit_code == 0, f"{page}.rst: {line}\n{done.output}"
        elif program == "make":
            assert f"\n{arguments[0]}:" in (ROOT / "Makefile").read_text(encoding="utf-8"), line
        else:
            assert program == "python", line
            assert (ROOT / arguments[0]).is_file(), line


def load_toml(block: Block, names: dict[str, object], page: str) -> None:
    """Load a campaign file, and make its learners and detectors; or the rules of a challenge, which name themselves."""
    path = Path("challenge.toml" if block.code.startswith("# challenge.toml\n") else "campaign.toml")
    path.write_text(block.code, encoding="utf-8")
    if path.stem == "challenge":
        assert read_config(path)
        return
    config = load_config(path)
    if isinstance(config, DetectionConfig):
        assert config.make_detectors()
        assert config.make_learners()
    else:
        assert config.learners()


RUNNERS = {"python": run_python, "pycon": run_session, "console": run_console, "toml": load_toml}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("page", [page for page, found in BLOCKS.items() if found])
def test_the_blocks_of_a_page_run(page, folder, shared_data, monkeypatch):
    for name in re.findall(r"^\.\. needs: (\S+)$", PAGES[page], re.MULTILINE):
        monkeypatch.setenv("MLSTREAM_DATA", os.fspath(shared_data(name).parents[1]))
    names: dict[str, object] = {"__name__": "__main__", "stream": make_stream()}
    for block in BLOCKS[page]:
        if not block.reason:
            RUNNERS[block.language](block, names, page)


def test_every_block_is_found_and_of_a_language_that_runs():
    for name, found in BLOCKS.items():
        assert len(found) == PAGES[name].count(".. code-block::"), name
        assert {block.language for block in found} <= set(RUNNERS), name
        assert PAGES[name].count(">>>") == sum(block.code.count(">>>") for block in found), name
        assert PAGES[name].count(".. not run:") == sum(block.reason is not None for block in found), name
    assert set(PAGES) >= ELSEWHERE


def test_a_block_that_fails_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (
        "Text\n\n.. code-block:: python\n\n   1 / 0\n\n.. not run: needs a\n   cluster\n\n"
        ".. code-block:: console\n\n   $ mlstream nothing\n\n.. code-block:: pycon\n\n   >>> 1\n   2\n"
    )
    python, console, session = blocks(page)
    assert (python.line, console.reason) == (5, "needs a\n   cluster")
    with pytest.raises(ZeroDivisionError):
        run_python(python, {}, "x")
    with pytest.raises(AssertionError, match="No such command"):
        run_console(console, {}, "x")
    with pytest.raises(AssertionError, match="Expected:"):
        run_session(session, {}, "x")
