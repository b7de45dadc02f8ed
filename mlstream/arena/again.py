"""Cells that are run again, to see whether they are what their record says."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mlstream.arena.records import LearnerRecord, make_record
from mlstream.arena.running import SEED, Contestant, options_for
from mlstream.arena.suite import Suite
from mlstream.campaign.campaign import CampaignProgress, run_campaign
from mlstream.records.frugality import is_frugality
from mlstream.streams.stream import Stream


class Difference(NamedTuple):
    """The score of a cell that differs most from the one of its record."""

    stream: str
    score: str
    recorded: float | None
    found: float | None

    @property
    def size(self) -> float:
        """Its absolute value; infinite where one of the two is not defined, or the cell did not end alike."""
        if self.recorded is None or self.found is None:
            return 0.0 if self.recorded is self.found else float("inf")
        return abs(self.recorded - self.found)


def run_again(
    contestant: Contestant,
    streams: Sequence[Stream],
    suite: Suite,
    progress: Callable[[CampaignProgress], None] | None = None,
) -> LearnerRecord:
    """Run a learner on streams in a folder that is not kept."""
    with tempfile.TemporaryDirectory(prefix="mlstream-arena-") as folder:
        learners = {contestant.name: contestant.estimator}
        runs = run_campaign(
            learners, streams, [SEED], folder, progress=progress, **options_for(contestant.estimator, suite)
        )
    return make_record(contestant.name, contestant.source_sha256, runs, suite)


def compare(recorded: LearnerRecord, found: LearnerRecord) -> list[Difference]:
    """Find, for each cell that was run again, the score that differs most; costs are those of a machine."""
    return [_largest(stream, recorded, found) for stream in found.cells]


def _largest(stream: str, recorded: LearnerRecord, found: LearnerRecord) -> Difference:
    one, other = recorded.cells[stream], found.cells[stream]
    if one.status != other.status:
        return Difference(stream, f"status {one.status}, now {other.status}", 0.0, None)
    names = [name for name in {**one.scores, **other.scores} if not is_frugality(name.partition("[")[0])]
    differences = [Difference(stream, name, one.scores.get(name), other.scores.get(name)) for name in names]
    return max(differences, key=lambda one: one.size, default=Difference(stream, "", 0.0, 0.0))
