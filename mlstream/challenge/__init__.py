"""Challenges on environments that nobody has seen: host one, take part, rank, without a leak.

`Challenge` is imported when it is first used, so that the process that scores starts quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlstream.challenge.engine import Challenge

__all__ = ["Challenge"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module("mlstream.challenge.engine"), name)
    raise AttributeError(f"module 'mlstream.challenge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
