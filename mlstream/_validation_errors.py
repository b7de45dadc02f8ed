"""Errors of pydantic in the words of our own errors: what a value must be, and what it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_RULES = {
    "bool_parsing": "be true or false",
    "bool_type": "be true or false",
    "dict_type": "be a table",
    "float_parsing": "be a number",
    "float_type": "be a number",
    "greater_than_equal": "be at least {ge}",
    "int_from_float": "be a whole number",
    "int_parsing": "be a whole number",
    "int_type": "be a whole number",
    "list_type": "be a list",
    "literal_error": "be {expected}",
    "model_attributes_type": "be a table",
    "model_type": "be a table",
    "string_type": "be text",
    "too_short": "have at least {min_length} entry",
}
_PREFIX = "Input should "
_MAX_SHOWN = 120


def explain_rule(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return what a value must do, to follow "must": several errors are alternatives, of which one would do.

    Parameters
    ----------
    errors : sequence of mapping
        Elements of `pydantic.ValidationError.errors()` about one value.

    Returns
    -------
    str
        Such as "be a whole number".
    """
    return ", or ".join(dict.fromkeys(_explain_one(error) for error in errors))


def shorten(value: object) -> str:
    """Return the representation of a value in one line, cut in its middle where it is long."""
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN // 2]}...{text[-_MAX_SHOWN // 4 :]}"


def _explain_one(error: Mapping[str, Any]) -> str:
    rule = _RULES.get(error["type"])
    if rule is not None:
        return rule.format(**error.get("ctx", {}))
    message = str(error["msg"])
    return message.removeprefix(_PREFIX) if message.startswith(_PREFIX) else f"be valid ({message})"
