"""Hostile calls find defects that are put in on purpose, and none in a learner that has none."""

import os
import pickle
import signal
import time
import warnings

import numpy as np
import pytest

from estimators import MeanLabelsClassifier
from tests.estimators.instances import BATCHES, IN_STREAMS, MEMORIES, made
from tests.soak import hostile
from tests.soak.hostile import detectors, resume, sequences, threads
from tests.soak.hostile.apart import run_apart

SEEDS = range(6)


def _say(step):
    """Say nothing."""


def _failures(monkeypatch, method, defect, work=sequences.run_calls, name="mean", seeds=SEEDS):
    """Return what several trials say of an object of which a method has a defect."""
    kind = type(made(name))
    monkeypatch.setattr(kind, method, defect(getattr(kind, method)))
    said = []
    for seed in seeds:
        try:
            work(_say, name, [seed])
        except Exception as error:
            said.append(f"{type(error).__name__}: {error}")
    return " ".join(said)


def test_a_learner_without_a_defect_passes():
    counts = sum((sequences.run_calls(_say, "mean", [seed]) for seed in SEEDS), start=sequences.Counter())
    assert min(counts["hostile calls: refused"], counts["hostile calls: taken"]) > 10


def test_a_silent_nan_is_found(monkeypatch):
    def defect(proba):
        return lambda self, X: proba(self, X) + np.where(X.max() > 0.95, np.nan, 0.0)

    assert "a probability is NaN" in _failures(monkeypatch, "_predict_proba", defect)


def test_a_warning_is_found(monkeypatch):
    def defect(learn):
        def warning(self, *rows):
            learn(self, *rows)
            warnings.warn("overflow encountered", RuntimeWarning, stacklevel=1)

        return warning

    assert "RuntimeWarning: overflow" in _failures(monkeypatch, "_learn", defect)


def test_state_that_a_refused_call_changed_is_found(monkeypatch):
    def defect(check):
        def checked(self, X, *rest):
            if hasattr(self, "counts_"):
                self.counts_[:] += 1
            return check(self, X, *rest)

        return checked

    assert "changed what is predicted" in _failures(monkeypatch, "_check_chunk", defect)


@pytest.mark.parametrize("message", ["two\nlines", ""])
def test_a_message_of_other_than_one_line_is_found(monkeypatch, message):
    def defect(check):
        def checked(self, X, *rest):
            try:
                return check(self, X, *rest)
            except ValueError:
                raise ValueError(message) from None

        return checked

    assert "the message must be one line" in _failures(monkeypatch, "_check_chunk", defect)


def test_an_error_of_another_kind_is_found(monkeypatch):
    def defect(check):
        def checked(self, X, *rest):
            try:
                return check(self, X, *rest)
            except ValueError as error:
                raise KeyError from error

        return checked

    assert "KeyError" in _failures(monkeypatch, "_check_chunk", defect)


def test_arguments_that_are_changed_are_found(monkeypatch):
    def defect(learn):
        def writing(self, X, *rows):
            learn(self, X, *rows)
            if isinstance(X, np.ndarray) and X.flags.writeable:
                X[:] = 0

        return writing

    assert "the arguments were changed" in _failures(monkeypatch, "_learn", defect)


def test_rows_lost_between_threads_are_found(monkeypatch):
    def defect(learn):
        calls = iter(range(10**6))

        def forgetting(self, *rows):
            if next(calls) != 20:
                learn(self, *rows)

        return forgetting

    # a constant chunk would hide a lost one: the mean of labels is the same after any number of chunks
    monkeypatch.setattr(MeanLabelsClassifier, "_predict_proba", lambda self, X: self.counts_[[0]] % 97 / 97 * np.ones(
        (X.shape[0], self.n_labels_)
    ))  # fmt: skip
    assert "rows were lost" in _failures(monkeypatch, "_learn", defect, threads.run_threads)


def _save_another(learner, path, how):
    other = made("mean").fit(np.ones((3, 6)), np.ones((3, 4), dtype=int))
    path.write_bytes(pickle.dumps(other))
    return "pickle"


@pytest.mark.soak
def test_state_that_is_not_saved_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(resume, "save", _save_another)
    with pytest.raises(AssertionError, match="predicts other bits"):
        resume.run_resume(_say, "mean", [0], tmp_path)


@pytest.mark.soak
def test_a_detector_that_a_refused_call_changed_is_found(monkeypatch):
    def defect(update):
        def updating(self, values):
            if np.shape(values) == (1, 30):
                update(self, np.ones(50))
            return update(self, values)

        return updating

    found = _failures(monkeypatch, "update_many", defect, detectors.run_values, "DDM", range(40))
    assert "changed what comes later" in found


def _die(step):
    step("dying")
    os.kill(os.getpid(), signal.SIGSEGV)


def _hang(step):
    step("waiting")
    time.sleep(60)


@pytest.mark.parametrize(
    ("work", "said"), [(_die, "dying: the process died of SIGSEGV"), (_hang, "waiting: has not returned after 0.5 s")]
)
def test_a_crash_and_a_wait_without_end_are_failures(work, said):
    patience = 60 if work is _die else 0.5
    with pytest.raises(AssertionError, match=said):
        run_apart(work, patience_s=patience)


def test_every_object_is_tried_in_every_way():
    tried = {work: {name for one, name in hostile._ROUND if one is work} for work, _ in hostile._ROUND}
    learners = {*IN_STREAMS, *BATCHES}
    assert tried[sequences.run_calls] == tried[resume.run_resume] == learners
    assert tried[detectors.run_values] >= set(MEMORIES)
    assert tried[threads.run_threads] == learners | tried[detectors.run_values]


def test_a_trial_alone_counts_what_it_tried(tmp_path):
    trial = hostile.prepare(tmp_path, 0)
    place = [name for _, name in hostile._ROUND].index("mean")
    assert trial(place, np.random.default_rng([0, place])) == trial(place, np.random.default_rng([0, place]))
