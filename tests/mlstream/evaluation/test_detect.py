"""Detectors on the errors of learners: an oracle is perfect, silence finds nothing, and loops agree."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from estimators import make_strategy
from estimators.detectors import DETECTORS, make_detector
from estimators.drift import ADWIN, DDM, EDDM, KSWIN, LabelDrift, LabelSetDrift, PageHinkley
from metrics import detection_scores
from mlstream import detect
from mlstream.evaluation.detect import SeededLearner, detect_all, true_drifts
from mlstream.evaluation.learners import fresh
from mlstream.evaluation.settings import DetectionOptions, Settings
from mlstream.evaluation.watching import Watcher, mistakes_along
from mlstream.generators import delayed_labels, drifting_stream, missing_labels, multiplier_stream, reordered_rows
from mlstream.streams.stream import Stream, StreamParts
from tests.loops import check_all, in_two_tiers
from tests.mlstream.evaluation.streams import Online, Targeted, make_stream
from tests.mlstream.generators.test_registry import STREAMS

STREAM = drifting_stream("hyperplane", n_rows=900, n_concepts=3, n_labels=4, learning_fractions=(0.7,), seed=2)


class Oracle(BaseEstimator):
    """Signals at the values of which it was told, whatever they are."""

    def __init__(self, places=()):
        self.places = places

    def update_many(self, values):
        start = getattr(self, "n_", 0)
        self.n_ = start + len(values)
        return np.isin(np.arange(start, self.n_), self.places)


class Keeping(BaseEstimator):
    """Never signals, and keeps the values in a list that all clones share."""

    values: list = []  # noqa: RUF012 - emptied by each test

    def update_many(self, values):
        Keeping.values += np.asarray(values).tolist()
        return np.zeros(len(values), dtype=bool)


def rows_with_labels(stream):
    """Rows of which a label of the own task is shown: those that have an error."""
    known = [
        (np.broadcast_to(part.label_mask, part.Y.shape) & ~np.isnan(part.Y.astype(float))).any(axis=1)
        for part in stream
    ]
    return np.flatnonzero(np.concatenate(known))


def labels_of(stream):
    return np.concatenate([np.nan_to_num(part.Y.astype(float)) for part in stream])


@pytest.mark.slow
def test_who_knows_the_truth_is_perfect_on_every_kind_of_stream():
    def check(name):
        stream = STREAMS[name]()
        rows = rows_with_labels(stream)
        drifts = true_drifts(stream)
        places = np.unique([np.searchsorted(rows, drift.start) for drift in drifts]).tolist() if drifts else []
        found = detect(Oracle(places), stream, learner="mean", label_space="task")
        assert found.scores["n_false_alarms"] == 0
        assert found.scores["false_alarms_per_1000"] == 0
        if not drifts:
            assert found.scores["detection_rate"] is None
            return
        assert [found.scores[one] for one in ("detection_rate", "precision", "recall", "f1")] == [1, 1, 1, 1]
        assert [alarm.drift for alarm in found.alarms] == list(range(len(drifts)))
        if len(rows) == stream.n_samples:
            assert found.scores["mean_delay"] == found.scores["normalised_delay"] == 0

    check_all(sorted(STREAMS), check)


def test_silence_finds_nothing_and_raises_no_false_alarm():
    def check(name):
        stream = STREAMS[name]()
        found = detect(Oracle(), stream, learner="mean")
        assert found.alarms == []
        assert found.scores["false_alarms_per_1000"] == found.scores["alarms_per_1000"] == 0
        assert found.scores["normalised_time_between"] is None
        assert found.undefined["normalised_time_between"] == "There was no false alarm."
        if found.drifts:
            assert [found.scores[one] for one in ("detection_rate", "recall", "f1")] == [0, 0, 0]
            assert found.undefined["mean_delay"] == "No drift was found."
        else:
            assert found.undefined["recall"] == "The stream has no drift that is known."

    check_all(sorted(STREAMS), check)


def test_alarms_are_those_of_a_loop_over_rows_with_detectors_of_river():
    from river import drift as river

    """No code is shared: the learner is called row by row, the detector is River's."""
    X = np.concatenate([part.X for part in STREAM])
    Y = np.concatenate([part.Y for part in STREAM])
    learner, detector, alarms, n_wrong = make_strategy("NN", learning_rate=0.1, random_state=3), river.ADWIN(), [], 0
    # Before the first row, the learner predicts from its start state.
    learner.begin(X[:1], Y[:1])
    for row in range(len(X)):
        wrong = bool((learner.predict(X[row : row + 1])[0] != Y[row]).any())
        learner.partial_fit(X[row : row + 1], Y[row : row + 1])
        n_wrong += wrong
        detector.update(wrong)
        if detector.drift_detected:
            alarms.append(row)
    found = detect("ADWIN", STREAM, learner=make_strategy("NN", learning_rate=0.1), seed=3, max_delay=200)
    assert [alarm.row for alarm in found.alarms] == alarms
    assert alarms
    assert found.error_rate == n_wrong / len(X)
    scores = detection_scores([630, 1260], alarms, n_samples=len(X), max_delay=200)
    assert {name: math.nan if value is None else value for name, value in found.scores.items()} == pytest.approx(
        scores._asdict(), nan_ok=True
    )


@pytest.mark.parametrize("kind", ["subset", "hamming"])
def test_errors_are_counted_as_a_loop_over_cells_does(kind):
    Keeping.values = []
    stream = missing_labels(make_stream(), rate=0.6, seed=0)
    detect(Keeping(), stream, learner=Targeted(), errors=kind, label_space="task")
    learner, expected = fresh(Targeted(), 0), []
    for number, part in enumerate(stream):
        masks = np.broadcast_to(part.label_mask, part.Y.shape)
        for row in range(len(part)):
            known = [j for j in range(5) if masks[row, j] and not np.isnan(part.Y[row, j])]
            if not known:
                continue
            started = bool(number or expected)
            decided = learner.predict(part.X[row : row + 1])[0] if started else np.zeros(5)
            wrong = [decided[j] != part.Y[row, j] for j in known]
            expected.append(float(any(wrong)) if kind == "subset" else sum(wrong) / len(wrong))
            mask = np.isin(np.arange(5), known)
            learner.partial_fit(part.X[row : row + 1], np.nan_to_num(part.Y[row : row + 1]), label_mask=mask)
    assert Keeping.values == expected


def test_label_drift_is_given_the_error_of_each_label():
    wrong, counted, Y = [], [], []
    for mistakes in mistakes_along(fresh(make_strategy("NN_TL"), 0), STREAM, Settings()):
        wrong.append(mistakes.wrong)
        counted.append(mistakes.counted)
        Y.append(mistakes.Y)
    wrong, counted, Y = map(np.concatenate, (wrong, counted, Y))
    np.testing.assert_array_equal(Y, labels_of(STREAM))
    by_label = LabelDrift(ADWIN(delta=0.2)).update_many(wrong.astype(float), label_mask=counted)
    found = detect(LabelDrift(ADWIN(delta=0.2)), STREAM)
    assert [(alarm.row, alarm.labels) for alarm in found.alarms] == [
        (row, np.flatnonzero(by_label[row]).tolist()) for row in np.flatnonzero(by_label.any(axis=1))
    ]
    by_set = LabelSetDrift(PageHinkley(threshold=3.0), correction=None).update_many(wrong.any(axis=1), Y)
    found = detect(LabelSetDrift(PageHinkley(threshold=3.0), correction=None), STREAM)
    assert [(alarm.row, alarm.labels) for alarm in found.alarms] == [
        (row, np.flatnonzero(Y[row]).tolist()) for row in np.flatnonzero(by_set)
    ]
    assert by_label.any()
    assert by_set.any()


@in_two_tiers(sorted(DETECTORS), n_fast=3)
def test_alarms_do_not_depend_on_the_size_of_chunks(cases):
    stream = missing_labels(STREAM, rate=0.3, per="row", seed=1)
    chunked = [
        list(mistakes_along(fresh(make_strategy("mean"), 0), stream, Settings(chunk_size=size)))
        for size in (1, 7, 1000)
    ]

    def check(name):
        alarms = []
        for chunks in chunked:
            watcher = Watcher(make_detector(name), "subset", stream.n_labels)
            for mistakes in chunks:
                watcher.watch(mistakes)
            assert watcher.failure is None
            alarms.append(watcher.alarms)
        assert alarms[0] == alarms[1] == alarms[2]

    check_all(cases, check)


@pytest.mark.parametrize("name", sorted(set(DETECTORS) - {"KSWIN"}))
def test_the_seed_of_a_learner_that_draws_nothing_changes_nothing(name):
    one, other = (detect(name, STREAM, learner="mean", seed=seed) for seed in (0, 1))
    assert one.alarms == other.alarms


def test_kswin_gets_the_seed_also_inside_label_drift():
    assert detect(KSWIN(), STREAM, seed=5).detector_parameters["random_state"] == 5
    assert detect(LabelDrift(KSWIN()), STREAM, seed=5).detector_parameters["detector__random_state"] == 5
    first, again = (detect("KSWIN", STREAM, learner="mean", seed=5, errors="hamming") for _ in range(2))
    assert first == again


def test_several_detectors_share_one_learner_and_are_what_each_is_alone():
    learner = SeededLearner("mine", Online(), 0)
    options = DetectionOptions(errors="hamming")
    together = detect_all({"a": ADWIN(delta=0.5), "b": KSWIN()}, STREAM, learner, options)
    alone = [detect(one, STREAM, learner=Online(), errors="hamming") for one in (ADWIN(delta=0.5), KSWIN())]
    assert [one.alarms for one in together] == [one.alarms for one in alone]
    assert [(one.detector, one.learner) for one in together] == [("a", "mine"), ("b", "mine")]


def test_a_record_states_all_that_the_alarms_depend_on():
    given = ADWIN(delta=0.5)
    found = detect(given, STREAM, learner="NN", seed=4, errors="hamming", max_early=7)
    assert (found.detector, found.detector_class, found.detector_parameters) == ("ADWIN", str(given), {"delta": 0.5})
    assert (found.learner, found.parameters["random_state"], found.seed) == ("NN", 4, 4)
    assert (found.stream, found.stream_sha256) == (STREAM.card.name, STREAM.card.data_sha256)
    # By default, half of the 630 rows from one drift to the next.
    assert found.settings == {"errors": "hamming", "max_delay": 315, "max_early": 7}
    assert not hasattr(given, "n_values_")


def test_early_alarms_count_if_they_may():
    place = true_drifts(STREAM)[0].start - 5
    assert detect(Oracle([place]), STREAM, learner="mean").scores["n_hits"] == 0
    found = detect(Oracle([place]), STREAM, learner="mean", max_early=5)
    assert (found.scores["n_hits"], found.scores["mean_delay"]) == (1, -5)


class Silly(Oracle):
    def update_many(self, values):
        return np.zeros(len(values) + 1, dtype=bool)


class Broken(Oracle):
    def update_many(self, values):
        if len(values):
            raise ArithmeticError("broken")
        return np.zeros(0, dtype=bool)


def test_one_detector_that_breaks_stops_no_other():
    options = DetectionOptions()
    broken, fine = detect_all({"a": Broken(), "b": ADWIN()}, STREAM, SeededLearner("mean", Online(), 0), options)
    assert isinstance(broken, ArithmeticError)
    assert fine.status == "done"
    with pytest.raises(ArithmeticError, match="broken"):
        detect(Broken(), STREAM, learner="mean")


def test_what_is_wrong_is_refused_before_a_row_is_learnt():
    def check(case):
        detector, options, message = case
        with pytest.raises(ValueError, match=re.escape(message)):
            detect(detector, STREAM, **{"learner": Untouched(), **options})

    check_all(
        [
            ("ADWN", {}, "Got 'ADWN' instead; did you mean 'ADWIN'?"),
            (ADWIN(delta=7), {}, "delta must be a finite number above 0 and below 1. Got 7 instead."),
            (LabelDrift(DDM()), {}, "correction must be None for DDM"),
            (EDDM(), {"errors": "hamming"}, "errors (--errors) must be 'subset' for EDDM, which takes 0 and 1 only."),
            (LabelSetDrift(EDDM(), correction=None), {"errors": "hamming"}, "must be 'subset' for EDDM"),
            (Silly(), {}, "Silly.update_many must return a value for each of 0 values. Got shape (1,) instead."),
            ("ADWIN", {"errors": "cells"}, "errors must be one of 'subset', 'hamming'. Got 'cells' instead."),
            ("ADWIN", {"max_delay": 0}, "max_delay must be a whole number, at least 1. Got 0 instead."),
            ("ADWIN", {"max_early": -1}, "max_early must be a whole number, at least 0. Got -1 instead."),
            ("ADWIN", {"seed": -1}, "seed must be a whole number from 0 to 2**32 - 1. Got -1 instead."),
            ("ADWIN", {"learner": "NNN"}, "Got 'NNN' instead; did you mean 'NN'?"),
        ],
        check,
    )


@pytest.mark.parametrize("detector", [3, ADWIN, Online()])
def test_what_is_no_detector_is_refused(detector):
    with pytest.raises(TypeError, match=r"A detector must be a name .* Got (the class|an object of) \S+ instead\.$"):
        detect(detector, STREAM, learner=Untouched())


class Untouched(Online):
    def partial_fit(self, X, Y):
        raise AssertionError("A row was learnt.")


def test_label_drift_takes_detectors_of_errors_whatever_rows_have():
    assert detect(LabelDrift(EDDM(), correction=None), STREAM, learner="mean", errors="hamming").status == "done"


def test_a_detector_of_river_is_refused_in_one_line():
    from river import drift as river

    with pytest.raises(TypeError, match=r"^[^\n]* `mlstream detectors` lists, [^\n]*Got an object of river\.[^\n]+$"):
        detect(river.ADWIN(), make_stream())


def spans(stream):
    return [(drift.start, drift.stop) for drift in true_drifts(stream)]


@pytest.mark.parametrize("window", [0, 60])
def test_a_synthetic_stream_has_the_drifts_of_its_card(window):
    stream = drifting_stream("tree", n_rows=300, window=window, order=[0, 0, 1, 1, 2, 2], seed=1)
    assert spans(stream) == [(one.start, one.stop) for one in stream.card.drifts]
    # A concept that comes twice in a row does not drift between.
    assert len(spans(stream)) == 2
    assert true_drifts(stream)[0].what.startswith("task-0 to task-1: P(Y|X), ")


def test_a_world_that_stays_has_none():
    assert spans(drifting_stream("tree", n_rows=300, n_concepts=1)) == []
    assert spans(drifting_stream("tree", n_rows=300, magnitude=0.0)) == []


def test_elsewhere_a_boundary_at_which_other_tasks_come_is_one():
    assert [(one.start, one.what) for one in true_drifts(make_stream())] == [
        (23, "task 0 to task 1"),
        (40, "task 1 to task 0 and task 2"),
        (69, "task 0 and task 2 to task 1"),
    ]
    assert spans(make_stream(visits=((0,), (0,), (1,)), sizes=(10, 12, 14))) == [(22, 22)]


def test_a_label_that_emerges_is_one_where_the_task_stays():
    stream = make_stream(visits=((0,), (0,), (0,)), sizes=(10, 12, 14))
    scenario = stream.card.scenario.model_copy(update={"emergence": [0, 0, 2, 0, 0]})
    emerging = stream.with_card(stream.card.model_copy(update={"scenario": scenario}))
    assert [(one.start, one.stop, one.what) for one in true_drifts(emerging)] == [(22, 22, "labels emerge")]


@pytest.mark.parametrize("window", [10, 40, 140])
def test_of_gradual_boundaries_the_rows_that_blend_are_one(window):
    stream = multiplier_stream("rand", n_rows=200, window=window, seed=3, learning_fractions=(0.7,))
    tasks = np.concatenate([part.task_ids for part in stream])
    path = [np.bincount(part.task_ids).argmax() for part in stream]
    ends = np.cumsum([len(part) for part in stream])[:-1]
    assert len(spans(stream)) == len(ends)
    for (start, stop), end, before, after in zip(spans(stream), ends, path, path[1:], strict=False):
        assert end - window // 2 <= start <= end <= stop <= end + window - window // 2
        assert after not in tasks[end - window // 2 : start]
        assert before not in tasks[stop : end + window // 2]
        assert (start == end) or tasks[start] == after
        assert (stop == end) or tasks[stop - 1] == before


def test_late_labels_make_the_change_as_long_as_rows_of_the_task_before_come():
    base = STREAMS["task_stream"]()
    late = delayed_labels(base, delay=5, seed=0)
    found = spans(late)
    boundaries = np.cumsum([len(part) for part in late])[:-1]
    changing = [
        one
        for one, (a, b) in zip(boundaries, zip(base, list(base)[1:], strict=False), strict=True)
        if a.task_ids[0] != b.task_ids[0]
    ]
    assert [start for start, _ in found] == changing
    assert any(stop > start for start, stop in found)


def test_drifts_that_overlap_once_rows_have_moved_are_put_one_after_the_other():
    stream = drifting_stream("tree", n_rows=40, window=14, pattern="incremental", seed=3)
    drift = stream.card.drifts[0]
    later = [drift.model_copy(update={"start": 5, "stop": 30}), drift.model_copy(update={"start": 20, "stop": 25})]
    assert spans(stream.with_card(stream.card.model_copy(update={"drifts": later}))) == [(5, 30), (30, 30)]
    moved = reordered_rows(stream, seed=0)
    flat = [row for span in spans(moved) for row in span]
    assert flat == sorted(flat)


def test_drifts_lie_in_order_within_every_kind_of_stream():
    def check(name):
        stream = STREAMS[name]()
        flat = [row for span in spans(stream) for row in span]
        assert flat == sorted(flat)
        assert all(0 < row <= stream.n_samples for row in flat)

    check_all(sorted(STREAMS), check)


def test_rows_alone_decide_and_not_where_they_are_held_out():
    stream = make_stream()
    parts = StreamParts(stream.tasks, tuple(replace(part) for part in stream), stream.evaluation_sets)
    assert spans(Stream(parts, stream.card)) == spans(stream)
