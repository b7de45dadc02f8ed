"""Rows of River, which are dictionaries, as rows of a table of fixed width."""

from collections.abc import Hashable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from estimators._typing import Array


class RiverRows:
    """Features of an adapter that come by name, and take places in the order in which they are first learnt."""

    max_features: int | None
    _features: dict[Hashable, int] | None

    def _with_room_for_features(self, x: Mapping[Hashable, Any]) -> dict[Hashable, int]:
        known = self._features or {}
        if self._features is not None and self.max_features is None:
            return known
        features = known | {key: len(known) + i for i, key in enumerate(key for key in x if key not in known)}
        if self.max_features is not None and len(features) > self.max_features:
            raise ValueError(
                f"x must hold features that are known or have room. Got the new feature "
                f"{list(features)[self.max_features]!r} instead, where there is room for {self.max_features}; "
                "make more room with `max_features`."
            )
        return features

    def _known_row(self, x: Mapping[Hashable, Any]) -> Array:
        """Return features as a row; where features may come later, nothing is learnt yet of those that are new."""
        features = self._features or {}
        if self.max_features is not None:
            x = {key: value for key, value in x.items() if key in features}
        return row_of(x, features, "x", self.max_features or 0)


def positions_of(keys: Any) -> dict[Hashable, int]:
    """Return the position of each key."""
    return {key: position for position, key in enumerate(keys)}


def row_of(values: Mapping[Hashable, Any], positions: Mapping[Hashable, int], name: str, width: int = 0) -> Array:
    """Return the values as one row, zeros where keys are missing."""
    row = np.zeros((1, max(width, len(positions))))
    for key, value in values.items():
        if key not in positions:
            raise ValueError(
                f"{name} must hold the keys of the first row, or those declared. Got {key!r} instead; "
                "declare all `features`, or make room with `max_features`."
            )
        number = _number(value)
        if number is None:
            raise TypeError(
                f"{name} must hold numbers. Got {value!r} for {key!r} instead; encode it first, for instance with "
                "river.preprocessing.OneHotEncoder."
            )
        row[0, positions[key]] = number
    return row


def _number(value: Any) -> Any:
    """Return a number, also of the text of one, as rows of River's `iter_arff` have it; None for anything else."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return value if isinstance(value, Real | np.bool_) else None
