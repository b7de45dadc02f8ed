"""The suggested number of tasks avoids tasks of one label, then seeks diverse ones."""

import numpy as np
import pytest
from hypothesis import given, settings

from mlstream.generators.from_tables.clustering import cluster_label_sets
from mlstream.generators.from_tables.suggestion import draw_suggestion, suggest_n_tasks
from tests.mlstream.generators.tables import make_table, tables


@given(tables())
@settings(max_examples=15, deadline=None)
def test_clusters_are_measured_as_by_a_loop_and_none_is_better(table):
    found = suggest_n_tasks(table, max_tasks=5, n_init=2)
    Y = table.Y[table.Y.any(axis=1)]
    for k, diversity, n_single in zip(found.candidates, found.diversity, found.n_single_label, strict=True):
        assignment = cluster_label_sets(Y, k, n_init=2)
        shares, single = [], 0
        for task in range(k):
            sets = [frozenset(np.flatnonzero(row)) for row in Y[assignment == task]]
            labels = frozenset().union(*sets)
            shares.append(len(set(sets)) / min(len(sets), 2 ** len(labels)))
            single += len(labels) == 1
        assert diversity == pytest.approx(sum(shares) / k)
        assert n_single == single
    chosen = found.candidates.index(found.n_tasks)
    assert found.n_single_label[chosen] == min(found.n_single_label)
    rivals = [d for d, n in zip(found.diversity, found.n_single_label, strict=True) if n == min(found.n_single_label)]
    assert found.diversity[chosen] == max(rivals)


def test_groups_of_labels_are_found():
    blocks = np.array([[1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]])
    Y = np.concatenate([np.roll(blocks, 2 * group, axis=1) for group in range(3)] * 10)
    assert suggest_n_tasks(make_table(Y), max_tasks=6).n_tasks == 3


@pytest.mark.parametrize(
    ("Y", "most", "what"), [([[1, 0]] * 4, 5, "two distinct"), ([[1, 0], [0, 1]], 1, "max_tasks must")]
)
def test_what_cannot_be_clustered_is_said(Y, most, what):
    with pytest.raises(ValueError, match=what):
        suggest_n_tasks(make_table(Y), max_tasks=most)


@pytest.mark.slow
def test_the_picture_is_drawn(tmp_path):
    draw_suggestion(suggest_n_tasks(make_table(np.eye(4))), tmp_path / "k.png")
    assert (tmp_path / "k.png").read_bytes().startswith(b"\x89PNG")
