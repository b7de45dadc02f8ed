"""Compiled functions, called without asking again for the types of their arguments."""

from collections.abc import Callable
from typing import Any


class Direct:
    """A compiled function that is given arguments of the same types, arrays contiguous, at every call.

    Numba looks at all arguments to choose among the compilations of a function, which takes several times as long as
    to learn a row with a tree. Here the first call decides. What is only read may be read-only or not.

    Parameters
    ----------
    function : callable
        What ``numba.njit`` returned.
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self._compiled: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        if self._compiled is None:
            result = self._function(*arguments)
            self._compiled = self._function.get_overload(self._function.nopython_signatures[0])
            return result
        return self._compiled(*arguments)
