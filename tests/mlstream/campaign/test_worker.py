"""A job is recorded whatever happens, and leaves no progress file behind."""

from pathlib import Path

from mlstream.campaign.planning import plan_jobs
from mlstream.campaign.search import Search
from mlstream.campaign.worker import record_failure, run_job
from mlstream.evaluation.settings import CampaignOptions, Settings
from mlstream.records.run_record import load_run, load_selection, save_run
from mlstream.records.run_result import RunResult
from tests.mlstream.evaluation.streams import Online, make_stream


class Wrong(Online):
    """Predictions with a column too few."""

    def predict_proba(self, X):
        return super().predict_proba(X)[:, 1:]


class Absent(Online):
    """Predictions NaN."""

    def predict_proba(self, X):
        return super().predict_proba(X) * float("nan")


class Unreadable(Online):
    """Fails with a text that no file holds."""

    def partial_fit(self, X, Y):
        raise ValueError("y\udcff")


class Ending(Online):
    """Ends its process."""

    def partial_fit(self, X, Y):
        raise SystemExit(3)


class Overtaken(Online):
    """Fails, or not, after another process has recorded the same run."""

    def __init__(self, folder="", fails=True, step=0.5, random_state=None):
        super().__init__(step, random_state)
        self.folder = folder
        self.fails = fails

    def partial_fit(self, X, Y):
        (job,) = plan_jobs({"a": self}, [make_stream()], Path(self.folder), CampaignOptions(), Settings(energy="none"))
        if not job.path.exists():
            save_run(RunResult(**job.describe() | {"status": "done", "scores": {"acc": 0.125}}), self.folder)
        if self.fails:
            raise ArithmeticError("too late")
        return super().partial_fit(X, Y)


def job_of(estimator, tmp_path):
    return plan_jobs({"a": estimator}, [make_stream()], tmp_path, CampaignOptions(), Settings(energy="none"))[0]


def test_a_job_is_recorded_under_its_own_name_and_its_mark_goes(tmp_path):
    job, seen = job_of(Online(), tmp_path), []
    record = run_job(job, lambda met, n_rows: seen.append((met, job.progress_path.exists())))
    assert load_run(job.path) == record
    assert (record.strategy, record.status) == ("a", "done")
    assert seen[-1] == (80, True)
    assert not job.progress_path.exists()


def test_wrong_answers_are_failures_that_say_what_was_wrong(tmp_path):
    for estimator, message in ((Wrong(), "Wrong"), (Absent(), "Absent"), (Unreadable(), "y\\udcff")):
        record = run_job(job_of(estimator, tmp_path))
        assert record.status == "failed"
        assert message in record.error.splitlines()[-1]
        assert "Traceback" in record.error


def test_a_learner_that_ends_its_process_is_a_failure(tmp_path):
    record = run_job(job_of(Ending(), tmp_path))
    assert record.status == "failed"
    assert record.error.splitlines()[-1] == "SystemExit: 3"


def test_what_another_process_recorded_first_counts(tmp_path):
    for fails in (True, False):
        folder = tmp_path / str(fails)
        job = job_of(Overtaken(str(folder), fails), folder)
        record = run_job(job)
        assert (record.status, record.scores) == ("done", {"acc": 0.125})
        assert load_run(job.path) == record


def test_a_configuration_that_another_process_chose_first_is_used(tmp_path, monkeypatch):
    (job,) = plan_jobs(
        {"a": Search(Online(), {"step": [0.1, 0.5]})},
        [make_stream()],
        tmp_path,
        CampaignOptions(),
        Settings(energy="none"),
    )
    mine, theirs = (job.select().model_copy(update={"chosen": chosen}) for chosen in (0, 1))
    written = job.find_selection
    (path,) = (tmp_path / "selections").rglob("*.json")
    record = load_selection(path).model_copy(update={"selection": theirs})
    path.unlink()

    def choose_late(*arguments):
        path.write_text(record.model_dump_json())
        return mine

    monkeypatch.setattr("mlstream.campaign.job.choose", choose_late)
    assert job.select() == theirs == written()


def test_a_failure_from_outside_is_recorded(tmp_path):
    job = job_of(Online(), tmp_path)
    assert record_failure(job, "why") == load_run(job.path)
    assert load_run(job.path).error == "why"
