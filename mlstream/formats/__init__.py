"""Readers and writers of streams and tables.

Names are imported when they are first used: the rest of the package needs less than a stream does.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlstream.formats.io import load, save

__all__ = ["load", "save"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'mlstream.formats' has no attribute {name!r}")
    from mlstream.formats import io

    return getattr(io, name)
