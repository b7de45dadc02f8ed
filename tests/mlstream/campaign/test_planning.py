"""A campaign knows its runs before anything is run."""

import pytest

from mlstream.campaign.campaign import run_campaign
from mlstream.campaign.planning import name_apart, plan_jobs
from mlstream.campaign.search import Search
from mlstream.cards.terms import with_terms
from mlstream.evaluation.settings import CampaignOptions, Settings
from mlstream.records.run_record import load_cards
from tests.mlstream.evaluation.streams import Online, make_stream

STREAM = make_stream()


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
