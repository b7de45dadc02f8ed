"""Rows of River, dictionaries or data frames, as rows of a table of fixed width."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from river.utils import dataframe

from estimators._typing import Array, Classes
from estimators.contract.base import StreamClassifier
from estimators.contract.failed_calls import unchanged_on_error

_TRUTH = {"true": 1.0, "false": 0.0}

# a row by feature, and what River takes as several rows: a data frame of any package
Row: TypeAlias = Mapping[Hashable, object]
Frame: TypeAlias = Any


class RiverRows:
    """Features of an adapter that come by name, and take places in the order in which they are first learnt."""

    learner: Any
    max_features: int | None
    _features: dict[Hashable, int] | None
    _has_learnt: bool

    def _learn(self, call: unchanged_on_error, x: Row | Frame, target: Array, classes: Classes) -> None:
        """Learn a row, or the rows of a frame, in a block that `unchanged_on_error` guards."""
        features = self._with_room_for_features(keys_of(x))
        rows = table_of(x, features, "x", self.max_features or 0)
        # our learners are unchanged if they fail; others may not be
        call.copy([] if isinstance(self.learner, StreamClassifier) else ["learner"])
        self.learner.partial_fit(rows, target, classes=classes)
        self._features, self._has_learnt = features, True

    def _with_room_for_features(self, keys: Iterable[Hashable]) -> dict[Hashable, int]:
        known = self._features or {}
        if self._features is not None and self.max_features is None:
            return known
        features = known | {key: len(known) + i for i, key in enumerate(key for key in keys if key not in known)}
        if self.max_features is not None and len(features) > self.max_features:
            raise ValueError(
                f"x must hold features that are known or have room. Got the new feature "
                f"{list(features)[self.max_features]!r} instead, where there is room for {self.max_features}; "
                "make more room with `max_features`."
            )
        return features

    def _known_rows(self, x: Row | Frame) -> Array:
        """Return features as rows; where features may come later, nothing is learnt yet of those that are new."""
        features = self._features or {}
        return table_of(x, features, "x", self.max_features or 0, leave_out=self.max_features is not None)


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
    width: int = 0,
    *,
    missing: float = 0.0,
    leave_out: bool = False,
) -> Array:
    """Return a row, or the rows of a frame of `as_rows`, as a table of shape (n_rows, n_columns).

    `positions` maps keys to columns; `width` counts if there are more columns than keys. Cells without a value get
    `missing`. Keys without a column raise, unless `leave_out`. `name` is "x" or "y": in y, the texts of truth values
    count as numbers.
    """
    table = np.full((1 if isinstance(x, Mapping) else len(x), max(width, len(positions))), missing)
    for j, key in enumerate(keys_of(x)):
        if key in positions:
            table[:, positions[key]] = _column(x, j, key, name)
        elif not leave_out:
            raise ValueError(
                f"{name} must hold the keys of the first row, or those declared. Got {key!r} instead; "
                "declare all `features`, or make room with `max_features`."
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
