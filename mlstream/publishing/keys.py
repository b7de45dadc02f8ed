"""Keys of rows that are left out of what is published."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlstream.streams.card_model import DropCard
from mlstream.streams.keys import join_keys
from mlstream.streams.stream import EvaluationSet, Experience, Stream, StreamParts


def without_keys(stream: Stream) -> Stream:
    """Leave out the keys of a stream, and say so on its card."""
    names = list(stream.key_names)
    if not names:
        return stream
    parts = StreamParts(stream.tasks, stream.experiences, stream.evaluation_sets).with_keys(None)
    drop = DropCard(what="keys", reason="may be personal data", count=len(names), names=names)
    return Stream(parts, stream.card.model_copy(update={"keys": [], "drops": [*stream.card.drops, drop]}))


def describe_dropped_keys(names: Sequence[str]) -> str:
    """Say in one line which keys were left out; nothing where there were none."""
    way_out = "keep_keys=True or --keep-keys publishes them"
    return f"Keys were left out, since they may be personal data: {', '.join(names)}; {way_out}." if names else ""


def have_same_keys(one: Stream, other: Stream) -> bool:
    """Return whether the rows of two streams of the same data have the same keys."""
    first, second = (join_keys([part.keys for part in _all_parts(stream)]) for stream in (one, other))
    if first is None or second is None:
        return first is second
    return one.key_names == other.key_names and all(np.array_equal(first[name], second[name]) for name in one.key_names)


def _all_parts(stream: Stream) -> tuple[Experience | EvaluationSet, ...]:
    return (*stream.experiences, *stream.evaluation_sets)
