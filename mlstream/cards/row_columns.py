"""Names of the columns of a stream's Parquet files that are neither labels nor features."""

from __future__ import annotations

from collections.abc import Collection

from mlstream.card_model import RowsCard


def has_masks(rows: RowsCard) -> bool:
    """Return whether the label mask of any experience goes by row."""
    return any(not isinstance(part.mask, int) for part in rows.experiences)


def role_columns(taken: Collection[str], *, has_masks: bool) -> dict[str, str]:
    """Name the columns that are neither labels nor features, by what they are.

    Parameters
    ----------
    taken : collection of str
        Names of the other columns; a name that is among them is followed by underscores.
    has_masks : bool
        Whether there is a column of masks.

    Returns
    -------
    dict of str to str
        Names by role: experience, task, row and, if there is one, mask.
    """
    roles = ("experience", "task", "row", "mask") if has_masks else ("experience", "task", "row")
    return {role: _untaken_name(role, taken) for role in roles}


def _untaken_name(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_"
    return name
