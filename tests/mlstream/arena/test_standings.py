"""Standings follow from records: an independent computation of ranks, places and pairs finds the same."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from mlstream.arena.standings import compare_costs, find_places, place_of, rank_learners
from mlstream.arena.suite import Board
from tests.mlstream.arena.made_records import make_cell, make_learner, make_suite

SUITE = make_suite(8)
NAMES = [one.name for one in SUITE.streams]
FIRST = SUITE.scores("worlds")[0]


def records_of(table, **statuses):
    """Records of learners a, b, c ... whose rows of scores, by stream, are given."""
    return {
        name: make_learner(
            name,
            {
                stream: make_cell(value, 1 - value, status=statuses.get(f"{name}_{stream}", "done"))
                for stream, value in zip(NAMES, column, strict=True)
            },
        )
        for name, column in zip("abcdefgh", np.asarray(table, float).T, strict=False)
    }


def ranked(records, score=FIRST, **options):
    return rank_learners(records, SUITE, "worlds", score, **options)


@given(st.lists(st.lists(st.sampled_from([0.1, 0.2, 0.3]), min_size=3, max_size=3), min_size=8, max_size=8))
def test_mean_ranks_are_those_of_scipy_for_scores_and_for_errors(table):
    records = records_of(table)
    expected = dict(zip("abc", rankdata(-np.array(table), axis=1).mean(axis=0), strict=True))
    for score in SUITE.heading_scores("worlds"):
        found = ranked(records, score)
        assert dict(zip(found.learners, found.ranks.tolist(), strict=True)) == pytest.approx(expected)
        assert list(found.ranks) == sorted(found.ranks)
        assert (found.intervals[:, 0] <= found.ranks + 1e-9).all()
        assert (found.ranks <= found.intervals[:, 1] + 1e-9).all()


def test_runs_that_were_stopped_share_the_last_places_of_their_stream():
    table = np.tile([0.9, 0.8, 0.7, 0.6], (8, 1))
    found = ranked(records_of(table, a_s0="capped", b_s0="failed"))
    assert dict(zip(found.learners, found.stream_ranks[0], strict=True)) == {"a": 3.5, "b": 3.5, "c": 1, "d": 2}
    assert np.isnan(found.values[0]).sum() == 2


def test_learners_are_compared_on_streams_that_all_have_and_others_are_named():
    records = records_of(np.random.default_rng(0).random((8, 4)))
    gap = make_learner("d", {name: cell for name, cell in records["d"].cells.items() if name != "s3"})
    found = ranked(records | {"d": gap})
    assert found.left_out == ("d",)
    assert len(found.streams) == 8
    assert set(ranked(records | {"d": gap}, streams=gap.cells).learners) == set("abcd")


def test_decisions_without_probabilities_count_under_every_rule():
    records = records_of(np.random.default_rng(0).random((8, 3)))
    cells = {name: cell.model_copy(update={"scores": {"acc": 0.5}}) for name, cell in records["c"].cells.items()}
    records["c"] = make_learner("c", cells)
    own, half = (ranked(records, score) for score in SUITE.scores("worlds")[:2])
    assert set(own.learners) == set(half.learners) == {"a", "b", "c"}
    np.testing.assert_array_equal(half.values[:, half.learners.index("c")], 0.5)


def test_the_board_of_all_ranks_by_the_score_that_heads_each_stream_s_own():
    boards = {"all": Board(title="All", about="", metrics=["rank"], streams_of=["worlds", "rooms"])}
    boards |= SUITE.boards | {"rooms": Board(title="Rooms", about="", metrics=["rmse"])}
    streams = [entry.model_copy(update={"board": "rooms"} if entry.name > "s4" else {}) for entry in SUITE.streams]
    suite = SUITE.model_copy(update={"boards": boards, "streams": streams, "undecided": ["rank", "rmse"]})
    rng = np.random.default_rng(1)
    acc, rmse = rng.random((2, 8, 3))
    records = {
        name: make_learner(
            name, {stream: make_cell(acc[row, column], rmse[row, column]) for row, stream in enumerate(NAMES)}
        )
        for column, name in enumerate("abc")
    }
    found = rank_learners(records, suite, "all", suite.scores("all")[0])
    own = np.vstack([rankdata(-acc, axis=1)[:5], rankdata(rmse, axis=1)[5:]])
    assert dict(zip(found.learners, found.ranks, strict=True)) == pytest.approx(
        dict(zip("abc", own.mean(axis=0), strict=True))
    )


def test_pairs_differ_by_wilcoxon_with_the_correction_of_holm():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(8, 5)) * 0.05 + [0.9, 0.5, 0.52, 0.9, 0.1]
    found = ranked(records_of(table))
    place = place_of("b", found)
    p = {name: wilcoxon(table[:, 1], table[:, column]).pvalue for column, name in enumerate("abcde") if name != "b"}
    stepped = itertools.accumulate((p[name] * (4 - step) for step, name in enumerate(sorted(p, key=p.get))), func=max)
    differs = {name for name, value in zip(sorted(p, key=p.get), stepped, strict=True) if value <= 0.05}
    assert {*place.beats, *place.beaten_by} == differs
    assert set(place.beats) <= {"e"}
    assert set(place.beaten_by) <= {"a", "d"}


def test_an_oracle_is_first_everywhere_and_beats_whom_it_can():
    table = np.column_stack([np.ones(8), np.random.default_rng(0).random((8, 2)) * 0.9])
    records = records_of(table)
    places = find_places(records["a"], records, SUITE)
    assert {place.score for place in places} == {"acc", "acc[half]", "rmse"}
    assert all(place.place == 1 and place.rank == 1 and place.interval == (1, 1) for place in places)
    assert all(set(place.beats) == {"b", "c"} and not place.beaten_by for place in places)


def test_costs_are_compared_on_streams_that_both_have_finished():
    one = make_learner("one", {"s0": make_cell(0.5, cpu_s=3), "s1": make_cell(0.5, cpu_s=5, status="capped")})
    other = make_learner("other", {"s0": make_cell(0.5, cpu_s=2), "s1": make_cell(0.5)})
    cost = compare_costs(one, other)
    assert (cost.cpu_s, cost.energy_j, cost.times_reference, cost.n_streams) == (3, 45, 1.5, 1)
    assert compare_costs(one, make_learner("empty", {})) is None
