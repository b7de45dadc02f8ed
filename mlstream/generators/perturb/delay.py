"""Labels that arrive late: a row comes again when more of its labels are known."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mlstream.generators._checks import require_count, require_seed
from mlstream.generators._parameters import describe_call
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.perturb.perturbed import perturbed_stream
from mlstream.streams.keys import Keys, join_keys, take_keys
from mlstream.streams.label_values import known
from mlstream.streams.stream import Experience, Features, Index, Indicator, Mask, Stream

# Sums of rows, delays and jitter stay in 64 bits.
_MAX_ROWS = 2**61


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


def delayed_labels(stream: Stream, *, delay: int | Mapping[str, int], jitter: int = 0, seed: int = 0) -> Stream:
    """Let labels arrive later than their rows.

    Parameters
    ----------
    stream : Stream
        The stream to perturb.
    delay : int or mapping of str to int
        Number of learning rows that come between a row and its label: of every label, or by label; labels that are not
        named come with their rows.
    jitter : int
        Maximum number of further rows; the number is drawn for each row and late label.
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
        If a label is unknown, a number is negative, or an experience would hold no row because all its labels come
        later.

    Notes
    -----
    Rows are counted over all experiences. The label of row t with a delay of d is shown right after row t + d, in the
    experience that row t + d belongs to; labels that are due after the last row are shown after it, in the order in
    which they are due. A row comes whenever labels of it arrive, and not before: once if all come together, and as
    often as there are different arrivals otherwise. Each time it shows the labels that have arrived by then; those that
    are still to come are NaN, unknown, and nobody learns them. The label mask marks the new ones: over all times, each
    label that counted before counts exactly once. Test-then-train therefore scores a label with what was learnt just
    before it arrived. A label that is unknown in `stream` never arrives.

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
    delays = _read_delays(stream, delay)
    rows = _lay_end_to_end(stream)
    late = _draw_delays(
        delays, rows.mask, require_count(jitter, "jitter", minimum=0, maximum=_MAX_ROWS), require_seed(seed)
    )
    experiences = _cut(rows, late, _deliver(rows.mask, late))
    call = describe_call(delayed_labels, {"delay": delay, "jitter": jitter, "seed": seed})
    return perturbed_stream(stream, experiences, call)


def _read_delays(stream: Stream, delay: int | Mapping[str, int]) -> Index:
    names = stream.card.label_names
    if not isinstance(delay, Mapping):
        return np.full(len(names), require_count(delay, "delay", minimum=0, maximum=_MAX_ROWS))
    delays = np.zeros(len(names), dtype=np.int64)
    for label, rows in delay.items():
        if label not in names:
            raise ValueError(f"delay must name labels of the stream. Got {label!r} instead.")
        delays[names.index(label)] = require_count(rows, f"the delay of {label!r}", minimum=0, maximum=_MAX_ROWS)
    return delays


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


def _draw_delays(delays: Index, mask: Mask, jitter: int, seed: int) -> Index:
    """Draw the delay of every cell."""
    if not jitter:
        return np.broadcast_to(delays, mask.shape)
    drawn = generator_for(Purpose.PERTURBING, seed).integers(jitter + 1, size=mask.shape)
    return np.where(delays > 0, delays + drawn, 0)


def _deliver(mask: Mask, delays: Index) -> _Deliveries:
    """Put together the labels of a row that arrive together, and sort by arrival; at the same time, late rows last."""
    row, label = np.nonzero(mask)
    due = row + delays[row, label]
    # A row without any label that counts keeps its place: a column that is cut off again stands for its labels.
    bare = np.flatnonzero(~mask.any(axis=1))
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
    shown = np.where(rows.mask[taken] & ~arrived, np.float32(np.nan), rows.Y[taken])
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
