"""Records of detections: read as written, versioned, consistent, and never overwritten silently."""

import json
import math
import re
from pathlib import Path

import pytest

from mlstream.records.detection_record import (
    Detections,
    TrueDrift,
    detection_path_of,
    load_detection,
    load_detections,
    require_detected,
    save_detection,
)
from mlstream.records.schema import SCHEMA_VERSION
from tests.mlstream.records.detections import DRIFTS, make_detection, make_failed_detection, write_detections

STORED = Path(__file__).parent / "stored" / "detection_of_0.1.json"


def test_a_record_is_read_as_it_was_written(tmp_path):
    one = make_detection("LabelDrift")
    path = save_detection(one, tmp_path)
    assert path == tmp_path / "detections" / "yeast" / "NN_TL" / "LabelDrift-seed0.json"
    assert load_detection(path) == one
    assert json.loads(path.read_text())["schema_version"] == SCHEMA_VERSION


def test_a_record_that_was_stored_is_read_in_all_versions_to_come():
    """The file is never written again; a change of the schema has to read it."""
    one = load_detection(STORED)
    assert (one.detector, one.learner, one.stream, one.seed) == ("LabelDrift", "BR_HT", "drifting-hyperplane", 0)
    assert [(drift.start, drift.stop) for drift in one.drifts] == [(350, 350), (700, 700)]
    assert [(alarm.row, alarm.drift, alarm.labels) for alarm in one.alarms] == [
        (355, 0, [1]),
        (370, 0, [3]),
        (379, 0, [0]),
        (487, 0, [0]),
        (911, None, [1]),
    ]
    assert (one.scores["detection_rate"], one.scores["mean_delay"], one.settings["max_delay"]) == (0.5, 5, 150)
    assert one.undefined == {}


def test_a_newer_record_is_refused_with_the_way_out(tmp_path):
    path = save_detection(make_detection(), tmp_path)
    path.write_text(path.read_text().replace(f'"schema_version": {SCHEMA_VERSION}', '"schema_version": 99'))
    with pytest.raises(ValueError, match=r"must hold a Detection of this version \(update mlstream.* Got 99 instead"):
        load_detections(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": "red"}, "colour"),
        ({"status": "capped"}, "status must be 'done' or 'failed'. Got 'capped' instead"),
        ({"alarms": [{"row": 5, "drift": None}, {"row": 5, "drift": None}]}, "alarms must be in order, and at rows up"),
        ({"alarms": [{"row": 10**6, "drift": None}]}, "alarms must be in order, and at rows up to"),
        ({"alarms": [{"row": 300, "drift": 3}]}, "alarms must belong to drifts from 0 to 2. Got 3 instead"),
        ({"drifts": [{"start": 9, "stop": 5, "what": ""}]}, "drifts must be in order, and at rows up to"),
        ({"n_rows": 0}, "n_rows"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(tmp_path, changes, message):
    path = save_detection(make_detection(), tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        load_detections(tmp_path)
    assert str(path) in str(error.value)


def test_only_a_failure_is_replaced(tmp_path):
    path = save_detection(make_failed_detection(seed=0), tmp_path)
    done = make_detection("DDM")
    assert save_detection(done, tmp_path) == path
    with pytest.raises(FileExistsError, match="it holds the record of an earlier detection"):
        save_detection(make_failed_detection(seed=0), tmp_path)
    assert load_detection(path) == done


def test_a_copy_under_another_name_is_refused(tmp_path):
    path = save_detection(make_detection(), tmp_path)
    path.with_name("DDM-seed0.json").write_text(path.read_text())
    with pytest.raises(ValueError, match=r"DDM-seed0.json must hold the detection of its name"):
        load_detections(tmp_path)


def test_all_detections_are_a_table(tmp_path):
    frame = load_detections(write_detections(tmp_path)).to_frame()
    assert len(frame) == 12
    row = frame[(frame.detector == "ADWIN") & (frame.learner == "BR_HT") & (frame.seed == 0)].iloc[0]
    assert (row.n_drifts, row.n_alarms, row.n_false_alarms) == (3, 4, 1)
    assert math.isnan(frame[frame.status == "failed"].f1.iloc[0])


def test_a_folder_without_detections_has_none(tmp_path):
    assert load_detections(tmp_path) == Detections()
    assert load_detections(tmp_path / "nowhere") == []


def test_any_names_keep_files_of_their_own(tmp_path):
    names = ["LabelDrift(detector='HDDMA')", "../up", "a/b", "con"]
    paths = {detection_path_of(make_detection(rows=(), detector=name), tmp_path) for name in names}
    assert len(paths) == len(names)
    assert all(path.parent == tmp_path / "detections" / "yeast" / "NN_TL" for path in paths)


def test_failures_are_reported_with_the_file_that_keeps_the_traceback(tmp_path):
    require_detected([make_detection()], tmp_path)
    with pytest.raises(
        RuntimeError, match=r"1 of 2 detections failed .* Got ValueError: values must be 0 or 1\. \(.*json"
    ):
        require_detected([make_detection(), make_failed_detection()], tmp_path)


def test_it_states_itself_in_a_line():
    text = repr(make_detection())
    assert text.startswith("Detection('ADWIN' on 'NN_TL' on 'yeast', seed 0: done, 4 alarms for 3 drifts, f1 0.")
    assert TrueDrift.model_validate(DRIFTS[0].model_dump()) == DRIFTS[0]
