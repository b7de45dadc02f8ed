"""Labels that arrive late: a row comes again when more of its labels are known."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from estimators.contract.durations import parse_duration
from estimators.contract.row_keys import read_times
from metrics.validation import require_choice
from mlstream.generators._parameters import describe_call, require_count, require_seed
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.perturb.perturbed import perturbed_stream
from mlstream.streams.keys import Keys, join_keys, take_keys
from mlstream.streams.label_values import known
from mlstream.streams.stream import Experience, Features, Index, Indicator, Mask, Stream

# Sums of rows, or times, delays and jitter stay in 64 bits.
_MAX_DELAY = 2**61


class _Delays(NamedTuple):
    """Delays by label, and the greatest further one: numbers of rows, or microseconds."""

    delays: Index
    jitter: int
    by_time: bool


class _LearningRows(NamedTuple):
    """All learning rows of a stream, end to end, and the experience of each; the mask marks the labels to deliver."""

    X: Features
    Y: Indicator
    mask: Mask
    task_ids: Index
    row_ids: Index
    experience: Index
    keys: Keys | None


class _Deliveries(NamedTuple):
    """Rows in the order in which their labels arrive: which row, after how many rows, and the labels it brings."""

    rows: Index
    arrivals: Index
    new: Mask


def delayed_labels(
    stream: Stream,
    *,
    delay: int | str | Mapping[str, int | str],
    jitter: int | str = 0,
    per: Literal["label", "row"] = "label",
    predict_first: bool = False,
    seed: int = 0,
) -> Stream:
    """Let labels arrive later than their rows.

    Parameters
    ----------
    stream : Stream
        The stream to perturb.
    delay : int, str, or mapping of str to int or str
        How late labels are: a number of learning rows that come in between, or a time such as "2h" (units ms, s, min,
        h, d). One for all labels, or one for each by name; labels that are not named come with their rows.
    jitter : int or str
        Maximum of a further delay, which is drawn: a number of rows, or a time, as `delay` is.
    per : {"label", "row"}
        What has a further delay of its own: every late label of a row, or the row, whose late labels share it.
    predict_first : bool
        Whether each row also comes at its own time, when all its late labels are unknown. Learners predict it then, and
        `evaluate` scores this first prediction, too.
    seed : int
        Source of everything random.

    Returns
    -------
    Stream
        Every label of every row once, in the order in which labels arrive. Experiences are as many as before, but may
        hold late labels of earlier ones.

    Raises
    ------
    ValueError
        If a label is unknown, a number is negative, an experience would hold no row because all its labels come later,
        or a delay is a time and the rows have none, or not in rising order.

    Notes
    -----
    A delay in time needs streams whose rows have keys with one field of times, such as those of `windowed`. A label is
    shown right after the last row that is not later than it; those that arrive between the same two rows come in the
    order of their rows.

    Rows are counted over all experiences. The label of row t with a delay of d is shown right after row t + d, in the
    experience that row t + d belongs to; labels that are due after the last row are shown after it, in the order in
    which they are due. A row comes whenever labels of it arrive, and, unless `predict_first`, not before: once if all
    come together, and as often as there are different arrivals otherwise. Each time it shows the labels that have
    arrived by then; those that are still to come are NaN, unknown, and nobody learns them. The label mask marks the new
    ones: over all times, each label that counted before counts exactly once. Test-then-train therefore scores a label
    with what was learnt just before it arrived. A label that is unknown in `stream` never arrives.

    Learners that do not look at label masks learn the labels that came before again, together with the new ones: a
    learner of whole label sets could not learn them otherwise.

    References
    ----------
    M. Grzenda, H. M. Gomes, A. Bifet. Delayed labelling evaluation for data streams. Data Mining and Knowledge
    Discovery 34, 2020.

    Examples
    --------
    >>> from mlstream.generators import multiplier_stream
    >>> stream = multiplier_stream("rand", n_rows=10, learning_fractions=[0.5], evaluation_fraction=0.5)
    >>> late = delayed_labels(stream, delay={"y0": 2})
    >>> [len(experience) for experience in stream], [len(experience) for experience in late]
    ([5, 5, 5, 5], [8, 10, 10, 12])
    >>> late.experiences[0].row_ids[:5].tolist(), late.experiences[0].label_mask[:5, 0].tolist()
    ([20, 21, 22, 20, 23], [False, False, False, True, False])
    """
    rule = _read_delays(stream, delay, jitter)
    require_choice(per, "per", ("label", "row"))
    rows = _lay_end_to_end(stream)
    late = _draw_delays(rule, rows.mask.shape, per, require_seed(seed))
    if rule.by_time:
        late = _count_rows(late, _times(rows.keys, stream.card.name))
    late = np.broadcast_to(late, rows.mask.shape)
    experiences = _cut(rows, late, _deliver(rows.mask, late, predict_first=predict_first))
    values = {"delay": delay, "jitter": jitter, "per": per, "predict_first": predict_first, "seed": seed}
    return perturbed_stream(stream, experiences, describe_call(delayed_labels, values))


def _read_delays(stream: Stream, delay: int | str | Mapping[str, int | str], jitter: int | str) -> _Delays:
    names = stream.card.label_names
    by_label = delay if isinstance(delay, Mapping) else dict.fromkeys(names, delay)
    by_time = any(isinstance(rows_or_time, str) for rows_or_time in by_label.values())
    delays = np.zeros(len(names), dtype=np.int64)
    for label, rows_or_time in by_label.items():
        if label not in names:
            raise ValueError(f"delay must name labels of the stream. Got {label!r} instead.")
        name = f"the delay of {label!r}" if isinstance(delay, Mapping) else "delay"
        delays[names.index(label)] = _read_delay(rows_or_time, name, by_time=by_time)
    return _Delays(delays, _read_delay(jitter, "jitter", by_time=by_time and jitter != 0), by_time)


def _read_delay(value: int | str, name: str, *, by_time: bool) -> int:
    rows_or_us = parse_duration(value, name) if by_time else value
    return require_count(rows_or_us, name, minimum=0, maximum=_MAX_DELAY)


def _lay_end_to_end(stream: Stream) -> _LearningRows:
    parts = stream.experiences
    tables: list[Any] = [part.X for part in parts]
    Y = np.concatenate([part.Y for part in parts])
    mask = np.concatenate([np.broadcast_to(part.label_mask, part.Y.shape) for part in parts])
    cells = known(Y)
    return _LearningRows(
        sparse.csr_array(sparse.vstack(tables)) if sparse.issparse(tables[0]) else np.concatenate(tables),
        Y,
        mask if cells is None else mask & cells,
        np.concatenate([part.task_ids for part in parts]),
        np.concatenate([part.row_ids for part in parts]),
        np.repeat(np.arange(len(parts)), [len(part) for part in parts]),
        join_keys([part.keys for part in parts]),
    )


def _draw_delays(rule: _Delays, shape: tuple[int, int], per: str, seed: int) -> Index:
    """Draw the delay of every cell, or return those of labels where nothing is drawn."""
    if not rule.jitter:
        return rule.delays[np.newaxis]
    n_rows, n_labels = shape
    drawn = generator_for(Purpose.PERTURBING, seed).integers(
        rule.jitter + 1, size=(n_rows, n_labels if per == "label" else 1)
    )
    return np.where(rule.delays > 0, rule.delays + drawn, 0)


def _times(keys: Keys | None, name: str) -> Index:
    """Return the time of every learning row of the stream `name`, in microseconds, which must not fall."""
    if keys is None:
        raise ValueError(
            f"delay must be a number of rows where rows have no times. Got a time, and {name} has no keys; "
            "streams of `windowed` have them."
        )
    times = read_times(keys, None, len(keys))
    if len(falls := np.flatnonzero(np.diff(times) < 0)):
        raise ValueError(
            f"delay must be a number of rows where rows are not in the order of time. Got a time, and row "
            f"{falls[0] + 1} of {name} is earlier than the row before it."
        )
    return times


def _count_rows(delays: Index, times: Index) -> Index:
    """Return how many rows come before each label, after its own row; labels after all rows follow by time."""
    due, n_rows = times[:, np.newaxis] + delays, len(times)
    last = np.searchsorted(times, due, side="right") - 1
    after_all = due > times[-1]
    last[after_all] = n_rows + np.unique(due[after_all], return_inverse=True)[1]
    return np.where(delays > 0, last - np.arange(n_rows)[:, np.newaxis], 0)


def _deliver(mask: Mask, delays: Index, *, predict_first: bool) -> _Deliveries:
    """Put together the labels of a row that arrive together, and sort by arrival; at the same time, late rows last."""
    row, label = np.nonzero(mask)
    due = row + delays[row, label]
    # A row without any label that counts keeps its place: a column that is cut off again stands for its labels.
    bare = np.flatnonzero(~(mask & (delays == 0) if predict_first else mask).any(axis=1))
    row, due = (np.concatenate([places, bare]) for places in (row, due))
    label = np.concatenate([label, np.full(len(bare), mask.shape[1])])
    order = np.lexsort((row, due > row, due))
    row, label, due = row[order], label[order], due[order]
    is_next = np.ones(len(row), dtype=bool)
    is_next[1:] = (np.diff(row) != 0) | (np.diff(due) != 0)
    new = np.zeros((int(is_next.sum()), mask.shape[1] + 1), dtype=bool)
    new[np.cumsum(is_next) - 1, label] = True
    return _Deliveries(row[is_next], due[is_next], new[:, :-1])


def _cut(rows: _LearningRows, delays: Index, deliveries: _Deliveries) -> tuple[Experience, ...]:
    """Assign to each experience the rows that arrive in it; the last one also takes what is due after it."""
    taken, arrivals = deliveries.rows, deliveries.arrivals
    arrived = taken[:, np.newaxis] + delays[taken] <= arrivals[:, np.newaxis]
    # A row that is only predicted shows no label of other tasks either: they would count twice.
    is_only_predicted = rows.mask[taken].any(axis=1, keepdims=True) & ~deliveries.new.any(axis=1, keepdims=True)
    is_unknown = (rows.mask[taken] & ~arrived) | is_only_predicted
    shown = np.where(is_unknown, np.float32(np.nan), rows.Y[taken])
    experience = rows.experience[np.minimum(arrivals, len(rows.experience) - 1)]
    cuts = np.searchsorted(experience, np.arange(rows.experience[-1] + 2))
    return tuple(
        Experience(
            rows.X[taken[part]],
            shown[part],
            rows.task_ids[taken[part]],
            deliveries.new[part],
            rows.row_ids[taken[part]],
            take_keys(rows.keys, taken[part]),
        )
        for part in (slice(start, stop) for start, stop in pairwise(cuts))
    )
