"""Compile everything ahead on an empty cache, then print the kernels that are not on disk."""

import gc
import importlib
import json
from pathlib import Path

from numba.core.dispatcher import Dispatcher

from estimators._kernels.cache import KERNELS, ROOT
from estimators._kernels.compile import _KernelCache
from mlstream.evaluation.compile_ahead import compile_ahead


def main():
    done = [one.n_kernels for one in compile_ahead()]
    again = [one.n_kernels for one in compile_ahead()]
    for folder in KERNELS:
        for file in (ROOT / folder).glob("*.py"):
            importlib.import_module(f"{folder.replace('/', '.')}.{file.stem}")
    kernels = [one for one in gc.get_objects() if isinstance(one, Dispatcher) and isinstance(one._cache, _KernelCache)]
    # what is copied into its callers has no code of its own
    kernels = [one for one in kernels if one.targetoptions.get("inline") != "always"]
    missing = [
        f"{one.__module__}.{one.__name__}" for one in kernels if not Path(one._cache._cache_file._index_path).exists()
    ]
    print(json.dumps({"kernels": len(kernels), "missing": sorted(missing), "compiled": sum(done), "again": sum(again)}))


if __name__ == "__main__":
    main()
