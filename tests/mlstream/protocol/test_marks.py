"""A mark is there while a run goes on, says how far it is, and outlives only a process that died."""

import os

import pytest

from mlstream.protocol.marks import Mark, read_marks


def test_a_mark_tells_how_far_a_run_is_and_goes_with_it(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    path = tmp_path / "running" / "s" / "a.json"
    with Mark(path, 100) as mark:
        ((found, progress),) = read_marks(tmp_path / "running")
        assert (found, progress.n_rows_met, progress.n_rows) == (path, 0, 100)
        assert progress.worker.endswith(str(os.getpid()))
        clock[0] = 0.1
        mark.tell(10, 100)
        assert next(read_marks(tmp_path))[1].n_rows_met == 0
        clock[0] = 0.7
        mark.tell(20, 100)
        assert next(read_marks(tmp_path))[1].n_rows_met == 20
    assert list(read_marks(tmp_path)) == []


def test_a_failure_takes_its_mark_along(tmp_path):
    with pytest.raises(ArithmeticError), Mark(tmp_path / "a.json", 1):
        raise ArithmeticError
    assert list(tmp_path.iterdir()) == []
