"""Labels come when they are due, each exactly once, and never before their row."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from estimators.strategies import make_strategy
from mlstream.evaluation.evaluate import evaluate
from mlstream.generators import delayed_labels, drifting_stream, missing_labels, multiplier_stream, scenario_stream
from tests.loops import check_all
from tests.mlstream.generators.tables import dense, make_table


def deliver_slowly(stream, delays, *, predict_first=False, times=None):
    """Meet row after row; give (experience, row of the stream, labels seen, new labels) in order of arrival.

    With `times`, delays are seconds, and labels that are due before the next row are shown before it.
    """
    rows = [
        (number, y, np.broadcast_to(part.label_mask, part.Y.shape)[place] & ~np.isnan(y))
        for number, part in enumerate(stream)
        for place, y in enumerate(part.Y)
    ]
    met, waiting, known = [], [], [set() for _ in rows]

    def see(row):
        _, y, mask = rows[row]
        return [np.nan if mask[label] and label not in known[row] else y[label] for label in range(len(y))]

    def show(number, row, labels):
        known[row] |= labels
        is_only_predicted = predict_first and rows[row][2].any() and not labels
        met.append((number, row, [np.nan] * 4 if is_only_predicted else see(row), sorted(labels)))

    moments = list(range(len(rows))) if times is None else times
    for time, (number, _, mask) in enumerate(rows):
        counted = np.flatnonzero(mask).tolist()
        next_moment = (*moments, np.inf)[time + 1]
        is_last = time == len(rows) - 1
        own = {label: moments[time] + delays[label] for label in counted}
        is_now = {
            label: delays[label] == 0 or (due < next_moment and (not is_last or due <= moments[time]))
            for label, due in own.items()
        }
        on_time = {label for label in counted if is_now[label]}
        if on_time or not counted or predict_first:
            show(number, time, on_time)
        due = [entry for entry in waiting if entry[0] < next_moment and (not is_last or entry[0] <= moments[time])]
        waiting = [entry for entry in waiting if entry not in due]
        waiting += [(own[label], time, label) for label in counted if not is_now[label]]
        for row in sorted({entry[1] for entry in due}):
            show(number, row, {entry[2] for entry in due if entry[1] == row})
    for moment, row in sorted({entry[:2] for entry in waiting}):
        show(rows[-1][0], row, {entry[2] for entry in waiting if entry[:2] == (moment, row)})
    return met


def keyed(stream, times):
    """Return the stream with keys that hold a time for each learning row, in seconds."""
    times = np.array(times, "datetime64[s]").astype([("start", "M8[us]")])
    ends = np.cumsum([len(part) for part in stream])[:-1]
    for part, keys in zip(stream, np.split(times, ends), strict=True):
        object.__setattr__(part, "keys", keys)
    for part in stream.evaluation_sets:
        object.__setattr__(part, "keys", np.zeros(len(part), times.dtype))
    return stream


@st.composite
def streams(draw):
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    X = np.arange(180.0).reshape(60, 3) + 1
    table = make_table(rng.random((60, 4)) < 0.5, sparse.csr_array(X) if draw(st.booleans()) else X)
    scenario = draw(st.sampled_from(["task-based", "class-incremental", "blurred-boundary", "instance-incremental"]))
    stream = scenario_stream(table, scenario, n_tasks=2, seed=draw(st.integers(0, 9)))
    return (
        missing_labels(stream, rate=0.4, per=draw(st.sampled_from(["label", "row"]))) if draw(st.booleans()) else stream
    )


@given(streams(), st.lists(st.integers(0, 70), min_size=3, max_size=3), st.booleans(), st.booleans(), st.data())
def test_labels_arrive_as_in_a_loop_that_meets_row_after_row(stream, some, predict_first, by_time, data):
    delays, times = [0, *some], None
    named = {f"y{label}": rows for label, rows in enumerate(delays)}
    if by_time:
        n_rows = sum(map(len, stream))
        times = np.cumsum(data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))).tolist()
        stream = keyed(stream, times)
        named = {name: f"{seconds}s" for name, seconds in named.items() if seconds}
    expected = deliver_slowly(stream, delays, predict_first=predict_first, times=times)
    if not named:
        return
    if {number for number, *_ in expected} != set(range(len(stream))):
        with pytest.raises(ValueError, match="Every experience must keep a row"):
            delayed_labels(stream, delay=named, predict_first=predict_first)
        return
    late, expected = delayed_labels(stream, delay=named, predict_first=predict_first), iter(expected)
    X, task_ids, row_ids = (
        np.concatenate([dense(getattr(part, name)) for part in stream]) for name in ("X", "task_ids", "row_ids")
    )
    for number, part in enumerate(late):
        for x, y, task, mask, row_id in zip(
            dense(part.X), part.Y, part.task_ids, part.label_mask, part.row_ids, strict=True
        ):
            experience, row, seen, new = next(expected)
            assert (experience, new) == (number, np.flatnonzero(mask).tolist())
            np.testing.assert_array_equal(y, seen)
            assert (task, row_id) == (task_ids[row], row_ids[row])
            np.testing.assert_array_equal(x, X[row])
    assert next(expected, None) is None


@pytest.mark.slow
@given(st.integers(1, 40), st.integers(0, 30), st.integers(0, 5))
def test_every_label_counts_exactly_once_and_not_before_it_is_due(delay, jitter, seed):
    stream = multiplier_stream("rand", n_rows=60, seed=seed, learning_fractions=[0.7])
    late = delayed_labels(stream, delay={"y1": delay, "y3": 2 * delay}, jitter=jitter, seed=seed)
    learnt = np.concatenate([part.row_ids for part in stream]).tolist()
    truth = dict(zip(learnt, np.concatenate([part.Y for part in stream]), strict=True))
    arrived = {row: np.zeros(4, dtype=int) for row in learnt}
    n_met = -1
    for part in late:
        for y, mask, row in zip(part.Y, part.label_mask, part.row_ids.tolist(), strict=True):
            n_met = max(n_met, learnt.index(row))
            waited = n_met - learnt.index(row)
            arrived[row] += mask
            assert mask.any()
            np.testing.assert_array_equal(y, np.where(arrived[row] > 0, truth[row], np.nan))
            # Once the last row has come, nothing is left to count by.
            if n_met < len(learnt) - 1:
                assert all(
                    not mask[j] or least <= waited <= least + jitter for j, least in ((1, delay), (3, 2 * delay))
                )
                assert not mask[[0, 2]].any() or waited == 0
    assert all((counts == 1).all() for counts in arrived.values())


def test_without_delay_nothing_changes_but_that_masks_go_by_row():
    stream = multiplier_stream("bilab", n_rows=50)
    for old, new in zip(stream, delayed_labels(stream, delay=0, jitter=9), strict=True):
        np.testing.assert_array_equal(old.row_ids, new.row_ids)
        np.testing.assert_array_equal(old.Y, new.Y)
        np.testing.assert_array_equal(np.broadcast_to(old.label_mask, old.Y.shape), new.label_mask)


def test_rows_whose_labels_all_come_late_come_once_with_them():
    stream = multiplier_stream("rand", n_rows=50)
    late = delayed_labels(stream, delay=12)
    assert late.n_samples == stream.n_samples
    assert len(late.experiences[0]) == len(stream.experiences[0]) - 12
    assert late.order[1].sum() == 2
    assert late.card.generator.parameters["base"]["name"] == "multiplier_stream"


def test_rows_have_one_further_delay_for_all_their_late_labels():
    stream = multiplier_stream("rand", n_rows=200)
    by_label, by_row = (
        delayed_labels(stream, delay={"y0": 2, "y1": 2}, jitter=30, per=per, predict_first=True, seed=3)
        for per in ("label", "row")
    )

    def count_times(late):
        return np.unique(np.unique(np.concatenate([part.row_ids for part in late]), return_counts=True)[1]).tolist()

    assert count_times(by_label) == [2, 3]
    assert count_times(by_row) == [2]
    order = np.concatenate([part.row_ids for part in by_row])
    places = [np.flatnonzero(order == row) for row in np.unique(order)]
    assert len({second - first for first, second in places}) > 20


def test_delays_in_time_need_times_in_rising_order():
    stream = multiplier_stream("rand", n_rows=60)
    with pytest.raises(ValueError, match=r"delay must be a number of rows where rows have no times. Got a time"):
        delayed_labels(stream, delay="2h")
    times = np.arange(sum(map(len, stream)))
    times[7] = 0
    with pytest.raises(ValueError, match=r"Got a time, and row 7 of .* is earlier than the row before it"):
        delayed_labels(keyed(stream, times), delay="2h")


def test_further_delays_in_time_stay_below_their_maximum():
    stream = multiplier_stream("rand", n_rows=400)
    stream = keyed(stream, np.arange(sum(map(len, stream))))
    late = delayed_labels(stream, delay="1min", jitter="1min", per="row", predict_first=True, seed=1)
    order = np.concatenate([part.row_ids for part in late])
    first_seen = {row: np.flatnonzero(order == row) for row in np.unique(order)[:50]}
    learnt = np.concatenate([part.row_ids for part in stream]).tolist()
    for row, (_, second) in first_seen.items():
        latest = max(learnt.index(other) for other in order[:second])
        if latest < len(learnt) - 1:
            assert 60 <= latest - learnt.index(row) <= 120


def test_drifts_end_when_the_last_late_row_has_come():
    stream = drifting_stream("tree", n_rows=200, n_concepts=2, n_features=3, n_labels=2, cardinality=1)
    late = delayed_labels(stream, delay={"y0": 30})
    before, after = stream.card.drifts[0], late.card.drifts[0]
    tasks = np.concatenate([part.task_ids for part in late])
    assert (before.start, before.stop) == (70, 70)
    assert set(tasks[: after.start]) == {before.before}
    first_only_new = np.flatnonzero(tasks[: late.card.drifts[1].start] == before.before)[-1] + 1
    assert after.stop == first_only_new


@pytest.mark.slow
def test_learners_are_judged_on_late_labels_once():
    def check(case):
        strategy, label_space = case
        stream = delayed_labels(multiplier_stream("rand", n_rows=60), delay={"y0": 7, "y1": 7, "y2": 25})
        result = evaluate(make_strategy(strategy), stream, label_space=label_space, energy="none")
        assert result.status == "done"
        assert 0.4 < result.scores["ba_macro"] <= 1

    check_all(
        product(["NN", "NN_TL", "NN_TLH_memories", "BR_HT", "prior_distribution"], ["task", "seen", "all"]), check
    )


def test_errors_name_rule_and_value():
    def check(case):
        options, message = case
        with pytest.raises(ValueError, match=message):
            delayed_labels(multiplier_stream("rand", n_rows=60), **options)

    check_all(
        [
            ({"delay": -1}, r"delay must be a whole number, at least 0. Got -1"),
            ({"delay": {"cat": 1}}, r"delay must name labels of the stream. Got 'cat'"),
            ({"delay": {"y0": 1.5}}, r"the delay of 'y0' must be a whole number, at least 0. Got 1.5"),
            (
                {"delay": 2**61 + 1},
                r"delay must be a whole number, at most 2305843009213693952. Got 2305843009213693953",
            ),
            ({"delay": {"y0": 2**70}}, r"the delay of 'y0' must be a whole number, at most"),
            ({"delay": 1, "jitter": 2**64}, r"jitter must be a whole number, at most"),
            ({"delay": 1, "jitter": -2}, r"jitter must be a whole number, at least 0. Got -2"),
            ({"delay": 1, "jitter": "1h"}, r"jitter must be a whole number, at least 0. Got '1h'"),
            ({"delay": {"y0": "1h", "y1": 2}}, r"the delay of 'y1' must be a whole number, at least 1, and a unit"),
            ({"delay": "soon"}, r"delay must be a whole number, at least 1, and a unit"),
            ({"delay": 1, "per": "cell"}, r"per must be one of 'label', 'row'. Got 'cell'"),
            ({"delay": 1, "seed": -1}, r"seed must be a whole number, at least 0. Got -1"),
            ({"delay": 21}, r"must keep a row. Got 0 rows in experience 0 after delayed_labels"),
        ],
        check,
    )


def test_the_greatest_delay_comes_after_all_rows():
    stream = multiplier_stream("rand", n_rows=60)
    late = delayed_labels(stream, delay={"y0": 2**61}, jitter=2**61)
    assert not any(experience.label_mask[:, 0].any() for experience in late.experiences[:-1])
    assert late.experiences[-1].label_mask[:, 0].sum() == sum(len(experience) for experience in stream)
