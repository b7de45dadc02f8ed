"""Drifts stay where their rows are, whatever is done to the rows."""

from functools import cache
from itertools import product

import numpy as np

from mlstream.generators import drifting_stream, duplicated_rows, noisy_labels, rare_labels, reordered_rows
from tests.loops import check_all


@cache
def stream_of(pattern, window):
    return drifting_stream("hyperplane", n_rows=300, n_concepts=2, pattern=pattern, window=window, order=[0, 1, 0, 1])


def rows_of(stream):
    return np.concatenate([part.row_ids for part in stream]).tolist()


PERTURBED = {
    "duplicated": lambda stream: duplicated_rows(stream, rate=0.5),
    "noisy": lambda stream: noisy_labels(stream, rate=0.2),
    "rare": lambda stream: rare_labels(stream, keep={"y0": 0.3}),
    "reordered": reordered_rows,
}


def test_rows_outside_a_perturbed_drift_are_those_from_outside():
    def check(case):
        change, (pattern, window) = case
        stream = stream_of(pattern, window)
        perturbed = PERTURBED[change](stream)
        old = rows_of(stream)
        place = [old.index(row) for row in rows_of(perturbed)]
        assert len(perturbed.card.drifts) == 3
        for drift, before in zip(perturbed.card.drifts, stream.card.drifts, strict=True):
            assert (drift.what, drift.pattern, drift.recurring) == (before.what, before.pattern, before.recurring)
            assert max(place[: drift.start]) < before.start
            assert min(place[drift.stop :]) >= before.stop
            if not window:
                assert drift.start == drift.stop
            # No row more is said to be of the drift than must be.
            assert place[drift.start] >= before.start
            assert place[drift.stop - 1] < before.stop

    check_all(product(PERTURBED, [("abrupt", 0), ("gradual", 40), ("incremental", 40)]), check)


def test_a_stream_whose_drifts_are_unknown_stays_one():
    stream = stream_of("abrupt", 0)
    assert noisy_labels(noisy_labels(stream, rate=0.1), rate=0.1).card.drifts == stream.card.drifts
    same = drifting_stream("tree", n_rows=60, magnitude=0)
    assert reordered_rows(same).card.drifts == []
