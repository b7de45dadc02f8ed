"""Does any test fail when a file is replaced by its mutant?"""

import importlib
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tests.soak.mutants.children import in_child
from tests.soak.mutants.covering import OPTIONS, cover, is_ours, prepare_child
from tests.soak.mutants.mutations import ROOT, Mutant
from tests.soak.mutants.rooms import Room

_PATIENCE = 4
_START_S = 20


class Fate(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    SURVIVED = "survived"


def preload(modules: Sequence[str]) -> None:
    """Import what tests import of others' packages, once for all children."""
    for name in modules:
        if not is_ours(name) and name not in sys.modules:
            # Some modules can only be imported by their package.
            with suppress(Exception), warnings.catch_warnings(action="ignore"):
                importlib.import_module(name)


class Killer:
    """The tests of a room, against its mutants.

    Parameters
    ----------
    room : Room
        The package and its tests.
    folder : Path
        Where temporary files go.
    tier : str
        One of `TIERS`.
    """

    def __init__(self, room: Room, folder: Path, tier: str = "full") -> None:
        self._room, self._folder = room, folder
        # Files that survive their own tests.
        self._trusted: set[Path] = set()
        self.covering = cover(room, tier, folder)
        preload(self.covering.modules)

    def try_mutant(self, mutant: Mutant) -> Fate:
        """Run the tests that cover a mutant until one fails.

        A mutant that takes too much memory, or breaks an import, is killed, too; one that hangs runs out of time.

        Raises
        ------
        RuntimeError
            If the file itself does not survive these tests: then its death says nothing.
        """
        fate = self._fate(mutant, mutant.source)
        if fate is not Fate.SURVIVED and mutant.path not in self._trusted:
            if self._fate(mutant, mutant.module.code) is not Fate.SURVIVED:
                raise RuntimeError(f"{mutant.path} does not survive its own tests: no mutant of it can be tried.")
            self._trusted.add(mutant.path)
        return fate

    def _fate(self, mutant: Mutant, source: str) -> Fate:
        tests, seconds = self.covering.affordable(mutant)
        if not tests:
            return Fate.SURVIVED
        status = in_child(
            lambda: self._run(_Finder(mutant.path, source), tests), seconds=_START_S + _PATIENCE * seconds
        )
        if status is None:
            return Fate.TIMED_OUT
        return Fate.SURVIVED if status == pytest.ExitCode.OK else Fate.KILLED

    def _run(self, finder: MetaPathFinder, tests: list[str]) -> int:
        prepare_child(self._room)
        sys.meta_path.insert(0, finder)
        sys.dont_write_bytecode = True
        return pytest.main([*OPTIONS, "-x", "--basetemp", str(self._folder / "tmp"), *tests])


class _Finder(MetaPathFinder):
    """Finds another source in the place of a file."""

    def __init__(self, path: Path, source: str) -> None:
        parts = path.relative_to(ROOT).with_suffix("").parts
        self._name = ".".join(part for part in parts if part != "__init__")
        self._path, self._source = path, source

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self._name:
            return None
        return spec_from_file_location(name, self._path, loader=_Loader(self._path, self._source))


class _Loader(SourceLoader):
    def __init__(self, path: Path, source: str) -> None:
        self._path, self._source = path, source

    def get_filename(self, fullname: str) -> str:
        return str(self._path)

    def get_data(self, path: str | bytes) -> bytes:
        return self._source.encode()
