"""Times of a challenge as its people read them: phases, and the times of a board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mlstream.challenge.clock import format_time
from mlstream.challenge.config import ChallengeConfig
from mlstream.challenge.making.public_card import PublicCard
from mlstream.challenge.replies import BoardRow


def phase_times(rules: ChallengeConfig | PublicCard) -> list[tuple[str, str]]:
    """Return what begins and ends, and when, in UTC and in the time zone of the rules."""
    rows = (
        ("development opens", rules.opens, "at once"),
        ("development ends, selection begins", rules.development_ends, "when the organiser closes it"),
        ("selection ends", rules.final_ends, "when the organiser closes it"),
    )
    return [(what, otherwise if time is None else format_time(time, rules.timezone)) for what, time, otherwise in rows]


def board_times(rows: Sequence[BoardRow], zone: str) -> list[str]:
    """Return the time of each row of a board; to the second where scores are equal, since the earlier one is first."""
    counts = Counter(row.score for row in rows)
    return [format_time(row.time, zone, "seconds" if counts[row.score] > 1 else "minutes") for row in rows]
