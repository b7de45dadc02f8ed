"""A campaign knows its runs before anything is run."""

import weakref
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.campaign import planning
from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.planning import name_apart, plan_jobs
from mlstream.campaign.search import Search
from mlstream.cards.terms import with_terms
from mlstream.evaluation.evaluate import evaluate
from mlstream.evaluation.settings import CampaignOptions, Settings
from mlstream.generators import drifting_stream, duplicated_rows, multiplier_stream, reordered_tasks, resplit_rows
from mlstream.records.paths import Repetition
from mlstream.records.run_record import load_cards, load_runs
from tests.mlstream.evaluation.streams import Online, make_stream

STREAM = make_stream()
TASKS = multiplier_stream("rand", seed=1, n_rows=40, name="tasks")
# A row that is learnt twice could be learnt and evaluated.
REPEATED = duplicated_rows(TASKS, rate=0.5)
DRIFTING = drifting_stream("hyperplane", n_rows=40)
INCREMENTAL = drifting_stream("hyperplane", n_rows=100, window=20, pattern="incremental")


def plan(tmp_path, strategies=None, streams=(STREAM,), seeds=(0,), **options):
    return plan_jobs(
        strategies or {"online": Online()}, streams, tmp_path, CampaignOptions(seeds=tuple(seeds)), Settings(**options)
    )


def test_jobs_are_all_strategies_on_all_streams_with_all_seeds(tmp_path):
    strategies = {"a": Online(), "b": Online(0.1)}
    jobs = plan(tmp_path, strategies, (STREAM, make_stream(name="other")), (3, 1))
    names = [(job.stream.card.name, job.strategy, job.repetition.seed) for job in jobs]
    assert names == [(stream, strategy, seed) for stream in ("tiny", "other") for strategy in "ab" for seed in (3, 1)]
    assert jobs[-1].path == tmp_path / "runs" / "other" / "b-seed1.json"


def test_named_strategies_are_those_of_the_estimators(tmp_path):
    strategies = pytest.importorskip("estimators.strategies")
    jobs = plan(tmp_path, ["mean", "NN_TL"])
    assert [type(job.learner) for job in jobs] == [type(strategies.make_strategy(name)) for name in ("mean", "NN_TL")]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"seeds": ()}, ValueError, "must have strategies, streams and seeds"),
        ({"streams": (STREAM, make_stream())}, ValueError, "must differ in stream, strategy or seed. Got 2 runs for"),
        ({"seeds": (-1,)}, ValueError, "each of seeds must be a whole number"),
        ({"label_space": "none"}, ValueError, "label_space must be one of"),
        ({"windows": 3}, TypeError, "windows"),
        ({"strategies": "NN"}, TypeError, "strategies must be a list of names, or estimators by name. Got 'NN'"),
    ],
)
def test_a_campaign_that_makes_no_sense_is_refused(tmp_path, changes, error, message):
    with pytest.raises(error, match=message):
        plan(tmp_path, **changes)


def test_named_strategies_are_searched_when_asked(tmp_path):
    strategies = {"own": Online(), "mine": "NN", "narrow": Search("BR_HT", n_configurations=2)}
    own, mine, narrow = plan_jobs(strategies, [STREAM], tmp_path, CampaignOptions(n_configurations=3), Settings())
    assert isinstance(own.learner, Online)
    assert mine.learner == Search("NN", n_configurations=3)
    assert narrow.learner.n_configurations == 2


def test_what_is_no_learner_is_refused(tmp_path):
    with pytest.raises(TypeError, match="estimator must be a scikit-learn estimator with partial_fit"):
        plan(tmp_path, {"a": Online})


def test_names_that_are_alike_once_written_as_files_are_different_runs(tmp_path):
    jobs = plan(tmp_path, {"a/b": Online(), "a b": Online(), "a_b": Online()}, seeds=(0,))
    assert len({job.path for job in jobs}) == 3


def differing(number, name="tiny"):
    """A stream whose rows are not those of the others."""
    return make_stream(sizes=(23 + number, 17, 29, 11), name=name)


def names(streams):
    return [stream.card.name for stream in name_apart(streams)]


def test_streams_of_one_table_get_names_of_their_own_in_the_order_given():
    one, two, three = (differing(number) for number in range(3))
    assert names([one, make_stream(name="other"), two, three]) == ["tiny", "other", "tiny-2", "tiny-3"]
    assert name_apart([one, two])[0] is one


def test_no_new_name_is_that_of_another_stream():
    assert names([differing(0), differing(1), differing(2, "tiny-2")]) == ["tiny", "tiny-3", "tiny-2"]


def test_one_stream_twice_is_one_error_that_names_it():
    with pytest.raises(ValueError, match=r"Streams of a campaign must differ\. Got 'tiny' twice, with equal cards\."):
        name_apart([STREAM, differing(1), make_stream()])


def test_a_stream_that_differs_in_its_terms_alone_is_the_same_stream():
    with pytest.raises(ValueError, match=r"Got 'tiny' twice"):
        name_apart([STREAM, with_terms(STREAM, licence="CC-BY-4.0")])


def test_streams_that_were_given_one_name_are_numbered_too():
    named = [with_terms(differing(number), name="birds") for number in range(2)]
    assert names(named) == ["birds", "birds-2"]


def test_a_campaign_warns_of_a_stream_that_has_the_name_of_a_published_one(tmp_path):
    stream = make_stream(name="yeast-tasks")
    with pytest.warns(UserWarning, match=r"^This project publishes other data as yeast-tasks") as warned:
        run_campaign({"online": Online()}, [stream], [0], tmp_path, energy="none")
    assert [one.filename for one in warned] == [__file__]


def test_a_campaign_on_two_streams_of_one_table_records_both_under_their_names(tmp_path):
    streams = [differing(0), differing(1)]
    records = run_campaign({"online": Online()}, streams, [0], tmp_path, energy="none")
    assert [record.stream for record in records] == ["tiny", "tiny-2"]
    assert [record.stream_sha256 for record in records] == [stream.card.data_sha256 for stream in streams]
    assert {name: card.name for name, card in load_cards(tmp_path).items()} == {"tiny": "tiny", "tiny-2": "tiny-2"}
    assert run_campaign({"online": Online()}, streams, [0], tmp_path, energy="none") == records
    with pytest.raises(ValueError, match="must be the record of the requested run: use another folder"):
        run_campaign({"online": Online()}, streams[::-1], [0], tmp_path, energy="none")


@given(seeds=st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=3, unique=True))
def test_all_strategies_of_a_seed_share_the_stream_that_it_orders_and_splits(tmp_path_factory, seeds):
    folder = tmp_path_factory.mktemp("none")
    options = CampaignOptions(seeds=tuple(seeds), vary=True)
    jobs = plan_jobs({"a": Online(), "b": Online(0.1)}, [TASKS], folder, options, Settings())
    assert [job.repetition for job in jobs] == 2 * [Repetition(seed, seed, seed) for seed in seeds]
    for seed, first, second in zip(seeds, jobs[: len(seeds)], jobs[len(seeds) :], strict=True):
        # Made once for both.
        assert first.stream is second.stream
        by_hand = resplit_rows(reordered_tasks(TASKS, seed=seed), seed=seed)
        assert first.stream.card.data_sha256 == by_hand.card.data_sha256
    hashes = sorted(job.stream.card.data_sha256 for job in jobs[: len(seeds)])
    assert all(one != other for one, other in pairwise(hashes))


def run(folder, streams=(TASKS,), seeds=(0,), strategies=("a",), **options):
    learners = {name: Online() for name in strategies}
    return run_campaign(learners, streams, seeds, folder, energy="none", **options)


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_repetitions_that_would_take_much_memory_are_made_when_they_are_needed(tmp_path, monkeypatch, n_jobs):
    expected = run(tmp_path / "kept", seeds=(0, 1, 2), strategies=("a", "b"), vary=True)
    made, alive = [], []

    def resplit(*args, **options):
        stream = resplit_rows(*args, **options)
        made.append(weakref.ref(stream))
        alive.append(sum(one() is not None for one in made))
        return stream

    monkeypatch.setattr(planning, "resplit_rows", resplit)
    monkeypatch.setattr(planning, "_KEPT_CELLS", 1)
    found = run(tmp_path / "made", seeds=(0, 1, 2), strategies=("a", "b"), vary=True, n_jobs=n_jobs)
    assert [(one.repetition, one.stream_sha256, one.R) for one in found] == [
        (one.repetition, one.stream_sha256, one.R) for one in expected
    ]
    if n_jobs == 1:
        # That which is made now, and the one before it.
        assert max(alive) <= 2


def test_a_varied_run_is_that_of_the_stream_made_by_hand(tmp_path):
    (record,) = run(tmp_path, seeds=(3,), vary=True)
    assert record.repetition == Repetition(3, 3, 3)
    by_hand = resplit_rows(reordered_tasks(TASKS, seed=3), seed=3)
    alone = evaluate(Online(), by_hand, seed=3, energy="none")
    assert (record.stream, record.stream_sha256) == ("tasks", alone.stream_sha256)
    assert (record.order, record.scores, record.R) == (alone.order, alone.scores, alone.R)


@pytest.mark.parametrize(
    ("stream", "seeds", "message"),
    [
        (
            REPEATED,
            (4, None),
            r"On tasks-duplicated-rows, seeds vary the order of tasks only, of which there are 24\. Every row",
        ),
        (DRIFTING, (None, 4), r"On drifting-hyperplane, seeds vary the split of rows only\. A stream must have no"),
        (STREAM, (None, 4), r"On tiny, seeds vary the split of rows only\. Every experience must hold one"),
        (make_stream(((0,), (1,), (0,)), (9, 9, 9)), (None, 4), r"the split of rows.*Got \{0: 2, 1: 1\}"),
        (make_stream(((0,), (0,)), (9, 9)), (None, 4), r"the split of rows only\. A stream must visit several"),
    ],
)
def test_a_stream_that_can_be_repeated_in_one_way_varies_in_it_alone_with_a_warning(tmp_path, stream, seeds, message):
    with pytest.warns(UserWarning, match=message) as warned:
        (record,) = run(tmp_path, (stream,), (4,), vary=True)
    assert [one.filename for one in warned] == [__file__]
    assert (record.order_seed, record.split_seed) == seeds


def test_a_stream_that_cannot_be_repeated_at_all_is_refused_before_anything_is_made(tmp_path):
    folder = tmp_path / "none"
    with pytest.raises(ValueError, match=r"vary \(--vary\) must .*run drifting-hyperplane in a campaign without it"):
        run(folder, (TASKS, INCREMENTAL), vary=True)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({"vary": True}, {"vary": True, "seeds": (0, 1), "strategies": ("a", "b")}),
        ({"vary": True}, {"orders": (0,), "splits": (0,)}),
        ({}, {"orders": (0, 1)}),
        ({"orders": (0, 1)}, {}),
    ],
)
def test_a_campaign_goes_on_with_more_seeds_strategies_and_repetitions(tmp_path, first, then):
    recorded = run(tmp_path, **first)
    more = run(tmp_path, **then)
    assert len(load_runs(tmp_path)) == len({str(record) for record in (*recorded, *more)})


def test_one_folder_does_not_mix_orders_with_seeds_that_vary_the_stream(tmp_path):
    run(tmp_path, seeds=(0, 1), vary=True)
    with pytest.raises(ValueError, match=r"hold no runs on tasks with vary"):
        run(tmp_path, orders=(1, 2))
    run(tmp_path, (STREAM,), seeds=(0, 1), splits=(0, 1))
    assert len(run(tmp_path, (STREAM,), seeds=(0, 1, 2), splits=(0, 1))) == 6


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        ({}, {"vary": True}, r"hold no runs on tasks without vary \(--vary\): .*, or leave vary out.*a-seed0.json"),
        ({"orders": (1,)}, {"vary": True}, r"without vary.*a-seed0-order1.json"),
        (
            {"vary": True},
            {},
            r"hold no runs on tasks with vary \(--vary\): .*, or add vary.*a-seed0-order0-split0.json",
        ),
    ],
)
def test_one_folder_does_not_mix_runs_whose_seeds_vary_the_stream_with_others(tmp_path, first, then, message):
    run(tmp_path, **first)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(ValueError, match=message):
        run(tmp_path, seeds=(0, 1), **then)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    # Another stream has other means.
    assert len(run(tmp_path, (STREAM,), **({} if then else {"splits": (0,)}))) == 1


@pytest.mark.parametrize("others", [{"orders": (1,)}, {"splits": (1,)}])
def test_seeds_that_vary_the_stream_and_orders_or_splits_exclude_each_other(tmp_path, others):
    with pytest.raises(ValueError, match=r"vary must be left out where orders or splits is given.* Got vary and "):
        run(tmp_path, vary=True, **others)
