"""Every code block of README.md and of every page in docs/ runs, in the order of its page, and prints what it shows.

A block of the language ``text`` is what the block before it prints; in a console block, the lines below a command are.
``...`` stands for anything, and white space does not count. A block that cannot run has a comment before it,
``.. not run: REASON`` (``<!-- not run: REASON -->`` in Markdown); its commands and options must exist all the same. A
page that needs a file of the shared data says ``.. needs: PATH``. Commands other than `mlstream` are verbs of the
Makefile, or scripts, which CI runs. What stands between backquotes in the text runs at its place among the blocks: a
complete command, in docs/ where its files are there, and a call whose names are all known. test_inline.py has the rest.
"""

import doctest
import os
import re
import shlex
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType

import pytest

from mlstream import load_config, save
from mlstream.campaign.config import DetectionConfig
from mlstream.cards.about import read_about
from mlstream.challenge.config import read_config
from tests.mlstream.evaluation.streams import make_stream
from tests.page_commands import Refusal, call, check_exists, has_its_files, is_complete, words_of
from tests.page_snippets import can_run, parse_snippet, run_snippet
from tests.pages import MARKDOWN_BLOCK, Block, Inline, blocks, inlines, markdown_pages, pages

# Pages whose blocks have tests of their own: the recipes of one go into files, the other is checked by section.
ELSEWHERE = {"contributing/architecture", "campaigns/published_tables"}
# What readers of a page have, and its blocks do not make.
LEARNERS = "from tests.mlstream.evaluation.streams import Online as Perceptron\n"
TABLES = {
    "table.csv": ("a,b,red,blue", "1,2,1,0", "3,,0,1", "4,5,1,0", "6,7,0,1"),
    "visits.csv": ("when,c,red,blue", "2026-01-31,1,1,0"),
    "words.csv": ("a,c,red,blue", "1,x,1,0", "3,y,0,1", "4,x,1,0", "6,y,0,1"),
}
SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
README = markdown_pages()["README"].read_text(encoding="utf-8")
PAGES = {name: path.read_text(encoding="utf-8") for name, path in pages().items()}
BLOCKS = {"README": blocks(README, MARKDOWN_BLOCK)} | {
    name: blocks(text) for name, text in PAGES.items() if name not in ELSEWHERE
}
# a module that a page has readers write, and others name
MODULE = next(block.code for block in BLOCKS["README"] if block.code.startswith("# my_module.py"))
INLINES = {name: inlines(path) for name, path in (pages() | markdown_pages()).items() if name not in ELSEWHERE}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Enter an empty folder with the files that readers have."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my-streams").mkdir()
    (tmp_path / "my_learners.py").write_text(LEARNERS)
    (tmp_path / "my_module.py").write_text(MODULE)
    for name, rows in TABLES.items():
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    for path in ("news.npz", "my-streams/news.npz"):
        save(make_stream(), tmp_path / path)
    return tmp_path


def compare(want: str, got: str, place: str) -> None:
    """Compare what a page shows with what was printed."""
    assert doctest.OutputChecker().check_output(want, got, SHOWN), f"{place} shows\n{want}\nbut printed is\n{got}"


def run_python(block: Block, names: dict[str, object], page: str) -> str:
    """Run lines, as a reader would type them, and return what they print; those of a module go into its file, too."""
    if named := re.match(r"# (\w+\.py)\b", block.code):
        Path(named[1]).write_text(block.code, encoding="utf-8")
    with redirect_stdout(StringIO()) as printed:
        exec(compile(block.code, f"{page}, line {block.line}", "exec"), names)  # noqa: S102 - our own pages
    return printed.getvalue()


def run_session(block: Block, names: dict[str, object], page: str) -> str:
    """Run a session, and compare what it prints."""
    test = doctest.DocTestParser().get_doctest(block.code, names, page, page, block.line)
    failures: list[str] = []
    result = doctest.DocTestRunner().run(test, out=failures.append, clear_globs=False)
    assert result.attempted > 0
    assert not result.failed, "".join(failures)
    names.update(test.globs)
    return ""


def commands(block: Block) -> list[tuple[list[str], str]]:
    """Return the words of each command of a console block, and the output that is shown below it."""
    parts = re.split(r"^\$ ", block.code.replace("\\\n", " "), flags=re.MULTILINE)
    assert not parts[0], f"line {block.line}: a console block must begin with '$ '"
    lines = [part.partition("\n") for part in parts[1:]]
    return [(shlex.split(line, comments=True), shown) for line, _, shown in lines]


def run_console(block: Block, names: dict[str, object], page: str) -> str:
    """Run what starts `mlstream`, and return what is printed; only a command below which an error stands may fail."""
    printed = ""
    for (program, *arguments), shown in commands(block):
        place = f"{page}, line {block.line}: {shlex.join([program, *arguments])}"
        if program == "mlstream":
            output, status = call(arguments)
            assert (status == 0) != ("Error: " in shown), f"{place}\n{output}"
            if shown:
                compare(shown, output, place)
            printed += output
        else:
            assert program in {"make", "python"}, place
            check_exists(program, arguments)
    return printed


def load_toml(block: Block, names: dict[str, object], page: str) -> str:
    """Load a campaign file, and make its learners and detectors; or another file, whose first line names it."""
    named = re.match(r"# (challenge|about)\.toml\n", block.code)
    path = Path(f"{named[1] if named else 'campaign'}.toml")
    path.write_text(block.code, encoding="utf-8")
    if named:
        assert {"challenge": read_config, "about": read_about}[named[1]](path)
        return ""
    config = load_config(path)
    if isinstance(config, DetectionConfig):
        assert config.make_detectors()
        assert config.make_learners(trust=True)
    else:
        assert config.learners(trust=True)
    return ""


Runner = Callable[[Block, dict[str, object], str], str]
RUNNERS: dict[str, Runner] = {"python": run_python, "pycon": run_session, "console": run_console, "toml": load_toml}


def run_inline(inline: Inline, names: dict[str, object], page: str) -> None:
    """Run what stands between backquotes, if it is whole; a command of the README must find what it needs."""
    words, snippet = words_of(inline.text), parse_snippet(inline.text)
    if words[:1] == ["mlstream"]:
        if is_complete(words[1:]) and (page == "README" or has_its_files(words[1:])):
            output, status = call(words[1:])
            assert status == 0, f"{page}, line {inline.line}: {inline.text}\n{output}"
    elif snippet and can_run(snippet, names):
        run_snippet(snippet, names)


def run_page(page: str, found: list[Block | Inline], names: dict[str, object]) -> None:
    """Run a page in order, and compare what its blocks print with the blocks of text below them."""
    printed = ""
    for block in sorted(found, key=lambda part: part.line):
        if isinstance(block, Inline):
            run_inline(block, names, page)
        elif block.reason:
            printed = ""
        elif block.language == "text":
            compare(block.code, printed, f"{page}, line {block.line}")
        else:
            printed = RUNNERS[block.language](block, names, page)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("page", INLINES)
def test_a_page_runs(page, folder, shared_data, monkeypatch):
    for name in re.findall(r"^\.\. needs: (\S+)$", PAGES.get(page, ""), re.MULTILINE):
        monkeypatch.setenv("MLSTREAM_DATA", os.fspath(shared_data(name).parents[1]))
    # A class of a page is pickled by its name in the module that runs.
    script = ModuleType("__main__")
    script.stream = make_stream()
    monkeypatch.setitem(sys.modules, "__main__", script)
    run_page(page, [*BLOCKS.get(page, ()), *INLINES[page]], vars(script))


def test_a_block_that_is_not_run_could_be():
    for name, found in BLOCKS.items():
        for block in found:
            if block.reason and block.language == "python":
                compile(block.code, f"{name}, line {block.line}", "exec")
            elif block.reason and block.language == "console":
                for (program, *arguments), _ in commands(block):
                    check_exists(program, arguments)


def test_every_block_is_found_and_of_a_language_that_runs():
    assert len(BLOCKS["README"]) == README.count("\n```") // 2
    for name, text in PAGES.items():
        found = BLOCKS.get(name, [])
        bare = re.findall(r"^(?!\.\. ).*::$", text, re.MULTILINE)
        assert not bare, f"{name}: `::` does not say what its block is; write .. code-block:: LANGUAGE"
        if name not in ELSEWHERE:
            assert len(found) == text.count(".. code-block::"), name
            assert text.count(">>>") == sum(block.code.count(">>>") for block in found), name
            assert text.count(".. not run:") == sum(block.reason is not None for block in found), name
    for name, found in BLOCKS.items():
        assert {block.language for block in found if not block.reason} <= {*RUNNERS, "text"}, name
    assert set(PAGES) >= ELSEWHERE


SAMPLE = """Text

.. code-block:: python

   print(1 / 2)

.. code-block:: text

   0.5

.. not run: needs a
   cluster

.. code-block:: console

   $ mlstream run --warp 9

.. code-block:: pycon

   >>> 1
   2
"""


def test_a_page_is_read_block_by_block():
    python, shown, console, session = blocks(SAMPLE)
    assert (python.line, console.reason) == (5, "needs a\n   cluster")
    assert [block.language for block in (shown, session)] == ["text", "pycon"]
    (fenced,) = blocks("Text\n\n<!-- not run: no network -->\n\n```console\n$ mlstream\n```\n", MARKDOWN_BLOCK)
    assert fenced == Block("console", "$ mlstream\n", 6, "no network")


@pytest.mark.slow
def test_a_block_that_fails_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    python, shown, console, session = blocks(SAMPLE)
    run_page("x", [python, shown], {})
    for first, message in (
        ([python, shown._replace(code="0.6\n")], "x, line 9 shows"),
        ([console, shown], "printed is"),
        ([session], "Expected:"),
        ([console._replace(reason=None)], "No such option"),
        ([console._replace(reason=None, code="$ mlstream streams\nError: no streams\n")], "mlstream streams"),
    ):
        with pytest.raises(AssertionError, match=message):
            run_page("x", first, {})
    with pytest.raises(ZeroDivisionError):
        run_page("x", [python._replace(code="1 / 0")], {})
    with pytest.raises(Refusal, match="No such option"):
        check_exists("mlstream", ["run", "--warp", "9"])
