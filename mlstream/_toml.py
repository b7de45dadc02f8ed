"""TOML files that people wrote: any error is one line that names the file."""

from __future__ import annotations

import tomllib
from typing import Any

# No file of ours has more than six; errors that show a value could not write one that is far deeper.
_MOST_LEVELS = 50


def parse_toml(content: bytes, where: str) -> dict[str, Any]:
    """Read a TOML file.

    Parameters
    ----------
    content : bytes
        The content of the file.
    where : str
        The file, for errors.

    Returns
    -------
    dict
        Its keys and values.

    Raises
    ------
    ValueError
        If the content is not TOML in UTF-8, or nested more than 50 levels deep.
    """
    try:
        table = tomllib.loads(content.decode("utf-8"))
        is_deep = _is_deep(table)
    except RecursionError:
        is_deep = True
    except ValueError as error:
        # Integers of thousands of digits are an error of Python's, not of TOML's.
        raise ValueError(f"{where} must be TOML. Got this: {error}.") from None
    if is_deep:
        raise ValueError(f"{where} must be TOML of at most {_MOST_LEVELS} levels. Got more.")
    return table


def _is_deep(table: dict[str, Any]) -> bool:
    values: list[Any] = [table]
    for _ in range(_MOST_LEVELS):
        values = [inner for value in values for inner in _inner(value)]
    return bool(values)


def _inner(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
