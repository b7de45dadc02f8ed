"""Records reach a real MLflow server whole, and once."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from mlstream.interop.mlflow import HASH_TAG, Measure, to_measures, to_parameters, to_tags, track
from mlstream.records.paths import run_path
from mlstream.records.run_record import load_runs, save_run
from tests.mlstream.cli.commands import invoke
from tests.mlstream.data.loopback import serve
from tests.mlstream.interop.mlflow_server import QUIET, run_mlflow
from tests.mlstream.records.run_records import make_failed, make_run, write_campaign

# By MLflow's documentation.
ALLOWED = re.compile(r"[A-Za-z0-9_\-./ :]{1,250}")
N_RECORDS = 12

# Its packages use what others have deprecated.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("mlflow.server", reason="needs the package mlflow, its server")
    with run_mlflow(tmp_path_factory.mktemp("mlflow")) as address:
        yield address


@pytest.fixture
def client(server: str, monkeypatch: pytest.MonkeyPatch):
    from mlflow import MlflowClient

    for name, value in (QUIET | {"MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true"}).items():
        monkeypatch.setenv(name, value)
    return MlflowClient(server)


def runs_of(client, experiment: str) -> dict[str, object]:
    place = client.get_experiment_by_name(experiment).experiment_id
    return {run.info.run_name: run for run in client.search_runs([place])}


def test_every_number_of_a_record_has_a_name_of_its_own_that_mlflow_takes():
    scores = {"bwt_stepwise": 0.1, "bwt_stepwise_gains": 0.2, "bwt": 0.3, "nce[test-0]": -0.5, "fm": None}
    run = make_run("NN", scores=scores)
    measures = to_measures(run)
    keys = {(one.key.lower(), one.step) for one in measures}
    assert len(keys) == len(measures)
    assert all(ALLOWED.fullmatch(one.key) for one in measures)
    curve, R = run.curves["ba_macro"], run.R["ba_macro"]
    expected = len(scores) - 1 + 2 * len(curve.n_rows) - curve.cumulative.count(None) + sum(map(len, R))
    assert len([one for one in measures if not one.key.startswith("resources")]) == expected
    assert Measure("curve/ba_macro-windowed", curve.windowed[3], curve.n_rows[3]) in measures
    assert Measure("R/ba_macro/task-2", R[5][2], 5) in measures
    assert Measure("resources/online/wall_time_s", run.resources.phases["online"].wall_time_s) in measures


def test_what_mlflow_cannot_store_is_cut():
    run = make_run("NN", parameters={"a*b": "x" * 9000, "n": [1, 2]}, error="start" + "x" * 9000 + "end")
    parameters, tags = to_parameters(run), to_tags(run)
    assert len(parameters["a_b"]) == 6000
    assert (parameters["n"], parameters["settings/one_class"], parameters["settings/label_space"]) == (
        "[1, 2]",
        "skip",
        "task",
    )
    assert (len(tags["error"]), tags["error"][-4:]) == (8000, "xend")
    assert (tags["seed"], tags["version/numpy"]) == ("0", "2.4.6")
    assert "order_seed" not in tags


@pytest.mark.slow
def test_a_campaign_is_there_whole_and_once(client, server, tmp_path):
    folder = write_campaign(tmp_path / "campaign")
    told = []
    done = track(folder, server, experiment="whole", progress=lambda *counts: told.append(counts))
    assert (done.n_written, done.n_kept) == (N_RECORDS, 0)
    assert told == [(number, N_RECORDS) for number in range(1, N_RECORDS + 1)]
    runs = runs_of(client, "whole")
    for record in load_runs(folder):
        run = runs[f"{record.strategy} on yeast, seed{record.seed}"]
        assert run.info.status == ("FAILED" if record.status == "failed" else "FINISHED")
        assert run.data.params == to_parameters(record)
        assert run.data.tags.items() >= to_tags(record).items()
        for name in ("acc", "bwt", "fm"):
            assert run.data.metrics.get(name) == record.scores.get(name)
    again = track(folder, server, experiment="whole")
    assert (again.n_written, again.n_kept) == (0, N_RECORDS)
    assert len(runs_of(client, "whole")) == N_RECORDS


@pytest.mark.slow
def test_curves_and_the_record_itself_come_back(client, server, tmp_path):
    path = save_run(make_run("NN_TL"), tmp_path / "campaign")
    track(tmp_path / "campaign", server, experiment="curves")
    run = runs_of(client, "curves")["NN_TL on yeast, seed0"]
    curve = make_run("NN_TL").curves["ba_macro"]
    history = client.get_metric_history(run.info.run_id, "curve/ba_macro-windowed")
    assert [(one.step, one.value) for one in history] == list(zip(curve.n_rows, curve.windowed, strict=True))
    copy = client.download_artifacts(run.info.run_id, path.name, str(tmp_path))
    assert Path(copy).read_bytes() == path.read_bytes()


@pytest.mark.slow
def test_a_record_made_again_is_another_run_and_one_left_half_written_is_replaced(client, server, tmp_path):
    folder = tmp_path / "campaign"
    path = save_run(make_failed("NN", 0), folder)
    track(folder, server, experiment="again")
    save_run(make_run("NN", 0), folder)
    assert track(folder, server, experiment="again").n_written == 1
    place = client.get_experiment_by_name("again").experiment_id
    runs = client.search_runs([place])
    assert sorted(run.info.status for run in runs) == ["FAILED", "FINISHED"]
    whole = next(run for run in runs if run.info.status == "FINISHED")
    client.set_terminated(whole.info.run_id, "RUNNING")
    assert track(folder, server, experiment="again").n_written == 1
    after = [run for run in client.search_runs([place]) if run.info.status == "FINISHED"]
    assert [run.data.tags[HASH_TAG] for run in after] == [whole.data.tags[HASH_TAG]]
    assert after[0].info.run_id != whole.info.run_id
    assert path == run_path(folder, "yeast", "NN", 0)


@pytest.mark.slow
def test_the_command_says_what_it_wrote_and_what_is_wrong(client, server, tmp_path):
    save_run(make_run(), tmp_path / "campaign")
    command = ("track", tmp_path / "campaign", "--to", server)
    assert invoke(*command).output.startswith(f"Wrote 1 runs; 0 existed. {server}/#/experiments/")
    client.delete_experiment(client.get_experiment_by_name("mlstream").experiment_id)
    assert str(invoke(*command).exception) == (
        "The experiment must not be a deleted one: restore it, or use another name. Got 'mlstream'."
    )


@pytest.mark.slow
def test_a_server_that_is_away_or_no_mlflow_is_one_error_at_once(tmp_path):
    pytest.importorskip("mlflow", reason="needs the extra `mlflow`")
    save_run(make_run(), tmp_path / "campaign")
    with pytest.raises(OSError, match=r"server must answer at http://127\.0\.0\.1:1 .* Got ConnectionError\."):
        track(tmp_path / "campaign", "http://127.0.0.1:1")
    with serve() as other:
        other.answers = _Nothing()
        with pytest.raises(OSError, match=r"must take the records\. Got .*404"):
            track(tmp_path / "campaign", other.url(""))


@pytest.mark.parametrize("chosen", [None, "0"])
def test_a_server_that_goes_away_is_given_up_soon_unless_the_user_sets_how_soon(tmp_path, monkeypatch, chosen):
    pytest.importorskip("mlflow", reason="needs the extra `mlflow`")
    save_run(make_run(), tmp_path / "campaign")
    name, seen = "MLFLOW_HTTP_REQUEST_MAX_RETRIES", []
    monkeypatch.delenv(name, raising=False)
    if chosen is not None:
        monkeypatch.setenv(name, chosen)

    def go_away(client, experiment):
        seen.append(os.environ[name])
        raise requests.ConnectionError("refused")

    monkeypatch.setattr("mlstream.interop.mlflow._find_experiment", go_away)
    with serve() as other:
        other.answers = _Nothing()
        with pytest.raises(OSError, match=r"Got refused\. Start it, then the same command again: records that it has"):
            track(tmp_path / "campaign", other.url(""))
    assert seen == [chosen or "4"]
    assert os.environ.get(name) == chosen


def test_nothing_is_sent_without_records_an_address_and_the_package(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="must hold records of runs"):
        track(tmp_path, "http://127.0.0.1:1")
    path = save_run(make_run(), tmp_path)
    with pytest.raises(ValueError, match=r"must be that of an MLflow server, http://HOST:PORT\. Got 'mlruns'"):
        track(tmp_path, "mlruns")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ImportError, match=r"pip install 'mlstream-toolkit\[mlflow\]'"):
        track(tmp_path, "http://127.0.0.1:1")
    path.write_text(json.dumps({"schema_version": 2}), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(os.fspath(path))):
        track(tmp_path, "http://127.0.0.1:1")


class _Nothing(dict):
    """Whatever is asked for is not there."""

    def __missing__(self, path: str):
        return lambda request: request.send(b"not here", 404)
