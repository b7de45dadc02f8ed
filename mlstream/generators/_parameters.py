"""The parameters of a generator, read from its signature and docstring: its card and its command derive from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from inspect import Parameter, cleandoc, signature
from itertools import takewhile
from numbers import Integral, Real
from typing import cast, get_args, get_type_hints

import numpy as np
from pydantic import JsonValue

from mlstream.streams.card_model import GeneratorCard
from mlstream.streams.stream import Stream


def require_count(value: object, name: str, *, minimum: int = 1, maximum: int | None = None) -> int:
    """Return `value` as an int, or raise a ValueError if it is not a whole number in the range."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name} must be a whole number, at least {minimum}. Got {value!r} instead.")
    if maximum is not None and int(value) > maximum:
        raise ValueError(f"{name} must be a whole number, at most {maximum}. Got {value!r} instead.")
    return int(value)


def require_seed(seed: object) -> int:
    """Return the seed as an int, or raise a ValueError."""
    return require_count(seed, "seed", minimum=0)


def require_share(value: float, name: str) -> None:
    """Raise a ValueError if the value is not a probability."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1]. Got {value!r} instead.")


Generator = Callable[..., Stream]

# The input of a generator, which is not an option.
INPUTS = ("dataset", "stream")


def list_parameters(generator: Generator) -> dict[str, Parameter]:
    """List the parameters of a generator by name, all but its input, each with its resolved type, in order."""
    hints = get_type_hints(generator)
    found = signature(generator).parameters.items()
    return {name: one.replace(annotation=hints[name]) for name, one in found if name not in INPUTS}


def describe_call(
    generator: Generator, values: Mapping[str, object], *, replaced: Collection[str] = ()
) -> GeneratorCard:
    """Describe a call of a generator on a card, with its parameters as JSON values in the order of its signature.

    Values of other names are ignored. Parameters in `replaced` are left out: what was drawn from them is the value of
    another one.
    """
    parameters = {
        name: _to_json(values[name], one.annotation)
        for name, one in list_parameters(generator).items()
        if name != "seed" and name not in replaced
    }
    return GeneratorCard(name=generator.__name__, parameters=parameters, seed=require_seed(values["seed"]))


def read_help(generator: Generator) -> dict[str, str]:
    """Read the description of each parameter, on one line, from the section "Parameters" of a numpydoc docstring."""
    lines = cleandoc(generator.__doc__ or "").splitlines()
    section = takewhile(str.strip, lines[lines.index("Parameters") + 2 :])
    help_texts: dict[str, str] = {}
    name = ""
    for line in section:
        if line.startswith(" "):
            help_texts[name] = f"{help_texts[name]} {line.strip()}".strip()
        else:
            name = line.partition(" : ")[0]
            help_texts[name] = ""
    return {name: text.replace("`", "") for name, text in help_texts.items()}


def _to_json(value: object, hint: object) -> JsonValue:
    """Convert a value to JSON: a number that the signature calls float becomes one."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Real):
        return int(value) if isinstance(value, Integral) and float not in _types_in(hint) else float(value)
    if isinstance(value, Mapping):
        return {str(name): _to_json(one, hint) for name, one in value.items()}
    return [_to_json(one, hint) for one in cast(Iterable[object], value)]


def _types_in(hint: object) -> set[object]:
    return {hint}.union(*map(_types_in, get_args(hint)))
