"""Strategies as they are typed: names split by commas, with parameters in brackets where these are not the defaults."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any

# A comma outside brackets; the brackets of values are round or square, and one level deep.
_COMMA = re.compile(r",(?![^(]*\))")
_CALL = re.compile(r"([^()]*)(?:\((.*)\))?", re.DOTALL)


def parse_strategies(texts: Iterable[str]) -> dict[str, Any]:
    """Return, by what was typed, the name of a strategy, or an estimator where parameters are given.

    Raises
    ------
    ValueError
        If a strategy or parameter is unknown, or parameters are not NAME=VALUE.
    """
    typed = [text.strip() for given in texts for text in _COMMA.split(given)]
    return {text: _parse(text) for text in typed}


def _parse(text: str) -> Any:
    from estimators.strategies import grid, make_strategy

    found = _CALL.fullmatch(text)
    if found is None:
        raise _error(text)
    name, arguments = found.groups()
    if arguments is not None:
        return make_strategy(name.strip(), **_parse_parameters(arguments, text))
    # An unknown name is an error before anything slow is imported.
    grid(name)
    return name


def _parse_parameters(arguments: str, text: str) -> dict[str, Any]:
    """Read parameters as literals; nothing is executed."""
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(one.arg is None for one in call.keywords):
            raise _error(text)
        return {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise _error(text) from None


def _error(text: str) -> ValueError:
    return ValueError(f"--strategies must be names, or NAME(parameter=value, ...). Got {text!r} instead.")
