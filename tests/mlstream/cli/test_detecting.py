"""Detections at the shell: typed or from a file, resumed, silenced, interrupted, and reported."""

import pytest

from estimators.detectors import DETECTORS
from mlstream import save
from mlstream.campaign.detection import DetectionJob
from mlstream.cli.app import main
from mlstream.generators import drifting_stream
from mlstream.records.detection_record import load_detections
from tests.mlstream.cli.commands import invoke

FILE = """
kind = "detect"
streams = ["s.npz"]
directory = "file"
seeds = [0, 1]
max_delay = 100
errors = "hamming"

[detectors.ADWIN]
[detectors.labels]
detector = "LabelDrift"
parameters = { detector = "HDDMA" }

[learners.NN_TL]
[learners.fast]
strategy = "NN"
parameters = { learning_rate = 0.1 }
"""


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    path = tmp_path_factory.mktemp("streams") / "s.npz"
    made = drifting_stream("hyperplane", n_rows=300, n_labels=4, learning_fractions=(0.7,), seed=2, name="s")
    save(made, path)
    return path


def test_detections_are_recorded_shown_and_kept(stream, tmp_path):
    typed = ("detect", stream, "-d", "ADWIN,DDM", "-d", "ADWIN(delta=0.5)", "--learner", "mean", "-o", tmp_path / "out")
    first = invoke(*typed)
    assert first.exit_code == 0, first.output or first.exception
    assert [(one.detector, one.learner) for one in load_detections(tmp_path / "out")] == [
        ("ADWIN", "mean"),
        ("ADWIN(delta=0.5)", "mean"),
        ("DDM", "mean"),
    ]
    assert first.output.startswith(f"Running ADWIN,DDM, ADWIN(delta=0.5) on mean on {stream}; records go to ")
    assert "[1/3] ADWIN on mean on s, seed 0: done" in first.output
    again = invoke(*typed)
    assert again.output.count("recorded earlier") == 3
    report = invoke("report", tmp_path / "out")
    assert report.output == f"Wrote {tmp_path / 'out' / 'report.html'}\n"


@pytest.mark.slow
def test_a_campaign_file_gives_the_same_records_as_what_is_typed(stream, tmp_path):
    (tmp_path / "s.npz").write_bytes(stream.read_bytes())
    (tmp_path / "c.toml").write_text(FILE)
    done = invoke("run", tmp_path / "c.toml")
    assert done.exit_code == 0, done.output or done.exception
    assert f"Wrote {tmp_path / 'file' / 'report.html'}" in done.output
    assert (tmp_path / "file" / "config.toml").read_text() == FILE
    found = {(one.detector, one.learner, one.seed): one for one in load_detections(tmp_path / "file")}
    assert len(found) == 8
    options = ("--seeds", "0,1", "--max-delay", "100", "--errors", "hamming", "-o", tmp_path / "typed")
    typed = ("-d", "ADWIN", "-d", "LabelDrift(detector='HDDMA')", "-l", "NN_TL,NN(learning_rate=0.1)", *options)
    done = invoke("detect", stream, *typed)
    assert done.exit_code == 0, done.output or done.exception
    names = {"LabelDrift(detector='HDDMA')": "labels", "NN(learning_rate=0.1)": "fast"}
    for one in load_detections(tmp_path / "typed"):
        own = names.get(one.detector, one.detector), names.get(one.learner, one.learner)
        assert one.model_copy(update={"detector": own[0], "learner": own[1]}) == found[*own, one.seed]
    assert any(one.alarms for one in found.values())


def test_a_campaign_file_is_no_stream_and_the_message_names_its_command(tmp_path, monkeypatch, capsys):
    (tmp_path / "c.toml").write_text(FILE)
    monkeypatch.setattr("sys.argv", ["mlstream", "detect", str(tmp_path / "c.toml"), "-o", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as stopped:
        main()
    printed = capsys.readouterr()
    assert (stopped.value.code, printed.out) == (1, "")
    assert f"`mlstream run {tmp_path / 'c.toml'}` runs a campaign file" in printed.err


def test_a_file_may_go_elsewhere_and_in_processes(stream, tmp_path):
    (tmp_path / "s.npz").write_bytes(stream.read_bytes())
    (tmp_path / "c.toml").write_text('kind = "detect"\nstreams = ["s.npz"]\ndetectors = ["DDM"]\nlearners = ["mean"]\n')
    done = invoke("run", tmp_path / "c.toml", "-o", tmp_path / "there", "--quiet", "--jobs", "1")
    assert (done.exit_code, done.output) == (0, ""), done.exception
    assert len(load_detections(tmp_path / "there")) == 1
    assert (tmp_path / "there" / "report.html").exists()


def test_without_names_all_detectors_watch_one_network(stream, tmp_path):
    done = invoke("detect", stream, "-o", tmp_path / "out", "--quiet")
    assert (done.exit_code, done.output) == (0, ""), done.exception
    found = load_detections(tmp_path / "out")
    assert {(one.detector, one.learner) for one in found} == {(name, "NN_TL") for name in DETECTORS}


def test_an_interrupt_says_what_is_recorded_and_that_the_same_command_goes_on(stream, tmp_path, monkeypatch, capsys):
    done, run = [], DetectionJob.run

    def run_one_then_stop(job):
        if done:
            raise KeyboardInterrupt
        done.append(1)
        return run(job)

    monkeypatch.setattr(DetectionJob, "run", run_one_then_stop)
    typed = ["detect", stream, "-d", "DDM,ADWIN", "-l", "mean,last_class", "-o", tmp_path / "out"]
    monkeypatch.setattr("sys.argv", ["mlstream", *map(str, typed)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 130
    assert capsys.readouterr().err == (
        f"Interrupted: 2 of 4 detections recorded in {tmp_path / 'out'}; the same command goes on.\n"
    )
    assert len(load_detections(tmp_path / "out")) == 2


def test_a_failure_is_one_line_that_names_the_traceback(stream, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("mlstream.campaign.detection.detect_all", lambda *_: [ArithmeticError("no")])
    typed = ["detect", stream, "-d", "DDM", "-l", "mean", "-o", tmp_path / "out", "--quiet"]
    monkeypatch.setattr("sys.argv", ["mlstream", *map(str, typed)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith(
        "Error: 1 of 1 detections failed and are tried again by the next start. Got ArithmeticError: no"
    )
    assert "DDM-seed0.json keeps the traceback" in error
