"""Strategies and detectors as they are typed: names split by commas, parameters in brackets unless all are defaults."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any

# A comma outside brackets; the brackets of values are round or square, and one level deep.
_COMMA = re.compile(r",(?![^(]*\))")
_CALL = re.compile(r"([^()]*)(?:\((.*)\))?", re.DOTALL)


def parse_strategies(texts: Iterable[str], option: str = "--strategies") -> dict[str, Any]:
    """Return, by what was typed, the name of a strategy, or an estimator where parameters are given.

    A ValueError is raised if a strategy or parameter is unknown, or parameters are not NAME=VALUE.
    """
    from estimators.strategies import grid, make_strategy

    typed = _split(texts, option)
    for name, arguments in typed.values():
        if arguments is None:
            # An unknown name is an error before anything slow is imported.
            grid(name)
    return {
        text: name if arguments is None else make_strategy(name, **arguments)
        for text, (name, arguments) in typed.items()
    }


def parse_detectors(texts: Iterable[str], option: str = "--detector") -> dict[str, Any]:
    """Return each detector by what was typed; the errors are those of `parse_strategies`."""
    from estimators.detectors import make_detector

    return {text: make_detector(name, **arguments or {}) for text, (name, arguments) in _split(texts, option).items()}


def _split(texts: Iterable[str], option: str) -> dict[str, tuple[str, dict[str, Any] | None]]:
    """Return, by what was typed, each name, and its parameters if there are brackets."""
    typed = [text.strip() for given in texts for text in _COMMA.split(given)]
    return {text: _parse(text, option) for text in typed}


def _parse(text: str, option: str) -> tuple[str, dict[str, Any] | None]:
    found = _CALL.fullmatch(text)
    if found is None:
        raise _error(text, option)
    name, arguments = found.groups()
    return name.strip(), None if arguments is None else _parse_parameters(arguments, text, option)


def _parse_parameters(arguments: str, text: str, option: str) -> dict[str, Any]:
    """Read parameters as literals; nothing is executed."""
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(one.arg is None for one in call.keywords):
            raise _error(text, option)
        return {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise _error(text, option) from None


def _error(text: str, option: str) -> ValueError:
    return ValueError(f"{option} must be names, or NAME(parameter=value, ...). Got {text!r} instead.")
