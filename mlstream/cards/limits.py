"""Known limits of a stream, as far as they follow from its card: reasons to distrust a score on it."""

from __future__ import annotations

from collections.abc import Iterator

from mlstream.cards.terms import stated_terms
from mlstream.streams.card_model import StreamCard

# With fewer rows than this a label's recall moves by more than 10 points a row.
_FEW = 10
_MAX_NAMED = 5
# Persistence beyond chance from which on it makes scores.
_MUCH = 0.1
_CLUSTERING = {"task_stream", "stand_in_stream"}


def known_limits(card: StreamCard) -> list[str]:
    """List the known limits of a stream, in one sentence of plain text each."""
    return [
        sentence
        for find in (
            _origin,
            _making,
            _persistence,
            _unknown_labels,
            _rare_labels,
            _single_labels,
            _drops,
            _keys,
            _terms,
        )
        for sentence in find(card)
    ]


def has_unknown_labels(card: StreamCard) -> bool:
    """Return whether a label is unknown in some row; of a card without rows, a label of a task's signature."""
    if card.rows is not None and card.rows.has_unknown is not None:
        return card.rows.has_unknown
    return any(task.unknown_share for task in card.tasks)


def _origin(card: StreamCard) -> Iterator[str]:
    if card.source.origin == "synthetic":
        yield "The rows are drawn, not measured: scores compare learners, and predict no results in an application."
    elif card.source.sha256 is None:
        yield "The table was made in memory: the card cannot make the stream again."


def _making(card: StreamCard) -> Iterator[str]:
    if card.generator.name in _CLUSTERING:
        yield (
            "Tasks are clusters of the label sets of all rows, those held out included: they are a benchmark's "
            "construction, not tasks that occurred in this order."
        )


def _persistence(card: StreamCard) -> Iterator[str]:
    found = card.persistence
    if found is not None and found.repeated - found.by_chance > _MUCH:
        yield (
            f"Labels persist from row to row: repeating the last label set is right in {found.repeated:.1%} of the "
            f"rows ({found.by_chance:.1%} in random order). Compare scores with that."
        )


def _unknown_labels(card: StreamCard) -> Iterator[str]:
    if has_unknown_labels(card):
        yield (
            "Labels are unknown in some rows: statistics are those of the known ones, which are those of all only if "
            "labels are unknown by chance."
        )
        if card.generator.name in _CLUSTERING:
            yield "To cluster label sets, an unknown label was replaced by the label's frequency where it is known."


def _rare_labels(card: StreamCard) -> Iterator[str]:
    rare = [
        f"{name} in {task.name}"
        for task in card.tasks
        for label, name in enumerate(card.label_names)
        if label in task.signature and task.label_frequencies[label] * (task.n_learning + task.n_evaluation) < _FEW
    ]
    if rare:
        more = f", and {len(rare) - _MAX_NAMED} more" if len(rare) > _MAX_NAMED else ""
        yield (
            f"Labels with fewer than {_FEW} rows in a task, where a score per label rests on single rows: "
            f"{', '.join(rare[:_MAX_NAMED])}{more}."
        )


def _single_labels(card: StreamCard) -> Iterator[str]:
    single = [task.name for task in card.tasks if task.n_label_sets == 1]
    if single:
        yield f"Tasks whose rows all carry the same labels, which a constant prediction solves: {', '.join(single)}."


def _drops(card: StreamCard) -> Iterator[str]:
    rows = sum(drop.count for drop in card.drops if drop.what == "rows")
    if rows:
        yield f"{rows:,} of the source's {card.source.n_samples:,} rows are not in the stream."


def _keys(card: StreamCard) -> Iterator[str]:
    if card.keys:
        yield f"Rows have keys, which may tell whom they are of: {', '.join(card.keys)}."


def _terms(card: StreamCard) -> Iterator[str]:
    if not stated_terms(card).licence:
        yield "No licence is stated: ask the authors of the source before you publish the stream."
