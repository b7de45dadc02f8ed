"""One lock for each estimator, kept outside of it, so that copies, comparisons and files do not contain it."""

import os
from contextlib import AbstractContextManager
from copy import deepcopy
from threading import RLock
from typing import Any, Self
from weakref import ref

import numpy as np


class _Entry(ref[Any]):
    """The lock of an estimator; it leaves the table when the estimator is gone, before its id is used again."""

    __slots__ = ("key", "lock")
    key: int
    lock: AbstractContextManager[bool]

    def __new__(cls, estimator: object) -> Self:
        entry = super().__new__(cls, estimator, _remove)
        entry.key, entry.lock = id(estimator), RLock()
        return entry


_ENTRIES: dict[int, _Entry] = {}


def _remove(entry: _Entry, entries: dict[int, _Entry] = _ENTRIES) -> None:
    # an argument, since estimators may outlive the names of this module when the interpreter exits
    entries.pop(entry.key, None)


if hasattr(os, "register_at_fork"):
    # a child process has none of the threads that could release what they held when it was forked
    os.register_at_fork(after_in_child=_ENTRIES.clear)


def lock_of(estimator: object) -> AbstractContextManager[bool]:
    """Return the lock of an estimator, which a thread may take again while it holds it.

    A method takes the lock of its estimator, then those of the estimators inside, never the other way round. Work that
    it passes to other threads must not take its own lock: that would be a deadlock.
    """
    try:
        return _ENTRIES[id(estimator)].lock
    except KeyError:
        # two threads may arrive here at once: the first entry is kept
        return _ENTRIES.setdefault(id(estimator), _Entry(estimator)).lock


class Locked:
    """Base of estimators that are saved and copied between two calls, never in the middle of one.

    The state that is saved is a deep copy: arrays are written to a file only after the lock has been released.
    """

    def __getstate__(self) -> object:
        with lock_of(self):
            return deepcopy(state := super().__getstate__(), _record_copies(state, {}))

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        with lock_of(self):
            memo[id(self)] = twin = type(self).__new__(type(self))
            vars(twin).update(deepcopy(vars(self), _record_copies(vars(self), memo)))
            return twin


def _record_copies(value: object, memo: dict[int, object]) -> dict[int, object]:
    """Add copies of arrays of records to a memo for `deepcopy`, so that equal learners are saved as equal bytes.

    NumPy's own copies have arbitrary bytes between the fields of records that are aligned.
    """
    if isinstance(value, np.ndarray):
        if value.dtype.names and not value.dtype.hasobject:
            memo[id(value)] = value.view(f"V{value.itemsize}").copy().view(value.dtype)
    elif isinstance(value, tuple | list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            _record_copies(part, memo)
    elif type(value).__module__.startswith("estimators.") and not isinstance(value, Locked):
        _record_copies(getattr(value, "__dict__", {}), memo)
    return memo
