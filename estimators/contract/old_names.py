"""Modules that have moved can still be imported by their old names, which programs, pickles and files of skops hold."""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

# Old name -> new name: of public modules, and of private ones whose classes are in pickles.
MOVED = {
    "estimators._failed_calls": "estimators.contract.failed_calls",
    "estimators._prevalence": "estimators.contract.prevalence",
    "estimators._targets": "estimators.contract.targets",
    "estimators.base": "estimators.contract.base",
    "estimators.ensembles.adwin_bagging": "estimators.ensembles.adwin_ensembles",
    "estimators.ensembles.adwin_boosting": "estimators.ensembles.adwin_ensembles",
    "estimators.interop._river_detector": "estimators.interop._river_adapter",
    "estimators.meta._row_sample": "estimators.meta._stack_members",
    "estimators.pragma._surface": "estimators.pragma._preferences",
    "estimators.pragma._vote_window": "estimators.pragma.stream_forest",
    "estimators.replay._balanced_memory": "estimators.replay.gdumb",
    "estimators.replay.task_memory": "estimators.replay.memories",
    "estimators.ridge._contest": "estimators.ridge._concepts",
}


class OldNames:
    """A finder of modules by their old names, and the loader of what it finds.

    Python asks it last, so a module that exists is always found first. Both names lead to one module: a second copy
    would define its classes again, and an instance of one would not be an instance of the other.
    """

    def __init__(self, moved: Mapping[str, str]) -> None:
        self.moved = moved

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - what Python passes
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Find a module that has moved."""
        # `importlib.abc`, whose classes this one could extend, takes 8 ms to import
        return ModuleSpec(fullname, cast("Loader", self)) if fullname in self.moved else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make an empty module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module into its place under the old name."""
        sys.modules[module.__name__] = import_module(self.moved[module.__name__])
