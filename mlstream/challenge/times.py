"""The times of a board as people read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mlstream.challenge.clock import format_time
from mlstream.challenge.replies import BoardRow


def board_times(rows: Sequence[BoardRow], zone: str) -> list[str]:
    """Return the time of each row of a board; to the second where scores are equal, since the earlier one is first."""
    counts = Counter(row.score for row in rows)
    return [format_time(row.time, zone, "seconds" if counts[row.score] > 1 else "minutes") for row in rows]
