"""Linear algebra in one thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

from estimators.contract.locks import lock_of


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS use one thread, within which its bits do not depend on the machine's load.

    The limit is that of the process: a thread that set it while another thread holds it would restore 1 for good.
    """
    with lock_of(_blas()):
        # `ThreadpoolController.limit` does the same, and takes as long as the algebra of a small matrix
        limited = [(one, n) for one in _blas().lib_controllers if (n := one.get_num_threads()) not in {None, 1}]
        for one, _ in limited:
            one.set_num_threads(1)
        try:
            yield
        finally:
            for one, n in limited:
                one.set_num_threads(n)
                if hasattr(one, "clear_controlling_thread"):
                    # OpenBLAS obeys the first thread only, until that one lets go; older threadpoolctl had no such rule
                    one.clear_controlling_thread()
