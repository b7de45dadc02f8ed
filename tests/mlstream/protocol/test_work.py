"""A job is recorded whatever comes of it, and leaves no mark behind."""

from mlstream.protocol.planning import Repetitions, plan_jobs
from mlstream.protocol.results import load_run
from mlstream.protocol.work import record_failure, run_job
from tests.mlstream.protocol.streams import Online, make_stream


class Wrong(Online):
    """Answers with a column too few."""

    def predict_proba(self, X):
        return super().predict_proba(X)[:, 1:]


class Absent(Online):
    """Answers NaN."""

    def predict_proba(self, X):
        return super().predict_proba(X) * float("nan")


class Ending(Online):
    """Ends its process."""

    def partial_fit(self, X, Y):
        raise SystemExit(3)


def job_of(estimator, tmp_path):
    return plan_jobs({"a": estimator}, [make_stream()], Repetitions([0]), tmp_path, {"energy": "none"})[0]


def test_a_job_is_recorded_under_its_own_name_and_its_mark_goes(tmp_path):
    job, seen = job_of(Online(), tmp_path), []
    record = run_job(job, lambda met, n_rows: seen.append((met, job.mark.exists())))
    assert load_run(job.path) == record
    assert (record.strategy, record.status) == ("a", "done")
    assert seen[-1] == (80, True)
    assert not job.mark.exists()


def test_wrong_answers_are_failures_that_say_what_was_wrong(tmp_path):
    for estimator, message in ((Wrong(), "Wrong"), (Absent(), "Absent")):
        record = run_job(job_of(estimator, tmp_path))
        assert record.status == "failed"
        assert message in record.error.splitlines()[-1]
        assert "Traceback" in record.error


def test_a_learner_that_ends_its_process_is_a_failure(tmp_path):
    record = run_job(job_of(Ending(), tmp_path))
    assert record.status == "failed"
    assert record.error.splitlines()[-1] == "SystemExit: 3"


def test_a_failure_from_outside_is_recorded(tmp_path):
    job = job_of(Online(), tmp_path)
    assert record_failure(job, "why") == load_run(job.path)
    assert load_run(job.path).error == "why"
