"""Labels are introduced once, each after its superclass."""

import json
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.generators import PUBLISHED_ORDERS, iirc_stream, published_order, remake
from mlstream.generators.from_tables.label_schedule import check_schedule, draw_schedule
from mlstream.streams.stream import Dataset
from tests.loops import check_all
from tests.mlstream.generators.from_tables.test_hierarchy import ancestors, forests

FILES = {
    "iirc-cifar100": ("iirc_cifar100", "iirc_cifar100_hierarchy", 10, 22),
    "iirc-imagenet-full": ("iirc_imagenet_full", "iirc_imagenet_hierarchy_wnids", 5, 35),
    "iirc-imagenet-lite": ("iirc_imagenet_lite", "iirc_imagenet_hierarchy_wnids", 5, 10),
    "incremental-cifar100": ("incremental_cifar100", "iirc_cifar100_hierarchy", 10, 11),
}


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


def classes_table(order, n_rows=12):
    """Make a table of one class a row, superclasses not among the labels."""
    parents = set(order["hierarchy"].values())
    names = [name for name in chain.from_iterable(order["introductions"]) if name not in parents]
    Y = np.repeat(np.eye(len(names), dtype=np.uint8), n_rows, axis=0)
    return Dataset(np.random.default_rng(0).normal(size=(len(Y), 3)), Y, ("a", "b", "c"), tuple(names), "features")


@pytest.mark.parametrize("name", PUBLISHED_ORDERS)
def test_every_order_is_that_of_the_published_file(name, shared_data):
    file, tree, n_orders, n_tasks = FILES[name]
    folder = shared_data("iirc/cifar100_classes.json").parent
    published = json.loads((folder / f"{file}_task_configurations.json").read_text())
    superclasses = json.loads((folder / f"{tree}.json").read_text())["super_classes"]
    assert len(published) == n_orders
    for number in range(n_orders):
        order = published_order(name, number)
        assert order["introductions"] == list(published[f"configuration_{number}"].values())
        assert len(order["introductions"]) == n_tasks
        used = set(chain.from_iterable(order["introductions"]))
        edges = {(child, parent) for parent, below in superclasses.items() for child in below}
        assert set(order["hierarchy"].items()) == {edge for edge in edges if set(edge) <= used}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name.endswith("-full") else []) for name in PUBLISHED_ORDERS],
)
def test_tables_with_such_classes_become_streams(name):
    order = published_order(name, 1)
    table = classes_table(order)
    stream = iirc_stream(table, **order, seed=1)
    label_names = np.array(stream.card.label_names)
    assert [set(label_names[part.label_mask]) for part in stream] == [set(new) for new in order["introductions"]]
    assert stream.card.label_parents == order["hierarchy"]
    assert remake(stream.card.generator, lambda: table).card.data_sha256 == stream.card.data_sha256


def test_orders_cannot_be_changed_by_who_gets_them():
    published_order("iirc-cifar100")["introductions"][0].clear()
    assert len(published_order("iirc-cifar100")["introductions"][0]) == 10


def test_a_class_that_the_table_lacks_is_named():
    order = published_order("iirc-cifar100")
    table = classes_table(order)
    lacking = Dataset(table.X, table.Y[:, :-1], table.feature_names, table.label_names[:-1], "lacking")
    with pytest.raises(ValueError, match=table.label_names[-1]):
        iirc_stream(lacking, **order)


@pytest.mark.parametrize(
    ("name", "configuration", "message"),
    [
        ("cifar", 0, r"name must be one of 'iirc-cifar100', .* Got 'cifar'"),
        ("iirc-cifar100", 10, r"configuration must be from 0 to 9 for iirc-cifar100. Got 10"),
        ("iirc-imagenet-lite", -1, r"configuration must be from 0 to 4 for iirc-imagenet-lite. Got -1"),
    ],
)
def test_unknown_orders_are_refused(name, configuration, message):
    with pytest.raises(ValueError, match=message):
        published_order(name, configuration)
