"""A linter of English: phrases that make native readers stumble, in docstrings, comments, messages and pages.

``python tools/english.py PATH ...`` reads every Python file and page below the paths, prints ``FILE:LINE: RULE`` for
each phrase it finds and exits with status 1 if there is one. ``CONTRIBUTING.md`` says what to write instead.

Older text has some of these phrases. With ``--allow-old``, as many as ``OLD`` says for all of the paths together are no
error; lower these numbers when text is mended, and never raise them.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PAGES = {".md", ".rst"}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_OPENING = re.compile(r"(What|Which|Where|All that)\b")
_PHRASES = {
    re.compile(r"(?<!`)\b(is|are|be) none\b(?!`)"): "reads as `None`: write 'is not one', 'must be', or name the value",
    re.compile(r"\bGot none\b"): "reads as `None`: write 'Got 0' or 'Got None'",
    re.compile(r"\b[Jj]udg(e|es|ed|ing)\b"): "learners and metrics do not judge: write 'evaluate', 'score' or 'decide'",
    re.compile(r"\banew\b"): "write 'again' or 'from scratch'",
    re.compile(r"\bby heart\b"): "write what is stored",
    re.compile(r"\bas (it|they) must be\b"): "name the rule: 'must be a list of integers'",
    re.compile(r"\bleave to (read|write)\b"): "write 'permission to'",
}
# Rules that older text breaks, too.
_THERE = "".join(f"(?<!here{verb} )" for verb in ("", " may", " can", " must", " should", " would", " will"))
_COMPARED = "longer|more|less|fewer|higher|lower|larger|smaller|better|worse|slower|faster|later|earlier|other|such|one"
_IS_NO = "write 'is not a ...'"
_OF_LATE = "write 'recent'"
_THAT_OF = "is a chain: name the things, or write two sentences"
_WHAT = "begins a sentence: begin with a noun, not with a relative clause"
_DRAWN = "write 'simulated'"
_ONE = "the variable of a loop must have the name of what it is. Got 'one'"
_PHRASES |= {
    re.compile(rf"{_THERE}\b(is|are|was|were|be) no (?!({_COMPARED})\b)\w+"): _IS_NO,
    re.compile(r"\bof\s+late\b"): _OF_LATE,
    re.compile(r"\b(that|those) of\b[^.:;,*|-]{1,60}\b(that|those) of\b"): _THAT_OF,
    # neither a question nor a title
    re.compile(r"(\A#:? |(?<=[.!?])\s+|(?<=\n\n)[ \t]*)What\b(?! if\b)(?![^.?!]*(\?|\n *[-=~^]{3}))"): _WHAT,
    re.compile(r"\bdrawn (streams?|tables?|data)\b|\b(streams?|tables?|data) (is|are|was|were|can be) drawn\b"): _DRAWN,
}
# How many old findings of each are allowed.
OLD = {_IS_NO: 37, _OF_LATE: 37, _THAT_OF: 3, _WHAT: 72, _DRAWN: 4, _ONE: 247}


class Finding(NamedTuple):
    """A phrase, and where it stands.

    Parameters
    ----------
    path : Path
        The file.
    line : int
        Its line, from 1.
    message : str
        The rule that it breaks.
    """

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def check_file(path: Path) -> list[Finding]:
    """Return the findings of one file, in the order of lines."""
    text = path.read_text(encoding="utf-8")
    found = check_page(text) if path.suffix in PAGES else check_code(text, is_command="cli" in path.parts)
    return [Finding(path, line, message) for line, message in sorted(found)]


def check_page(text: str) -> list[tuple[int, str]]:
    """Return line and rule of each phrase in the text of a page."""
    return list(_phrases(text, 1))


def check_code(text: str, *, is_command: bool = False) -> list[tuple[int, str]]:
    """Return line and rule of each phrase in Python code.

    Parameters
    ----------
    text : str
        A module.
    is_command : bool
        Whether it is a module of the command line, whose errors must name options as they are typed.
    """
    tree = ast.parse(text)
    found = [*_openings(tree), *_strings(tree), *_comments(text), *_loops(tree)]
    return [*found, *_options(tree)] if is_command else found


def _openings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and (doc := ast.get_docstring(node)) and (word := _OPENING.match(doc)):
            line = node.body[0].lineno
            yield line, f"a docstring must begin with a noun or an imperative. Got {word[0]!r}"


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _phrases(node.value, node.lineno)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield from _phrases(token.string, token.start[0])


def _loops(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.For | ast.comprehension)
            and isinstance(node.target, ast.Name)
            and node.target.id == "one"
        ):
            yield node.target.lineno, _ONE


def _options(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Find errors that name a parameter of a command, such as n_tasks, where the user typed an option."""
    names = {
        argument.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for argument in (*node.args.args, *node.args.kwonlyargs)
        if "_" in argument.arg
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            text = "".join(_texts(node.exc))
            for name in sorted(names & set(re.findall(r"[a-z]+(?:_[a-z]+)+", text))):
                yield node.lineno, f"an error must name the option as typed, --{name.replace('_', '-')}. Got {name!r}"


def _texts(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _phrases(text: str, first_line: int) -> Iterator[tuple[int, str]]:
    for pattern, rule in _PHRASES.items():
        for match in pattern.finditer(text):
            phrase = match[0].lstrip()
            yield first_line + text.count("\n", 0, match.end() - len(phrase)), f"{phrase!r} {rule}"


def _files(paths: Iterable[str]) -> Iterator[Path]:
    for path in map(Path, paths):
        if not path.exists():
            raise SystemExit(f"{path} must be a file or folder that exists.")
        yield from (
            sorted(file for file in path.rglob("*") if file.suffix in {".py", *PAGES}) if path.is_dir() else [path]
        )


def main(arguments: list[str]) -> int:
    """Print the findings below the paths; return 1 if there are any, but for old ones where they are allowed."""
    paths = [argument for argument in arguments if argument != "--allow-old"]
    findings = [finding for file in _files(paths) for finding in check_file(file)]
    if len(paths) < len(arguments):
        findings = _without_old(findings)
    for finding in findings:
        print(finding)
    return int(bool(findings))


def _without_old(findings: list[Finding]) -> list[Finding]:
    """Leave out findings of rules that have no more than are allowed; print where the number allowed can be lowered."""
    for rule, n_allowed in OLD.items():
        of_rule = [finding for finding in findings if finding.message.endswith(rule)]
        if len(of_rule) <= n_allowed:
            findings = [finding for finding in findings if finding not in of_rule]
        else:
            print(f"{len(of_rule)} findings, of which {n_allowed} are old. At least one of these is new ({rule}):")
        if len(of_rule) < n_allowed:
            print(f"Lower the number allowed in {Path(__file__).name} from {n_allowed} to {len(of_rule)} ({rule}).")
    return findings


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
