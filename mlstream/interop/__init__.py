"""Other libraries: streams for River, PyTorch, Avalanche and CapyMOA, and from `datasets`; MLflow; hubs of data sets.

The conversions are imported when they are first used, because PyTorch and CapyMOA are optional.
"""

from typing import TYPE_CHECKING

from estimators.contract.lazy import attach

if TYPE_CHECKING:
    from mlstream.interop.capymoa import to_capymoa as to_capymoa
    from mlstream.interop.hub import from_datasets as from_datasets
    from mlstream.interop.river import to_river as to_river
    from mlstream.interop.torch import to_avalanche as to_avalanche
    from mlstream.interop.torch import to_torch as to_torch
else:
    __getattr__, __dir__, __all__ = attach(__name__)
