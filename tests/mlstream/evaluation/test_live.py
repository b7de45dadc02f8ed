"""A live source is evaluated as the same rows of a stream of one task are, without what needs tasks."""

import itertools
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from estimators import AlarmBudget, OnlineLogisticRegression
from metrics import ba_macro, expected_calibration_error, rmse
from mlstream import Dataset, Events, RunResult, TextColumn, evaluate, load_runs, report, task_stream
from mlstream.evaluation.live import is_live
from mlstream.generators import LiveWindows
from mlstream.records.run_record import load_run, save_card, save_run
from tests.mlstream.evaluation.streams import Online

N_ROWS, NAMES = 230, ("a", "b", "c")


def draw(n_rows=N_ROWS, n_labels=4):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n_rows, 3))
    Y = (X @ rng.normal(size=(3, n_labels)) + rng.normal(size=(n_rows, n_labels)) > 0).astype(np.uint8)
    return X, Y


X, Y = draw()
STREAM = task_stream(Dataset(X, Y, NAMES, ("k", "l", "m", "n"), name="toy"), n_tasks=1)
ROWS = tuple(np.concatenate([getattr(part, name) for part in STREAM]) for name in "XY")
CUTS = st.lists(st.integers(0, len(ROWS[0])), max_size=8).map(sorted)
NEED_TASKS = ("acc", "bwt", "fwt", "fm", "frug")


def run(source, learner=None, **options):
    return evaluate(learner or OnlineLogisticRegression(), source, energy="none", **options)


def pieces(cuts):
    edges = [0, *cuts, len(ROWS[0])]
    return ((ROWS[0][start:stop], ROWS[1][start:stop]) for start, stop in itertools.pairwise(edges))


@settings(max_examples=8)
@given(CUTS, st.sampled_from([1, 9, 256]), st.sampled_from(["own", "prevalence"]))
def test_scores_are_those_of_the_stream_to_the_last_bit_however_rows_are_cut(cuts, chunk_size, decision):
    expected = run(STREAM, label_space="all", decision=decision, also_decide=["half"])
    found = run(pieces(cuts), chunk_size=chunk_size, decision=decision, also_decide=["half"])
    needing_tasks = {name for name in expected.scores if name.startswith(NEED_TASKS)}
    assert found.scores == {k: v for k, v in expected.scores.items() if k not in needing_tasks}
    assert found.curves == run(zip(*ROWS, strict=True), decision=decision, also_decide=["half"]).curves


def test_so_are_those_of_a_learner_that_is_called_row_by_row():
    expected, found = run(STREAM, Online(), label_space="all"), run(zip(*ROWS, strict=True), Online())
    assert found.scores.items() <= expected.scores.items()
    assert found.warm_up_rows == expected.warm_up_rows


@pytest.mark.parametrize("cuts", [[50], range(1, N_ROWS)])
def test_metrics_asked_for_are_equal_but_for_rounding(cuts):
    names = ["hamming_loss", "ndcg_at_k", "f1_macro", "ece_macro", "brier_micro"]
    expected = run(STREAM, label_space="all", metrics=names).scores
    found = run(pieces(cuts), metrics=names, n_checkpoints=3).scores
    assert {name: found[name] for name in names} == pytest.approx({name: expected[name] for name in names}, rel=1e-12)
    assert not any(name.endswith("held_out") for name in found)


@pytest.mark.parametrize("n_checkpoints", [1, 2, 50])
def test_new_labels_count_from_their_first_row_on_wherever_pieces_end(n_checkpoints):
    few, many = (X[:90], Y[:90, :2]), (X[90:], Y[90:])
    learner = OnlineLogisticRegression(on_new_labels="grow")
    options = {"metrics": ["ece_macro"], "n_checkpoints": n_checkpoints, "chunk_size": N_ROWS}
    found = run(iter([few, many]), learner, **options)
    learner.begin(X[:1], Y[:1, :2])
    decided, proba = np.zeros((2, *Y.shape))
    decided[:90, :2], proba[:90, :2] = learner.predict_then_fit(*few)
    decided[90:], proba[90:] = learner.predict_then_fit(*many)
    counts = np.ones(Y.shape, dtype=bool)
    counts[:90, 2:] = False
    expected = {
        "ece_macro": expected_calibration_error(Y, proba, label_mask=counts),
        "ba_macro": ba_macro(Y, decided, label_mask=counts),
        "rmse": rmse(Y, proba, label_mask=counts),
    }
    assert {name: found.scores[name] for name in expected} == pytest.approx(expected, rel=1e-12)


@settings(max_examples=20)
@given(st.integers(1, 12), st.one_of(st.none(), st.integers(1, 60)), CUTS)
def test_a_curve_has_a_score_of_all_rows_so_far_and_of_the_last_ones(n_checkpoints, window, cuts):
    options = {"n_checkpoints": n_checkpoints, "metrics": ["hamming_loss"]}
    curve = run(pieces(cuts), window=window, **options).curves["rmse"]
    step = curve.n_rows[0]
    n_rows = len(ROWS[0])
    assert curve.n_rows == list(range(step, n_rows + 1, step))
    assert n_checkpoints / 2 - 1 < len(curve.n_rows) <= n_checkpoints
    assert step & (step - 1) == 0
    assert curve.window == (window or 5 * step)
    every = run(STREAM, label_space="all", n_checkpoints=n_rows, window=curve.window).curves["rmse"]
    for place, n in enumerate(curve.n_rows):
        assert curve.cumulative[place] == every.cumulative[n - 1]
        assert curve.windowed[place] == pytest.approx(every.windowed[n - 1], rel=1e-12)


def test_the_record_lacks_what_needs_tasks_and_says_live(tmp_path):
    found = run(zip(X, Y, strict=True))
    content = json.loads(found.model_dump_json())
    assert content["scenario"] == "live"
    assert not {"R", "references"} & content.keys()
    assert not any(name.startswith(NEED_TASKS) for name in {**found.scores, **found.undefined})
    assert load_run(save_run(found, tmp_path)) == found
    assert load_runs(tmp_path).to_frame().loc[0, "ba_macro"] == found.scores["ba_macro"]
    assert "scenario" not in run(STREAM).model_dump()
    assert "live" in found._repr_html_()


def test_a_report_shows_live_sources_beside_streams_without_what_needs_tasks(tmp_path):
    record = run(zip(X, Y, strict=True))
    save_run(record, tmp_path)
    alone = report(tmp_path).read_text(encoding="utf-8")
    assert f"{record.scores['ba_macro']:.3f}" in alone
    assert "A live source: 230 rows of one task" in alone
    assert "Task by task" not in alone
    assert "held-out rows" not in alone
    save_run(run(STREAM), tmp_path)
    save_card(STREAM.card, tmp_path)
    both = report(tmp_path, tables=True).read_text(encoding="utf-8")
    assert both.count("Task by task</h3>") == 1


def test_the_time_cap_ends_a_source_that_never_does():
    found = run(zip(itertools.cycle(X), itertools.cycle(Y)), time_cap_s=0.3)
    assert found.status == "capped"
    assert found.experience_sizes[0] % 256 == 0


def test_single_rows_and_the_time_cap(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr("mlstream.evaluation.live.time.perf_counter", lambda: float(next(clock)))
    taken = []
    rows = (taken.append(row) or row for row in zip(X, Y, strict=True))
    with pytest.raises(ValueError, match=r"at least one row with a label. Got 0"):
        run(rows, time_cap_s=9.5)
    assert len(taken) == 10


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"label_space": "task"}, "label_space must be 'all' for a live source.* Got 'task'"),
        ({"label_space": "seen"}, "label_space must be 'all' for a live source.* Got 'seen'"),
        ({"references": True}, "references must be False for a live source.* Got True"),
    ],
)
def test_options_that_need_tasks_are_refused_before_a_row_is_taken(options, text):
    source = zip(X, Y, strict=True)
    with pytest.raises(ValueError, match=text):
        run(source, **options)
    assert next(source)[0] is not None
    assert run(zip(X, Y, strict=True), label_space="all").label_space == "all"


@pytest.mark.parametrize("item", [X[0], (X[0],), "row", STREAM[0], {"x": 1}])
def test_an_item_that_is_no_row_is_named(item):
    with pytest.raises(TypeError, match=r"must be a row .* Got .* as item 1") as caught:
        run(iter([(X[0], Y[0]), item]))
    assert "had given 0 rows" in caught.value.__notes__[0]


@pytest.mark.parametrize("table", [X, Dataset(X, Y), sparse.csr_array(X), Dataset(X, Y).to_frame(), 5])
def test_tables_are_not_sources(table):
    assert not is_live(table)
    with pytest.raises(TypeError, match="stream must be a Stream"):
        run(table)


def test_an_error_of_the_source_says_how_many_rows_came_before():
    def source():
        yield X[:30], Y[:30]
        raise OSError("the line is dead")

    with pytest.raises(OSError, match="the line is dead") as caught:
        run(source())
    assert caught.value.__notes__ == ["The source had given 30 rows before."]


def test_an_empty_source_is_an_error():
    for source in ([], [(X[:0], Y[:0])], [(X, Y[:, :0])]):
        with pytest.raises(ValueError, match=r"at least one row with a label. Got 0"):
            run(source)


def tables(*parts):
    return (Dataset(X[rows], Y[rows], *names) for rows, *names in parts)


def test_columns_are_taken_by_name():
    order = [2, 0, 1]
    shuffled = Dataset(X[50:, order], Y[50:, ::-1], ("c", "a", "b"), ("n", "m", "l", "k"))
    names = (NAMES, ("k", "l", "m", "n"))
    found = run(iter([Dataset(X[:50], Y[:50], *names), shuffled]))
    assert found.scores == run(iter([(X, Y)])).scores


@pytest.mark.parametrize(
    ("features", "labels", "text"),
    [
        (("a", "b", "d"), ("k", "l", "m", "n"), "features of a source must stay .* Got no 'c' and new 'd'"),
        (NAMES, ("k", "l", "m", "o"), "labels of a source must stay .* Got no 'n' and new 'o'; a learner made"),
    ],
)
def test_other_columns_are_named(features, labels, text):
    with pytest.raises(ValueError, match=text):
        run(tables((slice(50), NAMES, ("k", "l", "m", "n")), (slice(50, 99), features, labels)))


def test_other_categories_and_kinds():
    one = Dataset([[0], [1]], [[0], [1]], ("a",), feature_values={"a": ("x", "y")})
    with pytest.raises(ValueError, match="declare the same values of categories"):
        run(iter([one, Dataset([[0], [1]], [[0], [1]], ("a",), feature_values={"a": ("y", "x")})]))
    mixed = run(iter([(X[:50], Y[:50]), (sparse.csr_array(X[50:]), Y[50:])]))
    assert mixed.scores == run(iter([(X, Y)])).scores


def test_new_labels_are_learnt_by_a_learner_that_grows_and_do_not_count_before():
    learner = OnlineLogisticRegression(on_new_labels="grow")
    few, many = Dataset(X[:90], Y[:90, :2], NAMES, ("k", "l")), Dataset(X[90:], Y[90:], NAMES, ("m", "k", "l", "n"))
    found = run(iter([few, many]), learner, n_checkpoints=20)
    # The oracle: labels of all rows, in the order of emergence, of which the late ones are unknown at first.
    labels = np.hstack([Y[:, :2].astype(float), np.full((N_ROWS, 2), np.nan)])
    labels[90:] = Y[90:][:, [1, 2, 0, 3]]
    table = Dataset(X, labels)
    again = run(iter([(X[:90], labels[:90]), (X[90:], labels[90:])]), OnlineLogisticRegression(), n_checkpoints=20)
    assert found.scores["ba_macro"] == pytest.approx(again.scores["ba_macro"], abs=0.02)
    assert found.settings["k"] == 2
    assert table.Y.shape == (N_ROWS, 4)
    with pytest.raises(ValueError, match=r"Got new 'x2', 'x3'|Got new 'y2', 'y3'"):
        run(iter([(X[:90], Y[:90, :2]), (X[90:], Y[90:])]))
    with pytest.raises(ValueError, match="other rules than 'prevalence'"):
        run(iter([(X[:90], Y[:90, :2]), (X[90:], Y[90:])]), learner, decision="prevalence")


def test_first_rows_wait_for_each_other_across_new_labels():
    learner = OnlineLogisticRegression(on_new_labels="grow")
    found = run(iter([(X[:9], Y[:9, :2]), (X[9:], Y[9:])]), learner, warm_up_rows=20)
    assert found.warm_up_rows == 20
    unknown = np.full((20, 4), np.nan)
    assert run(iter([(X[:9], Y[:9, :2]), (X[:20], unknown), (X[9:], Y[9:])]), learner).experience_sizes == [250]


def test_windows_of_a_log_are_a_source_and_keys_reach_the_learner():
    rng, n = np.random.default_rng(0), 3000
    times = np.datetime64("2026-01-01", "us") + np.arange(n) * np.timedelta64(30, "s")
    columns = {"host": TextColumn(rng.integers(0, 3, n), ("a", "b", "c")), "bytes": rng.random(n)}
    columns["threat"] = TextColumn(np.where(np.arange(n) < 600, -1, rng.integers(-1, 2, n)), ("scan", "dos"))
    events = Events(times, columns, labels="threat", by="host")
    live = LiveWindows("10min", by="host", labels="threat", numbers=["bytes"], clock=[])
    learner = AlarmBudget(OnlineLogisticRegression(on_new_labels="grow"), budget=5, period="1d", time="start")
    found = run((live.update(events.take(slice(i, i + 50))) for i in range(0, n, 50)), learner)
    assert found.status == "done"
    assert found.experience_sizes[0] > 300


@pytest.mark.slow  # 5 s: peaks at two lengths
def test_memory_does_not_depend_on_the_number_of_rows(monkeypatch):
    monkeypatch.setattr("mlstream.evaluation.prequential._MAX_PIECE", 64)

    def peak(n_chunks):
        tracemalloc.start()
        run((ROWS[0], ROWS[1]) for _ in range(n_chunks))
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(5)
    assert peak(200) < 1.2 * peak(100)


def test_progress_is_told_the_rows_so_far():
    told = []
    run(iter([(X, Y)]), chunk_size=100, progress=lambda *args: told.append(args))
    assert told == [(100, 100), (200, 200), (230, 230)]


def test_a_record_without_scenario_is_read():
    one = run(STREAM)
    assert RunResult.model_validate_json(one.model_dump_json()) == one
