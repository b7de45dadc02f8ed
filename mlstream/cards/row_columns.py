"""Names of the columns of a stream's Parquet files."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mlstream.streams.card_model import RowsCard


def has_masks(rows: RowsCard) -> bool:
    """Return whether the label mask of any part goes by row."""
    return any(not isinstance(part.mask, int) for part in (*rows.experiences, *rows.evaluation_sets))


def role_columns(taken: Collection[str], *, has_masks: bool) -> dict[str, str]:
    """Name the columns that are neither labels nor features by role: experience, task, row and, if there is one, mask.

    A name that is taken is followed by underscores.
    """
    roles = ("experience", "task", "row", "mask") if has_masks else ("experience", "task", "row")
    return {role: _untaken_name(role, taken) for role in roles}


def feature_columns(labels: Sequence[str], features: Sequence[str]) -> list[str]:
    """Name the columns of features, each differently; the name of a label is followed by underscores."""
    taken = {*labels, *features}
    columns = []
    for name in features:
        columns.append(_untaken_name(name, taken) if name in labels else name)
        taken.add(columns[-1])
    return columns


def _untaken_name(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_"
    return name
