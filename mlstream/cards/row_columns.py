"""Names of the columns of a stream's Parquet files."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mlstream.streams.card_model import RowsCard
from mlstream.streams.keys import free_name


def has_masks(rows: RowsCard) -> bool:
    """Return whether the label mask of any part goes by row."""
    return any(not isinstance(part.mask, int) for part in (*rows.experiences, *rows.evaluation_sets))


def role_columns(taken: Collection[str], *, has_masks: bool) -> dict[str, str]:
    """Name the columns that are neither labels nor features by role: experience, task, row and, if there is one, mask.

    A name that is taken is followed by underscores.
    """
    roles = ("experience", "task", "row", "mask") if has_masks else ("experience", "task", "row")
    return {role: free_name(role, taken) for role in roles}


def key_columns(keys: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """Name the columns of keys by name of the key; the name of another column is followed by underscores."""
    taken, columns = {*cells, *keys}, dict[str, str]()
    for name in keys:
        columns[name] = free_name(name, {*taken, *columns.values()}) if name in cells else name
    return columns


def feature_columns(labels: Sequence[str], features: Sequence[str]) -> list[str]:
    """Name the columns of features, each differently; the name of a label is followed by underscores."""
    taken = {*labels, *features}
    columns = []
    for name in features:
        columns.append(free_name(name, taken) if name in labels else name)
        taken.add(columns[-1])
    return columns
