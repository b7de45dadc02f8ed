"""The boards: streams and tables by name, in two parts. Learners are designed on one, and confirmed on the other."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Literal

import numpy as np

from mlstream import Dataset, Stream, load_dataset, task_stream
from mlstream.generators import drifting_stream, reordered_tasks, resplit_rows
from mlstream.publishing.named_streams import open_named

Part = Literal["design", "confirmation"]
Source = Stream | Dataset
Makers = Mapping[str, Callable[[], Source]]

STREAMS = (
    "synthetic-monolab",
    "synthetic-bilab",
    "synthetic-rand",
    "yeast-tasks",
    "scene-tasks",
    "slashdot-tasks",
    "reuters-k500-tasks",
    "20ng-tasks",
    "mediamill-stand-in",
)
# The stand-in is one simulated stream, whose rows cannot be dealt again.
DEALT_AGAIN = STREAMS[:-1]
OTHER_TABLES = ("corel5k", "bibtex", "ohsumed", "tmc2007-500", "imdb")
FIELD = ("yeast", "scene", "slashdot", "reuters-k500", "20ng")

KINDS = ("tree", "rbf", "hyperplane")
PATTERNS = ("abrupt", "gradual", "recurring")
WORLD_SEEDS: Mapping[Part, tuple[int, ...]] = {"design": (0, 1, 2), "confirmation": (100, 101, 102, 103, 104)}
# A world has so many rows to learn; this many after a drift show how fast a learner recovers.
WORLD_ROWS, RECOVERY_ROWS = 10_000, 500
N_CONCEPTS = 4
GRADUAL_ROWS = 1000


def boards(part: Part) -> dict[str, Makers]:
    """Return the streams and tables of each board, as functions that make them."""
    worlds = product(KINDS, PATTERNS, WORLD_SEEDS[part])
    tables = FIELD if part == "design" else OTHER_TABLES
    return {
        "streams": {name: partial(open_named, name) for name in STREAMS} if part == "design" else other_streams(),
        "worlds": {f"{kind}-{pattern}-{seed}": partial(world, kind, pattern, seed) for kind, pattern, seed in worlds},
        "field": {
            f"{table}-{order}": partial(whole_table, table, order)
            for table, order in product(tables, ("file", "shuffled"))
        },
    }


def other_streams() -> Makers:
    """Return streams of other tables, and the published streams with another order of tasks and another split."""
    dealt = {f"{name}-dealt-again": partial(deal_again, name) for name in DEALT_AGAIN}
    return dealt | {f"{table}-tasks": partial(tasks_of, table) for table in OTHER_TABLES}


def tasks_of(table: str) -> Stream:
    """Make tasks of a table as the published streams are made."""
    return task_stream(load_dataset(table), seed=0)


def deal_again(name: str) -> Stream:
    """Return a published stream with its rows split, and its tasks ordered, by another seed."""
    return reordered_tasks(resplit_rows(open_named(name), seed=100), seed=100)


def world(kind: str, pattern: str, seed: int) -> Stream:
    """Make a world of four concepts that follow each other, or come twice, with drift in P(Y|X) and nothing else."""
    n_visits = 2 if pattern == "recurring" else 1
    return drifting_stream(
        kind,
        seed=seed,
        n_concepts=N_CONCEPTS,
        n_rows=WORLD_ROWS // N_CONCEPTS * 5 // 4,
        learning_fractions=(0.8 / n_visits,) * n_visits,
        evaluation_fraction=0.2,
        order=list(range(N_CONCEPTS)) * n_visits,
        window=GRADUAL_ROWS if pattern == "gradual" else 0,
        name=f"{kind}-{pattern}-{seed}",
    )


def whole_table(table: str, order: str) -> Dataset:
    """Return a table with its rows in the order of the file, or shuffled by a fixed seed."""
    dataset = load_dataset(table)
    if order == "file":
        return dataset
    rows = np.random.default_rng(0).permutation(len(dataset.Y))
    return replace(dataset, X=dataset.X[rows], Y=dataset.Y[rows])
