"""Steps taken while Numba compiles kernels: a line for the user, no collection of garbage, no interrupt and no fork."""

from __future__ import annotations

import gc
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numba
from numba.core import event

from estimators._kernels.cache import require_place

_LOG = logging.getLogger("estimators")
_NOTE = "Compiling kernels of %s, once per installation: a few seconds. `mlstream warm-up` compiles all beforehand."
_NOTE_UNKEPT = "Compiling kernels of %s, in every process: a few seconds."


class CompilationWatcher(event.Listener):  # type: ignore[misc, unused-ignore]
    """A listener to Numba, which compiles in one thread at a time, that announces the kernels of `packages`.

    The objects that Numba makes live until the kernel is there: looking for garbage among them takes a sixth of the
    time to compile. `kept` says whether what is compiled is kept on disk.
    """

    def __init__(self, packages: tuple[str, ...], *, kept: bool) -> None:
        self._packages = packages
        self._kept = kept
        self._announced = False
        self._depth = 0
        self._collects = False

    def on_start(self, event: event.Event) -> None:
        """Announce the first kernel of the process, and suspend the collection of garbage."""
        if self._depth == 0:
            self._collects = gc.isenabled()
            gc.disable()
            self._announce(event.data["dispatcher"])
        self._depth += 1

    def on_end(self, event: event.Event) -> None:  # noqa: ARG002 - Numba's signature
        """Collect garbage again, if that was so before."""
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()

    def _announce(self, dispatcher: object) -> None:
        module = getattr(getattr(dispatcher, "py_func", None), "__module__", None) or ""
        if module.startswith(self._packages) and not self._announced:
            self._announced = True
            # a warning is the least level that is printed unless the user says otherwise
            _LOG.warning(_NOTE if self._kept else _NOTE_UNKEPT, module.partition("._kernels")[0])


class InterruptHolder(event.Listener):  # type: ignore[misc, unused-ignore]
    """Hold an interrupt (Ctrl-C) back while Numba compiles or loads a kernel in the main thread.

    LLVM calls Python meanwhile: an interrupt there is printed and lost, or leaves half of an object behind.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._is_held = False
        self._handler: Any = None

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002 - Numba's signature
        """Take the place of the handler, if it is one of Python, which only the main thread may do."""
        if threading.current_thread() is not threading.main_thread():
            return
        if self._depth == 0 and callable(handler := signal.getsignal(signal.SIGINT)):
            self._handler = handler
            signal.signal(signal.SIGINT, self._hold)
        self._depth += 1

    def on_end(self, event: event.Event) -> None:  # noqa: ARG002 - Numba's signature
        """Put the handler back, and hand it what was held."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth = max(self._depth - 1, 0)
        if self._depth == 0 and self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler, is_held, self._is_held = None, self._is_held, False
            if is_held:
                signal.raise_signal(signal.SIGINT)

    def start_anew(self) -> None:
        """Put the handler back in a forked process: its main thread may be another, which compiles nothing."""
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        self._depth, self._is_held, self._handler = 0, False, None

    def _hold(self, _number: int, _frame: FrameType | None) -> None:
        self._is_held = True


class _Counter(event.Listener):  # type: ignore[misc, unused-ignore]
    def __init__(self) -> None:
        self.n_compiled = self._depth = 0

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002 - Numba's signature
        self.n_compiled += self._depth == 0
        self._depth += 1

    def on_end(self, event: event.Event) -> None:  # noqa: ARG002 - Numba's signature
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
