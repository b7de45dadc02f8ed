"""Detections made by hand, as the protocol records them, without any learner."""

from pathlib import Path

import numpy as np

from metrics import detection_scores
from metrics.detection import match_alarms
from mlstream.evaluation.detect import _UNDEFINED
from mlstream.records.detection_record import Alarm, Detection, TrueDrift, save_detection
from mlstream.records.run_record import save_card
from mlstream.records.run_result import to_score
from tests.mlstream.records.run_records import MACHINE, SIZES, VERSIONS, make_card

N_ROWS = sum(SIZES)
DRIFTS = [TrueDrift(start=row, stop=row + 40, what="task 3 to task 1: gradual") for row in (260, 686, 1106)]
# Detector -> alarms, seed by seed.
ALARMS = {
    "ADWIN": ((100, 300, 310, 700), (300, 690)),
    "LabelDrift": ((290, 720, 1200), (280, 800, 1110, 1600)),
    "DDM": ((), ()),
}


def make_detection(detector="ADWIN", learner="NN_TL", seed=0, stream="yeast", rows=None, **changes):
    """Record a detection."""
    drifts = changes.pop("drifts", DRIFTS)
    rows = ALARMS[detector][seed] if rows is None else rows
    spans = np.array([(one.start, one.stop) for one in drifts], dtype=int).reshape(-1, 2)
    limits = {"n_samples": N_ROWS, "max_delay": 60, "max_early": 0}
    owners = match_alarms(spans, np.array(rows, dtype=int), **limits)
    found = detection_scores(spans, np.array(rows, dtype=int), **limits)._asdict()
    scores = {name: to_score(value) for name, value in found.items()}
    labels = [0, 12] if detector == "LabelDrift" else []
    alarms = [
        Alarm(row=row, drift=int(owner) if owner >= 0 else None, labels=labels)
        for row, owner in zip(rows, owners, strict=True)
    ]
    record = {
        "detector": detector,
        "detector_class": f"{detector}()",
        "detector_parameters": {"delta": 0.002},
        "learner": learner,
        "estimator": f"{learner}Classifier(random_state={seed})",
        "parameters": {"learning_rate": 0.01},
        "seed": seed,
        "stream": stream,
        "stream_sha256": "cd" * 32,
        "n_rows": N_ROWS,
        "label_space": "task",
        "settings": {"errors": "subset", "max_delay": 60, "max_early": 0},
        "drifts": drifts,
        "status": "done",
        "error_rate": 0.4,
        "alarms": alarms,
        "scores": scores,
        "undefined": {name: _UNDEFINED[name] for name, value in scores.items() if value is None},
        "versions": VERSIONS,
        "machine": MACHINE,
    }
    return Detection.model_validate(record | changes)


def make_failed_detection(detector="DDM", learner="NN_TL", seed=1, stream="yeast"):
    """Record a detection that failed."""
    error = 'Traceback (most recent call last):\n  File "d.py", line 3\nValueError: values must be 0 or 1.'
    nothing = {"alarms": [], "scores": {}, "undefined": {}, "error_rate": None}
    return make_detection(detector, learner, seed, stream, status="failed", error=error, **nothing)


def write_detections(directory: Path, streams=("yeast",), learners=("NN_TL", "BR_HT")):
    """Write two seeds of every detector on every learner and stream; one of them failed."""
    for stream in streams:
        save_card(make_card(stream), directory)
        for learner in learners:
            for detector in ALARMS:
                for seed in (0, 1):
                    is_failed = (detector, learner, seed) == ("DDM", "NN_TL", 1)
                    make = make_failed_detection if is_failed else make_detection
                    save_detection(make(detector, learner, seed, stream), directory)
    return directory
