"""Kernels that were compiled elsewhere: what the package ``mlstream-toolkit-kernels`` holds, where it fits exactly.

It fits if sources, packages, Python and system are the same, and if this processor has every instruction that the
kernels may use. Otherwise kernels are compiled here, as without it. Only kernels are in it whose results cannot depend
on the processor: those that do not let sums be reordered or products fused.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import llvmlite.binding
from numba.core.base import BaseContext
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler import CompileResult
from numba.core.typing import Signature

# what must be equal where kernels are compiled, and where they are loaded
Needs: TypeAlias = Mapping[str, object]

PACKAGE = "mlstream_kernels"
MANIFEST = "manifest.json"
# a level of the x86-64 psABI, which processors since 2015 have
TARGET = "x86-64-v3"
# what the level consists of, in words of LLVM
FEATURES = ("avx", "avx2", "bmi", "bmi2", "cmov", "cx16", "f16c", "fma", "fxsr", "lzcnt", "movbe", "popcnt", "sse4.2")


@dataclass(frozen=True)
class Prebuilt:
    """A folder of kernels that fits this installation."""

    path: Path
    stamp: str  # what the kernels' indices are marked with
    target: tuple[str, ...]  # the processor that they were compiled for, in Numba's words

    def load(
        self, cache: FunctionCache, key: tuple[Signature, object, object], target_context: BaseContext
    ) -> CompileResult | None:
        """Return what was compiled of a function for a signature; None if it is not there, or cannot be read.

        `key` holds signature, processor, and hashes of the function's code, as Numba makes it; `target_context` is
        where the result is loaded.
        """
        signature, _, code = key
        file = IndexDataCacheFile(str(self.path), cache._impl.filename_base, self.stamp)
        try:
            data = file.load((signature, self.target, code))
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        return None if data is None else cache._impl.rebuild(target_context, data)


def find_prebuilt(find_needs: Callable[[], Needs]) -> Prebuilt | None:
    """Return the kernels of the package that is installed, if they fit.

    `find_needs` returns what `describe` returns here. It reads all sources: it is called only if the package is
    installed.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent
    try:
        needs = find_needs()
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        fits = manifest["needs"] == needs and _has_features(manifest["features"])
        return Prebuilt(path, stamp(needs), tuple(manifest["target"])) if fits else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def describe(sources: str, versions: Sequence[str]) -> Needs:
    """Return what must be equal where kernels are compiled, and where they are loaded."""
    python = f"{sys.implementation.cache_tag} {platform.python_version()}"
    return {"sources": sources, "versions": list(versions), "python": python, "system": sys.platform}


def stamp(needs: Needs) -> str:
    """Return the mark of the kernels' indices: a hash of what must be equal."""
    return hashlib.sha256(json.dumps(needs, sort_keys=True).encode()).hexdigest()


def _has_features(names: Sequence[str]) -> bool:
    """Return whether this processor has all that the kernels may use."""
    features = llvmlite.binding.get_host_cpu_features()
    return all(features.get(name, False) for name in names)
