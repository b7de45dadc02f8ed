"""A campaign knows its runs, and whose records are there, before anything is run."""

import pytest

from mlstream.protocol.jobs import plan_jobs
from mlstream.protocol.results import RunResult, save_run
from tests.mlstream.protocol.streams import Online, make_stream

STREAM = make_stream()


def plan(tmp_path, strategies=None, streams=(STREAM,), seeds=(0,), **options):
    return plan_jobs(strategies or {"online": Online()}, streams, seeds, tmp_path, options)


def record(job, **changes):
    return RunResult(**job.describe() | {"status": "done"} | changes)


def test_jobs_are_all_strategies_on_all_streams_with_all_seeds(tmp_path):
    strategies = {"a": Online(), "b": Online(0.1)}
    jobs = plan(tmp_path, strategies, (STREAM, make_stream(name="other")), (3, 1))
    names = [(job.stream.card.name, job.strategy, job.seed) for job in jobs]
    assert names == [(stream, strategy, seed) for stream in ("tiny", "other") for strategy in "ab" for seed in (3, 1)]
    assert jobs[-1].path == tmp_path / "runs" / "other" / "b-seed1.json"


def test_named_strategies_are_those_of_the_estimators(tmp_path):
    strategies = pytest.importorskip("estimators.strategies")
    jobs = plan(tmp_path, ["mean", "NN_TL"])
    assert [type(job.estimator) for job in jobs] == [type(strategies.make_strategy(name)) for name in ("mean", "NN_TL")]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"seeds": ()}, ValueError, "must have strategies, streams and seeds"),
        ({"streams": (STREAM, make_stream())}, ValueError, "must differ in stream, strategy or seed. Got 2 runs for"),
        ({"strategies": {"a/b": Online(), "a b": Online()}}, ValueError, "Got 2 runs for .*a_b-seed0"),
        ({"seeds": (-1,)}, ValueError, "seed must be a whole number"),
        ({"label_space": "none"}, ValueError, "label_space must be one of"),
        ({"windows": 3}, TypeError, "windows"),
        ({"strategies": "NN"}, TypeError, "strategies must be a list of names, or estimators by name. Got 'NN'"),
    ],
)
def test_a_campaign_that_makes_no_sense_is_refused(tmp_path, changes, error, message):
    with pytest.raises(error, match=message):
        plan(tmp_path, **changes)


def test_the_record_of_this_run_is_found_and_that_of_a_failure_is_not_kept(tmp_path):
    (job,) = plan(tmp_path, window=9)
    assert job.find_record() is None
    save_run(record(job), tmp_path)
    assert job.find_record() == record(job)
    save_run(record(job, status="capped"), tmp_path, overwrite=True)
    assert job.find_record().status == "capped"
    save_run(record(job, status="failed", error="oh"), tmp_path, overwrite=True)
    assert job.find_record() is None


@pytest.mark.parametrize(
    ("made_with", "name"),
    [
        ({"strategies": {"online": Online(step=0.25)}}, "parameters"),
        ({"streams": (make_stream(sizes=(23, 17, 29, 12)),)}, "stream_sha256"),
        ({"label_space": "all"}, "label_space"),
        ({"one_class": "recall"}, "settings"),
        ({"time_cap_s": 5.0}, "settings"),
    ],
)
def test_the_record_of_another_run_is_an_error_that_names_the_difference(tmp_path, made_with, name):
    (other,) = plan(tmp_path, **made_with)
    save_run(record(other), tmp_path)
    (job,) = plan(tmp_path)
    with pytest.raises(ValueError, match=rf"online-seed0.json must be the record of the run .* Got {name} = "):
        job.find_record()


def test_a_record_of_another_version_is_an_error_that_names_the_file(tmp_path):
    (job,) = plan(tmp_path)
    job.path.parent.mkdir(parents=True)
    job.path.write_text('{"format_version": 99}')
    with pytest.raises(
        ValueError, match=r"online-seed0.json must hold a RunResult of this version. Got format_version"
    ):
        job.find_record()
