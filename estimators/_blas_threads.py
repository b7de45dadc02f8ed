"""Linear algebra in one thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

from estimators._locks import lock_of


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS use one thread, within which its bits do not depend on the machine's load.

    The limit is that of the process: a thread that set it while another thread holds it would restore 1 for good.
    """
    with lock_of(_controller()), _controller().limit(limits=1, user_api="blas"):
        yield
