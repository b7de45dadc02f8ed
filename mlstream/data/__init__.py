"""Tables by name, from files and in memory: the registry, downloads, and readers of unusual tables."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlstream.data.in_memory import as_dataset

__all__ = ["as_dataset"]


def __getattr__(name: str) -> object:
    # The registry is used where nothing is read, and must be imported quickly.
    if name == "as_dataset":
        from mlstream.data.in_memory import as_dataset

        return as_dataset
    raise AttributeError(f"module 'mlstream.data' has no attribute {name!r}")
