"""Errors of usage in one line, in the words of our own errors: --OPTION must be RULE. Got VALUE instead."""

from __future__ import annotations

import sys
from typing import TextIO

from typer import BadParameter

# What options, arguments and commands raise when they are parsed; Typer exports no more than this subclass.
UsageError: type[Exception] = BadParameter.__mro__[1]


def describe_usage_error(error: Exception) -> str:
    """Return the line to print; nothing where the help was shown instead."""
    message = _reword(error) if isinstance(error, BadParameter) else str(getattr(error, "message", error))
    context = getattr(error, "ctx", None)
    if not message or context is None:
        return message
    return f"{message.rstrip('.')}. `{context.command_path} --help` lists what there is."


def show_warning(message: Warning | str, *_place: object, file: TextIO | None = None, **_line: object) -> None:
    """Print a warning in one line, without the place in our code that gave it."""
    (file or sys.stderr).write(f"Warning: {' '.join(str(message).split())}\n")


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

    from mlstream._validation_errors import describe_error

    if isinstance(error.__cause__, ValidationError):
        return describe_error(error.__cause__, name)
    return f"{name}: {error.message}"
