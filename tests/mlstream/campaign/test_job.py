"""A job knows whether its record is there, before anything is run."""

import pytest

from mlstream.campaign.planning import plan_jobs
from mlstream.evaluation.settings import CampaignOptions, Settings
from mlstream.records.run_record import save_run
from mlstream.records.run_result import RunResult
from tests.mlstream.evaluation.streams import Online, make_stream

STREAM = make_stream()


def plan(tmp_path, strategies=None, streams=(STREAM,), seeds=(0,), **options):
    return plan_jobs(
        strategies or {"online": Online()}, streams, tmp_path, CampaignOptions(seeds=tuple(seeds)), Settings(**options)
    )


def record(job, **changes):
    return RunResult(**job.describe() | {"status": "done"} | changes)


@pytest.mark.parametrize("status", ["done", "capped"])
def test_the_record_of_this_run_is_found_and_that_of_a_failure_is_not_kept(tmp_path, status):
    (job,) = plan(tmp_path, window=9)
    assert job.find_record() is None
    save_run(record(job, status="failed", error="oh"), tmp_path)
    assert job.find_record() is None
    save_run(record(job, status=status), tmp_path)
    assert job.find_record() == record(job, status=status)


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
    with pytest.raises(ValueError, match=rf"online-seed0.json must be the record of the requested run.* Got {name} = "):
        job.find_record()


def test_a_record_of_another_version_is_an_error_that_names_the_file(tmp_path):
    (job,) = plan(tmp_path)
    job.path.parent.mkdir(parents=True)
    job.path.write_text('{"schema_version": 99}')
    refusal = r"online-seed0.json must hold a Run.*\(update mlstream.*: schema_version must be 1 to 2. Got 99 instead.$"
    with pytest.raises(ValueError, match=refusal):
        job.find_record()
