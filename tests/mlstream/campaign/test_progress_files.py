"""A progress file exists while a run goes on, and outlives only a process that died."""

import json
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.progress_files import (
    HAND_OVER,
    LEARNERS,
    STARTS,
    ProgressFile,
    RunCpu,
    add_up,
    read_ledger,
    read_progress,
    sum_run,
    worker_name,
)
from mlstream.campaign.search import Search
from mlstream.evaluation.cpu_ledger import CpuLedger
from mlstream.generators import multiplier_stream
from tests.loops import check_all
from tests.mlstream.evaluation.streams import Online

STREAM = multiplier_stream("rand", seed=1, n_rows=60, name="small")


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


def run(worker, began_s, parts):
    spent = {name: round(seconds * 1e9) for name, seconds in parts.items()}
    began_ns = round(began_s * 1e9)
    return RunCpu(worker, began_ns, began_ns + sum(spent.values()), spent)


def test_starts_and_the_time_between_runs_are_parts():
    command = run("here 1", 2.0, {"streams": 3.0, "the rest": 4.0})
    runs = [
        run("there 2", 20.0, {"learners": 5.0, "scores": 1.0}),
        run("there 3", 1.5, {"learners": 7.0, "the rest": 0.5}),
        run("there 2", 1.0, {"learners": 10.0}),
    ]
    assert add_up(runs, command) == pytest.approx(
        {
            "streams": 3.0,
            STARTS: 2.0 + 1.0 + 1.5,
            HAND_OVER: 4.0 + 9.0,
            LEARNERS: 22.0,
            "scores": 1.0,
            "the rest": 0.5,
        }
    )


def test_runs_of_this_process_are_not_counted_twice():
    command = run("here 1", 2.0, {"the rest": 10.0})
    runs = [run("here 1", 3.0, {"learners": 5.0}), run("here 1", 9.0, {"learners": 2.0, "scores": 1.0})]
    assert add_up(runs, command) == pytest.approx({STARTS: 2.0, HAND_OVER: 2.0, LEARNERS: 7.0, "scores": 1.0})


def test_a_campaign_without_runs_adds_up():
    assert add_up([], run("here 1", 2.0, {"the rest": 1.0})) == pytest.approx({STARTS: 2.0, HAND_OVER: 1.0})


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_parts_of_a_real_campaign(tmp_path, n_jobs):
    told = []
    strategies = {"fixed": Online(), "searched": Search(Online(), {"step": [0.1, 1.0]})}
    with CpuLedger() as ledger:
        results = run_campaign(
            strategies, [STREAM], [0, 1], tmp_path, energy="none", n_jobs=n_jobs, progress=told.append
        )
    ended = {(event.strategy, event.seed): event.cpu for event in told if event.state == "done"}
    assert len(ended) == 4
    assert {event.cpu for event in told if event.state == "running"} <= {None}
    for record in results:
        cpu = ended[record.strategy, record.seed]
        assert sum(cpu.spent_ns.values()) == cpu.ended_ns - cpu.began_ns
        # The record has the same calls, measured by the same clock.
        phases = record.resources.phases.values()
        assert sum_run(cpu)[0] == pytest.approx(sum(phase.cpu_time_s for phase in phases), abs=1e-7)
        assert {"learners", "warm-up", "scores", "curves", "meters", "records"} <= cpu.spent_ns.keys()
        assert min(cpu.spent_ns.values()) >= 0
    assert ({cpu.worker for cpu in ended.values()} == {worker_name()}) == (n_jobs == 1)
    command = read_ledger(ledger)
    workers = {}
    for cpu in ended.values():
        workers[cpu.worker] = max(cpu.ended_ns, workers.get(cpu.worker, 0))
    workers[worker_name()] = command.ended_ns
    assert sum(add_up(ended.values(), command).values()) == pytest.approx(sum(workers.values()) / 1e9, abs=1e-6)


def test_runs_recorded_earlier_have_no_time(tmp_path):
    for state in ("done", "kept"):
        told = []
        run_campaign({"a": Online()}, [STREAM], [0], tmp_path, energy="none", progress=told.append)
        assert (told[-1].state, told[-1].cpu is None) == (state, state == "kept")
