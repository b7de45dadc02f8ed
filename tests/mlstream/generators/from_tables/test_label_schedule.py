"""Labels are introduced once, each after its superclass."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.generators.from_tables.label_schedule import check_schedule, draw_schedule
from tests.loops import check_all
from tests.mlstream.generators.from_tables.test_hierarchy import ancestors, forests


@given(forests(), st.integers(1, 3), st.integers(1, 3), st.booleans(), st.integers(0, 9))
def test_drawn_orders_keep_the_rules(forest, labels_per_task, first_labels, plain_first, seed):
    names, parents = forest
    options = {
        "labels_per_task": labels_per_task,
        "first_labels": first_labels,
        "plain_first": plain_first,
        "seed": seed,
    }
    if not parents and not plain_first:
        with pytest.raises(ValueError, match=r"must have a superclass for the first task. Got no superclass"):
            draw_schedule(names, parents, **options)
        return
    tasks = draw_schedule(names, parents, **options)
    assert check_schedule(tasks, names, parents, plain_first=plain_first) == tasks
    assert sorted(name for task in tasks for name in task) == sorted(names)
    when = {name: number for number, task in enumerate(tasks) for name in task}
    assert all(when[upper] < when[name] for name in names for upper in ancestors(name, parents))
    assert len(tasks[0]) <= first_labels
    assert all(1 <= len(task) <= labels_per_task for task in tasks[1:])
    if not plain_first:
        assert set(tasks[0]) <= set(parents.values())


def test_errors_name_the_offender():
    def check(case):
        introductions, message = case
        with pytest.raises(ValueError, match=message):
            check_schedule(
                introductions,
                ["bear", "polar", "dog", "cats", "lion"],
                {"polar": "bear", "lion": "cats"},
                plain_first=False,
            )

    check_all(
        [
            ([["polar"], ["bear"]], r"first task must introduce superclasses only. Got 'polar', a subclass of 'bear'"),
            ([["bear", "polar"]], r"first task must introduce superclasses only. Got 'polar', a subclass of 'bear'"),
            ([["bear", "dog"]], r"superclasses only. Got 'dog', which has no subclass; .* or allow it by plain_first"),
            ([["cats"], ["polar"], ["bear"]], r"later .* superclass. Got 'polar' in task 1 and 'bear' in task 2"),
            ([["cats"], ["bear", "polar"]], r"later .* superclass. Got 'polar' in task 1 and 'bear' in task 1"),
            ([["cats"], ["polar"]], r"Got 'polar' in task 1 and 'bear' never"),
            ([["bear"], ["polar"], ["bear"]], r"must be introduced once. Got 'bear' in tasks 0 and 2"),
            ([["bear"], []], r"Each task must introduce a label. Got an empty list for task 1"),
            ([["bear"], ["cat"]], r"introductions must name labels that occur. Got 'cat' in task 1"),
        ],
        check,
    )


def test_labels_without_superclass_may_come_first_by_option():
    order = [["bear", "dog"], ["polar"]]
    assert check_schedule(order, ["bear", "polar", "dog"], {"polar": "bear"}, plain_first=True) == order
    with pytest.raises(ValueError, match=r"Got 'polar', a subclass of 'bear'"):
        check_schedule([["dog", "polar"], ["bear"]], ["bear", "polar", "dog"], {"polar": "bear"}, plain_first=True)
