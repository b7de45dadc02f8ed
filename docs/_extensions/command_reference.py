"""Describe every command of the command line, from the commands themselves, whenever the docs are built.

sphinx-click cannot do this: Typer carries a copy of Click, whose commands are no commands of Click.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import typer

from mlstream.cli import app

# By depth: the headings of the help, commands, and commands of several kinds.
_UNDERLINES = "-~^"
_TYPES = {"str": "text", "list[str]": "text", "int": "integer", "float": "number"}
_TYPE = re.compile(r" <(str|list\[str\]|int|float)(?: range)?>")


def describe_commands() -> Iterator[str]:
    """Yield the lines of reStructuredText that describe all commands, below the headings of the help."""
    tree: Any = typer.main.get_command(app)
    by_panel = groupby(sorted(tree.commands.items(), key=_panel_order(tree)), key=lambda item: _panel(item[1]))
    for panel, commands in by_panel:
        yield from _heading(panel, 0)
        for name, command in commands:
            yield from _describe(command, f"{tree.name} {name}", 1)


def _panel(command: Any) -> str:
    return str(command.rich_help_panel)


def _panel_order(tree: Any) -> Any:
    panels = list(dict.fromkeys(map(_panel, tree.commands.values())))
    return lambda item: panels.index(_panel(item[1]))


def _heading(title: str, depth: int) -> Iterator[str]:
    yield from (title, _UNDERLINES[depth] * len(title), "")


def _describe(command: Any, name: str, depth: int) -> Iterator[str]:
    # Commands of generators make their options when they are needed.
    command = command.build() if hasattr(command, "build") else command
    context = typer.Context(command, info_name=name)
    yield from _heading(name.removeprefix("mlstream "), depth)
    yield from (_marked_up(command.help or ""), "")
    yield from (".. code-block:: text", "", f"   {_usage(command, name)}", "")
    yield from (f".. program:: {name}", "")
    for parameter in command.get_params(context):
        yield from _describe_parameter(parameter, context)
    for kind, subcommand in getattr(command, "commands", {}).items():
        yield from _describe(subcommand, f"{name} {kind}", depth + 1)


def _describe_parameter(parameter: Any, context: typer.Context) -> Iterator[str]:
    record = parameter.get_help_record(context)
    if record is None or "--help" in parameter.opts:
        return
    typed, text = record
    if parameter.param_type_name == "argument":
        shown = _argument(parameter)
    else:
        shown = _TYPE.sub(lambda match: f" <{_TYPES[match[1]]}>", typed).replace(" / ", ", ")
    yield from (f".. option:: {shown}", "", f"   {_marked_up(text)}", "")


def _usage(command: Any, name: str) -> str:
    if hasattr(command, "commands"):
        return f"{name} [OPTIONS] KIND ..."
    arguments = [_argument(one) for one in command.params if one.param_type_name == "argument"]
    return " ".join([name, *arguments, "[OPTIONS]"])


def _argument(parameter: Any) -> str:
    """Return the word that stands for an argument: in brackets if it is optional, with dots if there may be several."""
    word = parameter.metavar or parameter.name.upper()
    several = "" if parameter.nargs == 1 or word.endswith("...") else "..."
    return f"{word}{several}" if parameter.required or word.startswith("[") else f"[{word}{several}]"


def _marked_up(text: str) -> str:
    """Return plain text as reStructuredText: code between backticks stays code, the rest is escaped."""
    parts = re.split(r"`([^`]+)`", " ".join(text.split()))
    escaped = (re.sub(r"([\\*_|`]|:(?=//))", r"\\\1", part) for part in parts[::2])
    code = (f"``{part}``" for part in parts[1::2])
    return "".join(part for pair in zip(escaped, [*code, ""], strict=True) for part in pair)
