"""Processes of this machine that run jobs, whatever becomes of the one that started them."""

import multiprocessing.resource_tracker
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, parallel_config
from joblib.externals import loky

# Where the process that started them is killed, those that wait for a job end after this time.
_IDLE_S = 20


def call_in_processes(calls: Iterable[Any], n_jobs: int, backend: str, **options: Any) -> Iterator[Any]:
    """Run calls of `joblib.delayed` in processes with one thread each, and yield the results as they end.

    `n_jobs` is -1 for as many as there are cores; `options` are those of `joblib.Parallel`.
    """
    with parallel_config(backend=backend, n_jobs=n_jobs, inner_max_num_threads=1, idle_worker_timeout=_IDLE_S):
        with _uninterrupted_starts():
            # Large arrays reach the workers as memory maps; writable ones, which compiled code takes for plain arrays.
            ended = Parallel(return_as="generator_unordered", mmap_mode="c", **options)(calls)
        yield from ended


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
    for tracker in (multiprocessing.resource_tracker, loky.backend.resource_tracker):
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
