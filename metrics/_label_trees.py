"""Label hierarchies as users pass them: a mapping from each subclass to its superclass, both as column numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


def edges(parents: Mapping[int, int], n_labels: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return subclasses and their superclasses as column numbers, each subclass after its own superclass."""
    for column in (*parents.keys(), *parents.values()):
        if not isinstance(column, int | np.integer) or not 0 <= column < n_labels:
            raise ValueError(f"parents must map columns 0 to {n_labels - 1} to each other. Got {column!r} instead.")
    children = _downwards(parents)
    return np.array(children, dtype=np.intp), np.array([parents[child] for child in children], dtype=np.intp)


def _downwards(parents: Mapping[int, int]) -> list[int]:
    """Order subclasses from the top to the bottom; each is visited once, however long the chains are."""
    ordered: dict[int, None] = {}
    for child in parents:
        path: dict[int, None] = {}
        label = child
        while label not in ordered and label in parents:
            if label in path:
                before = list(path)
                circle = " -> ".join(map(str, [*before[before.index(label) :], label]))
                raise ValueError(f"parents must not go round in a circle. Got {circle} instead.")
            path[label] = None
            label = parents[label]
        ordered.update(dict.fromkeys(reversed(path)))
    return list(ordered)
