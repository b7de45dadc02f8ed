"""A campaign knows its runs before anything is run."""

import pytest

from mlstream.campaign.planning import plan_jobs
from mlstream.campaign.search import Search
from mlstream.evaluation.settings import CampaignOptions, Settings
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
