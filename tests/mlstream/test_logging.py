"""What runs is logged under one name, and shown only where the program that uses the package shows it."""

import logging
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator

from mlstream import publish, report, run_campaign, run_detections
from mlstream.campaign.search import Search
from mlstream.generators import noisy_labels, task_stream
from tests.mlstream.evaluation.streams import make_stream

SCRIPT = """
import logging, sys
from estimators import LastLabelsClassifier
from mlstream import evaluate
from mlstream.generators import multiplier_stream

assert [type(handler) for handler in logging.getLogger("mlstream").handlers] == [logging.NullHandler]
for _ in range(2):
    evaluate(LastLabelsClassifier(), multiplier_stream("monolab", n_rows=200, name="drawn"), energy="none")
    assert _ or not logging.getLogger().handlers
    print("basicConfig", file=sys.stderr)
    logging.basicConfig(level="INFO")
"""


class Failing(BaseEstimator):
    def partial_fit(self, X, Y):
        raise RuntimeError("no disk\nnor luck")

    predict = partial_fit


@pytest.fixture
def lines(caplog):
    """Return a function that returns the lines since the last call."""
    caplog.set_level(logging.DEBUG, logger="mlstream")

    def read():
        found = [record.getMessage() for record in caplog.records if record.name == "mlstream"]
        caplog.clear()
        return found

    return read


def test_nothing_is_printed_unless_the_program_shows_it():
    printed = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    shown = ["Made 'drawn' by multiplier_stream", "Evaluating LastLabelsClassifier", "Evaluated LastLabelsClassifier"]
    starts = ["basicConfig", *(f"INFO:mlstream:{text}" for text in shown), "basicConfig"]
    for line, start in zip(printed.stderr.splitlines(), starts, strict=True):
        assert line.startswith(start)
    assert printed.stdout == ""


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_campaign_logs_what_runs_what_is_skipped_and_what_was_chosen(tmp_path, lines, n_jobs):
    learners, stream = {"LR": Search("BR_LR", n_configurations=2), "bad": Failing()}, make_stream()
    for seeds in ([0], [0, 1]):
        lines()
        runs = run_campaign(learners, [stream], seeds, tmp_path, energy="none", n_jobs=n_jobs)
    found = lines()
    assert found[0] == f"Campaign of 4 runs in {tmp_path}; recorded earlier, and skipped: 1"
    ends = {line.partition("] ")[2].partition(";")[0]: line for line in found if line.startswith("[")}
    outcomes = {("LR", 0): "recorded earlier", ("LR", 1): "done", ("bad", 0): "failed", ("bad", 1): "failed"}
    for run in runs:
        line = ends.pop(f"{run.strategy} on tiny, seed {run.seed}: {outcomes[run.strategy, run.seed]}")
        if run.selection is None:
            assert line.endswith("; nor luck")
        else:
            chosen = run.selection.trials[run.selection.chosen].parameters
            assert line.endswith(f"; chosen of 2 configurations: {chosen}")
    assert not ends
    if n_jobs == 1:
        assert sum(line.startswith("Configuration ") for line in found) == 2


def test_detections_streams_folders_and_reports_are_logged(tmp_path, lines):
    for outcome in ("done", "recorded earlier"):
        run_detections(["ADWIN"], [make_stream()], ["mean"], tmp_path / "runs")
        assert f"[1/1] ADWIN on mean on tiny, seed 0: {outcome}" in lines()
    page = report(tmp_path / "runs")
    assert lines() == [f"Wrote {page} about 0 runs and 1 detections"]
    stream = noisy_labels(task_stream("yeast", n_tasks=2, n_init=1), rate=0.1)
    counts = f"seed 0: {len(stream)} experiences of 2 tasks, {stream.n_samples} rows"
    made = ["Made 'yeast-tasks' by task_stream", f"Made '{stream.card.name}' by noisy_labels"]
    assert lines() == [f"{text}, {counts}" for text in made]
    with pytest.warns(UserWarning, match="should state"):
        publish(stream, tmp_path / "folder", arff=False)
    assert lines() == [f"Published {stream.card.name} in {tmp_path / 'folder'}, read again and compared"]
