"""Predictions are read in every form that scikit-learn uses, and refused if they are not valid."""

import json
from time import sleep

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Perceptron

from estimators import (
    MeanLabelsClassifier,
    OnlineNeuralClassifier,
    PrevalenceThreshold,
    make_strategy,
)
from metrics import ba_macro
from mlstream import evaluate, run_campaign
from mlstream.campaign.search import Search, choose
from mlstream.evaluation.label_space import learning_view, mask_rows
from mlstream.evaluation.learners import adapt_to_stream, fresh
from mlstream.evaluation.predictions import HalfDecisions, join_predictions, no_predictions, read_predictions
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.settings import Settings
from mlstream.generators import missing_labels
from mlstream.streams.stream import Stream, StreamParts
from tests.estimators.slow_prevalence import SlowRule
from tests.loops import check_all
from tests.mlstream.evaluation.streams import Online, make_stream
from tests.mlstream.evaluation.test_laws_of_scores import STREAMS, make

DECIDED = [[1, 0], [0, 1], [1, 1]]
PROBA = [[0.9, 0.5], [0.2, 0.7], [0.4, 0.6]]
STREAM = make_stream()
NETWORK = OnlineNeuralClassifier(5, targeted_loss="signature")
NAMED = ["subset_accuracy", "f1_macro", "lrap", "recall_at_k"]
OF_PROBABILITIES = {"rmse", "precision_at_k", "precision_at_k_maximum", "lrap", "recall_at_k"}
OF_PROBABILITIES |= {"no_change_subset_accuracy", "nce", "nce_worst", "nce_worst_unseen"}
LEARNERS = [NETWORK, make_strategy("NN"), make_strategy("mean"), Online()]


@pytest.mark.parametrize(
    "form", [np.array, sparse.csr_matrix, sparse.csr_array, lambda Y: np.array(Y, dtype=float), list]
)
def test_decisions_of_any_kind_of_matrix_become_bytes(form):
    predictions = read_predictions("Learner", form(DECIDED), PROBA, (3, 2))
    assert predictions.decided.dtype == np.uint8
    assert predictions.decided.tolist() == DECIDED
    assert predictions.proba.tolist() == PROBA


def test_probabilities_decide_where_the_learner_does_not_and_decisions_are_certain_without_probabilities():
    assert read_predictions("Learner", None, PROBA, (3, 2)).decided.tolist() == [[1, 1], [0, 1], [0, 1]]
    assert read_predictions("Learner", DECIDED, None, (3, 2)).proba.tolist() == DECIDED


def test_probabilities_may_leave_the_unit_interval_by_rounding_only():
    proba = np.array([[1 + 1e-9, -1e-9]])
    assert read_predictions("Learner", None, proba, (1, 2)).proba.tolist() == [[1.0, 0.0]]
    with pytest.raises(ValueError, match=r"The result of Learner.predict_proba must be in \[0, 1\]. Got 1.01"):
        read_predictions("Learner", None, proba + 0.01, (1, 2))


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.5, -1.0])
def test_a_decision_is_zero_or_one(value):
    with pytest.raises(ValueError, match=f"must be 0 or 1. Got {value} for label 1"):
        read_predictions("Learner", [[0.0, value]], None, (1, 2))


def test_no_answer_is_refused():
    with pytest.raises(ValueError, match=r"L must have predict or predict_proba\."):
        read_predictions("L", None, None, (1, 2))


def test_answers_are_put_together_in_order():
    parts = [read_predictions("Learner", DECIDED, PROBA, (3, 2)), no_predictions(1, 2)]
    joined = join_predictions(parts)
    assert joined.decided.tolist() == [*DECIDED, [0, 0]]
    assert joined.proba.tolist() == [*PROBA, [0.0, 0.0]]


class Contrary(Online):
    """Predicts the opposite of what its probabilities say."""

    def predict(self, X):
        return (self.predict_proba(X) < 0.5).astype(int)


def predictions_of(estimator, stream, decision, chunk_size=13):
    """Return decisions and probabilities of a stream, those of evaluation sets after it, and how all was measured."""
    meter = ResourceMeter("none")
    learner = adapt_to_stream(fresh(estimator, 0), stream, meter, Settings(decision=decision))
    shown = learning_view(stream)
    learner.begin(shown.experiences[0].X, shown.experiences[0].Y)
    online = []
    for part in shown:
        for start in range(0, len(part), chunk_size):
            rows = slice(start, start + chunk_size)
            online.append(learner.test_then_train(part.X[rows], part.Y[rows], mask_rows(part.label_mask, rows)))
    held_out = [learner.predict(one.X) for one in stream.evaluation_sets]
    joined = join_predictions(online)
    return joined.decided, joined.proba, held_out, meter.report(None)


def rows_of(stream):
    """Return the labels and masks of all rows, as learners see them."""
    shown = learning_view(stream)
    masks = [np.broadcast_to(part.label_mask, part.Y.shape) for part in shown]
    return np.concatenate([part.Y for part in shown]), np.concatenate(masks)


@pytest.mark.slow
@pytest.mark.parametrize("identity", ["training", "never"])
@pytest.mark.parametrize("estimator", LEARNERS, ids=repr)
def test_the_common_rule_is_a_slow_loop_over_the_probabilities(estimator, identity):
    stream = make_stream(identity=identity)
    decided, proba, held_out, _ = predictions_of(estimator, stream, "prevalence")
    _, own_proba, own_held_out, _ = predictions_of(estimator, stream, "own")
    np.testing.assert_array_equal(proba, own_proba)
    Y, mask = rows_of(stream)
    rules = [SlowRule() for _ in Y[0]]
    for i, p in enumerate(proba):
        assert decided[i].tolist() == [rule.predict(one) for rule, one in zip(rules, p, strict=True)]
        for k in np.flatnonzero(mask[i]):
            rules[k].learn(Y[i, k])
    for ours, own in zip(held_out, own_held_out, strict=True):
        np.testing.assert_array_equal(ours.proba, own.proba)
        expected = [[rule.predict(p, 0) for rule, p in zip(rules, row, strict=True)] for row in own.proba]
        np.testing.assert_array_equal(ours.decided, expected)


def test_one_half_decides_by_the_probabilities_whatever_the_learner_predicts():
    own, proba, _, _ = predictions_of(Contrary(), STREAM, "own")
    half, _, held_out, _ = predictions_of(Contrary(), STREAM, "half")
    np.testing.assert_array_equal(half, proba >= 0.5)
    np.testing.assert_array_equal(own[1:], proba[1:] < 0.5)
    assert all(np.array_equal(one.decided, one.proba >= 0.5) for one in held_out)


def test_the_rule_is_that_of_the_threshold_around_a_learner_that_uses_the_task():
    rule = evaluate(NETWORK, STREAM, decision="prevalence", energy="none")
    around = evaluate(PrevalenceThreshold(NETWORK), STREAM, energy="none")
    assert (rule.R, rule.curves) == (around.R, around.curves)
    assert rule.scores == around.scores
    assert rule.scores["ba_macro"] != evaluate(NETWORK, STREAM, energy="none").scores["ba_macro"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mlstream.evaluation.evaluate.UndefinedCellsWarning")
@pytest.mark.parametrize("kind", ["by hand", *STREAMS])
def test_further_rules_have_the_scores_of_runs_of_their_own(kind):
    stream = STREAM if kind == "by hand" else make(kind)
    has_unknown = any(np.isnan(part.Y).any() for part in stream)
    options = {"metrics": NAMED, "references": kind == "by hand", "energy": "none"}

    def check(estimator):
        run = evaluate(estimator, stream, decision="half", also_decide=["own", "prevalence"], **options)
        for rule, ending in (("half", ""), ("own", "[own]"), ("prevalence", "[prevalence]")):
            alone = evaluate(estimator, stream, decision=rule, **options)
            for part in ("scores", "undefined", "left_out", "curves", "R"):
                ours, theirs = getattr(run, part), getattr(alone, part)
                assert {name: ours[name + ending * is_decided(name)] for name in theirs} == theirs, (rule, part)
                decided = {name + ending for name in theirs if is_decided(name)}
                assert not ending or {name for name in ours if name.endswith(ending)} == decided

    check_all([NETWORK, *([] if has_unknown else [Online()])], check)


def is_decided(name):
    """Return whether a score depends on decisions."""
    return name.partition("[")[0].removesuffix("_held_out").removesuffix("_anytime") not in OF_PROBABILITIES


def test_scores_under_a_further_rule_are_those_of_a_slow_loop():
    stream = missing_labels(STREAM, rate=0.3, per="label")
    run = evaluate(NETWORK, stream, also_decide=["prevalence"], label_space="task", energy="none")
    _, proba, held_out, _ = predictions_of(NETWORK, stream, "own")
    Y, mask = rows_of(stream)
    mask = mask & ~np.isnan(Y)
    rules, decided = [SlowRule() for _ in Y[0]], []
    for row, p in enumerate(proba):
        decided.append([rule.predict(one) for rule, one in zip(rules, p, strict=True)])
        for k in np.flatnonzero(mask[row]):
            rules[k].learn(Y[row, k])
    found = ba_macro(np.where(mask, Y, 0), np.array(decided), label_mask=mask)
    assert run.scores["ba_macro[prevalence]"] == pytest.approx(found)
    for one, own, R in zip(stream.evaluation_sets, held_out, run.R["ba_macro[prevalence]"][-1], strict=True):
        later = [[rule.predict(p, 0) for rule, p in zip(rules, row, strict=True)] for row in own.proba]
        assert pytest.approx(ba_macro(one.Y, np.array(later), label_mask=one.label_mask)) == R


def test_the_time_of_a_further_rule_counts_nowhere(monkeypatch):
    slept, decide = [], HalfDecisions.held_out
    monkeypatch.setattr(HalfDecisions, "held_out", lambda self, one: slept.append(sleep(0.02)) or decide(self, one))
    phases = evaluate(NETWORK, STREAM, also_decide=["half"], energy="none").resources.phases.values()
    assert sum(phase.wall_time_s for phase in phases) < 0.02 * len(slept)


def test_a_record_states_the_rule_and_is_unchanged_without_one():
    own, rule = (evaluate(NETWORK, STREAM, decision=one, energy="none").settings for one in ("own", "prevalence"))
    assert own == evaluate(NETWORK, STREAM, energy="none").settings
    added = {"decision": "prevalence", "decision_follow": 0.5, "decision_memory": 20, "decision_prior_rows": 5}
    assert rule == own | added
    assert "decision" not in own
    further = evaluate(NETWORK, STREAM, also_decide=["prevalence"], energy="none").settings
    assert further | {"decision": "prevalence"} == rule | {"also_decide": ["prevalence"]}


@pytest.mark.parametrize(("estimator", "phases"), [(NETWORK, {"online", "evaluate"}), (Online(), {"predict", "learn"})])
def test_the_rule_costs_a_phase_that_the_learner_has(estimator, phases):
    resources = predictions_of(estimator, STREAM, "prevalence")[-1]
    assert set(resources.phases) == phases | {"evaluate"}


def test_a_campaign_does_not_mix_rules(tmp_path):
    run_campaign(["mean"], [STREAM], [0], tmp_path, energy="none", decision="half")
    for other, difference in (
        ("own", r"{'decision': 'half'} instead of {}\.$"),
        ("prevalence", r"{'decision': 'half'} instead of {'decision': 'prevalence', 'decision_follow': 0.5, "),
    ):
        refusal = rf"must be the record of the requested run.* Got settings = {difference}"
        with pytest.raises(ValueError, match=refusal):
            run_campaign(["mean"], [STREAM], [0], tmp_path, energy="none", decision=other)
    (kept,) = run_campaign(["mean"], [STREAM], [0], tmp_path, energy="none", decision="half")
    assert kept.settings["decision"] == "half"


def test_configurations_are_tried_under_the_rule():
    search = Search(Online(), {"step": [0.001, 2.0]}, n_configurations=2)
    selection = choose(search, STREAM, 0, Settings(energy="none", decision="prevalence"))
    first = Stream(StreamParts(STREAM.tasks, STREAM.experiences[:1], STREAM.evaluation_sets), STREAM.card)
    (part,) = first.experiences
    for trial in selection.trials:
        decided = predictions_of(Online(trial.parameters["step"]), first, "prevalence")[0]
        mask = np.broadcast_to(part.label_mask, part.Y.shape)
        assert trial.ba_macro == pytest.approx(ba_macro(part.Y, decided, label_mask=mask))


@pytest.mark.slow
@pytest.mark.parametrize("decision", ["half", "prevalence"])
def test_a_learner_without_probabilities_is_refused_before_anything_runs(tmp_path, decision):
    refusal = (
        r"^decision \(--decision\) must be 'own' for a learner without predict_proba, Perceptron. "
        f"Got '{decision}' instead.$"
    )
    with pytest.raises(TypeError, match=refusal):
        evaluate(Perceptron(), STREAM, decision=decision)
    with pytest.raises(TypeError, match=refusal):
        run_campaign({"m": MeanLabelsClassifier(), "p": Perceptron()}, [STREAM], [0], tmp_path / "c", decision=decision)
    search = Search(Perceptron(), {"alpha": [1, 2]})
    with pytest.raises(TypeError, match=refusal):
        run_campaign({"p": search}, [STREAM], [0], tmp_path / "c", decision=decision)
    further = rf"^also_decide \(--also-decide\) must be empty .* Perceptron. Got \['{decision}'\] instead.$"
    with pytest.raises(TypeError, match=further):
        run_campaign({"p": Perceptron()}, [STREAM], [0], tmp_path / "c", also_decide=[decision])
    assert not (tmp_path / "c").exists()
    assert evaluate(Perceptron(), STREAM, energy="none").status == "done"


def test_the_rule_is_an_option_of_the_command(tmp_path):
    from mlstream import save
    from tests.mlstream.cli.commands import invoke

    save(STREAM, tmp_path / "tiny.npz")
    typed = ["run", tmp_path / "tiny.npz", "-s", "mean", "-o", tmp_path, "--energy", "none", "--decision"]
    assert invoke(*typed, "prevalence").exit_code == 0
    record = json.loads((tmp_path / "runs" / "tiny" / "mean-seed0.json").read_text())
    assert record["settings"]["decision"] == "prevalence"
    wrong = invoke(*typed, "always")
    assert wrong.exit_code == 2
    assert "always" in wrong.output


def test_the_rule_may_be_typed_beside_a_campaign_file(tmp_path):
    from mlstream import load_config, save
    from tests.mlstream.cli.commands import invoke

    save(STREAM, tmp_path / "tiny.npz")
    file, folder = tmp_path / "c.toml", tmp_path / "common"
    file.write_text('streams = ["tiny.npz"]\nstrategies = ["mean"]\nenergy = "none"\n')
    shown = invoke("run", file, "--decision", "prevalence", "-o", folder)
    assert shown.exit_code == 0, shown.output
    record = json.loads((folder / "runs" / "tiny" / "mean-seed0.json").read_text())
    assert record["settings"]["decision"] == "prevalence"
    assert load_config(folder / "config.toml").options["decision"] == "prevalence"
    file.write_text('decision = "half"\n' + file.read_text())
    refused = invoke("run", file, "--decision", "prevalence", "-o", tmp_path / "other")
    assert refused.exit_code == 1
    assert "c.toml must leave decision out where --decision is typed. Got both." in str(refused.exception)
