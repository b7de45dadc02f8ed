"""The truth about drifts: where they are in a stream, and where they come to be when its rows are moved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from mlstream.generators.synthetic.concepts import Concept, changes_between
from mlstream.streams.card_model import DriftCard
from mlstream.streams.stream import Experience, Index, Stream

Pattern = Literal["abrupt", "gradual", "incremental"]


def list_drifts(
    concepts: Sequence[Concept], path: Sequence[int], sizes: Sequence[int], pattern: Pattern, window: int
) -> list[DriftCard]:
    """List the drifts at the boundaries of a stream; a boundary between equal concepts is not a drift.

    `path` and `sizes` hold the concept and the number of rows of each experience; one concept gives way to the next
    within `window` rows.
    """
    ends = np.cumsum(sizes).tolist()
    drifts = []
    for number, (before, after) in enumerate(pairwise(path)):
        start = ends[number] - window // 2
        if what := changes_between(concepts[before], concepts[after]):
            known = after in path[: number + 1]
            drift = DriftCard(
                what=what,
                pattern=pattern,
                start=start,
                stop=start + window,
                before=before,
                after=after,
                recurring=known,
            )
            drifts.append(drift)
    return drifts


def carry_drifts(stream: Stream, experiences: Sequence[Experience]) -> list[DriftCard]:
    """Find the drifts of a stream again after rows were moved, left out or repeated.

    A drift spans the first row that is not surely of the task before to the last one that is not surely of the task
    after.
    """
    if not stream.card.drifts:
        return []
    rows = _rows(stream.experiences)
    by_row = np.argsort(rows, kind="stable")
    old = by_row[np.searchsorted(rows, _rows(experiences), sorter=by_row)]
    return [
        drift.model_copy(
            update={
                "start": int(np.append(np.flatnonzero(old >= drift.start), len(old))[0]),
                "stop": int(np.append(-1, np.flatnonzero(old < drift.stop))[-1]) + 1,
            }
        )
        for drift in stream.card.drifts
    ]


def _rows(experiences: Sequence[Experience]) -> Index:
    return np.concatenate([experience.row_ids for experience in experiences])
