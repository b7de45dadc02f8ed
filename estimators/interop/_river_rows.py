"""Rows of River, dictionaries or data frames, as rows of a table whose width doubles."""

import warnings
from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from river.utils import dataframe
from sklearn.base import clone

from estimators._typing import Array
from estimators.contract.base import StreamClassifier
from estimators.contract.failed_calls import unchanged_on_error
from estimators.interop._redo_log import MAX_ROWS, MAX_VALUES
from estimators.pipeline import StreamPipeline

_TRUTH = {"true": 1.0, "false": 0.0}

# a row by feature, and what River takes as several rows: a data frame of any package
Row: TypeAlias = Mapping[Hashable, object]
Frame: TypeAlias = Any


class StoredRows:
    """The last rows learnt, as many as a `RedoLog` keeps, with the number of those before them."""

    def __init__(self) -> None:
        self.chunks: deque[tuple[Array, Array]] = deque()
        self.n_rows = self.n_values = self.n_forgotten = 0

    def add(self, rows: Array, target: Array) -> None:
        """Store a chunk, and forget the oldest ones that have no room beside it."""
        self.chunks.append((rows, target))
        self._count(rows, 1)
        while self.n_rows > MAX_ROWS or self.n_values > MAX_VALUES:
            rows, _ = self.chunks.popleft()
            self._count(rows, -1)
            self.n_forgotten += len(rows)

    def _count(self, rows: Array, sign: int) -> None:
        self.n_rows += sign * len(rows)
        self.n_values += sign * rows.size


class RiverRows:
    """Features of an adapter that come by name, and take places in the order in which they are first learnt.

    If features or targets outgrow a learner, a new one with twice the room learns the stored rows.
    """

    estimator: Any
    learner: Any
    max_features: int | None
    _features: dict[Hashable, int] | None
    _room: int  # number of columns of X
    _target_room: int  # number of labels or classes that the learner was told of
    _stored: StoredRows | None  # None: nothing can outgrow the learner, or nothing is learnt
    _has_learnt: bool

    def _declare_features(self, features: Sequence[Hashable] | None) -> None:
        self._features = None if features is None else positions_of(features)
        self._has_open_features = features is None and self.max_features is None
        self._room = self.max_features or len(features or ())
        self._target_room = 0
        self._stored, self._has_learnt = None, False

    def _learn(
        self, call: unchanged_on_error, x: Row | Frame, target: Array, target_room: int, *, stores: bool
    ) -> None:
        """Learn a row, or the rows of a frame, in a block that `unchanged_on_error` guards.

        `target_room` is the number of labels or classes to tell the learner of; `stores` is whether more may come.
        """
        features = self._with_room_for_features(keys_of(x))
        room = room_for(len(features), self._room) if self._has_open_features else self._room
        rows = table_of(x, features, "x", words=self._takes_words)
        outgrown = self._has_learnt and (room, target_room) != (self._room, self._target_room)
        if outgrown:
            self._start_again(room, target_room)
        else:
            # our learners are unchanged if they fail; others may not be
            call.copy([] if isinstance(self.learner, StreamClassifier) else ["learner"])
        self._fit_chunk(rows, target, room, target_room)
        self._features, self._room, self._target_room, self._has_learnt = features, room, target_room, True
        if stores or self._has_open_features:
            self._stored = self._stored or StoredRows()
            self._stored.add(rows, target)

    def _start_again(self, room: int, target_room: int) -> None:
        stored = self._stored or StoredRows()
        if stored.n_forgotten:
            warnings.warn(
                f"{type(self.learner).__name__} starts again with room for {room} features and {target_room} targets, "
                f"from the last {stored.n_rows} rows: the {stored.n_forgotten} rows before are lost. Declare them "
                "when you make the model, or the room that they need, and nothing is lost.",
                stacklevel=5,
            )
        self.learner = self._new_learner()
        for rows, target in stored.chunks:
            self._fit_chunk(rows, target, room, target_room)

    @property
    def _takes_words(self) -> bool:
        # what its steps take is up to them
        return isinstance(self.estimator, StreamPipeline)

    def _new_learner(self) -> Any:
        return clone(self.estimator)

    def _fit_chunk(self, rows: Array, target: Array, room: int, target_room: int) -> None:
        """Learn rows and their targets, which may have fewer columns than the learner."""
        raise NotImplementedError

    def _with_room_for_features(self, keys: Iterable[Hashable]) -> dict[Hashable, int]:
        known = self._features or {}
        if not self._has_open_features and self.max_features is None:
            return known
        # in an order that does not depend on that of the keys in a row, since learners may draw by column
        new = sorted((key for key in keys if key not in known), key=lambda key: (len(str(key)), str(key)))
        features = known | {key: len(known) + i for i, key in enumerate(new)}
        if self.max_features is not None and len(features) > self.max_features:
            raise ValueError(
                f"x must hold features that are known or have room. Got the new feature "
                f"{list(features)[self.max_features]!r} instead, where there is room for {self.max_features}; "
                "make more room with `max_features`."
            )
        return features

    def _known_rows(self, x: Row | Frame) -> Array:
        """Return features as rows; where features may come later, nothing is learnt yet of those that are new."""
        leave_out = self._has_open_features or self.max_features is not None
        table = table_of(x, self._features or {}, "x", leave_out=leave_out, words=self._takes_words)
        return padded(table, self._room)


def room_for(n: int, room: int) -> int:
    """Return the room for `n` keys: at first as many, then a power of two, so that it doubles."""
    if n <= room:
        return room
    return 1 << (n - 1).bit_length() if room else max(n, 1)


def padded(table: Array, width: int, missing: float = 0.0) -> Array:
    """Return a table with columns of `missing` to the right, up to a width."""
    lacking = width - table.shape[1]
    return np.pad(table, ((0, 0), (0, lacking)), constant_values=missing) if lacking else table


def positions_of(keys: Iterable[Hashable]) -> dict[Hashable, int]:
    """Return the position of each key."""
    return {key: position for position, key in enumerate(keys)}


def as_rows(x: Frame) -> Frame:
    """Return a data frame of any library in the form that `table_of` takes."""
    return dataframe.into_frame(x)


def keys_of(x: Row | Frame) -> Iterable[Hashable]:
    """Return the keys of a row, or the names of the columns of a frame."""
    return x if isinstance(x, Mapping) else x.columns


def table_of(
    x: Row | Frame,
    positions: Mapping[Hashable, int],
    name: str,
    *,
    missing: float = 0.0,
    leave_out: bool = False,
    words: bool = False,
) -> Array:
    """Return a row, or the rows of a frame of `as_rows`, as a table of shape (n_rows, n_columns).

    `positions` maps keys to columns. Cells without a value get `missing`. Keys without a column raise, unless
    `leave_out`. `name` is "x" or "y": in y, the texts of truth values count as numbers. With `words`, values stay
    as they are.
    """
    shape = 1 if isinstance(x, Mapping) else len(x), len(positions)
    table = np.full(shape, missing, dtype=object if words else np.float64)
    for j, key in enumerate(keys_of(x)):
        if key in positions and words:
            table[:, positions[key]] = x[key] if isinstance(x, Mapping) else x[:, j].to_list()
        elif key in positions:
            table[:, positions[key]] = _column(x, j, key, name)
        elif not leave_out:
            raise ValueError(
                f"{name} must hold the keys declared. Got {key!r} instead; declare all `features`, or make room with "
                "`max_features`."
            )
    return table


def to_frame(table: Array, keys: Iterable[Hashable], like: Frame) -> Frame:
    """Return the first columns of a table as a data frame of the library, and with the index, of another."""
    columns = {key: table[:, j] for j, key in enumerate(keys)}
    # River makes no frame without columns.
    return dataframe.to_native_frame(columns, like=like) if columns else like[:, :0].to_native()


def to_series(values: Sequence[Hashable], like: Frame) -> Frame:
    """Return values as a series of the library, and with the index, of a data frame."""
    return dataframe.to_native_series(values, name=None, like=like)


def _column(x: Row | Frame, j: int, key: Hashable, name: str) -> Any:
    if isinstance(x, Mapping):
        return _number(x[key], key, name)
    column = x[:, j]
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return values
    nulls = column.is_null().to_list()
    return [_number(None if is_null else value, key, name) for value, is_null in zip(values, nulls, strict=True)]


def _number(value: object, key: Hashable, name: str) -> float:
    """Return a number, also of the text of one, as rows of River's `iter_arff` have it; NaN for an unknown label."""
    if isinstance(value, Real | np.bool_):
        return float(value)
    if name == "y" and value is None:
        return np.nan
    if isinstance(value, str):
        if name == "y" and value.lower() in _TRUTH:
            return _TRUTH[value.lower()]
        with suppress(ValueError):
            return float(value)
    raise TypeError(
        f"{name} must hold numbers. Got {value!r} for {key!r} instead; encode it first, for instance with "
        "river.preprocessing.OneHotEncoder."
    )
