"""Tasks from label sets: every row once, the same from the same seed, and the tasks of the literature."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.cards.description import hash_data
from mlstream.data.datasets import load_dataset
from mlstream.generators import GENERATORS, suggest_n_tasks, task_stream
from mlstream.generators.from_tables.clustering import cluster_label_sets, merge_single_label_clusters
from mlstream.generators.from_tables.spherical_kmeans import published_spherical_kmeans, spherical_kmeans
from mlstream.streams.label_values import as_indicator
from tests.mlstream.generators.tables import dense, make_table, read_labels, tables
from tests.mlstream.small_streams import hide_cells

TWO_VISITS = {"n_tasks": 3, "n_init": 2}


def all_parts(stream):
    return (*stream.experiences, *stream.evaluation_sets)


@given(tables(), st.integers(0, 3), st.sampled_from(["drop", "keep"]), st.booleans())
def test_every_row_that_is_kept_is_in_one_part_and_unchanged(table, seed, unlabelled, stratified):
    stream = task_stream(table, **TWO_VISITS, seed=seed, unlabelled=unlabelled, stratified=stratified)
    expected = np.flatnonzero(table.Y.any(axis=1)) if unlabelled == "drop" else np.arange(table.n_samples)
    found = np.concatenate([part.row_ids for part in all_parts(stream)])
    assert sorted(found.tolist()) == expected.tolist()
    features = [table.feature_names.index(name) for name in stream.card.feature_names]
    labels = [table.label_names.index(name) for name in stream.card.label_names]
    for part in all_parts(stream):
        assert part.X.dtype == table.X.dtype
        assert type(part.X) is type(table.X)
        np.testing.assert_array_equal(dense(part.X), dense(table.X)[part.row_ids][:, features])
        np.testing.assert_array_equal(part.Y, table.Y[part.row_ids][:, labels])


@given(tables(), st.integers(0, 3))
def test_signatures_are_the_labels_that_occur_and_no_task_has_one_label(table, seed):
    stream = task_stream(table, **TWO_VISITS, seed=seed)
    for index, task in enumerate(stream.tasks):
        Y = np.concatenate([part.Y[np.broadcast_to(ids_of(part) == index, len(part))] for part in all_parts(stream)])
        np.testing.assert_array_equal(task.signature, Y.any(axis=0))
        assert stream.n_tasks == 1 or task.signature.sum() > 1


def ids_of(part):
    return getattr(part, "task_ids", None) if hasattr(part, "task_ids") else part.task_id


@given(tables(), st.sampled_from(["standard", "published"]))
def test_the_card_makes_the_same_stream_again(table, variant):
    stream = task_stream(table, n_tasks=2, seed=5, variant=variant, learning_fractions=(0.4, 0.3))
    recipe = stream.card.model_validate_json(stream.card.model_dump_json()).generator
    again = GENERATORS[recipe.name](table, **recipe.parameters, seed=recipe.seed)
    assert again.card == stream.card
    assert hash_data(again) == hash_data(stream) == stream.card.data_sha256


def test_another_seed_is_another_stream():
    table = make_table(np.random.default_rng(0).integers(0, 2, (80, 5)))
    assert len({task_stream(table, seed=seed).card.data_sha256 for seed in range(4)}) == 4


@pytest.mark.parametrize(
    ("file", "n_labels", "sizes"),
    [
        ("Yeast.arff.gz", 14, [744, 644, 555, 474]),
        ("Slashdot.arff", 22, [927, 846, 1223, 786]),
        ("Reuters-K500.arff", 103, [2231, 1130, 1604, 1035]),
    ],
)
def test_published_tasks_come_out_again(shared_data, file, n_labels, sizes):
    name = file.split(".", maxsplit=1)[0]
    table = make_table(read_labels(shared_data(f"multilabel/{file}"), n_labels))
    published = json.loads(shared_data(f"osc-mlc/Labels/{name}_cluster_labels_task_based.json").read_text())
    order = list(json.loads(shared_data(f"osc-mlc/Orders/{name}_random_task_based.json").read_text()).values())
    stream = task_stream(table, variant="published", order=order, seed=7)
    assert [task.n_learning + task.n_evaluation for task in stream.card.tasks] == sizes
    # The published files number the labels that are left.
    assert [[f"L{label}" for label in task.signature] for task in stream.card.tasks] == list(published.values())
    assert [experience.tasks for experience in stream.card.experiences] == [[task] for task in order]


@given(tables(), st.integers(1, 3), st.integers(0, 3))
def test_rows_with_the_same_labels_are_never_parted(table, n_tasks, seed):
    Y = table.Y[table.Y.any(axis=1)]
    for variant in ("standard", "published"):
        assignment = cluster_label_sets(Y, n_tasks, seed=seed, variant=variant)
        assert len({(row.tobytes(), cluster) for row, cluster in zip(Y, assignment.tolist(), strict=True)}) == len(
            np.unique(Y, axis=0)
        )


def slow_merge(Y, clusters, least_rows):
    """Merge lists of rows, one pair at a time."""

    def hardly_varies(rows):
        labels = {j for row in rows for j in np.flatnonzero(Y[row])}
        both = [sum(Y[row][j] == value for row in rows) for j in labels for value in (0, 1)]
        return len(labels) == 1 or max(map(min, both[::2], both[1::2])) < least_rows

    def mean(rows):
        return np.mean([Y[row] for row in rows], axis=0)

    def cosine(a, b):
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    while len(clusters) > 1:
        single = [c for c, rows in enumerate(clusters) if hardly_varies(rows)]
        if not single:
            break
        source = clusters.pop(single[0])
        nearest = max(
            range(len(clusters)), key=lambda c: (round(cosine(mean(source), mean(clusters[c])), 12), -len(clusters[c]))
        )
        clusters[nearest] = clusters[nearest] + source
    return {frozenset(rows) for rows in clusters}


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(0, 4))
def test_merging_equals_the_slow_loop(seed, n_clusters, least_rows):
    rng = np.random.default_rng(seed)
    Y = np.eye(4, dtype=np.uint8)[rng.integers(0, 4, 20)] | (rng.random((20, 4)) < 0.1)
    assignment = np.concatenate([np.arange(n_clusters), rng.integers(0, n_clusters, 20 - n_clusters)])
    merged = merge_single_label_clusters(Y, assignment, least_rows=least_rows)
    expected = slow_merge(Y, [np.flatnonzero(assignment == c).tolist() for c in range(n_clusters)], least_rows)
    assert {frozenset(np.flatnonzero(merged == c).tolist()) for c in range(merged.max() + 1)} == expected


@pytest.mark.parametrize("n_odd", [0, 1, 3])
def test_a_cluster_of_nearly_one_label_set_is_merged_unless_the_tasks_are_those_of_the_literature(n_odd):
    sets = [[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]]
    table = make_table(np.repeat(sets, [40 - n_odd, n_odd, 30, 30], axis=0))
    standard, published = (task_stream(table, n_tasks=2, variant=variant) for variant in ("standard", "published"))
    assert (standard.n_tasks, published.n_tasks) == (1, 2)
    assert "merged into others: 1." in standard.card.description
    assert "merged" not in published.card.description
    rows = np.concatenate([part.row_ids for part in (*standard.experiences, *standard.evaluation_sets)])
    assert sorted(rows.tolist()) == list(range(100))
    assert task_stream(table, n_tasks=2, merge_single_label=False).n_tasks == 2
    # Held out more often, rare rows are rows enough.
    assert task_stream(table, n_tasks=2, evaluation_fraction=0.5, learning_fractions=(0.5,)).n_tasks == 1 + (n_odd > 1)


def test_every_task_of_the_newsgroups_has_a_label_to_score(monkeypatch, shared_data):
    monkeypatch.setenv("MLSTREAM_DATA", str(shared_data("multilabel").parent))
    stream = task_stream(load_dataset("20ng"))
    for held_out in stream.evaluation_sets:
        assert (held_out.Y.any(axis=0) & (held_out.Y == 0).any(axis=0)).any()
    sizes = [task.n_learning + task.n_evaluation for task in stream.card.tasks]
    assert sum(sizes) == 19300
    assert max(sizes) < 0.4 * 19300


def test_single_label_clusters_can_be_kept():
    table = make_table(np.repeat(np.eye(3), 10, axis=0))
    assert task_stream(table, n_tasks=3).n_tasks == 1
    kept = task_stream(table, n_tasks=3, merge_single_label=False)
    assert [task.signature.sum() for task in kept.tasks] == [1, 1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"n_tasks": 5},
            "at most the number of distinct label sets. Got 5 tasks for 3 label sets in 30",
        ),
        ({"n_tasks": 0}, "n_tasks must be a whole number, at least 1. Got 0"),
        ({"variant": "best"}, "variant must be one of 'standard', 'published'. Got 'best'"),
        ({"n_init": 0}, "n_init must be a whole number, at least 1. Got 0"),
        ({"unlabelled": "ignore"}, "unlabelled must be one of 'drop', 'keep'. Got 'ignore'"),
        ({"seed": 1.5}, "seed must be a whole number, at least 0. Got 1.5"),
        ({"order": [0, 1, 2, 2, 1, 7], "merge_single_label": False}, "order must name tasks from 0 to 2. Got 7"),
    ],
)
def test_errors_name_rule_and_value(options, message):
    table = make_table(np.repeat([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], 10, axis=0))
    with pytest.raises(ValueError, match=message):
        task_stream(table, **{"n_tasks": 3} | options)


@pytest.mark.parametrize("variant", ["standard", "published"])
def test_an_unknown_label_is_clustered_as_its_expected_value(variant):
    rng = np.random.default_rng(0)
    Y = hide_cells(np.repeat(np.eye(4, dtype=int) + np.eye(4, k=1, dtype=int), 15, axis=0), 0.2, 0)
    Y = Y[[bool(np.isnan(row).any() or row.any()) for row in Y]]
    rows = rng.permutation(len(Y))
    frequencies = [np.mean([cell for cell in column if not np.isnan(cell)]) for column in Y.T]
    expected = [[frequencies[j] if np.isnan(cell) else cell for j, cell in enumerate(row)] for row in Y[rows]]
    found = cluster_label_sets(Y[rows], 3, variant=variant)
    if variant == "published":
        np.testing.assert_array_equal(found, published_spherical_kmeans(expected, 3).assignment)
        return
    distinct, ids, counts = np.unique(expected, axis=0, return_inverse=True, return_counts=True)
    best = spherical_kmeans(distinct, 3, seed=1, sample_weight=counts, n_init=30)
    # Both are the best of many starts: the same clusters, whatever their numbers.
    assert len(set(zip(found.tolist(), best.assignment[ids.ravel()].tolist(), strict=True))) == 3


def test_an_unknown_label_is_not_taken_for_an_absent_one_where_clusters_are_merged():
    # In the first cluster, label 1 is present in two rows, and known to be absent in none.
    hidden = as_indicator([[1, 1, 0], [1, 1, 0], [1, np.nan, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]])
    assert merge_single_label_clusters(hidden, np.array([0, 0, 0, 1, 1, 1]), least_rows=1).tolist() == [0] * 6
    known = np.nan_to_num(hidden).astype(np.uint8)
    assert merge_single_label_clusters(known, np.array([0, 0, 0, 1, 1, 1]), least_rows=1).tolist() == [0, 0, 0, 1, 1, 1]


def test_clusters_in_which_no_label_is_known_are_merged():
    Y = as_indicator([[1, 1, 0], [np.nan, 0, 0], [0, 1, 1], [0, 0, np.nan]])
    assert merge_single_label_clusters(Y, np.array([0, 1, 2, 1])).tolist() == [0, 0, 1, 0]


@given(tables(), st.floats(0, 0.4), st.integers(0, 3), st.booleans())
def test_tasks_of_a_table_with_unknown_labels_keep_them_unknown(table, share, seed, stratified):
    whole = table.Y.shape[1]
    # A row in which all is known, for every label.
    Y = np.vstack([np.eye(whole), np.ones((whole, whole)), hide_cells(table.Y, share, seed)])
    table = make_table(np.repeat(Y, 3, axis=0))
    stream = task_stream(table, n_tasks=2, n_init=1, seed=seed, stratified=stratified)
    for index, (task, card) in enumerate(zip(stream.tasks, stream.card.tasks, strict=True)):
        Y = np.concatenate([part.Y[np.broadcast_to(ids_of(part) == index, len(part))] for part in all_parts(stream)])
        columns = [[cell for cell in column if not np.isnan(cell)] for column in Y.T]
        assert task.signature.tolist() == [1 in column for column in columns]
        np.testing.assert_allclose(card.label_frequencies, [sum(column) / max(1, len(column)) for column in columns])
        assert (card.unknown_share or 0) == pytest.approx(np.isnan(Y[:, task.signature]).mean())
        assert ("unknown_share" in card.model_dump_json()) == bool(card.unknown_share)
    for part in all_parts(stream):
        np.testing.assert_array_equal(part.Y, table.Y[part.row_ids])


def test_label_sets_that_only_frequencies_tell_apart_are_no_tasks_of_their_own():
    # The frequency of the first label stands for it: a shorter vector of the same direction.
    table = make_table(np.repeat([[1, 0], [np.nan, 0], [0, 1]], 10, axis=0))
    with pytest.raises(ValueError, match="Got 3 tasks for 2 label sets, unknown labels taken for their frequencies"):
        task_stream(table, n_tasks=3)
    assert suggest_n_tasks(table).candidates == (2,)
