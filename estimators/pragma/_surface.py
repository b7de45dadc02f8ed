"""A loss of recall and precision, written in Python, for compiled loops to call."""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite, nan
from typing import Any

from metrics.validation import check_number

_TWO_DOUBLES = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)


class Surface:
    """The loss of a class by its (recall, precision), at an address; it must outlive the loops that call it.

    Without `local`, it is the plane of each class, which has the address 0.
    """

    def __init__(self, local: Callable[[float, float], float] | None) -> None:
        if local is not None and not callable(local):
            raise ValueError(f"local must be a function of (recall, precision) or None. Got {local!r} instead.")
        self._local = local
        self._error: BaseException | None = None
        self._entry = None if local is None else _TWO_DOUBLES(self._call)

    @property
    def address(self) -> int:
        """Address of a function that takes two doubles and returns one."""
        return 0 if self._entry is None else ctypes.cast(self._entry, ctypes.c_void_p).value or 0

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Raise at the end what the function raised on the way: no exception passes through compiled loops."""
        self._error = None
        yield
        if self._error is not None:
            raise self._error

    def _call(self, recall: float, precision: float) -> float:
        if self._error is not None or self._local is None:
            return nan
        try:
            loss: Any = self._local(recall, precision)
            return loss if type(loss) is float and isfinite(loss) else check_number(loss, "local(r, p)")
        except BaseException as error:
            self._error = error
            return nan
