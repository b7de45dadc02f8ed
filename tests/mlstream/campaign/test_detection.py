"""A campaign of detections records each, makes none twice, and goes on after a failure."""

import re

import pytest

from estimators.drift import ADWIN, DDM, LabelDrift
from mlstream import detect, run_detections
from mlstream.generators import drifting_stream
from mlstream.records.detection_record import load_detection, load_detections
from mlstream.records.run_record import load_cards
from tests.loops import check_all
from tests.mlstream.evaluation.streams import Online, make_stream
from tests.mlstream.evaluation.test_detect import Broken, Untouched

STREAM = drifting_stream("hyperplane", n_rows=300, n_concepts=3, n_labels=4, learning_fractions=(0.7,), seed=2)


class Failing(Online):
    """Fails at its first lesson."""

    def partial_fit(self, X, Y):
        raise ArithmeticError("no lesson")


class Quitting(Online):
    """Ends the process at its first lesson."""

    def partial_fit(self, X, Y):
        raise SystemExit(3)


def test_every_detection_is_recorded_with_the_card_of_its_stream(tmp_path):
    streams = [STREAM, make_stream()]
    found = run_detections(["ADWIN", "DDM"], streams, ["mean", "NN"], tmp_path, seeds=[0, 1], config="x = 1\n")
    names = [(one.stream, one.learner, one.seed, one.detector) for one in found]
    assert names == [
        (stream.card.name, learner, seed, detector)
        for stream in streams
        for learner in ("mean", "NN")
        for seed in (0, 1)
        for detector in ("ADWIN", "DDM")
    ]
    assert sorted(names) == sorted(
        (one.stream, one.learner, one.seed, one.detector) for one in load_detections(tmp_path)
    )
    assert load_cards(tmp_path) == {stream.card.name: stream.card for stream in streams}
    assert (tmp_path / "config.toml").read_text() == "x = 1\n"
    alone = detect("DDM", STREAM, learner="NN", seed=1)
    assert found[names.index((STREAM.card.name, "NN", 1, "DDM"))] == alone


def test_what_is_recorded_is_not_made_again(tmp_path):
    first = run_detections({"a": ADWIN()}, [STREAM], {"l": Online()}, tmp_path)
    path = tmp_path / "detections" / STREAM.card.name / "l" / "a-seed0.json"
    before = path.stat().st_mtime_ns
    events = []
    given = {"streams": [STREAM], "learners": {"l": Online()}, "directory": tmp_path}
    again = run_detections({"a": ADWIN()}, **given, progress=lambda *event: events.append(event))
    assert again == first
    assert path.stat().st_mtime_ns == before
    assert [(one.detector, *rest) for one, *rest in events] == [("a", True, 1, 1)]
    more = run_detections({"a": ADWIN(), "b": DDM()}, **given, progress=lambda *event: events.append(event))
    assert [one.detector for one in more] == ["a", "b"]
    assert [(one.detector, *rest) for one, *rest in events[1:]] == [("a", True, 1, 2), ("b", False, 2, 2)]


def test_processes_make_the_same_records(tmp_path):
    options = {"seeds": [0, 1], "errors": "hamming"}
    names = {"ADWIN": ADWIN(delta=0.3), "labels": LabelDrift(ADWIN(delta=0.3))}
    serial = run_detections(names, [STREAM], ["NN"], tmp_path / "one", **options)
    parallel = run_detections(names, [STREAM], ["NN"], tmp_path / "two", n_jobs=2, **options)
    assert parallel == serial
    assert any(one.alarms for one in serial)


@pytest.mark.parametrize("learner", [Failing(), Quitting()])
def test_a_learner_that_fails_is_recorded_and_stops_no_other(tmp_path, learner):
    found = run_detections(["ADWIN"], [STREAM], {"bad": learner, "good": Online()}, tmp_path)
    assert [one.status for one in found] == ["failed", "done"]
    assert "no lesson" in found[0].error or "SystemExit" in found[0].error
    assert found[0].error.startswith("Traceback") or "SystemExit" in found[0].error
    assert (found[0].alarms, found[0].scores) == ([], {})


def test_a_detector_that_fails_is_recorded_and_tried_again(tmp_path):
    found = run_detections({"a": Broken(), "b": ADWIN()}, [STREAM], {"l": Online()}, tmp_path)
    assert [one.status for one in found] == ["failed", "done"]
    assert "ArithmeticError: broken" in found[0].error
    path = tmp_path / "detections" / STREAM.card.name / "l" / "a-seed0.json"
    assert load_detection(path) == found[0]
    # The record of a failure does not fit another detector, either.
    with pytest.raises(ValueError, match="must be the record of the requested run: use another folder"):
        run_detections({"a": ADWIN()}, [STREAM], {"l": Online()}, tmp_path)
    again = run_detections({"a": Broken()}, [STREAM], {"l": Online()}, tmp_path)
    assert [one.status for one in again] == ["failed"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"detectors": {"a": ADWIN(delta=0.5)}}, "Got detector_class = "),
        ({"learners": {"l": Online(step=0.1)}}, "Got parameters = {'step': 0.5} instead of {'step': 0.1}"),
        ({"max_delay": 7}, "Got settings = {'max_delay': 105} instead of {'max_delay': 7}"),
        ({"errors": "hamming"}, "Got settings = {'errors': 'subset'} instead of {'errors': 'hamming'}"),
        ({"label_space": "all"}, "Got label_space = 'task' instead of 'all'"),
        ({"streams": [make_stream(name=STREAM.card.name)]}, "Got stream_sha256 = "),
    ],
)
def test_the_record_of_another_detection_is_refused_and_kept(tmp_path, changes, message):
    given = {"detectors": {"a": ADWIN()}, "streams": [STREAM], "learners": {"l": Online()}}
    (first,) = run_detections(**given, directory=tmp_path)
    with pytest.raises(ValueError, match=re.escape(message)):
        run_detections(**given | changes, directory=tmp_path)
    assert load_detections(tmp_path) == [first]


def test_what_is_wrong_is_refused_before_anything_is_written(tmp_path):
    def check(case):
        number, (changes, message) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        given = {
            "detectors": ["ADWIN"],
            "streams": [STREAM],
            "learners": {"l": Untouched()},
            "directory": folder / "new",
        }
        with pytest.raises(ValueError, match=re.escape(message)):
            run_detections(**given | changes)
        assert not (folder / "new").exists()

    check_all(
        enumerate(
            [
                ({"detectors": ["ADWN"]}, "did you mean 'ADWIN'?"),
                ({"detectors": {"a": ADWIN(delta=7)}}, "delta must be"),
                ({"detectors": ["EDDM"], "errors": "hamming"}, "errors (--errors) must be 'subset' for EDDM"),
                ({"learners": ["NNN"]}, "did you mean 'NN'?"),
                ({"seeds": [0, 0]}, "seeds must hold each number once"),
                ({"n_jobs": 0}, "n_jobs must be a number of processes"),
                ({"seeds": []}, "must have detectors, streams, learners and seeds. Got an empty list of one of them."),
                ({"detectors": []}, "Got an empty list of one of them."),
                ({"streams": [STREAM, STREAM]}, "Streams of a campaign must differ."),
            ]
        ),
        check,
    )


@pytest.mark.parametrize("name", ["detectors", "streams", "learners"])
def test_one_name_alone_is_refused(tmp_path, name):
    given = {"detectors": ["ADWIN"], "streams": [STREAM], "learners": ["mean"], "directory": tmp_path}
    with pytest.raises(TypeError, match=f"{name} must be a list, of names for example. Got 'ADWIN' instead."):
        run_detections(**given | {name: "ADWIN"})


@pytest.mark.parametrize("name", ["detectors", "learners"])
def test_a_name_that_is_no_text_is_refused(tmp_path, name):
    given = {"detectors": ["ADWIN"], "learners": ["mean"]} | {name: {1: "DDM"}}
    with pytest.raises(TypeError, match=rf"The names of {name} must be text.* Got 1 instead"):
        run_detections(streams=[make_stream()], directory=tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()
