"""The parts of the CPU time of a campaign add up to what its processes used."""

import pytest

from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.cpu_times import HAND_OVER, LEARNERS, STARTS, RunCpu, add_up, read_ledger, sum_run, worker_name
from mlstream.campaign.search import Search
from mlstream.evaluation.cpu_ledger import CpuLedger
from mlstream.generators import multiplier_stream
from tests.mlstream.evaluation.streams import Online

STREAM = multiplier_stream("rand", seed=1, n_rows=60, name="small")


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
