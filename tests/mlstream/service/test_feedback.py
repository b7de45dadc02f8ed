"""Rows wait for their labels, leave once, and learner and predictions are those of a loop that keeps all of them."""

import pickle
import queue
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from estimators import (
    AlarmBudget,
    BinaryRelevance,
    HoeffdingTreeClassifier,
    LastLabelsClassifier,
    OnlineLogisticRegression,
    PragmaThreshold,
)
from mlstream.service import FeedbackBuffer
from tests.estimators.instances import IN_STREAMS, made
from tests.loops import check_all

RNG = np.random.default_rng(0)
X = RNG.random((60, 5))
Y = (X[:, :3] + X[:, 2:] > 1).astype(int)
SOME = ("StreamRidge", "BR_HT", "NN", "MLSAkNN", "BR_LR", "prevalence threshold")
# it has no state to begin with
REST = tuple(name for name in IN_STREAMS if name not in {*SOME, "PRAGMA threshold"})


def logistic(n_labels=3, **options):
    return OnlineLogisticRegression(0.1, **options).begin(X[:1], Y[:1, :n_labels])


def refuse(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def check_without_delay(name):
    """Rows that are learnt at once, one by one and in tables of one row."""
    expected, one, table = (made(name).begin(X[:1], Y[:1]) for _ in range(3))
    by_row, by_table = FeedbackBuffer(one), FeedbackBuffer(table)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        y_pred, y_proba = expected.predict_then_fit_one(x, y)
        for found in (by_row.predict_one(i, x), [part[0] for part in by_table.predict([i], x[None])]):
            assert_array_equal(found[0], y_pred)
            assert_array_equal(found[1], y_proba)
        by_row.learn_one(i, y)
        by_table.learn([i], y[None])


def test_without_delay_it_is_predict_then_fit():
    check_all(SOME, check_without_delay)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value):RuntimeWarning")
def test_without_delay_it_is_predict_then_fit_for_every_learner():
    check_all(REST, check_without_delay)


class KeepsAll:
    """The buffer as a slow loop: every row with its fate, looked at from the first on."""

    def __init__(self, learner, max_rows, expiry, absent):
        self.learner, self.max_rows, self.expiry, self.absent = learner, max_rows, expiry, absent
        self.rows = []  # id, features, moment, fate

    def waiting(self):
        return [row for row in self.rows if row[3] == "waits"]

    def predict(self, ids, X, moments):
        found = [self.learner.predict_then_fit([x], [[np.nan] * 3])[1][0] for x in X]
        self.rows += [[one, x, moment, "waits"] for one, x, moment in zip(ids, X, moments, strict=True)]
        self.advance(moments[-1])
        for row in self.waiting()[: -self.max_rows]:
            row[3] = "dropped"
        return found

    def advance(self, now):
        for row in self.waiting():
            if self.expiry is not None and now - row[2] > self.expiry:
                row[3] = "expired"
                if self.absent:
                    self.learner.partial_fit([row[1]], [[0, 0, 0]])

    def learn(self, one, y):
        (row,) = [row for row in self.waiting() if row[0] == one]
        self.learner.partial_fit([row[1]], [y])
        row[3] = "learnt"


@st.composite
def lives(draw):
    """Draw calls: rows to predict with the seconds since the last call, and rows to learn, of which some wait."""
    calls, n_rows = [], 0
    for _ in range(draw(st.integers(1, 25))):
        if draw(st.booleans()):
            n = draw(st.integers(1, 4))
            calls.append(("predict", list(range(n_rows, n_rows + n)), draw(st.integers(-5, 20))))
            n_rows += n
        else:
            calls.append(("learn", draw(st.integers(0, max(0, n_rows - 1))), draw(st.integers(0, 7))))
    return calls


@given(
    lives(),
    st.integers(1, 12),
    st.sampled_from([None, 1, 4, "15s"]),
    st.sampled_from(["unknown", "absent"]),
    st.booleans(),
)
def test_any_life_is_that_of_a_loop_that_keeps_every_row(calls, max_rows, expiry, expired, in_csr):
    buffer = FeedbackBuffer(logistic(), max_rows=max_rows, expiry=expiry, expired=expired)
    loop = KeepsAll(logistic(), max_rows, 15 if expiry == "15s" else expiry, expired == "absent")
    second = latest = 0
    for kind, which, detail in calls:
        if kind == "predict":
            rows = X[np.array(which) % len(X)]
            second += detail
            latest = max(latest, second)
            expected = loop.predict(which, rows, [latest] * len(which) if expiry == "15s" else which)
            given_times = {"times": np.full(len(which), second, "datetime64[s]")} if expiry == "15s" else {}
            got = buffer.predict(which, sparse.csr_array(rows) if in_csr else rows, **given_times)
            assert_array_equal(got[1], expected)
        elif which in {row[0] for row in loop.waiting()}:
            y = np.array([detail & 1, detail >> 1 & 1, detail >> 2])
            loop.learn(which, y)
            buffer.learn_one(which, y)
        else:
            with pytest.raises(ValueError, match="must be of rows that wait"):
                buffer.learn_one(which, Y[0])
        assert [row[0] for row in loop.rows if row[0] in buffer] == [row[0] for row in loop.waiting()]
        buffer = pickle.loads(pickle.dumps(buffer))  # noqa: S301 - our own
    fates = [row[3] for row in loop.rows]
    counted = (buffer.n_predicted_, buffer.n_learnt_, buffer.n_expired_, buffer.n_dropped_, len(buffer))
    assert counted == (len(fates), *(fates.count(fate) for fate in ("learnt", "expired", "dropped", "waits")))
    assert_array_equal(buffer.learner.predict_proba(X), loop.learner.predict_proba(X))


def test_labels_by_name_grow_the_learner_and_the_rest_stays_unknown():
    named, plain = (
        OnlineLogisticRegression(0.1, on_new_labels="grow").begin(X[:1], Y[:1, :2], classes=["scan", "worm"])
        for _ in "ab"
    )
    buffer = FeedbackBuffer(named)
    buffer.predict(range(6), X[:6])
    buffer.learn_one(0, {"worm": 1})
    buffer.learn_one(1, {"bot": True, "scan": 0})
    buffer.learn([2, 3], [{"scan": 1}, {"leak": 1, "bot": np.nan}])
    buffer.learn([5, 4], [[1, 0], [0, 1]], classes=["bot", "worm"])
    nan = np.nan
    plain.partial_fit(X[:1], [[nan, 1]])
    plain.partial_fit(X[1:2], [[0, nan, 1]], classes=["scan", "worm", "bot"])
    plain.partial_fit(X[2:4], [[1, nan, nan, nan], [nan, nan, nan, 1]], classes=["scan", "worm", "bot", "leak"])
    plain.partial_fit(X[[5, 4]], [[nan, 0, 1, nan], [nan, 1, 0, nan]])
    assert named.label_names_ == ["scan", "worm", "bot", "leak"]
    assert_array_equal(named.predict_proba(X), plain.predict_proba(X))
    assert buffer.predict_one("next", X[0])[0].shape == (4,)


def test_labels_without_names_go_by_index():
    buffer = FeedbackBuffer(logistic(on_new_labels="grow"))
    buffer.predict(["a", "b"], X[:2])
    buffer.learn_one("a", {2: 1})
    buffer.learn_one("b", {0: 0, 3: 1})
    expected = logistic(on_new_labels="grow").partial_fit(X[:1], [[np.nan, np.nan, 1]])
    expected.partial_fit(X[1:2], [[0, np.nan, np.nan, 1]])
    assert_array_equal(buffer.learner.predict_proba(X), expected.predict_proba(X))


def test_rows_come_in_every_form():
    buffer, masked = FeedbackBuffer(logistic()), np.ma.array(X[0], mask=np.arange(5) == 2)
    expected = buffer.learner.predict_proba(X[:1])[0]
    rows = [X[0], X[0].tolist(), X[:1], sparse.csr_array(X[:1]), sparse.csr_array(X[0]), X.astype(np.float32)[0]]
    for i, row in enumerate(rows):
        np.testing.assert_allclose(buffer.predict_one(i, row)[1], expected, rtol=1e-6)
    buffer.learn(range(6), np.tile(Y[0], (6, 1)))
    refuse(lambda: buffer.predict_one("masked", masked), "NaN")
    refuse(lambda: buffer.predict(["frame"], pd.DataFrame(X[:1])), "pass `frame.to_numpy\\(\\)`")
    refuse(lambda: buffer.predict(["two"], [X[0], X[1]]), r"X must have a row for each of 1 ids")
    assert (buffer.n_predicted_, len(buffer)) == (6, 0)


def test_one_class_a_row_waits_too():
    words = np.where(Y[:, 0], "yes", "no")
    buffer = FeedbackBuffer(HoeffdingTreeClassifier().begin(X[:2], ["no", "yes"]))
    expected = HoeffdingTreeClassifier().begin(X[:2], ["no", "yes"])
    for i, (x, word) in enumerate(zip(X, words, strict=True)):
        y_pred, y_proba = expected.predict_then_fit_one(x, word)
        got = buffer.predict_one(i, x)
        buffer.learn_one(i, word)
        assert got[0] == y_pred
        assert_array_equal(got[1], y_proba)


def test_times_come_in_many_forms_and_from_keys():
    buffer = FeedbackBuffer(logistic(), expiry="2h")
    keys = np.array([("h1", "2024-05-01T10:00"), ("h2", "2024-05-01T10:30")], [("host", "U9"), ("start", "M8[us]")])
    buffer.predict([0, 1], X[:2], keys=keys)
    buffer.predict_one(2, X[2], times="2024-05-01T11:00")
    buffer.predict_one(3, X[3], times=datetime(2024, 5, 1, 12, 0))
    assert [one in buffer for one in range(4)] == [True, True, True, True]
    buffer.advance(datetime(2024, 5, 1, 12, 15, tzinfo=UTC).timestamp())
    assert [one in buffer for one in range(4)] == [False, True, True, True]
    buffer.predict_one(4, X[4], keys={"start": np.datetime64("2024-05-01T12:31"), "host": "h3"})
    assert (list(map(buffer.__contains__, range(5))), buffer.n_expired_) == ([False, False, True, True, True], 2)


def test_memory_is_what_its_bound_says():
    buffer = FeedbackBuffer(LastLabelsClassifier().begin(np.zeros((1, 40)), [[0]]), max_bytes=3_000_000)
    rows = np.zeros((500, 40))
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for start in range(0, 10_000, 500):
        buffer.predict([f"row {i}" for i in range(start, start + 500)], rows)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert 2_000_000 < grown < 3_300_000
    assert 3000 < len(buffer) == 10_000 - buffer.n_dropped_
    assert ("row 9999" in buffer, "row 0" in buffer) == (True, False)


def test_calls_that_fail_change_nothing():
    buffer = FeedbackBuffer(logistic(), expiry=10)
    buffer.predict(range(5), X[:5])
    buffer.learn_one(0, Y[0])
    before = pickle.dumps(buffer)

    def check(case):
        refuse(*case)
        assert pickle.dumps(buffer) == before

    check_all(
        [
            (lambda: buffer.learn_one(0, Y[0]), r"Got 0, which was never predicted or has been learnt already \(1 lea"),
            (lambda: buffer.learn([1, 9], Y[:2]), "Got 9, which was never predicted"),
            (lambda: buffer.learn([1, 1], Y[:2]), "ids must hold each id once. Got 1 twice"),
            (lambda: buffer.learn([1, 2], Y[:3]), "must have the same number of rows. Got 2 and 3"),
            (
                lambda: buffer.learn_one(1, {7: 1}),
                r"labels must name those of the learner, \[0, 1, 2\]. Got 7.* the learner with on_new_labels='grow'",
            ),
            (
                lambda: buffer.learn([1], [[0] * 4], ["a", "b", "c", "d"]),
                "classes must be those of the first call, or None. Got others .* make the learner with on_new_labels=",
            ),
            (lambda: buffer.learn([], Y[:1]), "ids must name the row of each label set. Got 0 for 1"),
            (lambda: buffer.learn([1, 2], [{1: 1}, None]), "Y must hold a mapping for each row .* Got None too"),
            (
                lambda: buffer.learn_one(1, {1: np.array([0, 1])}),
                r"labels must be 0, 1, or NaN .* Got array\(\[0, 1\]\)",
            ),
            (lambda: buffer.learn_one(1, {1: 2}), "labels must be 0, 1, or NaN .* Got 2 for 1"),
            (lambda: buffer.learn_one(1, {1: 1}, ["a"]), "classes must be None where labels are named"),
            (lambda: buffer.learn_one(1, [0, 1, 2]), "Y must be a table of 0 and 1"),
            (lambda: buffer.learn_one(1, [0, 1, 1, 1]), "Y must have 3 label columns"),
            (lambda: buffer.predict([7, 4], X[:2]), "ids must be new, and 4 waits for its labels"),
            (lambda: buffer.predict([7, 7], X[:2]), "ids must hold each id once. Got 7 twice"),
            (lambda: buffer.predict([7, None], X[:2]), "ids must hold an id for each row. Got None"),
            (lambda: buffer.predict("ab", X[:2]), "ids must be a sequence with an id for each row. Got 'ab'"),
            (lambda: buffer.predict([7], X[:2]), r"X must have a row for each of 1 ids. Got shape \(2, 5\)"),
            (lambda: buffer.predict([7], X[:1, :4]), "4 features"),
            (lambda: buffer.predict_one(7, np.append(X[0, :4], np.nan)), "NaN"),
            (lambda: buffer.advance(3), "expiry must be a time such as '2h' for `advance`. Got 10"),
        ],
        check,
    )
    by_time = FeedbackBuffer(logistic(), expiry="1h")
    check_all(
        [
            ({}, r"times \(or keys with times\) must be given where expiry is '1h'"),
            ({"times": ["today", "x"]}, "times must be datetimes, ISO 8601 texts"),
            ({"times": [1.0, np.nan]}, "times must hold one for each row. Got nan in row 1"),
            ({"times": [1.0]}, "times must hold one for each of 2 rows"),
            (
                {"keys": {"host": np.array(["a", "b"])}},
                "time must name one of the fields of keys .host.",
            ),
        ],
        lambda case: refuse(lambda: by_time.predict([0, 1], X[:2], **case[0]), case[1]),
    )
    assert len(by_time) == 0


def test_a_learner_that_cannot_grow_or_begin_is_not_advised_to():
    whole = FeedbackBuffer(AlarmBudget(BinaryRelevance(GaussianNB())).begin(X[:1], Y[:1], classes=["a", "b", "c"]))
    whole.predict(range(2), X[:2])
    refuse(lambda: whole.learn_one(0, {"d": 1}), "make the learner with on_new_labels='grow'")
    part = FeedbackBuffer(AlarmBudget(GaussianNB()).begin(X[:1], Y[:1], classes=["a", "b", "c"]))
    part.predict(range(2), X[:2])
    refuse(
        lambda: part.learn_one(0, {"d": 1}), "Got 'd' instead; GaussianNB cannot take in new labels: leave the others"
    )
    wrapped = PragmaThreshold(OnlineLogisticRegression())
    refuse(lambda: FeedbackBuffer(wrapped).predict([0], X[:1]), "Got a new PragmaThreshold instead: have it learn rows")
    buffer = FeedbackBuffer(wrapped.partial_fit(X[:9], Y[:9]), expiry=2, expired="absent")
    for row in range(5):
        buffer.predict([row], X[row : row + 1])
    buffer.learn_one(4, {2: 1})
    assert (buffer.n_learnt_, buffer.n_expired_, len(buffer)) == (1, 2, 2)


def test_gone_rows_are_told_apart_by_counts():
    buffer = FeedbackBuffer(logistic(), expiry=2, max_rows=2)
    buffer.predict(range(6), X[:6])
    with pytest.raises(ValueError, match=r"learnt already, has expired or was dropped \(0 learnt, 3 expired, 1 dropp"):
        buffer.learn_one(0, Y[0])


def test_options_and_learners_that_cannot_serve_are_refused():
    new = FeedbackBuffer(OnlineLogisticRegression())
    with pytest.raises(ValueError, match=r"learner must know what it predicts.*begin"):
        new.predict_one(0, X[0])
    new.learner.begin(X[:1], Y[:1])
    new.predict_one(0, X[0])
    with pytest.raises(TypeError, match=r"BinaryRelevance\(...\) wraps"):
        FeedbackBuffer(GaussianNB())
    FeedbackBuffer(BinaryRelevance(GaussianNB()))
    check_all(
        [
            ({"max_rows": 0}, "max_rows must be an integer of at least 1"),
            ({"max_bytes": 0}, "max_bytes must be an integer of at least 1"),
            ({"expiry": 0}, "expiry must be an integer of at least 1"),
            ({"expiry": "soon"}, "expiry must be a whole number, at least 1, and a unit"),
            ({"expired": "maybe"}, "expired must be one of 'unknown', 'absent'"),
        ],
        lambda case: refuse(lambda: FeedbackBuffer(logistic(), **case[0]), case[1]),
    )


def test_threads_predict_and_learn_at_once():
    buffer, to_learn = FeedbackBuffer(logistic()), queue.SimpleQueue()

    def predict(thread):
        for i in range(300):
            buffer.predict_one((thread, i), X[i % 60])
            to_learn.put((thread, i))

    def learn(_):
        for _ in range(300):
            thread, i = to_learn.get(timeout=60)
            buffer.learn_one((thread, i), Y[i % 60])

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(call, thread) for call in (predict, learn) for thread in range(2)]:
            done.result()
    assert (buffer.n_predicted_, buffer.n_learnt_, len(buffer)) == (600, 600, 0)
