"""A progress file exists while a run goes on, and outlives only a process that died."""

import json
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.campaign.progress_files import ProgressFile, read_progress
from tests.loops import check_all


def test_a_mark_tells_how_far_a_run_is_and_goes_with_it(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    path = tmp_path / "running" / "s" / "a.json"
    with ProgressFile(path, 100) as file:
        ((found, progress),) = read_progress(tmp_path / "running")
        assert (found, progress.n_rows_done, progress.n_rows) == (path, 0, 100)
        assert progress.worker.endswith(str(os.getpid()))
        clock[0] = 0.1
        file.update(10, 100)
        assert next(read_progress(tmp_path))[1].n_rows_done == 0
        clock[0] = 0.7
        file.update(20, 100)
        assert next(read_progress(tmp_path))[1].n_rows_done == 20
    assert list(read_progress(tmp_path)) == []


def test_a_failure_takes_its_mark_along(tmp_path):
    with pytest.raises(ArithmeticError), ProgressFile(tmp_path / "a.json", 1):
        raise ArithmeticError
    assert list(tmp_path.iterdir()) == []


def test_two_processes_that_run_one_job_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "a.json"

    def run():
        for _ in range(200):
            with ProgressFile(path, 1):
                next(read_progress(tmp_path), None)

    errors = []
    threads = [threading.Thread(target=lambda: errors.append(_error_of(run))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [None] * 3
    assert list(tmp_path.iterdir()) == []


def _error_of(run):
    try:
        run()
    except Exception as error:
        return error
    return None


def test_a_run_whose_mark_cannot_be_written_goes_on(tmp_path, monkeypatch):
    clock = iter(range(0, 99, 9))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    (tmp_path / "running").touch()
    with ProgressFile(tmp_path / "running" / "s" / "a.json", 1) as file:
        file.update(1, 1)
    (tmp_path / "a.json").mkdir()
    with ProgressFile(tmp_path / "a.json", 1):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "running"]


def test_what_is_not_a_mark_is_passed_over(tmp_path):
    def check(case):
        number, content = case
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "a.json").write_bytes(content)
        (folder / "b.json").write_text('["host 1", 2, 3]')
        os.mkfifo(folder / "c.json")
        (folder / "d.json").symlink_to("/dev/zero")
        (folder / "e.json").mkdir()
        (folder / "f.json").symlink_to("nowhere")
        assert list(read_progress(folder)) == [(folder / "b.json", ("host 1", 2, 3))]

    check_all(
        enumerate(
            [b"", b'["a", 1', b"{}", b"[1, 2]", b"null", b'["a", "b", "c"]', b'["a", 1, NaN]', b"\xff", b"[" * 9000]
        ),
        check,
    )


@given(
    st.binary()
    | st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=8).map(json.dumps).map(str.encode)
)
def test_whatever_is_in_a_mark_it_is_read_or_passed_over(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("marks")
    (folder / "a.json").write_bytes(content)
    assert all(isinstance(progress.n_rows, int) for _, progress in read_progress(folder))


def test_a_folder_that_is_not_there_has_no_marks(tmp_path):
    assert list(read_progress(tmp_path / "absent")) == []
