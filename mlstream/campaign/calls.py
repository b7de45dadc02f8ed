"""Names with parameters, as they are typed: NN(learning_rate=0.1). Parameters are literals; nothing is executed."""

from __future__ import annotations

import ast
import re
from typing import Any

_CALL = re.compile(r"([^()]*)(?:\((.*)\))?", re.DOTALL)


def parse_call(text: str, option: str) -> tuple[str, dict[str, Any] | None]:
    """Return a name and its parameters; None without brackets.

    A ValueError, which names the option, is raised if the text is anything else.
    """
    found = _CALL.fullmatch(text)
    if found is None:
        raise _error(text, option)
    name, arguments = found.groups()
    return name.strip(), None if arguments is None else _parse_parameters(arguments, text, option)


def _parse_parameters(arguments: str, text: str, option: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(one.arg is None for one in call.keywords):
            raise _error(text, option)
        return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise _error(text, option) from None


def _error(text: str, option: str) -> ValueError:
    return ValueError(f"{option} must be names, or NAME(parameter=value, ...). Got {text!r} instead.")
