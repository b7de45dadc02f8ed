"""Processes of this machine that run jobs, whatever becomes of the one that started them."""

import multiprocessing.resource_tracker
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config

try:
    from joblib.externals.loky.backend import resource_tracker as loky_tracker
except ImportError:  # not public: without it, processes may print a traceback each at Ctrl-C
    loky_tracker = None

# Where the process that started them is killed, those that wait for a job end after this time.
_IDLE_S = 20

Item = TypeVar("Item")
Result = TypeVar("Result")


def call_in_processes(
    function: Callable[[Item], Result], items: Sequence[Item], n_jobs: int, backend: str, **options: Any
) -> Iterator[tuple[int, Result]]:
    """Call a function with each item, in processes with one thread each; yield place and result of each as it ends.

    `n_jobs` is -1 for as many as there are cores; `options` are those of `joblib.Parallel`.
    """
    calls = (delayed(_call_numbered)(function, number, item) for number, item in enumerate(items))
    with parallel_config(backend=backend, n_jobs=n_jobs, inner_max_num_threads=1, idle_worker_timeout=_IDLE_S):
        with _uninterrupted_starts():
            # Large arrays reach the workers as memory maps; writable ones, which compiled code takes for plain arrays.
            ended = Parallel(return_as="generator_unordered", mmap_mode="c", **options)(calls)
        yield from ended


def _call_numbered(function: Callable[[Item], Result], number: int, item: Item) -> tuple[int, Result]:
    return number, function(item)


@contextmanager
def _uninterrupted_starts() -> Iterator[None]:
    """Hold Ctrl-C back in the block, and for ever in processes that are started there.

    A terminal sends it to all processes of a command. Those that run jobs are ended by the one that started them; of
    themselves, they would print a traceback each while they begin. Windows knows nothing of the kind.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Where these start first, they let Ctrl-C through again.
    for tracker in filter(None, (multiprocessing.resource_tracker, loky_tracker)):
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
