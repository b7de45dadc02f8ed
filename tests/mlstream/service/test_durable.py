"""A buffer that is killed anywhere is, when it is opened again, one that got the same calls in the same order."""

import os
import pickle
import shutil
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from estimators import AlarmBudget, OnlineLogisticRegression
from mlstream.service import DurableBuffer, FeedbackBuffer, durable, save_snapshot
from tests.mlstream.service.test_snapshot import rewrite

RNG = np.random.default_rng(0)
X = RNG.random((400, 4))
Y = (X[:, :2] > 0.6).astype(int)


def start(**options):
    learner = AlarmBudget(OnlineLogisticRegression(on_new_labels="grow"), budget=5, period=20)
    return FeedbackBuffer(learner.begin(X[:1], Y[:1], classes=["scan", "worm"]), **{"expiry": 150, **options})


def labels_of(i):
    """Labels by name; a new one comes in after a while, some are unknown."""
    return {"scan": Y[i, 0]} if i % 3 else {"scan": Y[i, 0], "worm": Y[i, 1], **({"new": 1} if i > 60 else {})}


def live(served, start_at=0, stop=120):
    """Give rows, and feedback for most of them ten rows later."""
    for i in range(start_at, stop):
        served.predict([i], X[i : i + 1])
        if i >= 10 and i % 4:
            served.learn([i - 10], [labels_of(i - 10)])


def require_same(found, expected):
    assert (found.n_predicted_, found.n_learnt_, found.n_expired_) == (
        expected.n_predicted_, expected.n_learnt_, expected.n_expired_,
    )  # fmt: skip
    assert list(found._rows) == list(expected._rows)
    assert_array_equal(found.learner.predict_proba(X), expected.learner.predict_proba(X))
    assert found.learner.threshold_ == expected.learner.threshold_


def events(folder):
    """Return the number of records of a folder's journals, read apart."""
    with durable.Journal(folder) as journal:
        return sum(1 for _ in journal.records())


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lived")
    with DurableBuffer(folder, start) as served:
        live(served)
    return folder


@settings(max_examples=20)
@given(st.data())
def test_a_journal_that_ends_anywhere_gives_the_buffer_of_the_calls_before(lived, tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("cut")
    shutil.copytree(lived, folder, dirs_exist_ok=True)
    journal = max(folder.glob("*.journal"))
    os.truncate(journal, data.draw(st.integers(0, journal.stat().st_size)))
    kept, expected = events(folder), start()
    calls = [call for i in range(120) for call in ([("p", i)] + ([("l", i - 10)] if i >= 10 and i % 4 else []))]
    for kind, i in calls[:kept]:
        expected.predict([i], X[i : i + 1]) if kind == "p" else expected.learn([i], [labels_of(i)])
    with DurableBuffer(folder, start) as served:
        require_same(served.buffer, expected)
    shutil.rmtree(folder)


def test_snapshots_bound_the_disk_and_change_nothing(tmp_path):
    expected = start()
    live(expected, 0, 400)
    for stop in range(100, 500, 100):
        with DurableBuffer(tmp_path, start, snapshot_bytes=3000, archive_bytes=5000) as served:
            live(served, stop - 100, stop)
            assert served._journal.total_bytes < 3000 + 5000 + 500
    require_same(served.buffer, expected)
    assert served.n_skipped_ == 0


@pytest.mark.parametrize("stage", ["save_snapshot", "drop_before"])
def test_a_death_within_a_snapshot_loses_nothing(tmp_path, monkeypatch, stage):
    expected = start()
    live(expected)
    served = DurableBuffer(tmp_path, start)
    live(served)

    def die(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(durable if stage == "save_snapshot" else durable.Journal, stage, die)
    with pytest.raises(KeyboardInterrupt):
        served.snapshot()
    monkeypatch.undo()
    served.close()
    with DurableBuffer(tmp_path, start) as again:
        require_same(again.buffer, expected)


def test_a_snapshot_that_fails_takes_back_nothing_and_is_named(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    with DurableBuffer(tmp_path, start, snapshot_bytes=1) as served:
        monkeypatch.setattr(durable, "save_snapshot", fail)
        with pytest.warns(RuntimeWarning, match="No space left"):
            served.predict([0], X[:1])
        assert "No space left" in served.snapshot_error_
        monkeypatch.undo()
        served.learn([0], Y[:1])
        assert served.snapshot_error_ == ""
    with DurableBuffer(tmp_path, start) as again:
        assert again.buffer.n_learnt_ == 1


def test_a_disk_that_fails_stops_the_buffer_until_it_is_opened_again(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(5, "Input/output error")

    served = DurableBuffer(tmp_path, start)
    served.predict([0, 1], X[:2])
    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OSError, match="Input/output"):
        served.learn([0], Y[:1])
    monkeypatch.undo()
    for call in (served.require_healthy, lambda: served.learn([1], Y[:1])):
        with pytest.raises(OSError, match="ahead of it"):
            call()
    served.close()
    with DurableBuffer(tmp_path, start) as again:
        again.learn([0, 1], Y[:2])


def test_ids_may_be_integers_of_numpy_as_frames_have_them(tmp_path):
    with DurableBuffer(tmp_path, start) as served:
        served.predict([np.int64(3), np.str_("b")], X[:2])
        served.predict(np.array([4, 5]), X[2:4])
    with DurableBuffer(tmp_path, start) as served:
        assert all(row_id in served.buffer for row_id in (3, "b", 4, 5))


def test_a_snapshot_of_something_else_is_refused(tmp_path):
    save_snapshot(tmp_path / "snapshot.skops", start())
    with pytest.raises(ValueError, match=r"snapshot.skops must be a snapshot that a DurableBuffer took"):
        DurableBuffer(tmp_path, start)


def test_a_journal_that_was_emptied_is_no_journal_without_calls(tmp_path):
    with DurableBuffer(tmp_path, start) as buffer:
        buffer.predict([0], X[:1])
        buffer.learn([0], [{"scan": 1}])
    journal = max(tmp_path.glob("*.journal"))
    journal.write_bytes(b"")
    with pytest.raises(ValueError, match=r"must hold the calls since the snapshot\. Got an empty file"):
        DurableBuffer(tmp_path, start)
    with DurableBuffer(tmp_path, start, relearn=True) as buffer:
        assert buffer.buffer.n_learnt_ == 0


def test_refused_calls_change_nothing_and_are_not_written(tmp_path):
    with DurableBuffer(tmp_path, start) as served:
        served.predict([0, "b"], X[:2])
        before, size = pickle.dumps(served.buffer), served._journal.n_bytes
        for call, message in (
            (lambda: served.predict([0], X[:1]), "waits for its labels"),
            (lambda: served.predict([5, 5], X[:2]), "each id once"),
            (lambda: served.predict([5], X[:1, :2]), "features"),
            (lambda: served.predict([5], [[np.nan] * 4]), "NaN"),
            (lambda: served.predict([(1, 2)], X[:1]), "integers or texts"),
            (lambda: served.predict([np.float64(5)], X[:1]), "integers or texts"),
            (lambda: served.predict([5], [["a"] * 4]), "X must be a table of numbers.* Got: could not convert"),
            (lambda: served.learn([0], [[1], [0, 1]]), "Y must be a table of numbers, with rows of one length"),
            (lambda: served.predict([5], X[:1], keys={"host": [object()]}), "what JSON can"),
            (lambda: served.learn([7], Y[:1]), "never predicted"),
            (lambda: served.learn([0, "b"], [{"scan": 1}, 5]), "a mapping for each row"),
            (lambda: served.learn([0], [{"scan": 2}]), "must be 0, 1"),
            (lambda: served.advance("2026-01-01"), "must be a time"),
        ):
            with pytest.raises(ValueError, match=message):
                call()
        assert (pickle.dumps(served.buffer), served._journal.n_bytes) == (before, size)


def test_times_and_keys_come_back(tmp_path):
    def timed():
        learner = AlarmBudget(OnlineLogisticRegression(), budget=5, period="1h", key_budget=1, time="at", key="host")
        return FeedbackBuffer(learner.begin(X[:1], Y[:1]), expiry="1h")

    with DurableBuffer(tmp_path, timed) as served:
        for i, minute in enumerate((0, 5, 20)):
            keys = {"at": [f"2026-01-01T00:{minute:02}"], "host": ["a"]}
            served.predict([i], X[i : i + 1], keys=keys, times=keys["at"])
        served.advance("2026-01-01T01:03")
        expected = served.buffer
    with DurableBuffer(tmp_path, timed) as again:
        require_same(again.buffer, expected)
        assert (0 in again.buffer, again.buffer.n_expired_) == (False, 1)


def test_another_version_migrates_by_the_journals_that_were_kept(tmp_path):
    with DurableBuffer(tmp_path, start) as served:
        live(served, 0, 60)
        served.snapshot()
        live(served, 60, 120)
    rewrite(tmp_path / "snapshot.skops", schema=0)
    with pytest.raises(ValueError, match="relearn=True"):
        DurableBuffer(tmp_path, start)

    def other():
        return FeedbackBuffer(OnlineLogisticRegression(0.3, on_new_labels="grow").begin(X[:1], Y[:1], ["scan", "worm"]))

    expected = other()
    live(expected)
    with DurableBuffer(tmp_path, other, relearn=True) as served:
        assert (served.n_skipped_, served.buffer.n_learnt_) == (0, expected.n_learnt_)
    with DurableBuffer(tmp_path, other) as served:
        assert_array_equal(served.buffer.learner.predict_proba(X), expected.learner.predict_proba(X))


def test_feedback_for_rows_before_the_archive_is_skipped_and_counted(tmp_path):
    with DurableBuffer(tmp_path, start, archive_bytes=0) as served:
        served.predict([0, 1], X[:2])
        served.snapshot()
        served.learn([0], Y[:1])
    (tmp_path / "snapshot.skops").unlink()
    with pytest.raises(FileNotFoundError, match="relearn=True"):
        DurableBuffer(tmp_path, start)
    with DurableBuffer(tmp_path, start, relearn=True) as served:
        assert (served.n_skipped_, served.buffer.n_learnt_) == (1, 0)


def test_threads_leave_the_state_of_the_order_in_the_journal(tmp_path):
    def client(served, first):
        for i in range(first, 120, 3):
            served.predict([i], X[i : i + 1])
            served.learn([i], [labels_of(i)])

    with DurableBuffer(tmp_path, start, snapshot_bytes=4000) as served:
        threads = [threading.Thread(target=client, args=(served, first)) for first in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert served.buffer.n_learnt_ == 120
    with DurableBuffer(tmp_path, start) as again:
        require_same(again.buffer, served.buffer)
