"""A writer of plain YAML: every text is quoted, so that nothing in it is read as anything but text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def write_yaml(fields: Mapping[str, object]) -> str:
    """Write a mapping as YAML 1.2 in block style; the last line is ended.

    Keys are plain words; values are texts, truths, whole numbers, sequences and mappings.

    >>> print(write_yaml({"a": "!!x", "b": [{"c": True, "d": 1}]}), end="")
    a: "!!x"
    b:
    - c: true
      d: 1
    """
    return "".join(f"{line}\n" for line in _mapping_lines(fields))


def _mapping_lines(fields: Mapping[str, object]) -> Iterator[str]:
    for key, value in fields.items():
        if isinstance(value, Mapping):
            yield f"{key}:"
            yield from (f"  {line}" for line in _mapping_lines(value))
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{key}:" if value else f"{key}: []"
            yield from (line for item in value for line in _item_lines(item))
        else:
            yield f"{key}: {_scalar(value)}"


def _item_lines(item: object) -> Iterator[str]:
    lines = _mapping_lines(item) if isinstance(item, Mapping) else iter([_scalar(item)])
    yield f"- {next(lines)}"
    yield from (f"  {line}" for line in lines)


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else f'"{"".join(map(_escape, str(value)))}"'


def _escape(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"
