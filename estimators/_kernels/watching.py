"""Steps taken while Numba compiles kernels: a line for the user, and no collection of garbage."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.core import event

from estimators._kernels.cache import require_place

_LOG = logging.getLogger("estimators")
_NOTE = "Compiling kernels of %s, once per installation: a few seconds. `mlstream warm-up` compiles all beforehand."
_NOTE_UNKEPT = "Compiling kernels of %s, in every process: a few seconds."


class CompilationWatcher(event.Listener):  # type: ignore[misc, unused-ignore]
    """Listen to Numba, which compiles in one thread at a time.

    The objects that Numba makes live until the kernel is there: looking for garbage among them takes a sixth of the
    time to compile.

    Parameters
    ----------
    packages : tuple of str
        Whose kernels are announced.
    kept : bool
        Whether what is compiled is kept on disk.
    """

    def __init__(self, packages: tuple[str, ...], *, kept: bool) -> None:
        self._packages = packages
        self._kept = kept
        self._announced = False
        self._depth = 0
        self._collects = False

    def on_start(self, event: Any) -> None:
        """Announce the first kernel of the process, and suspend the collection of garbage."""
        if self._depth == 0:
            self._collects = gc.isenabled()
            gc.disable()
            self._announce(event.data["dispatcher"])
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002 - Numba's signature
        """Collect garbage again, if that was so before."""
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()

    def _announce(self, dispatcher: Any) -> None:
        module = getattr(getattr(dispatcher, "py_func", None), "__module__", None) or ""
        if module.startswith(self._packages) and not self._announced:
            self._announced = True
            # a warning is the least level that is printed unless the user says otherwise
            _LOG.warning(_NOTE if self._kept else _NOTE_UNKEPT, module.partition("._kernels")[0])


class _Counter(event.Listener):  # type: ignore[misc, unused-ignore]
    def __init__(self) -> None:
        self.n_compiled = self._depth = 0

    def on_start(self, event: Any) -> None:  # noqa: ARG002 - Numba's signature
        self.n_compiled += self._depth == 0
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002 - Numba's signature
        self._depth -= 1


def require_kept() -> None:
    """Raise OSError if what is compiled could be kept nowhere."""
    require_place(numba.config.CACHE_DIR)


@contextmanager
def count_compiled() -> Iterator[Callable[[], int]]:
    """Yield a function that returns how many kernels were compiled in the block, and announce none.

    What a kernel is made of does not count, nor does what is loaded from disk.
    """
    counter = _Counter()
    level = _LOG.level
    _LOG.setLevel(logging.ERROR)
    try:
        with event.install_listener("numba:compile", counter):
            yield lambda: counter.n_compiled
    finally:
        _LOG.setLevel(level)
