"""The file in which authors state what only they know of a stream: TOML, with the keys of `about`."""

from __future__ import annotations

import os
import textwrap
from typing import Any

from mlstream._support.toml import read_toml
from mlstream.cards.terms import change_terms
from mlstream.streams.card_model import AboutCard, CreatorCard

_WIDTH = 100
_CREATOR = {"name": "Ada Lovelace", "orcid": "0000-0002-1825-0097", "affiliation": "University of London"}


def read_about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what is stated about a stream, for `with_terms(about=)` and `publish(about=)`.

    The file is TOML, such as `about_template` writes. Raises FileNotFoundError if there is no such file; ValueError,
    with file and key, if it is larger than 16 MiB or not TOML, or a key or a value is not valid; OSError if it is not a
    plain file, or cannot be read.
    """
    about = read_toml(path)
    try:
        change_terms(None, {"about": about})
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    return about


def about_template() -> str:
    """Write the TOML file that `read_about` reads, with every key explained and nothing stated yet."""
    head = "What only those who made the data know. What stays empty is not stated."
    keys = [
        f"{textwrap.fill(field.description or '', _WIDTH, initial_indent='# ', subsequent_indent='# ')}\n"
        f"{_example(name)}\n"
        for name, field in AboutCard.model_fields.items()
    ]
    return "\n".join([f"# {head}\n", *keys])


def _example(name: str) -> str:
    """Write a key without a value; TOML has no empty ones but for texts, so that others are commented out."""
    if name == "creators":
        lines = [f'{key} = "{_CREATOR[key]}"' for key in CreatorCard.model_fields]
        return "\n".join(f"# {line}" for line in ("[[creators]]", *lines))
    return "# has_synthetic_data = false" if name == "has_synthetic_data" else f'{name} = ""'
