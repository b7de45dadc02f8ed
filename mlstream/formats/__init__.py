"""Readers and writers of streams and tables.

Names are imported when they are first used: the rest of the package needs less than a stream does.
"""

from typing import TYPE_CHECKING

from estimators.contract.lazy import attach

if TYPE_CHECKING:
    from mlstream.formats.io import load as load
    from mlstream.formats.io import save as save
else:
    __getattr__, __dir__, __all__ = attach(__name__)
