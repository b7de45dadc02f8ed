"""Early ends of a command: an interruption, or errors of usage, in one line and in the words of our own errors."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, TextIO

from typer import BadParameter, Context
from typer.core import TyperCommand

# What options, arguments and commands raise when they are parsed; Typer exports no more than this subclass.
UsageError: type[Exception] = BadParameter.__mro__[1]

# Likeness of two spellings of one option: --seed and --seeds are, --tasks and --dask are not.
_ALIKE = 0.85
# Beside an option of a command elsewhere.
_SIMILAR = 0.8
_MAX_NAMES = 6
# Control characters but for tabs and ends of lines, and those that turn the direction of text or end lines elsewhere.
_ORDERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class InterruptionError(Exception):
    """Ctrl-C has stopped a command; the message is what was done by then, and how to go on."""


def plain_text(text: str) -> str:
    r"""Return a text in which a question mark is in the place of each character that a terminal would obey.

    >>> plain_text("rows\x1b[2J \u202evsc.csv")
    'rows?[2J ?vsc.csv'
    """
    return _ORDERS.sub("?", text)


def escape_orders(json_text: str) -> str:
    r"""Return JSON that means the same, in which characters that a terminal would obey are escaped.

    >>> print(escape_orders('"rows\x9b2J"'))
    "rows\u009b2J"
    """
    return _ORDERS.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)


def describe_usage_error(error: Exception) -> str:
    """Return the line to print; nothing where the help was shown instead."""
    message = _reword(error) if isinstance(error, BadParameter) else str(getattr(error, "message", error))
    context = getattr(error, "ctx", None)
    if not message or context is None:
        return message
    hint = _find_option(error, context) if hasattr(error, "possibilities") and hasattr(error, "option_name") else ""
    end = hint or ("" if message.endswith("?") else ".")
    return f"{message.rstrip('.')}{end} `{context.command_path} --help` lists what there is."


def show_warning(message: Warning | str, *_place: object, file: TextIO | None = None, **_line: object) -> None:
    """Print a warning in one line, without the place in our code that gave it."""
    (file or sys.stderr).write(f"Warning: {plain_text(' '.join(str(message).split()))}\n")


def _find_option(error: Any, context: Context) -> str:
    """Name the option that was meant: one spelled alike, the same one of commands beside or of any, or the nearest."""
    option, near = error.option_name, error.possibilities or []
    beside = getattr(context.parent and context.parent.command, "commands", {}).items()
    for alike, commands in ((_ALIKE, beside), (_SIMILAR, _commands(context.find_root().command))):
        if nearest := get_close_matches(option, near, n=1, cutoff=alike):
            return f"; did you mean {nearest[0]}?"
        if where := _who_takes(option, commands):
            return f", which is an option of {where}."
    nearest = list(near)
    return f"; did you mean {nearest[0]}?" if nearest else ""


def _who_takes(option: str, commands: Iterable[tuple[str, TyperCommand]]) -> str:
    """Name the commands that have an option."""
    names = [name for name, one in commands if option in _options(one)]
    more = " and others" if len(names) > _MAX_NAMES else ""
    return f"{', '.join(f'`{name}`' for name in names[:_MAX_NAMES])}{more}"


def _commands(group: object, path: str = "") -> Iterator[tuple[str, TyperCommand]]:
    """List all commands of a group and of the groups in it, with what is typed for each."""
    for name, command in getattr(group, "commands", {}).items():
        yield path + name, command
        yield from _commands(command, f"{path}{name} ")


def _options(command: TyperCommand) -> set[str]:
    # The options of a generator's command are known once it is built.
    built = getattr(command, "build", lambda: command)()
    return {option for one in built.params for option in (*one.opts, *one.secondary_opts)}


def _reword(error: BadParameter) -> str:
    name = max(error.param.opts, key=len) if error.param is not None else "a parameter"
    if not name.startswith("-") and error.param is not None:
        name = str(error.param.name).upper()
    if not error.message:
        return f"{name} must be given"
    value, is_choice, choices = error.message.removeprefix("Value error, ").partition(" is not one of ")
    if is_choice:
        return f"{name} must be one of {choices.rstrip('.')}. Got {value} instead."
    from pydantic import ValidationError

    from mlstream._support.validation_errors import describe_error

    if isinstance(error.__cause__, ValidationError):
        return describe_error(error.__cause__, name)
    return f"{name}{'' if error.message.startswith('must ') else ':'} {error.message}"
