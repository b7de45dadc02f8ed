"""An evaluation is the protocol's loop over rows, whatever makes it fast, and it tells learners no more than it may."""

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neural_network import MLPClassifier

from mlstream.campaign.campaign import run_campaign
from mlstream.evaluation.evaluate import UndefinedCellsWarning, evaluate
from mlstream.generators import missing_labels
from mlstream.reporting.report import report
from mlstream.streams.stream import Stream, StreamParts
from tests.estimators.learners import Logistic
from tests.mlstream.evaluation.slow import run_slowly, score_slowly
from tests.mlstream.evaluation.streams import SIZES, Online, Targeted, make_stream

STREAM = make_stream()
CORE_METRICS = ("ba_macro", "rmse", "precision_at_k")
TIMED = {"resources"}


def run(estimator, stream=STREAM, **options):
    return evaluate(estimator, stream, **{"energy": "none"} | options)


def numbers(values):
    return np.array(values, dtype=float)


@pytest.mark.slow
@pytest.mark.parametrize("label_space", ["task", pytest.param("seen", marks=pytest.mark.slow), "all"])
@pytest.mark.parametrize("learner", [pytest.param(Online, marks=pytest.mark.slow), Targeted])
def test_scores_curves_and_transfer_matrix_are_those_of_a_slow_loop(learner, label_space):
    result = run(learner(), label_space=label_space, seed=3, n_checkpoints=7, window=19)
    rows, R = run_slowly(learner(random_state=3), STREAM, label_space, k=3)
    for place, metric in enumerate(CORE_METRICS):
        np.testing.assert_allclose(numbers(result.R[metric]), R[place], atol=1e-12)
        curve = result.curves[metric]
        assert curve.n_rows == [12, 24, 36, 48, 60, 72, 80]
        assert curve.window == 19
        cumulative = [score_slowly(rows[:n], 3)[place] for n in curve.n_rows]
        windowed = [score_slowly(rows[max(0, n - 19) : n], 3)[place] for n in curve.n_rows]
        np.testing.assert_allclose(numbers(curve.cumulative), cumulative, atol=1e-12)
        np.testing.assert_allclose(numbers(curve.windowed), windowed, atol=1e-12)
        assert result.scores[metric] == pytest.approx(score_slowly(rows, 3)[place], abs=1e-12)


@pytest.mark.parametrize("targeted", [False, True])
def test_a_learner_that_is_called_by_chunks_scores_as_the_same_one_called_by_rows(targeted):
    class ByRows(Logistic):
        predict_then_fit = property()

    chunks, rows = run(Logistic(targeted=targeted)), run(ByRows(targeted=targeted))
    assert set(chunks.resources.phases) == {"online", "evaluate"}
    assert set(rows.resources.phases) == {"predict", "learn", "evaluate"}
    # They differ before anything is learnt only: the start state of one is not zeros.
    assert chunks.R["ba_macro"][1:] == rows.R["ba_macro"][1:]
    assert chunks.curves["ba_macro"].windowed[20:] == rows.curves["ba_macro"].windowed[20:]


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [Online(), Logistic(), Logistic(targeted=True)])
@pytest.mark.parametrize("label_space", [pytest.param("task", marks=pytest.mark.slow), "seen"])
def test_results_do_not_depend_on_the_size_of_chunks(estimator, label_space):
    small, odd, whole = (run(estimator, label_space=label_space, chunk_size=size) for size in (1, 7, 1000))
    assert small.model_dump(exclude=TIMED) == odd.model_dump(exclude=TIMED) == whole.model_dump(exclude=TIMED)


def test_the_same_seed_gives_the_same_record_but_for_what_was_measured_and_another_seed_another():
    first, again, other = (run(Online(), seed=seed) for seed in (1, 1, 2))
    assert first.model_dump(exclude=TIMED) == again.model_dump(exclude=TIMED)
    assert first.scores != other.scores
    assert (first.seed, first.parameters["random_state"]) == (1, 1)


def test_dense_and_sparse_rows_give_the_same_scores():
    dense, sparse = run(Online()), run(Online(), make_stream(as_sparse=True))
    assert dense.scores == sparse.scores
    assert dense.R == sparse.R


class Spy(Online):
    """Writes down every call, for all clones."""

    calls: ClassVar = []

    def partial_fit(self, X, Y, **told):
        Spy.calls.append(("learn", X, Y, told))
        return super().partial_fit(X, Y)

    def predict(self, X):
        Spy.calls.append(("predict", X, None, {}))
        return super().predict(X)


class TaskSpy(Spy):
    uses_task = True


@pytest.mark.parametrize(("spy", "told"), [(Spy, set()), (TaskSpy, {"label_mask"})])
def test_every_row_is_predicted_then_learnt_once_in_order_and_only_targeted_learners_see_the_mask(spy, told):
    Spy.calls.clear()
    run(spy())
    learnt = [call for call in Spy.calls if call[0] == "learn"]
    np.testing.assert_array_equal(np.vstack([X for _, X, _, _ in learnt]), np.vstack([e.X for e in STREAM]))
    np.testing.assert_array_equal(np.vstack([Y for _, _, Y, _ in learnt]), np.vstack([e.Y for e in STREAM]))
    assert all(set(call[3]) == told for call in learnt)
    owners = np.concatenate([experience.task_ids for experience in STREAM])
    for (*_, keywords), owner in zip(learnt, owners, strict=True):
        for mask in keywords.values():
            np.testing.assert_array_equal(np.ravel(mask), STREAM.tasks[owner].signature)
    single = [call for call in Spy.calls if call[1].shape[0] == 1]
    # The first row is learnt without a prediction: nothing is known yet.
    assert [call[0] for call in single] == ["learn"] + ["predict", "learn"] * (sum(SIZES) - 1)
    for asked, taught in zip(single[1::2], single[2::2], strict=True):
        np.testing.assert_array_equal(asked[1], taught[1])


def test_a_learner_that_uses_the_task_is_given_all_labels_where_the_scenario_hides_it():
    secret = make_stream(identity="never")
    Spy.calls.clear()
    result = run(TaskSpy(), secret)
    masks = [call[3]["label_mask"] for call in Spy.calls if call[0] == "learn"]
    assert len(masks) == sum(SIZES)
    assert all(np.ravel(mask).tolist() == [True] * 5 for mask in masks)
    # All labels are what a learner without the mask learns too.
    assert run(Targeted(), secret).R == run(Online(), secret).R == run(Online()).R
    assert result.uses_task


def masks_given(stream):
    Spy.calls.clear()
    run(TaskSpy(), stream)
    return [np.ravel(call[3]["label_mask"]) for call in Spy.calls if call[0] == "learn"]


def test_a_mask_of_all_labels_leaves_out_unknown_ones():
    secret = missing_labels(make_stream(identity="never"), rate=0.4, per="label", seed=1)
    expected = ~np.isnan(np.concatenate([part.Y for part in secret]))
    np.testing.assert_array_equal(masks_given(secret), expected[expected.any(axis=1)])
    assert not expected.all()


def test_a_mask_of_all_labels_leaves_out_labels_of_the_task_that_do_not_count_yet():
    secret, rng = make_stream(identity="never"), np.random.default_rng(0)
    masks = [np.broadcast_to(part.label_mask, part.Y.shape) & (rng.random(part.Y.shape) < 0.5) for part in secret]
    experiences = tuple(replace(part, label_mask=mask) for part, mask in zip(secret, masks, strict=True))
    late = Stream(StreamParts(secret.tasks, experiences, secret.evaluation_sets), secret.card)
    expected = [
        ~(late.tasks[task].signature & ~mask)
        for part in late
        for mask, task in zip(part.label_mask, part.task_ids, strict=True)
        if mask.any()
    ]
    np.testing.assert_array_equal(masks_given(late), expected)
    # A row without a label of its task is not learnt.
    assert len(expected) < sum(SIZES)


def test_evaluation_leaves_the_model_as_it_is():
    # A stream without held-out rows teaches the same as one with them.
    class Remembering(Online):
        last = None

        def partial_fit(self, X, Y):
            super().partial_fit(X, Y)
            Remembering.last = self.coef_.copy()
            return self

    run(Remembering())
    alone = Online(random_state=0)
    for experience in STREAM:
        alone.partial_fit(experience.X, experience.Y)
    np.testing.assert_array_equal(Remembering.last, alone.coef_)


def test_the_estimator_that_is_given_is_not_changed_and_what_it_learnt_before_does_not_count():
    learnt = Online(random_state=9).partial_fit(STREAM.experiences[0].X, STREAM.experiences[0].Y)
    before = learnt.coef_.copy()
    assert run(learnt, seed=1).scores == run(Online(), seed=1).scores
    np.testing.assert_array_equal(learnt.coef_, before)
    assert learnt.random_state == 9


@pytest.mark.parametrize(
    "estimator",
    [
        MLPClassifier(hidden_layer_sizes=()),
        pytest.param(MultiOutputClassifier(SGDClassifier(loss="log_loss", random_state=0)), marks=pytest.mark.slow),
        pytest.param(MultiOutputClassifier(SGDClassifier(loss="hinge", random_state=0)), marks=pytest.mark.slow),
    ],
)
def test_learners_of_scikit_learn_take_part_as_they_are(estimator):
    result = run(estimator)
    assert result.status == "done"
    assert set(map(len, result.R["ba_macro"])) == {3}
    np.testing.assert_array_equal(numbers(result.R["ba_macro"])[0], 0.5)
    assert np.nanmin(numbers(result.R["rmse"])) > 0
    assert result.scores["ba_macro"] > 0.55


def test_row_zero_is_the_learners_own_start_or_else_zeros():
    class Hopeful(Logistic):
        def _start(self):
            super()._start()
            self.coef_[-1] = 5.0

    held_out = STREAM.evaluation_sets[0]
    precision = held_out.Y[:, :3].mean()
    assert run(Hopeful()).R["precision_at_k"][0][0] == pytest.approx(precision)
    certain = np.sqrt(((1 / (1 + np.exp(-5)) - held_out.Y[:, :3]) ** 2).mean(axis=1)).mean()
    assert run(Hopeful()).R["rmse"][0][0] == pytest.approx(certain)
    assert run(Online()).R["rmse"][0][0] == pytest.approx(np.sqrt((held_out.Y[:, :3] ** 2).mean(axis=1)).mean())


def test_one_rule_for_ties_holds_for_all_scores_and_is_recorded():
    Y = STREAM.evaluation_sets[0].Y
    found = {
        ties: run(Online(), label_space="all", metrics=["recall_at_k"], ties=ties) for ties in ("expected", "order")
    }
    assert [result.settings["ties"] for result in found.values()] == ["expected", "order"]
    start = {ties: result.R["precision_at_k"][0][0] for ties, result in found.items()}
    assert start == pytest.approx({"expected": Y.mean(), "order": Y[:, :3].mean()})
    for score in ("precision_at_k", "precision_at_k_anytime", "recall_at_k"):
        assert found["expected"].scores[score] != found["order"].scores[score]


def test_a_capped_run_keeps_what_it_measured_and_says_so(monkeypatch):
    # A clock that ticks once a look: the run looks after each row and each row of R.
    monkeypatch.setattr("mlstream.evaluation.run.time", SimpleNamespace(perf_counter=itertools.count().__next__))
    result = run(Online(), time_cap_s=30, chunk_size=1, n_checkpoints=80)
    whole = run(Online(), time_cap_s=None, n_checkpoints=80)
    assert result.status == "capped"
    met = 31 - 2
    assert result.curves["ba_macro"].n_rows == list(range(1, met + 1))
    assert result.curves["rmse"].cumulative == whole.curves["rmse"].cumulative[:met]
    assert result.R["ba_macro"][:2] == whole.R["ba_macro"][:2]
    assert result.R["ba_macro"][2:] == [[None] * 3] * 3
    assert result.scores["ba_macro"] == pytest.approx(whole.curves["ba_macro"].cumulative[met - 1])
    assert result.scores["acc"] is None
    assert "must be finite" in result.undefined["acc"]


def test_transfer_with_a_single_task_is_not_defined_and_the_record_says_why():
    result = run(Online(), make_stream(visits=((0,), (0,)), sizes=(20, 20)))
    assert result.scores["acc"] is not None
    assert (result.scores["bwt"], result.scores["fwt"], result.scores["fm"]) == (None, None, None)
    assert result.undefined["bwt"] == "No task qualifies."


def test_progress_is_told_in_rows_up_to_the_last():
    told = []
    run(Online(), chunk_size=10, progress=lambda met, n_rows: told.append((met, n_rows)))
    assert told[0] == (0, 80)
    assert told[-1] == (80, 80)
    assert [met for met, _ in told] == sorted(met for met, _ in told)


class Wrong(Online):
    """Predictions something else."""

    def __init__(self, answer="nan"):
        super().__init__()
        self.answer = answer

    def predict(self, X):
        decided = super().predict(X)
        return {"narrow": decided[:, :2], "flat": decided[:, 0], "three": decided * 3}.get(self.answer, decided)

    def predict_proba(self, X):
        proba = super().predict_proba(X)
        return {"nan": proba * np.nan, "two": proba * 2 + 1}.get(self.answer, proba)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("nan", r"The result of Wrong.predict_proba must be in \[0, 1\]. Got nan for label 0"),
        ("two", r"The result of Wrong.predict_proba must be in \[0, 1\]. Got [12]\.\d+ for label 0"),
        ("three", "The result of Wrong.predict must be 0 or 1. Got 3"),
        ("narrow", r"Wrong.predict must return shape \(1, 5\), one column per label. Got \(1, 2\)"),
        ("flat", r"Wrong.predict must return shape \(1, 5\), one column per label. Got \(1,\)"),
    ],
)
def test_answers_that_are_none_are_refused_in_one_sentence(answer, message):
    with pytest.raises(ValueError, match=message):
        run(Wrong(answer))


@pytest.mark.parametrize("estimator", [Online, object(), "NN"])
def test_what_is_no_estimator_is_refused(estimator):
    with pytest.raises(TypeError, match="estimator must be a scikit-learn estimator with partial_fit"):
        run(estimator)


def test_the_name_of_a_strategy_names_the_way_to_its_estimator():
    with pytest.raises(TypeError, match=r"make_strategy\('NN_TL'\) of estimators makes that of a name"):
        run("NN_TL")


def test_the_record_says_what_was_run_where_with_what():
    result = run(Targeted(), label_space="seen", one_class="recall")
    assert (result.stream, result.stream_sha256) == ("tiny", STREAM.card.data_sha256)
    assert result.order == [[0], [1], [0, 2], [1]]
    assert result.experience_sizes == list(SIZES)
    assert result.task_names == ["task 0", "task 1", "task 2"]
    assert (result.strategy, result.uses_task, result.label_space) == ("Targeted", True, "seen")
    assert (result.settings["one_class"], result.settings["k"]) == ("recall", 3)
    assert result.versions["numpy"] == np.__version__
    assert result.model_validate_json(result.model_dump_json()) == result


def stream_with_a_constant_task():
    stream = make_stream()
    held_out = stream.evaluation_sets[1]
    held_out.Y[:] = held_out.label_mask
    return stream


def test_a_task_without_a_balanced_accuracy_is_left_out_of_means_with_one_warning_that_counts():
    with pytest.warns(UndefinedCellsWarning) as warned:
        result = run(Online(), stream_with_a_constant_task())
    R = numbers(result.R["ba_macro"])
    assert np.isnan(R[:, 1]).all()
    assert result.scores["acc"] == pytest.approx(R[4, [0, 2]].mean())
    assert result.scores["bwt"] == pytest.approx((R[4, [0, 2]] - R[3, [0, 2]]).mean())
    assert result.left_out["ba_macro"].n == 5
    (warning,) = warned
    assert f"5 of {result.left_out['ba_macro'].of} balanced accuracies" in str(warning.message)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_a_campaign_does_not_repeat_the_warning_for_each_run(tmp_path):
    results = run_campaign(
        {"a": Online(), "b": Online()}, [stream_with_a_constant_task()], [0, 1], tmp_path, energy="none"
    )
    assert [result.status for result in results] == ["done"] * 4
    assert all(result.left_out["ba_macro"].n == 5 for result in results)
    page = report(tmp_path).read_text()
    assert page.count("5 of 13 scores on evaluation sets are undefined, and left out of means.") == 1


def test_unknown_labels_count_in_no_score():
    stream, hidden = make_stream(), np.random.default_rng(0)
    parts = [*stream.experiences, *stream.evaluation_sets]
    cells = [hidden.random(part.Y.shape) < 0.3 for part in parts]
    blurred = [np.where(cut, np.float32(np.nan), part.Y) for cut, part in zip(cells, parts, strict=True)]
    n = len(stream)
    with_unknown = Stream(
        StreamParts(
            stream.tasks,
            tuple(replace(part, Y=Y) for part, Y in zip(stream.experiences, blurred[:n], strict=True)),
            tuple(replace(part, Y=Y) for part, Y in zip(stream.evaluation_sets, blurred[n:], strict=True)),
        ),
        stream.card,
    )

    class Fixed(Online):
        uses_task = True

        def partial_fit(self, X, Y, label_mask=None):
            self.coef_ = np.random.default_rng(7).normal(size=(X.shape[1], Y.shape[1]))
            return self

    result, learner = run(Fixed(), with_unknown), Fixed().partial_fit(parts[0].X, parts[0].Y)
    for task, (part, cut) in enumerate(zip(parts[n:], cells[n:], strict=True)):
        decided, scores = learner.predict(part.X), []
        for label in np.flatnonzero(part.label_mask):
            kept = ~cut[:, label]
            scores.append(balanced_accuracy_score(part.Y[kept, label], decided[kept, label]))
        assert result.R["ba_macro"][-1][task] == pytest.approx(np.mean(scores))
