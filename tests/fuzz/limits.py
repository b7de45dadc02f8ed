"""The time and the memory that one input may take."""

import functools
import os
import resource
import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path

MOST_SECONDS = 2.0
MOST_BYTES = 2**30
# How often the memory that the process holds anyway (its corpus among it) is measured.
_EVERY = 1000
_MEMORY_OF_PROCESS = Path("/proc/self/statm")

Target = Callable[[bytes], None]


class TooSlow(BaseException):
    """An input took more than `MOST_SECONDS` of processor time; no handler of errors catches it."""


def limit(target: Target) -> Target:
    """Return a target that fails on an input that takes more than two seconds or one gibibyte.

    Parameters
    ----------
    target : callable
        Reads an input.

    Returns
    -------
    callable
        The same; it raises TooSlow, or MemoryError from where memory was to be taken.

    Notes
    -----
    Seconds are those of the processor, in all threads, so that a busy machine changes nothing. Compiled code is not
    interrupted: where it never returns, libFuzzer's ``-timeout`` ends the process. Memory is address space beyond that
    of before, which NumPy, pyarrow and Python must ask the system for: `resource.RLIMIT_AS` refuses it before it is
    used. libFuzzer's own limits see less: ``-malloc_limit_mb`` needs a sanitizer, and ``-rss_limit_mb`` sees only what
    was used already, once a second.
    """
    numbers = count()
    signal.signal(signal.SIGPROF, _refuse)

    @functools.wraps(target)
    def limited(content: bytes) -> None:
        if next(numbers) % _EVERY == 0:
            _limit_memory()
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        try:
            target(content)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    return limited


def _refuse(*_: object) -> None:
    raise TooSlow(f"An input must take at most {MOST_SECONDS:g} s of processor time. Got more.")


def _limit_memory() -> None:
    n_pages = int(_MEMORY_OF_PROCESS.read_text(encoding="ascii").split()[0])
    n_bytes = n_pages * os.sysconf("SC_PAGE_SIZE") + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, resource.getrlimit(resource.RLIMIT_AS)[1]))
