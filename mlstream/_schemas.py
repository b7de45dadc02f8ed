"""What is wrong with a file that a pydantic model refuses, in one line of plain English."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError

_RULES = {
    "missing": "must be there",
    "extra_forbidden": "must not be there",
    "json_invalid": "must be JSON",
    "recursive_loop": "must not contain itself",
}
_LONGEST = 60


def describe_first(error: ValidationError) -> str:
    """Describe the first thing that a model refuses: the field, what it must be, and what was got instead.

    Examples
    --------
    >>> from mlstream.card_model import FileCard
    >>> try:
    ...     FileCard(name="x", n_bytes=-1, sha256="0" * 64)
    ... except ValidationError as error:
    ...     describe_first(error)
    'n_bytes must be greater than or equal to 0. Got -1'
    """
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or "its content"
    if first["type"] == "value_error":
        # A rule of our own says itself what must be and what was got.
        text = str(first["ctx"]["error"])
    else:
        text = f"{_show(field)} {_rule(first)}. Got {_got(first)}"
    return " ".join(text.split())


def _rule(first: Any) -> str:
    said = re.sub(r"^\w+ should ", "must ", str(first["msg"]))
    return _RULES.get(first["type"], said if said.startswith("must ") else f"must be valid: {said}")


def _got(first: Any) -> str:
    if first["type"] == "missing":
        return "none"
    if first["type"] == "json_invalid":
        return str(first["ctx"]["error"])
    return _show(repr(first["input"]))


def _show(text: str) -> str:
    plain = "".join(letter if letter.isprintable() else "?" for letter in text)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 3]}..."
