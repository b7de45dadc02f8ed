"""Strategies are compared as SciPy, scikit-posthocs and the book of rules say."""

import math
from functools import cache
from itertools import chain, combinations

import numpy as np
import pytest
from scipy import stats

from mlstream.analysis.comparison import compare, compare_all, find_cliques
from mlstream.analysis.complete_blocks import choose_block
from mlstream.analysis.groups import group_runs
from tests.mlstream.records.run_records import make_capped, make_failed, make_run

STREAMS = [f"s{number}" for number in range(6)]
STRATEGIES = ["a", "b", "c", "d"]
RNG = np.random.default_rng(4)
TABLE = np.round(0.6 + 0.05 * np.arange(4) + 0.08 * RNG.random((6, 4)), 3)


def runs_of(table, metric="acc", seeds=(0, 1)):
    """Record a table; seeds lie around each value, which is their mean."""
    return [
        make_run(strategy, seed, stream, scores={metric: float(value) + (0.25 if seed else -0.25)})
        for stream, row in zip(STREAMS, table, strict=False)
        for strategy, value in zip(STRATEGIES, row, strict=True)
        for seed in seeds
    ]


def test_seeds_are_averaged_first_and_a_stream_counts_once():
    found = compare(group_runs(runs_of(TABLE)), "acc")
    assert np.allclose(found.scores, TABLE)
    assert (found.streams, found.strategies) == (tuple(STREAMS), tuple(STRATEGIES))
    expected = stats.friedmanchisquare(*TABLE.T)
    assert math.isclose(found.statistic, expected.statistic)
    assert math.isclose(found.p_value, expected.pvalue)
    assert np.allclose(found.ranks, stats.rankdata(-TABLE, axis=1).mean(axis=0))


def test_seeds_that_vary_streams_in_different_ways_are_the_same_blocks():
    plain = runs_of(TABLE)
    varied = [
        run.model_copy(
            update={
                "order_seed": run.seed if run.stream != "s1" else None,
                "split_seed": run.seed if run.stream != "s2" else None,
            }
        )
        for run in plain
    ]
    found, expected = (compare(group_runs(runs), "acc") for runs in (varied, plain))
    assert (found.streams, found.strategies, found.left_out) == (tuple(STREAMS), tuple(STRATEGIES), ())
    assert (found.scores.tolist(), found.pairs) == (expected.scores.tolist(), expected.pairs)


def test_the_post_hoc_test_is_that_of_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs")
    expected = np.asarray(posthocs.posthoc_nemenyi_friedman(TABLE))
    for pair in compare(group_runs(runs_of(TABLE)), "acc").pairs:
        assert math.isclose(pair.p_value, expected[pair.first, pair.second], abs_tol=1e-3)
        assert math.isclose(pair.first_better + pair.equivalent + pair.second_better, 1.0)


def test_the_direction_of_a_score_counts():
    high = compare(group_runs(runs_of(TABLE, "acc")), "acc")
    low = compare(group_runs(runs_of(TABLE, "rmse")), "rmse")
    assert np.allclose(high.ranks + low.ranks, 5)
    for one, other in zip(high.pairs, low.pairs, strict=True):
        assert math.isclose(one.first_better, other.second_better)


def without(*cells):
    """Record the table, but for some cells: (strategy, stream)."""
    return [run for run in runs_of(TABLE) if (run.strategy, run.stream) not in cells]


def test_only_streams_on_which_all_strategies_have_a_score_are_compared():
    runs = without(("c", "s2"), ("a", "s4"), ("d", "s5"), ("b", "s5"))
    runs += [make_capped("c", 0, "s2"), make_failed("d", 0, "s5")]
    found = compare(group_runs(runs), "acc")
    assert (found.streams, found.strategies) == (("s0", "s1", "s3"), tuple(STRATEGIES))
    assert np.allclose(found.scores, TABLE[[0, 1, 3]])
    assert found.left_out == (
        ("Stream", "s2", "capped: c"),
        ("Stream", "s4", "not run: a"),
        ("Stream", "s5", "not run: b; failed: d"),
    )


def test_where_all_share_too_few_streams_the_table_with_the_most_scores_is_compared():
    late = [("c", stream) for stream in STREAMS[1:]]
    found = compare(group_runs(without(*late, ("d", "s3"))), "acc")
    assert (found.streams, found.strategies) == (("s0", "s1", "s2", "s4", "s5"), ("a", "b", "d"))
    assert found.left_out == (
        ("Stream", "s3", "not run: c, d"),
        ("Strategy", "c", "not run: s1, s2, s4, s5"),
    )
    assert np.allclose(found.scores, TABLE[np.ix_([0, 1, 2, 4, 5], [0, 1, 3])])


def test_a_strategy_that_ran_on_few_streams_does_not_narrow_the_others_to_these():
    found = compare(group_runs(without(*(("b", stream) for stream in STREAMS[2:]))), "acc")
    assert (found.streams, found.strategies) == (tuple(STREAMS), ("a", "c", "d"))
    assert found.left_out == (("Strategy", "b", "not run: s2, s3, s4, s5"),)


def test_all_strategies_are_compared_on_half_of_the_streams():
    found = compare(group_runs(without(*(("b", stream) for stream in STREAMS[3:]))), "acc")
    assert (found.streams, sorted(found.strategies)) == (tuple(STREAMS[:3]), STRATEGIES)


def test_what_has_no_score_at_all_does_not_count():
    # a, c and d share two of the four streams that have a score; c and d alone would fill a larger table.
    runs = [run for run in runs_of(TABLE[:4]) if run.strategy in "cd" or run.strategy + run.stream in ("as0", "as1")]
    runs += [make_failed("b", 0, "s0"), make_failed("b", 0, "s5")]
    found = compare(group_runs(runs), "acc")
    assert (found.streams, found.strategies) == (("s0", "s1"), ("a", "c", "d"))


def choose_slowly(filled):
    """Try all sets of strategies and give those that the rule allows, each with its streams, by their places."""
    streams = [stream for stream, row in enumerate(filled) if any(row)]
    strategies = [place for place, column in enumerate(zip(*filled, strict=True)) if any(column)]
    sizes = {}
    for names in chain.from_iterable(combinations(strategies, size) for size in range(2, len(strategies) + 1)):
        shared = [stream for stream in streams if all(filled[stream][name] for name in names)]
        if len(names) == len(strategies) and len(shared) >= max(2, len(streams) / 2):
            return [(names, shared)]
        for one, other in combinations(shared, 2):
            if sum(filled[one][name] and filled[other][name] for name in strategies) == len(names):
                sizes[names] = (len(names) * len(shared), len(names), shared)
    best = max((size[:2] for size in sizes.values()), default=None)
    return [(names, shared) for names, (*size, shared) in sizes.items() if tuple(size) == best]


@cache
def one_run(row, column):
    return make_run(f"{column}", 0, f"{row}", scores={"acc": 0.5})


@pytest.mark.parametrize("share", [0.3, 0.6, 0.8, 0.9])
def test_the_choice_is_that_of_a_search_through_all_sets(share):
    rng = np.random.default_rng(int(100 * share))
    for shape in rng.integers(2, 7, size=(100, 2)):
        filled = rng.random(shape) < share
        runs = [one_run(int(row), int(column)) for row, column in np.argwhere(filled)]
        block = choose_block(group_runs(runs), "acc")
        allowed = choose_slowly(filled.tolist())
        if block is None:
            assert allowed == []
        else:
            names, rows = sorted(map(int, block.strategies)), sorted(map(int, block.streams))
            assert (tuple(names), rows) in allowed


def test_of_as_many_scores_more_strategies_are_compared():
    first = [("c", stream) for stream in STREAMS[:2]]
    found = compare(group_runs(without(*first, *(("b", stream) for stream in STREAMS[2:]))), "acc")
    assert (found.streams, sorted(found.strategies)) == (tuple(STREAMS[2:]), ["a", "c", "d"])


def test_a_score_that_is_not_defined_is_named_so():
    runs = without(("a", "s1"), *((name, "s0") for name in STRATEGIES))
    runs += [make_run("a", 0, "s1", scores={"acc": None})]
    runs += [make_run(name, 0, "s0", scores={"acc": None}) for name in STRATEGIES]
    assert {*compare(group_runs(runs), "acc").left_out} == {
        ("Stream", "s0", "not defined: all"),
        ("Stream", "s1", "not defined: a"),
    }


def test_too_little_is_not_compared():
    assert compare(group_runs(runs_of(TABLE[:1])), "acc") is None
    assert compare(group_runs([run for run in runs_of(TABLE) if run.strategy == "a"]), "acc") is None
    two = compare(group_runs([run for run in runs_of(TABLE) if run.strategy in "ab"]), "acc")
    assert math.isnan(two.p_value)
    assert len(two.pairs) == 1


def test_every_score_with_a_direction_is_compared():
    found = compare_all(group_runs([make_run(name, 0, stream) for stream in "xy" for name in ("NN", "NN_TL", "1NN")]))
    assert {one.metric for one in found} == {
        "ba_macro",
        "precision_at_k",
        "rmse",
        "acc",
        "bwt",
        "fwt",
        "fm",
        "frug_kwh",
        "frug_kj",
    }


@pytest.mark.parametrize(
    ("ranks", "difference", "cliques"),
    [
        ([1.0, 2.0, 3.0], 0.5, []),
        ([1.0, 2.0, 3.0], 1.5, [(0, 1), (1, 2)]),
        ([1.0, 2.0, 3.0], 9.0, [(0, 2)]),
        ([1.0, 1.0, 5.0, 5.5], 1.0, [(0, 1), (2, 3)]),
        ([1.0], 1.0, []),
    ],
)
def test_cliques_are_the_longest_stretches(ranks, difference, cliques):
    assert find_cliques(ranks, difference) == cliques
