"""The pages that people wrote, without those that a build leaves behind; their blocks of code, and what they quote."""

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GENERATED = ("_build/", "_templates/", "auto_examples/", "api/generated/", "sg_execution_times")
RST_BLOCK = re.compile(
    r"(?:^\.\. not run: (?P<reason>.+(?:\n   .+)*)\n\n)?"
    r"^\.\. code-block:: (?P<language>\S*)\n\n(?P<code>(?:   .*\n|\n)+)",
    re.MULTILINE,
)
MARKDOWN_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>.+?) -->\n\n?)?^```(?P<language>\S*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# Within a paragraph: no line between the backquotes is blank.
RST_LITERAL = re.compile(r"(?<!`)``(?=\S)(?P<text>(?:[^`\n]|`(?!`)|\n(?!\s*\n))+)(?<=\S)``(?!`)")
MARKDOWN_LITERAL = re.compile(r"(?<!`)`(?P<text>(?:[^`\n]|\n(?!\s*\n))+)`(?!`)")


class Block(NamedTuple):
    """A block of code, the line of the page where it begins, and why it is not run."""

    language: str
    code: str
    line: int
    reason: str | None


class Inline(NamedTuple):
    """What stands between backquotes in the text, on one line, and the line of the page where it begins."""

    text: str
    line: int


def pages(suffix: str = ".rst") -> dict[str, Path]:
    """Return the path of every page of docs/ by its name, such as ``learners/trees``."""
    names = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in sorted(DOCS.rglob(f"*{suffix}"))}
    return {name: path for name, path in names.items() if not name.startswith(GENERATED)}


def markdown_pages() -> dict[str, Path]:
    """Return the path of README and CONTRIBUTING, and of the pages of docs/ in Markdown, by name."""
    return {name: ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING")} | pages(".md")


def blocks(text: str, pattern: re.Pattern[str] = RST_BLOCK) -> list[Block]:
    """Return the code blocks of a page."""
    return [
        Block(
            found["language"],
            textwrap.dedent(found["code"]).strip("\n") + "\n",
            text.count("\n", 0, found.start("code")) + 1,
            found["reason"],
        )
        for found in pattern.finditer(text)
    ]


def inlines(path: Path) -> list[Inline]:
    """Return what stands between backquotes on a page, outside of its blocks of code."""
    block, literal = (RST_BLOCK, RST_LITERAL) if path.suffix == ".rst" else (MARKDOWN_BLOCK, MARKDOWN_LITERAL)
    # As many lines stay, so that the others keep their numbers.
    prose = block.sub(lambda found: "\n" * found[0].count("\n"), path.read_text(encoding="utf-8"))
    return [
        Inline(" ".join(found["text"].split()), prose.count("\n", 0, found.start()) + 1)
        for found in literal.finditer(prose)
    ]
