"""The parts of a stretch of CPU time share all of it, and none of it twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.evaluation import resources
from mlstream.evaluation.cpu_ledger import REST, CpuLedger, count_cpu_as, cpu_part
from mlstream.evaluation.resources import ResourceMeter

PARTS = ("warm-up", "scores", "records")
# Work in ns, or a part with what happens inside.
steps = st.recursive(
    st.integers(0, 10**12), lambda inner: st.tuples(st.sampled_from(PARTS), st.lists(inner, max_size=4))
)


class Clock:
    def __init__(self):
        self.now_ns = 7

    def __call__(self):
        return self.now_ns


def fail_after(clock, spent_ns):
    clock.now_ns += spent_ns
    raise RecursionError


def work(clock, program):
    for step in program:
        if isinstance(step, int):
            clock.now_ns += step
        else:
            with cpu_part(step[0]):
                work(clock, step[1])


def expected(program, part=REST):
    """Add up the work of each part in the slow way: all of it, once for each part."""
    total = dict.fromkeys((*PARTS, REST), 0)
    for step in program:
        if isinstance(step, int):
            total[part] += step
        else:
            for name, spent in expected(step[1], step[0]).items():
                total[name] += spent
    return total


@given(st.lists(steps, max_size=6))
def test_work_counts_as_the_innermost_part(program):
    clock = Clock()
    with CpuLedger(clock) as ledger:
        work(clock, program)
    assert {name: ledger.spent_ns[name] for name in (*PARTS, REST)} == expected(program)
    assert sum(ledger.spent_ns.values()) == ledger.ended_ns - ledger.began_ns == clock.now_ns - 7


def test_an_error_ends_its_part():
    clock = Clock()
    with CpuLedger(clock) as ledger:
        with pytest.raises(RecursionError), cpu_part("scores"):
            fail_after(clock, 3)
        clock.now_ns += 5
    assert ledger.spent_ns == {"scores": 3, REST: 5}


def test_without_a_ledger_nothing_is_counted():
    with cpu_part("scores"):
        count_cpu_as("learners", 1.0)
    with CpuLedger(Clock()) as ledger:
        pass
    with cpu_part("scores"):
        pass
    assert sum(ledger.spent_ns.values()) == 0


def test_a_ledger_inside_another_counts_for_itself():
    clock = Clock()
    with CpuLedger(clock) as outer:
        with CpuLedger(clock) as inner, cpu_part("scores"):
            clock.now_ns += 3
        with cpu_part("records"):
            clock.now_ns += 4
    assert inner.spent_ns["scores"] == 3
    assert (outer.spent_ns[REST], outer.spent_ns["records"], outer.spent_ns["scores"]) == (3, 4, 0)


def test_calls_of_a_learner_are_taken_from_the_part_around_them(monkeypatch):
    clock = Clock()
    times = type("Times", (), {"process_time": lambda: clock.now_ns / 1e9, "perf_counter": lambda: clock.now_ns / 1e9})
    monkeypatch.setattr(resources, "time", times)
    with CpuLedger(clock) as ledger, cpu_part("scores"), ResourceMeter("none") as meter:
        for spent in (2_000, 3_000):
            with meter.block(), meter.phase("online"):
                clock.now_ns += spent
            clock.now_ns += 70
        with meter.block(), meter.phase("evaluate"):
            clock.now_ns += 5_000
    assert {name: spent for name, spent in ledger.spent_ns.items() if spent} == {"learners": 10_000, "scores": 140}
