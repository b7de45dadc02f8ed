"""The base of models of pydantic, and their errors in one line and in our words: FIELD must be RULE. Got VALUE."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, time
from typing import NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

_RULES = {
    "bool_parsing": "be true or false",
    "bool_type": "be true or false",
    "dict_type": "be a table",
    "extra_forbidden": "not be there",
    "finite_number": "be a finite number",
    "float_parsing": "be a number",
    "float_type": "be a number",
    "greater_than_equal": "be at least {ge}",
    "int_from_float": "be a whole number",
    "int_parsing": "be a whole number",
    "int_type": "be a whole number",
    "json_invalid": "be JSON",
    "list_type": "be a list in square brackets",
    "literal_error": "be {expected}",
    "missing": "be given",
    "model_attributes_type": "be a table",
    "model_type": "be a table",
    "recursive_loop": "not contain itself",
    "string_type": "be text",
    "too_short": "have at least {min_length} entry",
}
_KINDS: dict[type, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
    date: "a date",
    time: "a time",
}
_PREFIX = re.compile(r"^\w+ should ")
_MAX_SHOWN = 120
WRONG_VERSION = "wrong_version"
_OWN = {"value_error", WRONG_VERSION}
_NOT_OURS = set(dir(BaseModel)) - set(dir(object))


class Problem(NamedTuple):
    """One reason for which a model refuses data."""

    field: tuple[str, ...]  # path; empty for the data as a whole
    kind: str  # in pydantic's terms: "extra_forbidden" for an unknown field
    text: str  # one line: the field, its rule and its value


def describe_error(error: ValidationError, name: str = "its content") -> str:
    """Describe the most telling reason for which a model refuses data; `name` is what the data as a whole is called.

    >>> from mlstream.streams.card_model import FileCard
    >>> try:
    ...     FileCard(name="x", n_bytes=-1, sha256="0" * 64)
    ... except ValidationError as error:
    ...     describe_error(error)
    'n_bytes must be at least 0. Got -1 instead.'
    """
    return find_problem(error, name).text


def find_problem(error: ValidationError, name: str = "its content") -> Problem:
    """Return the most telling reason for which a model refuses data.

    An unknown field comes first: it explains why another one is missing. Otherwise the deepest field does.
    """
    errors = error.errors(include_url=False)
    worst = max(errors, key=lambda one: (one["type"] == "extra_forbidden", len(one["loc"])))
    field = _keys(worst["loc"])
    if worst["type"] in _OWN:
        # A rule of our own names the field and the value itself.
        text = worst["msg"].removeprefix("Value error, ").rstrip(".") + "."
    else:
        # Several errors about one value are alternatives.
        rules = dict.fromkeys(_rule(one) for one in errors if _keys(one["loc"]) == field)
        text = f"{_printable('.'.join(field)) or name} must {', or '.join(rules)}. Got {_value(worst)}."
    return Problem(field, worst["type"], " ".join(text.split()))


def _keys(location: Iterable[str | int]) -> tuple[str, ...]:
    # pydantic puts the types that a value may have between the keys.
    return tuple(str(part) for part in location if not str(part).startswith(("list[", "dict[")))


def _rule(error: ErrorDetails) -> str:
    rule = _RULES.get(error["type"])
    if rule is not None:
        return rule.format(**error.get("ctx", {}))
    message = str(error["msg"])
    return _PREFIX.sub("", message) if _PREFIX.match(message) else f"be valid ({message})"


def _value(error: ErrorDetails) -> str:
    if error["type"] == "missing":
        return "nothing instead"
    if error["type"] == "json_invalid":
        return f"this error: {error['ctx']['error']}"
    return f"{_printable(repr(error['input']))}{_kind(error)} instead"


def _kind(error: ErrorDetails) -> str:
    """Return what a value of a wrong type is."""
    kind = next((text for kind, text in _KINDS.items() if isinstance(error["input"], kind)), "")
    return f" ({kind})" if error["type"].endswith("_type") and kind else ""


def _printable(text: str) -> str:
    """Return a text in one line, cut in its middle where it is long."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text)
    return plain if len(plain) <= _MAX_SHOWN else f"{plain[: _MAX_SHOWN // 2]}...{plain[-_MAX_SHOWN // 4 :]}"


class Model(BaseModel):
    """A model of pydantic whose `dir`, from which IPython completes names, holds none of pydantic's forty."""

    def __dir__(self) -> Iterable[str]:
        names = super().__dir__()
        return sorted({*names} - _NOT_OURS | {*type(self).model_fields})
