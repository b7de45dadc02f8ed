"""Commands, options and snippets within the text of README, CONTRIBUTING and docs/ name what there is.

Those that are complete run too, at their place among the blocks of their page (test_documents.py).
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.loops import check_all
from tests.page_commands import Refusal, check_named, check_option, has_its_files, is_complete, script_of, words_of
from tests.page_snippets import can_run, parse_snippet, problems
from tests.pages import inlines, markdown_pages, pages

SCRIPT = re.compile(r"python (?:(-m) )?((?:benchmarks|tests|tools)[\w./]+)")


def scripts_of(text: str) -> list[Path]:
    """Return the scripts of this project that a page calls."""
    found = [script_of([word for word in words if word]) for words in SCRIPT.findall(text)]
    return [path for path in found if path]


def wrong(text: str, scripts: Sequence[Path] = ()) -> list[str]:
    """Return what is wrong with a command, an option or a snippet; an option may be that of a script."""
    words, snippet = words_of(text), parse_snippet(text)
    try:
        if words:
            check_named(words[0], words[1:])
        elif re.match("--[a-z]", text):
            option, *values = re.split("[ =]", text)
            if not any(f'"{option}"' in path.read_text(encoding="utf-8") for path in scripts):
                check_option([option, *values])
        elif snippet:
            return list(problems(snippet))
    except (AssertionError, Refusal) as error:
        return [error.format_message() if isinstance(error, Refusal) else str(error)]
    return []


@pytest.mark.slow
def test_whatever_stands_between_backquotes_exists():
    found = []
    for page, path in (pages() | markdown_pages()).items():
        scripts = scripts_of(path.read_text(encoding="utf-8"))
        for text, line in inlines(path):
            found += [f"{page}, line {line}: {text}: {problem}" for problem in wrong(text, scripts)]
    assert not found, "\n".join(found)


WRONG = {
    "mlstream strategy": "No such command",
    "mlstream challenge play --output played": "No such command",
    "mlstream generate TABLE --warp 9": "generate has no ['--warp']",
    "mlstream generate news.csv --missing toss": "Invalid value for '--missing'",
    "mlstream streams now": "unexpected extra argument",
    "--warp": "no command has --warp",
    "--missing toss": "Invalid value for '--missing'",
    "make tea": "the Makefile has no tea",
    "make soak SUGAR=1": "the Makefile has no SUGAR",
    "python benchmarks/bench_tea.py": "no file benchmarks/bench_tea.py",
    "python -m benchmarks.tea": "no module benchmarks.tea",
    "python benchmarks/bench_formats.py --tea": "bench_formats.py has no ['--tea']",
    "pip install '.[dask,tea]'": "no extra dask,tea",
    "evaluate(learner)": "evaluate: missing a required argument: 'stream'",
    "evaluate(learner, stream, speed=2)": "evaluate: got an unexpected keyword argument 'speed'",
    "mlstream.load(..., mmap=True, speed=2)": "mlstream.load: got an unexpected keyword argument 'speed'",
    "load_everything()": "no load_everything",
    "stream.to_tea()": "no stream.to_tea",
    "frame.from_frame(table, tea=1)": "from_frame has no argument tea",
    "mlstream.interop.to_tea": "no mlstream.interop.to_tea",
    "from mlstream.tea import": "no module mlstream.tea",
    "tea=": "no argument tea",
    'zeros="apart", change=0.5': "no 'apart'",
}
RIGHT = (
    *("mlstream", "mlstream run", "mlstream run --seeds", "mlstream COMMAND --help", "mlstream challenge"),
    *("mlstream verify FOLDER --for zenodo", "--unlabelled keep", "--labels=-2", "pip install mlstream"),
    *("evaluate()", "acc(..., when='triangular')", "labels=", "estimator__delta=0.1", "import mlstream"),
    *("stream.to_frame()", "copy.deepcopy(learner)", "x.csv", "tuned (10)", "HOME=x", "it's", "a `b`"),
)


@pytest.mark.slow
def test_what_does_not_exist_is_noticed_and_all_else_left_alone():
    def check(case):
        text, problem = case
        found = wrong(text)
        assert len(found) == bool(problem)
        assert all(problem in one for one in found), found

    check_all([*WRONG.items(), *((text, "") for text in RIGHT)], check)


def test_what_is_whole_is_known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = ["streams", "--version", "challenge demo --output played", "inspect yeast-tasks", "report runs", "datasets"]
    parts = ["run", "report", "datasets fetch NAME", "challenge", "synthesise", "inspect STREAM"]
    assert [text for text in (*whole, *parts) if is_complete(text.split())] == whole
    assert [text for text in whole if not has_its_files(text.split())] == ["report runs"]
    (tmp_path / "runs").mkdir()
    assert has_its_files(["report", "runs"])


def test_a_snippet_runs_where_its_names_are_known():
    texts = ("fwt(R, order)", "fwt(R, order)['FWT']", "load(path)", "fwt()", "fwt(R, ...)", "order=1", "import re")
    snippets = [parse_snippet(text) for text in texts]
    assert [can_run(one, {"R": 0, "order": 0, "_": 0}) for one in snippets] == [True, True, *[False] * 4, True]


def test_lines_and_blocks_of_a_page_are_told_apart(tmp_path):
    page = tmp_path / "page.rst"
    page.write_text(
        "A ``b``, `c`,\n``d\ne``.\n\n.. code-block:: python\n\n   '``f``'\n\nNo `` ``end\n\n`` and ``g``.\n"
    )
    assert inlines(page) == [("b", 1), ("d e", 2), ("g", 11)]
    page = tmp_path / "page.md"
    page.write_text("A `b`.\n\n```python\n`c`\n```\n\n`d\ne` and ``f``.\n")
    assert inlines(page) == [("b", 1), ("d e", 7)]
