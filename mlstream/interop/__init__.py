"""Other libraries: streams for River, PyTorch and Avalanche, and from `datasets`; MLflow; hubs of data sets.

The conversions are imported when they are first used, because PyTorch is optional.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlstream.interop.datasets import from_datasets
    from mlstream.interop.river import to_river
    from mlstream.interop.torch import to_avalanche, to_torch

_MODULES = {
    "from_datasets": "mlstream.interop.datasets",
    "to_avalanche": "mlstream.interop.torch",
    "to_river": "mlstream.interop.river",
    "to_torch": "mlstream.interop.torch",
}

__all__ = ["from_datasets", "to_avalanche", "to_river", "to_torch"]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'mlstream.interop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
