"""A memory shared by tasks draws and places rows as a loop with a dictionary of slots."""

from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.replay.memories import TaskMemory
from tests.estimators.replay.slow_memories import task_loop
from tests.estimators.replay.test_memories import codes_of, plan

# runs of rows of a task, named by the labels that count in it
RUNS = st.lists(st.tuples(st.integers(1, 15), st.integers(1, 9)), min_size=1, max_size=6)


@settings(max_examples=100)
@given(RUNS, st.integers(2, 6), st.none() | st.integers(1, 4), st.integers(0, 99))
def test_every_row_is_placed_as_in_the_slow_loop(runs, size, task_rows, seed):
    tasks = [task for task, n in runs for _ in range(n)]
    memory = TaskMemory(size, 1, task_rows=task_rows).begin(seed)
    expected, _, _ = task_loop(memory, tasks)
    planned = plan(memory, codes_of(tasks))
    assert planned.draws.tolist() == [draws for draws, _ in expected]
    assert planned.slots.tolist() == [slot for _, slot in expected]
