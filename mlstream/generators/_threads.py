"""Work that NumPy does without holding Python: one thread per core, the same results with any number of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def for_each(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Do the same work for every item, several at a time, and give the results in the order of the items."""
    # What this process may use: a container has fewer cores than its machine.
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ThreadPoolExecutor(n_cores) as pool:
        return list(pool.map(work, items))
