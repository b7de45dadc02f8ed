"""The boards of ranks: their decision rule, what is measured, and how it is ranked."""

import json
import math

import numpy as np
import pytest
from scipy.stats import rankdata

from benchmarks.learner_ranks import boards, decision_rules, measure, ranks, records, tables
from estimators import make_strategy
from mlstream import Dataset, evaluate, run_campaign
from mlstream.evaluation.predictions import Predictions
from mlstream.generators import multiplier_stream

# Sums are cut where curves are read: their order, and so the last bit, depends on it.
CURVES = {"n_checkpoints": measure.N_CHECKPOINTS, "window": boards.RECOVERY_ROWS}


@pytest.fixture(scope="module")
def stream():
    return multiplier_stream("rand", seed=3, n_rows=80)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 3))
    return Dataset(X, (X + rng.normal(size=X.shape) > 0.6).astype(np.uint8), name="toy")


def slow_threshold(labels: list[int], *, moved: bool) -> float:
    """The formula of the docs for one label, from the labels of the rows before, oldest first."""
    n = len(labels)
    pi = sum(labels) / n if n else 0.0
    if pi in {0.0, 1.0}:
        return 2.0 if pi == 0 else -1.0
    weights = [(1 - 1 / 20) ** (n - 1 - row) for row in range(n)]
    late = (sum(w * y for w, y in zip(weights, labels, strict=True)) + 5 * pi) / (sum(weights) + 5)
    late = min(max(late, 1e-4), 1 - 1e-4)
    logit = math.log(pi / (1 - pi))
    moved_logit = logit - 0.5 * (math.log(late / (1 - late)) - logit) if moved else logit
    return 1 / (1 + math.exp(-moved_logit))


def test_thresholds_follow_the_formula_of_the_docs_label_by_label():
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 3)) < [0.5, 0.1, 0.9]).astype(float)
    mask = rng.random(Y.shape) < 0.7
    Y[rng.random(Y.shape) < 0.1] = np.nan
    found = decision_rules.follow_labels([(Y[:25], mask[:25]), (Y[25:], mask[25:])], 3)
    for label in range(3):
        before = [[Y[r, label] for r in range(row) if mask[r, label] and Y[r, label] in {0, 1}] for row in range(61)]
        online = [slow_threshold(one, moved=True) for one in before[:60]]
        held_out = [slow_threshold(before[row], moved=False) for row in (0, 25, 60)]
        np.testing.assert_allclose(found.online[:, label], online, rtol=1e-12)
        np.testing.assert_allclose(found.held_out[:, label], held_out, rtol=1e-12)


def test_rules_decide_as_they_are_called():
    predictions = Predictions(np.array([[1, 0]], dtype=np.uint8), np.array([[0.4, 0.6]]))
    least = np.array([[0.3, 0.7]])
    decided = {rule: decision_rules.decide(rule, predictions, least).decided.tolist() for rule in decision_rules.RULES}
    assert decided == {"own": [[1, 0]], "half": [[0, 1]], "prevalence": [[1, 0]]}


@pytest.mark.parametrize("name", ["NN_TL", "last_class"])
def test_own_decisions_have_the_scores_of_an_evaluation(stream, name):
    found = measure.prepare(stream).measure(make_strategy(name), seed=7)
    expected = evaluate(make_strategy(name), stream, seed=7, energy="none", **CURVES).scores
    assert {score: expected[score] for score in found.scores["own"]} == found.scores["own"]


@pytest.mark.slow
@pytest.mark.parametrize("rule", decision_rules.RULES)
def test_a_campaign_decides_as_the_rules_written_anew(tmp_path, rule):
    # each task has one label: what the masks leave out matters
    stream = multiplier_stream("monolab", seed=3, n_rows=150, name="toy")
    learners = ["NN", "NN_TL", "StreamRidge"]
    options = {"decision": rule, "energy": "none", **CURVES}
    for run in run_campaign(learners, [stream], seeds=[0], directory=tmp_path, **options):
        found = measure.prepare(stream).measure(make_strategy(run.strategy), seed=0).scores[rule]
        assert {score: run.scores[score] for score in found} == found, run.strategy


def test_probabilities_have_the_same_scores_under_every_rule(stream):
    scores = measure.prepare(stream).measure(make_strategy("NN_TL"), seed=0).scores
    assert len({(found["rmse"], found["precision_at_k"]) for found in scores.values()}) == 1
    assert scores["prevalence"]["ba_macro"] > scores["half"]["ba_macro"]


def test_a_table_is_scored_row_by_row(table):
    found = measure.prepare(table).measure(make_strategy("NN_TL"), seed=0).scores
    learner, right = make_strategy("NN_TL", random_state=0), 0
    for row in range(len(table.Y)):
        X, Y = table.X[row : row + 1], table.Y[row : row + 1]
        right += bool((learner.predict_then_fit(X, Y)[0] == Y).all())
    assert found["half"]["subset_accuracy"] == found["own"]["subset_accuracy"] == pytest.approx(right / len(table.Y))
    assert found["prevalence"]["f1_macro"] != found["half"]["f1_macro"]


@pytest.mark.slow
@pytest.mark.parametrize("pattern", boards.PATTERNS)
def test_a_world_has_ten_thousand_rows_and_recovers_where_scores_are_read(pattern):
    stream = boards.world("hyperplane", pattern, 0)
    spacing = boards.WORLD_ROWS // measure.N_CHECKPOINTS
    assert stream.n_samples == boards.WORLD_ROWS
    assert len(stream.card.drifts) == (7 if pattern == "recurring" else 3)
    assert all((drift.stop + boards.RECOVERY_ROWS) % spacing == 0 for drift in stream.card.drifts)


def test_recovery_is_the_balanced_accuracy_of_the_rows_after_drifts(monkeypatch):
    monkeypatch.setattr(boards, "WORLD_ROWS", 2000)
    monkeypatch.setattr(measure, "RECOVERY_ROWS", 100)
    stream = boards.world("hyperplane", "abrupt", 0)
    found = measure.prepare(stream).measure(make_strategy("NN_TL"), seed=0).scores["own"]["ba_recovery"]
    curve = evaluate(make_strategy("NN_TL"), stream, seed=0, energy="none", n_checkpoints=20, window=100).curves[
        "ba_macro"
    ]
    after = [curve.windowed[curve.n_rows.index(drift.stop + 100)] for drift in stream.card.drifts]
    assert found == pytest.approx(np.mean(after))


def test_parts_share_no_source():
    design, confirmation = boards.boards("design"), boards.boards("confirmation")
    assert all(not set(design[name]) & set(confirmation[name]) for name in design)
    assert [len(makers) for makers in design.values()] == [9, 27, 10]


@pytest.fixture
def toy_boards(monkeypatch, stream, table):
    makers = {
        "streams": {"one": lambda: stream, "two": lambda: multiplier_stream("rand", seed=4, n_rows=80)},
        "field": {"toy-file": lambda: table, "toy-shuffled": lambda: table},
    }
    monkeypatch.setattr(records, "boards", lambda part: makers)
    return makers


LEARNERS = ["NN_TL", "last_class", "mean"]


def measure_toys(folder, again=()):
    wanted = records.Wanted(["design"], ["streams", "field"], ["*"], LEARNERS)
    return list(records.measure_all(folder, wanted, again))


@pytest.mark.slow
@pytest.mark.usefixtures("toy_boards")
def test_nothing_is_measured_twice_unless_asked(tmp_path):
    assert len(measure_toys(tmp_path)) == 12
    (tmp_path / "design" / "streams" / "one" / "mean.json").unlink()
    assert [line.split()[:2] for line in measure_toys(tmp_path)] == [["one", "mean"]]
    assert len(measure_toys(tmp_path, again=["NN_TL"])) == 4


@pytest.mark.usefixtures("toy_boards")
def test_boards_are_printed_and_written(tmp_path):
    measure_toys(tmp_path / "records")
    found = records.load_records(tmp_path / "records")
    lines = list(tables.show(found, LEARNERS))
    assert any(line.startswith("streams: 2 sources") or "streams: 2 sources" in line for line in lines)
    assert "  first: BA NN_TL, ACC NN_TL, RMSE NN_TL, P@k NN_TL" in lines
    tables.write_tables(tmp_path / "docs", "design", found, LEARNERS)
    at_once = (tmp_path / "docs" / "design-at-once-ranks.csv").read_text().splitlines()
    assert at_once[:2] == ["Learner,BA,ACC,RMSE,P@k", "NN_TL,1.0,1.0,1.0,1.0"]
    tests = (tmp_path / "docs" / "design-streams-tests.csv").read_text().splitlines()
    assert tests[1].startswith("BA,2,NN_TL,")


def fake_record(source, learner, score, cpu_s=1.0):
    names = ("ba_macro", "acc_mean", "rmse", "precision_at_k", "ba_recovery")
    scores = {rule: dict.fromkeys(names, score) for rule in decision_rules.RULES}
    return records.Record("design", "worlds", source, learner, scores, cpu_s)


@pytest.mark.slow
def test_ranks_count_sources_that_every_learner_has():
    rng = np.random.default_rng(1)
    scores = rng.random((6, 3))
    found = [
        fake_record(f"w{source}", learner, scores[source, place])
        for source in range(6)
        for place, learner in enumerate("abc")
        if (source, learner) != (5, "b")
    ]
    table = ranks.make_table(found, ranks.BOARDS["worlds"], list("abc"))
    ba, rmse = table.columns[0], table.columns[2]
    assert table.sources == [f"w{source}" for source in range(5)]
    np.testing.assert_allclose(ba.ranks, rankdata(-scores[:5], axis=1).mean(axis=0))
    np.testing.assert_allclose(rmse.ranks, rankdata(scores[:5], axis=1).mean(axis=0))
    pooled = ranks.at_once([table, table])
    assert pooled.sources == table.sources * 2
    np.testing.assert_allclose(pooled.ranks_of(("RMSE",)), [rmse.ranks])
    np.testing.assert_allclose(pooled.columns[0].scores, np.vstack([ba.scores, ba.scores]))


def test_holm_is_that_of_its_paper():
    # Holm (1979): the smallest p times n, the next times n - 1, never below an earlier one, at most 1.
    np.testing.assert_allclose(ranks.holm(np.array([0.04, 0.01, 0.03, 0.9])), [0.09, 0.04, 0.09, 0.9])


def test_energy_is_compared_source_by_source():
    bound = ranks.ENERGY_BOUND
    found = [fake_record("w", bound, 0.5, 2.0), fake_record("w", "a", 0.5, 3.0), fake_record("v", "a", 0.5)]
    assert ranks.energy_ratios(found, "a") == {"w": 1.5}
    streams = [one._replace(board="streams") for one in found]
    assert list(tables.energy_rows(streams, [bound, "a"])) == [
        ["Learner", "w", "v", "worlds, median"],
        ["a", "1.50", "", ""],
    ]


def test_records_hold_scores_by_rule(tmp_path, toy_boards):
    assert toy_boards
    measure_toys(tmp_path)
    content = json.loads((tmp_path / "design" / "field" / "toy-file" / "NN_TL.json").read_text())
    assert set(content["scores"]) == set(decision_rules.RULES)
    assert content["cpu_s"] > 0
