"""A check of memory before it is taken."""

from __future__ import annotations

import os

# Of a row of a stream: where it comes from, its task, and what selects it while a stream is made.
INDEX_BYTES = 32


def require_memory(n_bytes: int, what: str, error: type[ValueError] = ValueError) -> None:
    """Raise an error, with the size needed, if arrays of so many bytes are larger than the memory of this machine.

    `what` the arrays hold is the subject of the error.
    """
    if n_bytes > (n_available := memory_bytes()):
        raise error(
            f"{what} must fit into the memory of this machine, {n_available / 2**30:,.1f} GiB. "
            f"Got {n_bytes / 2**30:,.1f} GiB instead."
        )


def memory_bytes() -> int:
    """Return the size of the memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
