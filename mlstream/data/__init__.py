"""Tables by name, from files and in memory: the registry, downloads, and readers of unusual tables."""

from typing import TYPE_CHECKING

from estimators.contract.lazy import attach

if TYPE_CHECKING:
    from mlstream.data.in_memory import as_dataset as as_dataset
else:
    __getattr__, __dir__, __all__ = attach(__name__)
