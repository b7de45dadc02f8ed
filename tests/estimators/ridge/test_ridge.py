"""Ridge regression on a stream: coefficients equal to scikit-learn's, decisions equal to a slow loop."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from estimators import StreamRidgeClassifier
from estimators.ridge._basis import Basis
from estimators.ridge._sums import Block, Sums, choose_penalty
from metrics import ba_macro
from tests.loops import check_all

SMALL = StreamRidgeClassifier(hidden_units=8, knots=2, random_state=0)


def table(n=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 30, d) + rng.normal(size=d)
    Y = (StandardScaler().fit_transform(X) @ rng.normal(size=(d, 3)) + rng.normal(size=(n, 3)) > 0.7).astype(int)
    return X, Y


def slow_basis(X, first, ridge):
    """Expand rows, feature by feature, with the knots that the first rows give."""
    shift, scale = first.mean(0), 1 / first.std(0)
    rows = []
    for x in X:
        z = (x - shift) * scale
        hinges = [
            max(0.0, z[j] - np.quantile((first[:, j] - shift[j]) * scale[j], (k + 1) / (ridge.knots + 1)))
            for j in range(len(z))
            for k in range(ridge.knots)
        ]
        units = [max(0.0, b + z @ w) for b, w in zip(ridge._biases_, ridge._weights_.T, strict=True)]
        rows.append([*z, *hinges, *units])
    return np.array(rows)


def rarity(F):
    """Return the penalty of each feature beside that of others: the root of how much rarer it is not 0."""
    share = (F != 0).mean(axis=0)
    return np.sqrt(share[share > 0].mean() / np.where(share > 0, share, share[share > 0].mean()))


@pytest.mark.parametrize("size", [1, 7, 300])
def test_chunks_leave_the_same_bits_where_predict_expects_usual_labels(size):
    X, Y = table()
    # labels that first occur within a chunk, and between computations of all coefficients
    Y[:120, 1], Y[:130, 2], Y[:171, 0] = 1, 0, 0
    ridge, looped = clone(SMALL), clone(SMALL).set_params(late_in_predict=True)
    parts = [ridge.predict_then_fit(X[i : i + size], Y[i : i + size]) for i in range(0, 300, size)]
    expected = [(np.zeros((1, 3)), parts[0][1][:1])]
    for i in range(300):
        if i:
            expected.append((looped.predict(X[i : i + 1]), looped.predict_proba(X[i : i + 1])))
        looped.partial_fit(X[i : i + 1], Y[i : i + 1])
    for found, loop in zip(zip(*parts, strict=True), zip(*expected, strict=True), strict=True):
        np.testing.assert_array_equal(np.concatenate(found), np.concatenate(loop))
    np.testing.assert_array_equal(ridge.predict_proba(X), looped.set_params(late_in_predict=False).predict_proba(X))


def test_rows_without_labels_between_others_are_expected_to_follow_them():
    X, Y = table()
    Y = Y.astype(float)
    Y[100:200, 0] = 1
    Y[200] = np.nan
    ridge, peer = (clone(SMALL).partial_fit(X[:200], Y[:200]) for _ in range(2))
    found = ridge.predict_then_fit(X[200:202], Y[200:202])[1][0]
    np.testing.assert_array_equal(found, peer.set_params(late_in_predict=True).predict_proba(X[200:201])[0])
    assert found[0] > peer.set_params(late_in_predict=False).predict_proba(X[200:201])[0, 0]


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_many_features_give_the_coefficients_of_scikit_learn(as_rows):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 500)) * (rng.random((200, 500)) < 0.1)
    Y = (X[:, :3] + rng.normal(size=(200, 3)) > 0.5).astype(int)
    # with so great a refresh the coefficients are those after 1, 11, 22, 44, ... rows
    ridge = StreamRidgeClassifier(refresh=1.0).partial_fit(as_rows(X), Y)
    n = 1
    while n + max(n, 10) <= 200:
        n += max(n, 10)
    scaler, root = StandardScaler().fit(X[:n]), np.sqrt(rarity(X[:n]))
    peer = Ridge(alpha=500.0).fit(scaler.transform(X[:n]) / root, Y[:n])
    scores = ridge._score(ridge._features(as_rows(X)))
    np.testing.assert_allclose(scores, peer.predict(scaler.transform(X) / root), atol=1e-9)


@pytest.mark.slow
def test_few_features_give_the_ridge_of_a_slow_basis():
    X, Y = table(n=1000)
    ridge = StreamRidgeClassifier(hidden_units=6, knots=3, l2=0.5, random_state=3).partial_fit(X, Y)
    n_last = 953  # 50, 60, 72, ..., 211, 253: a fifth more each time; then 50 more: 303, 353, ..., 953
    assert ridge._next_model_ == 1003
    F = slow_basis(X, X[:50], ridge)
    root = np.sqrt(rarity(F[:n_last]) * np.r_[np.ones(4 + 12), np.full(6, 3.0)])
    scaler = StandardScaler().fit(F[:n_last])
    peer = Ridge(alpha=0.5 * F.shape[1]).fit(scaler.transform(F[:n_last]) / root, Y[:n_last])
    expected = peer.predict(scaler.transform(F) / root)
    np.testing.assert_allclose(ridge._score(ridge._features(X)), expected, atol=1e-8)


def test_tasks_one_after_the_other_or_mixed_give_the_same_coefficients():
    X, Y = table(n=353)  # the coefficients are computed with the last of these rows
    order = np.r_[np.arange(50), 50 + np.argsort(Y[50:, 0])]
    one = StreamRidgeClassifier(random_state=0, hidden_units=5).partial_fit(X, Y)
    other = StreamRidgeClassifier(random_state=0, hidden_units=5).partial_fit(X[order], Y[order])
    assert one._sums_.products[0, 0] == 353
    np.testing.assert_allclose(one.model_.coef, other.model_.coef, atol=1e-8)


def test_a_masked_label_has_the_means_of_its_rows():
    X, Y = table(n=50, d=500)
    mask = np.random.default_rng(0).random(Y.shape) < 0.6
    mask[:, 0] = True
    ridge = StreamRidgeClassifier(refresh=1e-9).partial_fit(X, Y, label_mask=mask)
    n = 1 + 10 * 4
    scaler = StandardScaler().fit(X[:n])
    Z = scaler.transform(X[:n])
    for label in range(3):
        rows = mask[:n, label]
        centred = Z[rows] - Z[rows].mean(0)
        y = Y[:n][rows, label]
        coef = np.linalg.solve(Z.T @ Z / n + 500 / n * np.eye(500), centred.T @ (y - y.mean()) / rows.sum())
        expected = y.mean() + (scaler.transform(X) - Z[rows].mean(0)) @ coef
        np.testing.assert_allclose(ridge._score(ridge._features(X))[:, label], expected, atol=1e-8)
        assert ridge.model_.prevalence[label] == pytest.approx(y.mean())


def rare(n_before=3000, known=True):
    """Draw rows, of the last 300 of which a third are of a kind that was never there, with a label of its own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_before + 300, 6))
    is_new = (np.arange(len(X)) >= n_before) & (rng.random(len(X)) < 1 / 3)
    X[is_new, 1:3] += 3
    Y = np.stack([X[:, 0] > 1, is_new], axis=1).astype(float)
    Y[:n_before, 1] = 0 if known else np.nan
    return X, Y


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("follow_drift", [True, False])
def test_a_label_that_appears_late_is_told_apart_within_six_of_its_rows(known, follow_drift):
    X, Y = rare(known=known)
    ridge = StreamRidgeClassifier(random_state=0, follow_drift=follow_drift)
    decided, with_it = ridge.predict_then_fit(X, Y)[0][-300:, 1], Y[-300:, 1] == 1
    assert decided[with_it][:6].any()
    assert decided[with_it][:40].mean() > 0.8
    assert decided[~with_it].mean() < 0.25


def test_coefficients_of_a_label_are_computed_again_each_time_its_rows_have_doubled():
    # all coefficients are computed with the last of so many rows, and again 50 rows later
    n_all = 1003
    X, Y = rare(n_before=n_all)
    ridge = StreamRidgeClassifier(knots=0, hidden_units=0, l2=1.0).partial_fit(X[:n_all], Y[:n_all])
    solved = []
    for n in range(n_all + 1, n_all + 50):
        before = ridge.coef_
        ridge.partial_fit(X[n - 1 : n], Y[n - 1 : n])
        np.testing.assert_array_equal(ridge.coef_[0], before[0])
        if (ridge.coef_[1] != before[1]).any():
            solved.append(n)
    assert [Y[:n, 1].sum() for n in solved] == [1, 2, 4, 8, 16]
    scaler = StandardScaler().fit(X[:n_all])
    Z, y = scaler.transform(X), Y[: solved[-1], 1]
    penalty = np.diag(rarity(X[:n_all] - X[:50].mean(0)) * 6 / n_all)
    products = (Z[: len(y)] - Z[: len(y)].mean(0)).T @ (y - y.mean()) / len(y)
    coef = np.linalg.solve(Z[:n_all].T @ Z[:n_all] / n_all + penalty, products)
    np.testing.assert_allclose(ridge.coef_[1] * scaler.scale_, coef, rtol=1e-9)


def test_labels_that_are_many_wait_as_long_whether_they_were_known_of_or_not():
    # the more labels have occurred, the rarer are computations of one alone
    X = np.random.default_rng(0).random((700, 3))
    Y = (np.arange(700)[:, np.newaxis] // 2 == np.arange(350)).astype(float)
    known = np.where(np.arange(350) <= np.arange(700)[:, np.newaxis] // 2, Y, np.nan)
    growing, announced = (StreamRidgeClassifier(random_state=0, on_new_labels=choice) for choice in ("grow", "error"))
    for end in range(10, 701, 10):
        rows = slice(end - 10, end)
        announced.partial_fit(X[rows], known[rows])
        growing.partial_fit(X[rows], known[rows, : end // 2])
    np.testing.assert_allclose(growing.predict_proba(X), announced.predict_proba(X), rtol=1e-9)


def test_labels_that_never_or_always_come_are_decided_so():
    X, Y = table()
    Y[:, 0], Y[:, 1] = 0, 1
    ridge = StreamRidgeClassifier(random_state=0).fit(X, Y)
    assert not ridge.predict(X * 100)[:, 0].any()
    assert ridge.predict(X * 100)[:, 1].all()


def test_large_offsets_and_constants_do_no_harm():
    X, Y = table(d=4)
    X = np.hstack([X, np.full((len(X), 1), 3.7)])
    scores = []
    for rows in (X + 1e7, X):
        ridge = StreamRidgeClassifier(random_state=0).fit(rows, Y)
        scores.append(ridge._score(ridge._features(rows)))
    np.testing.assert_allclose(*scores, atol=1e-4)


def test_it_beats_the_published_winner_where_labels_are_rare():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2000, 10))
    Y = (X @ rng.normal(size=(10, 4)) / 3 + rng.normal(size=(2000, 4)) > 1.8).astype(int)
    predicted, _ = StreamRidgeClassifier(random_state=0).predict_then_fit(X, Y)
    recall = [predicted[500:][Y[500:, j] == 1, j].mean() for j in range(4)]
    assert min(recall) > 0.5


def test_bad_parameters_are_named():
    def check(parameter, value):
        X, Y = table(n=10)
        with pytest.raises(ValueError, match=f"{parameter} must be"):
            StreamRidgeClassifier(**{parameter: value}).fit(X, Y)

    check_all(
        [
            ("l2", 0),
            ("l2", "1"),
            ("knots", -1),
            ("hidden_units", 1.5),
            ("memory", 0.5),
            ("late_in_predict", "no"),
            ("refresh", 0),
        ],
        lambda case: check(*case),
    )


def test_values_too_great_to_square_are_an_error_that_changes_nothing():
    X, Y = table(n=40)
    ridge = StreamRidgeClassifier(random_state=0).partial_fit(X, Y)
    before = ridge.predict_proba(X)
    with pytest.raises(ValueError, match="X must be small enough"), np.errstate(over="ignore", invalid="ignore"):
        ridge.partial_fit(np.full((20, 4), 1e200), Y[:20])
    np.testing.assert_array_equal(ridge.predict_proba(X), before)


def test_sums_without_a_solution_are_refused_with_a_way_out():
    X, Y = table()
    ridge = StreamRidgeClassifier(random_state=0).partial_fit(X[:100], Y[:100])
    before = ridge.predict_proba(X)
    with pytest.raises(ValueError, match="raise l2, or divide all weights"):
        ridge.partial_fit(X[100:], Y[100:], sample_weight=np.full(200, 2.0**53))
    assert np.array_equal(before, ridge.predict_proba(X))


@pytest.mark.parametrize("as_table", [np.asarray, sparse.csr_array])
def test_a_row_that_cannot_be_squared_is_refused_at_once_and_leaves_no_trace(as_table):
    X, Y = np.random.default_rng(0).random((130, 3)), np.eye(3, dtype=int)[np.arange(130) % 3]
    ridge, other = (StreamRidgeClassifier(random_state=0).partial_fit(as_table(X[:60]), Y[:60]) for _ in range(2))
    with pytest.raises(ValueError, match=r"X must be small enough to be squared and summed, .* Got 1e\+200 instead"):
        ridge.partial_fit(as_table([[0.0, -1e200, 0.0]]), Y[:1])
    for row in range(60, 130):
        one = slice(row, row + 1)
        ridge.partial_fit(as_table(X[one]), Y[one])
        other.partial_fit(as_table(X[one]), Y[one])
    np.testing.assert_array_equal(ridge.predict_proba(as_table(X)), other.predict_proba(as_table(X)))


# ------------------------------------------------------------------------------------------------------ the penalty
@pytest.mark.parametrize("seed", range(8))
def test_the_penalty_is_that_of_generalised_cross_validation(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 120)), int(rng.integers(2, 60))
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    Y = (X @ rng.normal(size=(d, 3)) + rng.normal(size=(n, 3)) * rng.uniform(0.1, 30) > 0).astype(float)
    penalty, levels = rng.uniform(0.5, 2, d) * d / n, (0.01, 0.1, 1.0, 10.0)
    Z, losses = (X - X.mean(0)) / X.std(0), []
    for level in levels:
        hat = Z @ np.linalg.solve(Z.T @ Z / n + level * np.diag(penalty), Z.T) / n + 1 / n
        free = 1 - np.trace(hat) / n
        losses.append(((Y - hat @ Y) ** 2).mean(axis=0).sum() / max(free, 0.02) ** 2)
    rows = np.hstack([np.ones((n, 1)), X])
    sums = Sums.of([Block(rows, Y, np.ones_like(Y), np.ones(n))])
    assert choose_penalty(sums, penalty, levels) == levels[int(np.argmin(losses))]


def test_labels_that_some_rows_do_not_count_choose_no_penalty():
    rng = np.random.default_rng(0)
    X = rng.random((400, 4))
    clear, noise = (X[:, :1] > X[:, 1:2]).astype(float), rng.integers(0, 2, (400, 1)).astype(float)
    # rows without a label are not learnt: no row lacks both
    first, second = (np.where(np.arange(400)[:, np.newaxis] % 9 == rest, np.nan, clear) for rest in (0, 1))
    alone, both, without = (
        StreamRidgeClassifier(random_state=0).fit(X, np.hstack(labels))._level_
        for labels in ([first, second], [first, noise], [noise])
    )
    assert alone == 1.0
    assert both == without > 1.0


def test_a_clear_rule_is_penalised_less_than_noise():
    rng = np.random.default_rng(0)
    X = rng.random((800, 4))
    clear, noise = (X[:, :1] > X[:, 1:2]).astype(int), rng.integers(0, 2, (800, 1))
    levels = [StreamRidgeClassifier(random_state=0).fit(X, Y)._level_ for Y in (clear, noise)]
    assert levels[0] < levels[1]
    with pytest.raises(ValueError, match="l2 must be a positive number, or 'auto'"):
        StreamRidgeClassifier(l2="automatic").fit(X, clear)


# ------------------------------------------------------------------------------------------------- 0/1 columns
def categories(n=1500, seed=0):
    """Draw four categories as 0/1 columns, and labels that are tables over pairs of them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, (n, 4))
    rules = rng.random((3, 6, 6)) < 0.4
    Y = np.stack([rule[codes[:, i], codes[:, i + 1]] for i, rule in enumerate(rules)], axis=1).astype(int)
    return np.hstack([codes[:, [j]] == np.arange(6) for j in range(4)]).astype(float), Y


def test_flags_have_no_hinges_and_the_pairs_that_are_together_most():
    X = np.hstack([categories(n=50)[0], np.random.default_rng(1).random((50, 8))])
    basis = Basis.fit(X, 3, np.ones((32, 40)), np.ones(40))
    assert basis.hinged.tolist() == list(range(24, 32))
    assert basis.knots.shape == (8, 3)
    # three quarters of the features are flags, and so many of the units are pairs
    together = {(i, j): (X[:, i] * X[:, j]).sum() for j in range(24) for i in range(j)}
    chosen = [together[tuple(sorted(pair))] for pair in basis.pairs.tolist()]
    assert chosen == sorted(together.values(), reverse=True)[:30]
    assert len(basis.biases) == 10


def test_tables_over_pairs_of_categories_are_learnt():
    X, Y = categories()
    scores = []
    for units in (0, 200):
        decided, _ = StreamRidgeClassifier(hidden_units=units, random_state=0).predict_then_fit(X, Y)
        scores.append(ba_macro(Y[750:], decided[750:]))
    assert scores[1] > 0.95 > scores[0] + 0.2
