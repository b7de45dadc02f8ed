"""Mutations of JSON, whose result is JSON again: keys and values at any depth, and lines of objects."""

import json
from random import Random
from typing import Any

from tests.fuzz.mutators.pieces import mutate_pieces, some

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 2**31, 2**63, -(2**63) - 1, 10**30, 0.0, -0.0, 0.5, 1e308, 5e-324, float("nan"),
    float("inf"), "", " ", "a", "0", "1", "nan", "true", "\n", "\u0000", "\u2028", "é", "日本", "\U0001f600", "\ud800",
    "../x", "/", "a" * 300, "3..5 9", "2*350 0*10", "1*0", "5..3", "0*999999999999", "2026-01-01T00:00:00Z", "ab" * 32,
    [], {}, [[]], [0], [0, 0], [1, 0], ["a"], {"": 0}, {"a": None}, [None],
)  # fmt: skip
_KEYS = ("", "name", "schema_version", "format_version", "seed", "a.b", "rows", "files", "masks", "é")
_TOO_DEEP = 300
# Beyond that, copies of copies would fill the memory.
_MOST_PLACES = 3000
# As texts, for a list that is drawn is changed later.
_TEXTS = tuple(map(json.dumps, _VALUES))


def mutate_json(content: bytes, rng: Random) -> bytes:
    """Change keys and values of a JSON text."""
    try:
        value = [json.loads(content)]
        some(rng, lambda: _change(value, rng))
        text = json.dumps(value[0], ensure_ascii=rng.random() < 0.8)
    except RecursionError:
        raise ValueError("JSON must not be too deep.") from None
    return text.encode("utf-8", "surrogatepass")


def _change(root: list[Any], rng: Random) -> None:
    """Change one value; the root stands in a list of its own."""
    places = _places(root)
    if len(places) > _MOST_PLACES:
        return
    holder, key = rng.choice(places)
    value = holder[key]
    if isinstance(value, list) and rng.random() < 0.5:
        mutate_pieces(value, rng, _draw)
        return
    match rng.randrange(8):
        case 0 if isinstance(holder, dict):
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[rng.choice((*_KEYS, *holder))] = holder.pop(key)
        case 2:
            other, place = rng.choice(places)
            # By way of text, for a value must not hold itself.
            holder[key] = json.loads(json.dumps(other[place]))
        case 3:
            holder[key] = _nest(value, rng)
        case 4 | 5:
            holder[key] = _near(value, rng)
        case _:
            holder[key] = _draw(rng)


def _draw(rng: Random) -> Any:
    return json.loads(rng.choice(_TEXTS))


def _places(root: list[Any]) -> list[tuple[Any, Any]]:
    """List holders and keys of all values."""
    found: list[tuple[Any, Any]] = [(root, 0)]
    for holder, key in found:
        value = holder[key]
        keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        found += [(value, key) for key in keys]
    return found


def _nest(value: Any, rng: Random) -> Any:
    key = rng.choice(_KEYS)
    for _ in range(rng.choice((1, 1, 2, rng.randrange(_TOO_DEEP)))):
        value = rng.choice(([value], {key: value}))
    return value


def _near(value: Any, rng: Random) -> Any:
    """Return a value that is a little different."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1, -2, 10, value, -2 * value))
    if isinstance(value, float):
        return value * rng.choice((-1, 2, 0.5, 1e300))
    if isinstance(value, str):
        where = rng.randint(0, len(value))
        return rng.choice((value[:where] + rng.choice(" ,.*'\"\n0é=") + value[where:], value[:where], value + value))
    return _draw(rng)
