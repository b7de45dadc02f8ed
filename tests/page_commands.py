"""Commands on pages: whether they could run, whether they are complete, and what they print."""

import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

from mlstream.cli import app, main
from mlstream.publishing.presets import PRESETS
from tests.pages import ROOT

# A word in capitals, dots, or the script of a reader: a reader types something else.
PLACEHOLDER = re.compile(r"[A-Z][A-Z_/]*|.*\.\.\..*|script\.py")
# A command that lacks an argument, or the value of an option, is named only.
UNFINISHED = ("Missing ", "requires an argument")
# Complete, but not run with a page: what takes a minute and has tests of its own, and what asks which shell called.
NOT_RUN = {"demo", "warm-up", "--show-completion"}
Refusal: type[Exception] = typer.BadParameter.__base__


class Found(NamedTuple):
    """A command of `mlstream`, the words behind its name, and the commands above it."""

    command: object
    words: list[str]
    context: object

    @property
    def is_group(self) -> bool:
        """Whether commands are below it."""
        return hasattr(self.command, "commands")


def words_of(text: str) -> list[str]:
    """Return the words of a command, the first where two are joined; none where a text is no command."""
    try:
        words = shlex.split(text.partition(" && ")[0])
    except ValueError:
        return []
    return words if len(words) > 1 and words[0] in CHECKS else []


def call(words: list[str]) -> tuple[str, object]:
    """Call `mlstream`; return what it prints, errors too, and its exit status."""
    printed = StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), redirect_stderr(printed):
        patch.setattr(sys, "argv", ["mlstream", *words])
        with pytest.raises(SystemExit) as ended:
            main()
    return printed.getvalue(), ended.value.code


def find_command(words: list[str]) -> Found:
    """Follow words to a command of `mlstream`, as far as they name one."""
    command, context = root_command(), None
    while hasattr(command, "commands") and words and not re.match(f"-|{PLACEHOLDER.pattern}", words[0]):
        context = command.context_class(command, parent=context, info_name=command.name)
        _, command, words = command.resolve_command(context, words)
    return Found(built(command), words, context)


def options_of(command: object) -> set[str]:
    """Return the options of a command."""
    return {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)} | {
        "--help"
    }


def parameters_of(found: Found) -> dict[str, object]:
    """Return the parameters that a call sets; none where it only asks for something, such as help."""
    try:
        with redirect_stdout(StringIO()):
            return found.command.make_context(found.command.name, list(found.words), parent=found.context).params
    except typer.Exit:
        return {}


def check_mlstream(words: list[str]) -> None:
    """Check that a command exists, and takes these words."""
    found = find_command(words)
    if found.is_group:
        assert not found.words or found.words[0] in options_of(found.command), f"no command {shlex.join(words)}"
    else:
        parameters_of(found)


def check_make(words: list[str]) -> None:
    """Check that the Makefile has a verb, and the variables that are set."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in words:
        name, is_variable, _ = word.partition("=")
        assert (f"\n{name} ?=" if is_variable else f"\n{name}:") in makefile, f"the Makefile has no {name}"


def check_python(words: list[str]) -> None:
    """Check that a script or module exists, and that its text, or that of the harness, holds the options."""
    if words[0] == "-c":
        compile(words[1], "python -c", "exec")
    elif path := script_of(words):
        text = path.read_text(encoding="utf-8")
        if re.search(r"^from (benchmarks\.)?harness import", text, re.MULTILINE):
            text += (ROOT / "benchmarks" / "harness.py").read_text(encoding="utf-8")
        options = {word.partition("=")[0] for word in words if re.match("--[a-z]", word)} - {"--help"}
        missing = sorted(option for option in options if f'"{option}"' not in text)
        assert not missing, f"{path.name} has no {missing}"


def script_of(words: list[str]) -> Path | None:
    """Return the file of this project that Python would run; none where it would run another."""
    first, *rest = (word for word in words if word != "-P")
    if first != "-m":
        path = ROOT / first
        assert PLACEHOLDER.fullmatch(first) or path.is_file(), f"no file {first}"
    else:
        found = find_spec(rest[0].rstrip("."))
        assert found, f"no module {rest[0]}"
        folders = found.submodule_search_locations
        path = Path(folders[0], "__main__.py") if folders else Path(found.origin)
    return path if path.is_file() and path.is_relative_to(ROOT) else None


def check_pip(words: list[str]) -> None:
    """Check that extras of this project exist."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extras in re.findall(r"^(?:\.|mlstream-toolkit)\[([\w,-]+)\]", "\n".join(words), re.MULTILINE):
        assert set(extras.split(",")) <= set(project["optional-dependencies"]), f"no extra {extras}"


CHECKS = {"mlstream": check_mlstream, "make": check_make, "python": check_python, "pip": check_pip}


def check_exists(program: str, words: list[str]) -> None:
    """Check that a command could run: verb of the Makefile, script, or command and options of `mlstream`."""
    if program in CHECKS:
        CHECKS[program](words)


def check_named(program: str, words: list[str]) -> None:
    """Check a command that may lack arguments or have placeholders: what it names must exist."""
    if program != "mlstream":
        check_exists(program, words)
        return
    found = find_command(words)
    unknown = {word.partition("=")[0] for word in found.words if word.startswith("-")} - options_of(found.command)
    assert not unknown, f"{found.command.name} has no {sorted(unknown)}"
    if not found.is_group and not has_placeholder(words):
        assert not (refusal := refusal_of(found)), refusal


def check_option(words: list[str]) -> None:
    """Check that a command of `mlstream` has an option, and takes the value that stands with it."""
    found = [Found(command, words, None) for command in all_commands() if words[0] in options_of(command)]
    assert found, f"no command has {words[0]}"
    refusals = [refusal_of(one) for one in found]
    assert has_placeholder(words) or not all(refusals), refusals[0]


def refusal_of(found: Found) -> str:
    """Return why a command does not take its words; nothing where it takes them, or would if there were more."""
    try:
        parameters_of(found)
    except Refusal as error:
        message = error.format_message()
        return "" if any(part in message for part in UNFINISHED) else message
    return ""


@cache
def built(command: object) -> object:
    """Return a command with its options: those of a generator are made when they are needed."""
    return command.build() if hasattr(command, "build") else command


@cache
def root_command() -> object:
    """Return `mlstream` with all its commands."""
    return typer.main.get_command(app)


def all_commands(command: object = None) -> Iterator[object]:
    """Yield `mlstream` and each command below it."""
    command = command or root_command()
    yield built(command)
    for child in getattr(command, "commands", {}).values():
        yield from all_commands(child)


def has_placeholder(words: list[str]) -> bool:
    """Return whether a reader has to replace a word."""
    return any(PLACEHOLDER.fullmatch(word) for word in words)


def is_complete(words: list[str]) -> bool:
    """Return whether a command of `mlstream` has everything that it needs to run."""
    found = find_command(words)
    if has_placeholder(words) or words[0] in NOT_RUN:
        return False
    if found.is_group:
        return bool(found.words) or found.command.invoke_without_command
    try:
        parameters_of(found)
    except Refusal:
        return False
    return True


def has_its_files(words: list[str]) -> bool:
    """Return whether every argument of a command exists here, or is a stream that has a name."""
    found = find_command(words)
    given = {} if found.is_group else parameters_of(found)
    names = [parameter.name for parameter in found.command.params if parameter.param_type_name == "argument"]
    values = [given[name] for name in names if given.get(name) is not None]
    return all(str(value) in PRESETS or Path(str(value)).exists() for value in values)
