"""Meet all names that can be compiled ahead, then print the kernels that none of them meets or leaves on disk."""

import gc
import importlib
import json
from inspect import getclosurevars
from pathlib import Path

from numba.core.dispatcher import Dispatcher

from estimators._kernels.cache import KERNELS, ROOT
from estimators._kernels.keeping import _KernelCache
from mlstream.evaluation.compile_ahead import compile_ahead


def with_callees(kernels):
    """Return kernels, and those that they are made of: where these are loaded, nobody calls them."""
    found, new = [], list(kernels)
    while new:
        found.append(one := new.pop())
        names = getclosurevars(one.py_func)
        callees = [*names.globals.values(), *names.nonlocals.values()]
        new += [callee for callee in callees if isinstance(callee, Dispatcher) and callee not in [*found, *new]]
    return found


def main():
    n_compiled = sum(one.n_kernels for one in compile_ahead())
    again = sum(one.n_kernels for one in compile_ahead()) if n_compiled else 0
    for folder in KERNELS:
        for file in (ROOT / folder).glob("*.py"):
            importlib.import_module(f"{folder.replace('/', '.')}.{file.stem}")
    kernels = [one for one in gc.get_objects() if isinstance(one, Dispatcher) and isinstance(one._cache, _KernelCache)]
    # what is copied into its callers has no code of its own
    kernels = [one for one in kernels if one.targetoptions.get("inline") != "always"]
    met = with_callees(one for one in kernels if one.overloads)
    missing = [
        f"{one.__module__}.{one.__name__}"
        for one in kernels
        if one not in met or not Path(one._cache._cache_file._index_path).exists()
    ]
    print(json.dumps({"kernels": len(kernels), "missing": sorted(missing), "again": again}))


if __name__ == "__main__":
    main()
