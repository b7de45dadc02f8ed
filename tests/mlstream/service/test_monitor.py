"""A monitor says what labels and features of a window show, however rows come, and invents nothing."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats

import metrics
from estimators.drift import ADWIN, PageHinkley
from mlstream.service import Monitor
from mlstream.service.feature_drift import Reference, holm, largest_distances, same_shares

W = 50


def world(n_rows, n_features=3, n_labels=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).round(1)
    Y = (rng.random((n_rows, n_labels)) < 0.3).astype(float)
    Y_pred = np.where(rng.random(Y.shape) < 0.2, 1 - Y, Y)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    return X, Y_pred, Y, rng.random(Y.shape).round(2)


def frames(monitor):
    return [monitor.to_frame(table) for table in ("windows", "features", "labels")]


def assert_same(monitor, other):
    for one, two in zip(frames(monitor), frames(other), strict=True):
        assert one.equals(two)
    for name in ("n_rows_", "n_labelled_", "n_alarms_", "n_windows_", "n_drifted_", "n_error_drifts_"):
        assert_array_equal(getattr(monitor, name), getattr(other, name))


@given(st.lists(st.integers(1, 70), min_size=1, max_size=8), st.integers(0, 5))
def test_windows_are_the_same_however_rows_are_cut_and_pickled(sizes, seed):
    whole, cut = (Monitor(window=W, n_reference=60, detector=PageHinkley(threshold=1.0)) for _ in range(2))
    X, Y_pred, Y, Y_proba = world(sum(sizes), seed=seed)
    whole.update(X, Y_pred, Y, y_proba=Y_proba)
    start = 0
    for size in sizes:
        rows = slice(start, start + size) if size > 1 else start
        cut.update(X[rows], Y_pred[rows], Y[rows], y_proba=Y_proba[rows])
        cut = pickle.loads(pickle.dumps(cut))  # noqa: S301 - our own
        start += size
    assert_same(whole, cut)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, list, sparse.csr_array])
def test_a_row_counts_as_a_chunk_of_one_row_does(kind):
    X, Y_pred, Y, Y_proba = world(120)
    X = X.round()
    whole, single = Monitor(window=W), Monitor(window=W)
    whole.update(X, Y_pred, Y, y_proba=Y_proba)
    for x, *labels, y_proba in zip(X, Y_pred, Y, Y_proba, strict=True):
        if kind is sparse.csr_array:
            single.update(kind(x[np.newaxis]), *(part[np.newaxis] for part in labels), y_proba=y_proba[np.newaxis])
        else:
            single.update(x.tolist() if kind is list else x.astype(kind), *labels, y_proba=y_proba)
    assert_same(whole, single)


@given(st.integers(0, 20))
def test_scores_are_those_of_the_metrics_of_the_rows_of_the_window(seed):
    X, Y_pred, Y, Y_proba = world(2 * W, seed=seed)
    monitor = Monitor(window=W)
    monitor.update(X, Y_pred, Y, y_proba=Y_proba)
    last = monitor.to_frame().iloc[-1]
    Y_pred, Y, Y_proba = Y_pred[W:], Y[W:], Y_proba[W:]
    assert last["ba_macro"] == metrics.ba_macro(Y, Y_pred)
    for name in ("precision", "recall", "f1"):
        for average in ("macro", "micro"):
            expected = getattr(metrics, name)(Y, Y_pred, average=average, zero_division=np.nan)
            assert_allclose(last[f"{name}_{average}"], expected, rtol=1e-12)
    assert last["n_alarms"] == Y_pred.sum()
    assert last["n_labelled"] == (~np.isnan(Y)).any(axis=1).sum()
    assert_allclose(last["brier_macro"], np.nanmean((Y - Y_proba) ** 2, axis=0).mean(), rtol=1e-12)
    assert_allclose(last["ece_macro"], np.mean([slow_ece(y, p) for y, p in zip(Y.T, Y_proba.T, strict=True)]))


def slow_ece(y, p):
    """Return the expected calibration error of a label, cell by cell."""
    bins, edges = {}, np.linspace(0, 1, 11)[1:-1]
    for label, value in zip(y, p, strict=True):
        if not np.isnan(label):
            bins.setdefault(sum(value > edge for edge in edges), []).append((label, value))
    n = sum(map(len, bins.values()))
    return sum(abs(sum(value - label for label, value in cells)) for cells in bins.values()) / n


def test_labels_that_come_later_count_in_the_window_in_which_they_come():
    X, Y_pred, _, Y_proba = world(100)
    at_once, later = Monitor(window=W), Monitor(window=W)
    Y = 1 - Y_pred
    at_once.update(X[:W], Y_pred[:W])
    at_once.update(X[W:], Y_pred[W:], Y[:W], y_proba=Y_proba[W:])
    for row in range(100):
        if row >= W:
            later.feedback(Y[row - W], Y_pred[row], Y_proba[row])
        later.update(X[row], Y_pred[row])
    assert_same(at_once, later)
    assert later.to_frame()["n_labelled"].tolist() == [0, W]


def test_new_labels_are_added_and_late_feedback_may_lack_them():
    X, Y_pred, Y, _ = world(2 * W)
    monitor = Monitor(window=W, label_names=["scan"])
    monitor.update(X[:W], Y_pred[:W, :1], Y[:W, :1])
    monitor.update(X[W:], Y_pred[W:])
    monitor.feedback([1], [0])
    monitor.feedback([[np.nan, 1]], [[0, 0]])
    monitor.update(X[:W], Y_pred[:W])
    labels = monitor.to_frame("labels")
    assert labels["label"].tolist() == ["scan", "scan", "y1", "scan", "y1"]
    assert labels["n_known"].tolist()[1:] == [0, 0, 1, 1]
    assert monitor.to_frame()["unscored"].tolist()[1:] == ["scan, y1"] * 2


@given(st.integers(2, 60), st.integers(2, 60), st.integers(0, 50), st.sampled_from([0, 1, 8]))
def test_distances_are_those_of_scipy(n, m, seed, decimals):
    rng = np.random.default_rng(seed)
    one, other = np.sort(rng.normal(size=n).round(decimals)), np.sort(rng.normal(0.5, 1, m).round(decimals))
    distance = largest_distances(one[np.newaxis], other[np.newaxis])[0]
    assert_allclose(distance, stats.ks_2samp(one, other, method="asymp").statistic, rtol=1e-12)


def test_small_chances_of_distances_are_nearly_the_exact_ones_and_not_smaller():
    rng = np.random.default_rng(0)
    X, now = rng.normal(size=(200, 1)), rng.normal(0.5, 1, size=(200, 1))
    reference = Reference(X, ())
    reference._effective[:] = 1
    exact = stats.ks_2samp(X[:, 0], now[:, 0], method="exact").pvalue
    found = reference.compare(now).p_value[0]
    assert exact <= found <= 1.1 * exact


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=2, max_size=5))
def test_chances_of_shares_are_exact(pairs):
    first, second = np.array(pairs).T
    if not first.sum() or not second.sum():
        return
    n_all, n_drawn = int(first.sum() + second.sum()), int(second.sum())
    chances = []
    for j, k in pairs:
        marked = j + k
        mean = n_drawn * marked / n_all
        variance = mean * (n_all - marked) / n_all * (n_all - n_drawn) / max(n_all - 1, 1)
        ways = [comb(marked, i) * comb(n_all - marked, n_drawn - i) for i in range(min(marked, n_drawn) + 1)]
        tail = min(sum(ways[k:]), sum(ways[: k + 1]))
        near = (k - mean) ** 2 <= 4 * variance * (1 + 1e-12)
        chances.append(1.0 if near else min(1.0, float(2 * Fraction(tail, comb(n_all, n_drawn)))))
    n_tests = max(sum(j + k > 0 for j, k in pairs) - 1, 1)
    assert_allclose(same_shares(first, second), min(1.0, n_tests * min(chances)), rtol=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_chances_are_corrected_as_holm_says(chances):
    order, running = sorted(range(len(chances)), key=chances.__getitem__), 0.0
    for place, one in enumerate(order):
        running = max(running, min(1.0, (len(chances) - place) * chances[one]))
        assert holm(np.array(chances))[one] == running


@given(st.integers(0, 20))
def test_the_index_is_the_sum_over_bins_of_equal_frequency(seed):
    rng = np.random.default_rng(seed)
    X, now = rng.normal(size=(97, 1)), rng.normal(0.5, 2, size=(61, 1))
    ordered = sorted(X[:, 0])
    ends = [ordered[-(-97 * i // 10) - 1] for i in range(1, 10)]
    expected = 0.0
    for low, high in zip([-np.inf, *ends], [*ends, np.inf], strict=True):
        p, q = (max(np.mean([low < x <= high for x in part[:, 0]]), 1e-4) for part in (X, now))
        expected += (q - p) * np.log(q / p)
    assert_allclose(Reference(X, ()).compare(now).psi[0], expected, rtol=1e-9)


def watch(X, **options):
    monitor = Monitor(**options)
    monitor.update(X, np.zeros((len(X), 1)))
    return monitor


@pytest.mark.parametrize(
    "change",
    [
        lambda x, rng: x + 0.5,
        lambda x, rng: 2 * x,
        lambda x, rng: x * (rng.random(len(x)) < 0.7),
        lambda x, rng: rng.exponential(size=len(x)) - 1,
    ],
    ids=["shift", "scale", "zeros", "shape"],
)
@pytest.mark.parametrize("seed", range(5))
def test_a_change_of_one_feature_of_a_hundred_is_found_in_its_first_window_and_no_other(change, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4000, 100))
    X[3000:, 7] = change(X[3000:, 7], rng)
    assert watch(X).to_frame()["drifted"].tolist() == ["", "", "", "x7"]


@pytest.mark.parametrize("codes", [[0.4, 0.3, 0.3], [0.05] * 20])
def test_other_frequencies_of_categories_are_found(codes):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 50))
    X[:, 3] = rng.choice(len(codes), 3000, p=codes)
    X[2000:, 3] = np.where(rng.random(1000) < 0.2, 1, X[2000:, 3])
    assert watch(X, categorical=[3]).to_frame()["drifted"].tolist() == ["", "", "x3"]


def test_a_constant_feature_drifts_when_it_begins_to_vary():
    X = np.random.default_rng(0).normal(size=(1500, 2))
    X[:, 1] = 4.0
    X[1200:, 1] += np.arange(300) % 2
    monitor = watch(X, window=300)
    assert monitor.to_frame()["drifted"].tolist() == ["", "", "", "", "x1"]
    assert (monitor.to_frame("features").query("feature == 'x1'")["psi"].iloc[:-1] == 0).all()


@pytest.mark.parametrize("persistence", [0.0, 0.8])
def test_false_alarms_are_as_rare_as_stated(persistence):
    rng = np.random.default_rng(7)
    n_worlds, found = 200, 0
    for _ in range(n_worlds):
        X = rng.normal(size=(400, 12))
        for row in range(1, 400):
            X[row, :6] = persistence * X[row - 1, :6] + np.sqrt(1 - persistence**2) * X[row, :6]
        X[:, 6] = X[:, 6] > 1
        X[:, 7] = X[:, 7] > 2.3
        X[:, 8:10] = np.floor(2 * X[:, 8:10])
        found += watch(X, window=200, alpha=0.05, categorical=[8]).n_drifted_.any()
    # 10 are expected at most
    assert found <= stats.binom.ppf(0.999, n_worlds, 0.05)


def test_nothing_is_invented_in_a_long_stationary_world():
    X = np.random.default_rng(3).normal(size=(60_000, 40))
    assert not watch(X, window=500).n_drifted_.any()


def test_errors_that_change_are_found_for_their_label():
    Y_pred = np.zeros((1200, 3))
    Y = Y_pred.copy()
    Y[800:, 1] = 1
    monitor = Monitor(window=400, detector=ADWIN(), label_names=["scan", "worm", "flood"])
    monitor.update(np.ones((1200, 1)), Y_pred, Y)
    assert monitor.to_frame()["errors_drifted"].tolist() == ["", "", "worm"]
    assert monitor.n_error_drifts_.tolist() == [0, 1, 0]


def test_another_reference_ends_a_drift():
    X = np.random.default_rng(0).normal(size=(400, 2))
    X[200:] += 3
    for given_rows in (None, X[200:]):
        monitor = Monitor(window=100, reference=X[:200])
        monitor.update(X, np.zeros((400, 1)))
        assert monitor.n_drifted_.tolist() == [2, 2]
        monitor.set_reference(given_rows).update(X[200:], np.zeros((200, 1)))
        assert monitor.n_drifted_.tolist() == [2, 2]


def test_threads_lose_no_row():
    X, Y_pred, Y, _ = world(2000)
    monitor = Monitor(window=W)

    def give(part):
        for row in range(part, 2000, 4):
            monitor.update(X[row], Y_pred[row], Y[row])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(give, range(4)))
    assert_array_equal(monitor.n_alarms_, Y_pred.sum(axis=0))
    assert (monitor.n_windows_, monitor.n_labelled_) == (40, (~np.isnan(Y)).any(axis=1).sum())


def test_the_page_says_first_what_changed_and_escapes_names(tmp_path):
    X, Y_pred, Y, Y_proba = world(200)
    X[100:, 1] += 5
    monitor = Monitor(window=100, budget=3, feature_names=["a", "<b>", "c"])
    assert "Nothing to show yet" in monitor.page(tmp_path / "x.html").read_text()
    monitor.update(X, Y_pred, Y, y_proba=Y_proba)
    page = monitor.page(tmp_path / "x.html").read_text()
    n_alarms = int(Y_pred[100:].sum())
    heading = page.index("What changed in rows 100 to 199")
    assert heading < page.index("1 of 3 features is unlike the reference: &lt;b&gt; (PSI") < page.index("Over time")
    assert f"{n_alarms} alarms, more than the budget of 3." in page
    assert "http" not in page.split("</style>")[1]


def test_the_history_is_bounded():
    monitor = watch(world(300)[0], window=10, history=4)
    assert (len(monitor.windows_), monitor.n_windows_) == (4, 30)
    assert monitor.to_frame()["first_row"].tolist() == [260, 270, 280, 290]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.update([[1.0, np.nan]], [[1]]), "X must hold finite numbers. Got nan in row 0, feature 1"),
        (lambda m: m.update(1.0, [1]), "X must be a row or a table of numbers. Got 1.0 instead"),
        (lambda m: m.update(np.array([1.0, np.inf]), np.array([1])), "must hold finite numbers"),
        (lambda m: m.update([[1.0]], [[1]]), r"X must have shape \(n_rows, 2\)"),
        (lambda m: m.update([["tcp", 1.0]], [[1]]), "name its feature in `categorical`"),
        (lambda m: m.update([[1.0, 2.0]], [[2]]), "y_pred must hold only 0 and 1"),
        (lambda m: m.update([[1.0, 2.0]], [[1], [0]]), r"y_pred must have shape .* \(1, 1\)"),
        (lambda m: m.update([[1.0, 2.0]], [[1]], [[1, 0]]), "y_true must have the shape of y_pred"),
        (lambda m: m.update([[1.0, 2.0]], [[1]], y_proba=[[1.5]]), "y_proba must hold probabilities"),
        (lambda m: m.feedback([[1]], [[0]], [[np.nan]]), "y_proba must hold finite numbers"),
        (lambda m: m.feedback([[3]], [[0]]), "y_true must hold only 0 and 1"),
        (lambda m: m.set_reference([[1.0, 2.0]]), "at least 10 rows"),
        (lambda m: m.to_frame("rows"), "table must be one of"),
    ],
)
def test_a_call_that_fails_says_why_and_changes_nothing(call, message):
    monitor = Monitor(window=10)
    monitor.update([[0.5, 1.0]], [[1]], [[0]])
    before = pickle.dumps(monitor)
    with pytest.raises(ValueError, match=message):
        call(monitor)
    assert pickle.dumps(monitor) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 5}, "window must be an integer of at least 10"),
        ({"alpha": 2}, "alpha must be"),
        ({"budget": -1}, "budget must be"),
        ({"feature_names": ["a", "a"]}, "feature_names must be different texts"),
        ({"label_names": "scan"}, "label_names must be different texts"),
        ({"reference": np.ones((20, 2)), "categorical": ["host"]}, "categorical must hold positions below 2"),
        ({"detector": ADWIN(delta=3)}, "delta must be"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Monitor(**options)
