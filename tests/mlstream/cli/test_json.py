"""With --json a command prints one document, which holds what Python's objects hold."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import estimators
from estimators.detectors import DETECTORS
from mlstream import diagnose, load, load_card, load_detections, load_runs, save
from mlstream.cli import console
from mlstream.publishing.presets import PRESETS
from tests.mlstream.cli.commands import invoke, write_table
from tests.mlstream.evaluation.streams import make_stream


def refuse(word):
    raise AssertionError(f"{word} is not JSON")


def read(*arguments, status=0):
    """Run a command with --json; give the document that it prints."""
    result = invoke(*arguments, "--json")
    assert result.exit_code == status, result.stderr or result.exception
    return json.loads(result.stdout, parse_constant=refuse)


def as_json(model):
    return json.loads(model.model_dump_json())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Enter a folder that holds a stream."""
    monkeypatch.chdir(tmp_path)
    save(make_stream(), "tiny.npz")
    return tmp_path


def test_what_can_be_named():
    assert {entry["name"]: entry["summary"] for entry in read("strategies")} == {
        name: strategy.summary for name, strategy in estimators.STRATEGIES.items()
    }
    assert read("strategies", "BR_HT")["grids"] == estimators.grid("BR_HT")
    found = {entry["name"]: entry for entry in read("detectors")}
    assert found.keys() == DETECTORS.keys()
    assert found["ADWIN"]["parameters"] == {"delta": 0.002}
    streams = {entry.pop("name"): entry for entry in read("streams")}
    sizes = {"n_features", "n_labels", "n_tasks", "n_experiences"}
    assert streams == {
        name: {"summary": preset.summary, "n_samples": preset.n_rows} | {size: getattr(preset, size) for size in sizes}
        for name, preset in PRESETS.items()
    }
    assert read("datasets") == read("datasets", "list")
    (paths,) = read("datasets", "fetch", "yeast").values()
    assert paths[0].endswith("yeast.csv.gz")


MADE = {
    "generate table.arff -o made.npz --tasks 2 --starts 1": ["made.npz"],
    "synthesise monolab -o made.npz --rows 100": ["made.npz"],
    "perturb noisy-labels tiny.npz --rate 0.1 -o made.npz": ["made.npz"],
    "convert tiny.npz made.train.csv": ["made.train.csv", "made.test.csv", "made.card.json"],
}


@pytest.mark.parametrize("line", MADE)
def test_a_stream_that_is_made(folder, line):
    write_table(folder / "table.arff")
    document = read(*line.split())
    assert document["files"] == MADE[line]
    stream = load(document["files"][0])
    sizes = ("n_experiences", "n_tasks", "n_samples", "n_features", "n_labels")
    assert [document[size] for size in sizes] == [len(stream), *(getattr(stream, size) for size in sizes[1:])]
    assert document["card"] == as_json(stream.card) == read("inspect", document["files"][0])["card"]


def test_a_stream_that_is_measured(folder):
    document, found = read("inspect", "tiny.npz", "--full", "--pictures", "drawn"), diagnose(make_stream())
    kappas = [None if math.isnan(part.kappa) else part.kappa for part in found.experiences]
    assert [part["kappa"] for part in document["diagnosis"]["experiences"]] == kappas
    assert [task["labels"]["density"] for task in document["diagnosis"]["tasks"]] == [
        task.labels.density for task in found.tasks
    ]
    assert sorted(document["pictures"]) == sorted(f"drawn/{path.name}" for path in (folder / "drawn").iterdir())


def test_a_folder_that_is_published_and_verified(folder):
    # Advice is a warning, which ends no command but in tests.
    with pytest.warns(UserWarning, match="should state"):
        published = read("publish", "tiny.npz", "folder", "--licence", "CC0-1.0")
    assert published["files"] == sorted(f"folder/{path.name}" for path in (folder / "folder").iterdir())
    assert published["card"] == as_json(load_card("folder/stream.card.json"))
    verified = read("verify", "folder")
    assert (verified["is_unchanged"], verified["refused"], verified["card"]) == (True, [], published["card"])
    assert any("should state" in text for text in verified["advice"])
    assert read("verify", "folder", "--for", "zenodo", status=1)["refused"]
    (folder / "folder" / "README.md").write_text("changed")
    result = invoke("verify", "folder", "--json")
    assert (result.exit_code, result.stdout) == (1, "")


def test_runs_and_their_report(folder):
    options = ["tiny.npz", "-o", "out", "--energy", "none"]
    read("run", *options, "-s", "mean")
    document = read("run", *options, "-s", "mean,last_class")
    assert [run["recorded_earlier"] for run in document["runs"]] == [True, False]
    by_record = {run["record"]: run for run in document["runs"]}
    for path, run in by_record.items():
        record = json.loads((folder / path).read_text())
        names = ["stream", "strategy", "seed", "status", "scores", "undefined", "parameters"]
        assert {name: run[name] for name in names} == {name: record[name] for name in names}
    assert document["cpu_time_s"].keys() >= {"learners", "scores"}
    reported = read("report", "out", "--tables")
    assert {run["record"]: run["scores"] for run in reported["runs"]} == {
        path: run["scores"] for path, run in by_record.items()
    }
    assert len(load_runs("out")) == len(reported["runs"])
    assert [(folder / reported[name]).exists() for name in ("page", "tables")] == [True, True]
    assert "figures" not in reported


CAMPAIGN = """
streams = ["tiny.npz"]
directory = "out"
energy = "none"
[strategies.loud]
class = "{module}:Loud"
"""
LOUD = """
import numpy as np
from sklearn.base import BaseEstimator

class Loud(BaseEstimator):
    def partial_fit(self, X, Y):
        print("learning")
        {body}
        self.n_labels = Y.shape[1]

    def predict(self, X):
        return np.zeros((len(X), self.n_labels))
"""


@pytest.mark.slow
def test_what_learners_print_in_other_processes_is_not_on_standard_output(folder):
    (folder / "loud.py").write_text(LOUD.format(body="pass"))
    (folder / "c.toml").write_text(CAMPAIGN.format(module="loud"))
    command = [sys.executable, "-m", "mlstream", "run", "c.toml", "--trust", "--jobs", "2", "--json"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [run["status"] for run in json.loads(printed.stdout)["runs"]] == ["done"]
    assert "learning\n" in printed.stderr


@pytest.mark.parametrize("body", ["pass", "raise RuntimeError('no luck')"])
def test_what_learners_print_and_failures_leave_the_document_whole(folder, body, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    module = f"loud_{len(body)}"
    (folder / f"{module}.py").write_text(LOUD.format(body=body))
    (folder / "c.toml").write_text(CAMPAIGN.format(module=module))
    failed = body != "pass"
    document = read("run", "c.toml", "--trust", status=int(failed))
    (run,) = document["runs"]
    assert run["status"] == ("failed" if failed else "done")
    assert ("no luck" in (run["error"] or "")) == failed
    assert document["page"] == "out/report.html"


def test_detections(folder):
    document = read("detect", "tiny.npz", "-d", "ADWIN", "-l", "mean", "-o", "out")
    (found,), (detection,) = document["detections"], load_detections("out")
    assert (found["detector"], found["scores"]) == ("ADWIN", as_json(detection)["scores"])
    assert read("report", "out")["detections"] == document["detections"]


def test_what_else_is_made(folder):
    write_table(folder / "table.arff")
    suggestion = read("suggest-tasks", "table.arff", "--max-tasks", "3", "--starts", "1", "--picture", "p.svg")
    assert (suggestion["candidates"], suggestion["picture"]) == ([2, 3], "p.svg")
    events = read("synthesise", "events", "--hosts", "2", "--days", "1", "-o", "log.csv")
    assert events["n_events"] == len((folder / "log.csv").read_text().splitlines()) - 1
    table = read("windowed", "log.csv", *["--time", "time", "--label", "threat", "--every", "1h", "-o", "log.arff"])
    assert (table["files"], table["n_labels"]) == (["log.arff", "log.keys.csv"], len(table["label_names"]))
    assert read("warm-up", "mean")["n_kernels"] == 0


@pytest.mark.parametrize(
    "line", ["inspect nothing.npz", "strategies nothing", "report nothing", "datasets --json list"]
)
def test_an_error_leaves_standard_output_empty(folder, line):
    result = invoke(*line.split(), "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert isinstance(result.exception, (ValueError, OSError))


def test_numbers_of_every_kind_are_json(capsys):
    console.print_json({"a": math.nan, "b": np.float32(0.5), "c": np.array([1, math.inf]), "d": np.int64(3), "e": "é"})
    printed = capsys.readouterr().out
    assert json.loads(printed, parse_constant=refuse) == {"a": None, "b": 0.5, "c": [1, None], "d": 3, "e": "é"}
    assert printed.count("é") == 1


def test_paths_that_are_not_utf_8_are_escaped(capsys):
    console.print_json({"path": Path("g\udcff.npz")})
    assert json.loads(capsys.readouterr().out) == {"path": "g\udcff.npz"}


def test_a_command_ends_as_others_without_a_standard_output(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with console.keep_for_json(True):
        pass
    console.print_json([])
