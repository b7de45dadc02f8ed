import math
import pickle
import statistics

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from estimators.trees._kernels.tree_arrays import NONE
from estimators.trees.hoeffding import HoeffdingTreeClassifier
from estimators.trees.multilabel import MultiLabelHoeffdingTreeClassifier
from tests.estimators import streams

EAGER = {"grace_period": 50, "delta": 1e-2, "tau": 0.2}


# ------------------------------------------------------------ a slow tree of lists
class Leaf:
    """A leaf that keeps its rows; `born` are the weights of both values of each label that it started with."""

    def __init__(self, born):
        self.born = born
        self.rows = [([], []) for _ in born]
        self.hits = [[0.0, 0.0] for _ in born]
        self.last_attempt = self.weight()
        self.split = None

    def count(self, j):
        return [self.born[j][v] + len(self.rows[j][v]) for v in (0, 1)]

    def weight(self):
        return sum(sum(self.count(j)) for j in range(len(self.born))) / len(self.born)

    def bayes(self, j, x):
        """P(label j) by naive Bayes; a value that never came is impossible."""
        count, scores = self.count(j), []
        for v in (0, 1):
            if count[v] == 0:
                scores.append(-math.inf)
                continue
            score = math.log(count[v] / sum(count))
            for f, column in enumerate(zip(*self.rows[j][v], strict=True)):
                if len(set(column)) > 1:
                    mean, deviation = moments(column)
                    score -= (x[f] - mean) ** 2 / (2 * deviation**2) + math.log(deviation * math.sqrt(math.tau))
            scores.append(score)
        odds = [math.exp(score - max(scores)) for score in scores]
        return odds[1] / sum(odds)

    def predict(self, j, x):
        count = self.count(j)
        if sum(count) == 0:
            return 0.0
        majority_hits, bayes_hits = self.hits[j]
        return self.bayes(j, x) if bayes_hits >= majority_hits else count[1] / sum(count)

    def learn(self, x, labels):
        for j, label in enumerate(labels):
            if label == -1:
                continue
            count = self.count(j)
            if sum(count) == 0 or (count[1] > count[0]) == label:
                self.hits[j][0] += 1
            if sum(count) and (self.bayes(j, x) > 0.5) == label:
                self.hits[j][1] += 1
            self.rows[j][label].append(x)


def moments(column):
    return statistics.fmean(column), statistics.stdev(column)


def below(column, at):
    """Estimate how many of these are at most `at`, by a Gaussian cut where they end."""
    if not column or at < min(column):
        return 0.0
    if at >= max(column):
        return float(len(column))
    return len(column) * statistics.NormalDist(*moments(column)).cdf(at)


def entropy(count):
    return -sum(n / sum(count) * math.log2(n / sum(count)) for n in count if n > 0)


def sides(leaf, f, at):
    """Estimate the weights of both values of each label on both sides."""
    parts = [[[row[f] for row in rows] for rows in pair] for pair in leaf.rows]
    left = [[below(column, at) for column in pair] for pair in parts]
    right = [[len(pair[v]) - left[j][v] for v in (0, 1)] for j, pair in enumerate(parts)]
    return left, right


def gain(leaf, f, at):
    left, right = sides(leaf, f, at)
    share = sum(map(sum, left)) / (sum(map(sum, left)) + sum(map(sum, right)))
    if min(share, 1 - share) <= 0.01:
        return -math.inf
    gained = 0.0
    for j in range(len(left)):
        n, m = sum(left[j]), sum(right[j])
        if n + m > 0:
            after = (n * entropy(left[j]) if n else 0) + (m * entropy(right[j]) if m else 0)
            gained += entropy(leaf.count(j)) - after / (n + m)
    return gained / len(left)


def best_split(leaf, delta, tau):
    """Return feature and threshold if it is time, or None."""
    merits = []
    for f in range(len(next(rows for pair in leaf.rows for rows in pair if rows)[0])):
        values = [row[f] for pair in leaf.rows for rows in pair for row in rows]
        thresholds = np.linspace(min(values), max(values), 12)[1:-1]
        merits.append(max((gain(leaf, f, at), -k, at) for k, at in enumerate(thresholds.tolist())))
    order = sorted(range(len(merits)), key=lambda f: merits[f][0])
    lead = merits[order[-1]][0] - merits[order[-2]][0]
    bound = math.sqrt(math.log(1 / delta) / 2 / leaf.weight())
    return (order[-1], merits[order[-1]][2]) if lead > bound or bound < tau else None


class SlowTree:
    """The multi-label Hoeffding tree in plain Python."""

    def __init__(self, n_labels, grace_period, delta, tau):
        self.root = Leaf([(0.0, 0.0)] * n_labels)
        self.grace_period, self.delta, self.tau = grace_period, delta, tau

    def find(self, x):
        leaf = self.root
        while leaf.split:
            f, at, children = leaf.split
            leaf = children[x[f] > at]
        return leaf

    def predict(self, x):
        leaf = self.find(x)
        return [leaf.predict(j, x) for j in range(len(leaf.born))]

    def learn(self, x, labels):
        leaf = self.find(x)
        leaf.learn(x, labels)
        if leaf.weight() - leaf.last_attempt < self.grace_period:
            return
        leaf.last_attempt = leaf.weight()
        counts = [leaf.count(j) for j in range(len(labels)) if min(leaf.count(j)) > 0]
        if counts and any(max(count) / sum(count) <= 0.99 for count in counts):
            found = best_split(leaf, self.delta, self.tau)
            if found:
                leaf.split = (*found, [Leaf([tuple(pair) for pair in side]) for side in sides(leaf, *found)])
        elif counts:
            leaf.born, leaf.rows = [tuple(leaf.count(j)) for j in range(len(labels))], [([], []) for _ in labels]


def assert_same_branches(leaf, tree, i):
    """Compare the splits, and return their number."""
    node = tree.nodes[i]
    if leaf.split is None:
        assert node["feature"] == NONE
        np.testing.assert_allclose(tree.weights[i], [leaf.count(j) for j in range(len(leaf.born))], atol=1e-6)
        np.testing.assert_allclose(tree.hits[i], leaf.hits)
        return 0
    f, at, (left, right) = leaf.split
    assert node["feature"] == f
    np.testing.assert_allclose(node["threshold"], at)
    return 1 + assert_same_branches(left, tree, node["left"]) + assert_same_branches(right, tree, node["right"])


@pytest.mark.slow
@pytest.mark.parametrize("masked", [False, True])
def test_every_branch_is_that_of_a_slow_tree(masked):
    X, Y = streams.drawn(700, 3, 3)
    Y[:, 2] &= X[:, 1] > 0.9
    mask = np.random.default_rng(1).random(Y.shape) < (0.6 if masked else 2)
    mask[:, 0] = True
    ours = MultiLabelHoeffdingTreeClassifier(**EAGER, targeted=masked)
    _, proba = ours.predict_then_fit(X, Y, label_mask=mask)
    slow, expected = SlowTree(3, **EAGER), []
    for x, labels in zip(X.tolist(), np.where(mask, Y, -1).tolist(), strict=True):
        expected.append(slow.predict(x))
        slow.learn(x, labels)
    assert assert_same_branches(slow.root, ours.tree_, 0) > 3
    np.testing.assert_allclose(proba, expected, atol=1e-6)


# ------------------------------------------------------------------- one label
@pytest.mark.parametrize("parameters", [{}, EAGER, {**EAGER, "max_depth": 2}], ids=repr)
def test_for_one_label_it_is_the_hoeffding_tree(parameters):
    X, Y = streams.drawn(3000)
    one = np.column_stack([Y[:, 0] & (X[:, 1] > 0.5)])
    weights = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    ours, plain = MultiLabelHoeffdingTreeClassifier(**parameters), HoeffdingTreeClassifier(**parameters)
    for first, second in zip(ours.predict_then_fit(X, one), plain.predict_then_fit(X, one), strict=True):
        assert np.array_equal(first, second)
    for learner in (ours, plain):
        learner.partial_fit(X[::-1], one, sample_weight=weights)
    assert np.array_equal(ours.predict_proba(X), plain.predict_proba(X))
    assert ours.tree_.counts["n_nodes"] > 1


def test_labels_that_go_together_share_their_branches():
    X, _ = streams.drawn(3000)
    Y = np.repeat(X[:, :1] > 0.4, 12, axis=1).astype(int)
    together = MultiLabelHoeffdingTreeClassifier(**EAGER).fit(X, Y)
    assert together.tree_.nodes[0]["feature"] == 0
    assert (together.predict(X) == Y).mean() > 0.98


# --------------------------------------------------------------------- memory
def test_a_bound_on_memory_holds_and_still_learns():
    X, Y = streams.drawn(6000, 20)
    free, bound = (MultiLabelHoeffdingTreeClassifier(**EAGER, max_bytes=n).fit(X, Y) for n in (10**8, 40_000))
    assert bound.memory_bytes_ < free.memory_bytes_ / 3
    assert bound.tree_.counts["n_inactive"] > 0
    assert bound.tree_.counts["n_slots"] * bound.tree_.moments[:6].nbytes < 40_000
    assert (bound.predict(X) == Y).mean() > 0.7


def test_memory_stays_flat_once_bound():
    rng = np.random.default_rng(0)
    learner = MultiLabelHoeffdingTreeClassifier(grace_period=20, delta=0.5, tau=0.5, max_bytes=30_000)
    sizes = []
    for _ in range(20):
        X = rng.random((1000, 4))
        learner.partial_fit(X, (X[:, :2] > rng.random((1000, 2))).astype(int))
        sizes.append(learner.memory_bytes_)
    assert sizes[-1] == sizes[8]


# ------------------------------------------------------------------------- use
def test_sparse_rows_equal_dense_rows():
    X, Y = streams.drawn(600)
    X[X < 0.5] = 0
    one, two = (
        MultiLabelHoeffdingTreeClassifier(**EAGER).fit(form(X), Y).predict_proba(X)
        for form in (np.array, sparse.csr_array)
    )
    assert np.array_equal(one, two)


def test_a_saved_tree_goes_on_in_the_middle_of_a_leaf():
    X, Y = streams.drawn()
    whole = MultiLabelHoeffdingTreeClassifier(**EAGER).fit(X, Y)
    part = MultiLabelHoeffdingTreeClassifier(**EAGER).fit(X[:777], Y[:777])
    part = pickle.loads(pickle.dumps(part)).partial_fit(X[777:], Y[777:])  # noqa: S301 - our own bytes
    assert np.array_equal(whole.predict_proba(X), part.predict_proba(X))


def test_a_drawing_names_features_labels_and_thresholds():
    import pandas as pd

    X, Y = streams.drawn()
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(6)])
    tree = MultiLabelHoeffdingTreeClassifier(**EAGER).partial_fit(frame, Y, classes=["sad", "happy", "calm"])
    drawing = tree.to_dot()
    root = tree.tree_.nodes[0]
    assert f'n0 [label="f{root["feature"]} <= {root["threshold"]:.6g}", style=rounded]' in drawing
    assert drawing.count("->") == 2 * drawing.count("style=rounded")
    assert "sad, happy\\nrows: " in drawing
    assert "nothing learnt" in MultiLabelHoeffdingTreeClassifier().begin(X, Y).to_dot()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"grace_period": 0}, "grace_period must be at least 1. Got 0"),
        ({"delta": 0}, r"delta must be in \(0, 1\]. Got 0"),
        ({"max_depth": -1}, "max_depth must be None or at least 0. Got -1"),
    ],
)
def test_senseless_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        MultiLabelHoeffdingTreeClassifier(**parameters).fit(*streams.drawn(20))


@pytest.mark.parametrize("estimator", [MultiLabelHoeffdingTreeClassifier(), HoeffdingTreeClassifier()])
@pytest.mark.parametrize("size", [1e200, 1.7e308])
def test_values_whose_squares_pass_the_greatest_number_leave_probabilities(estimator, size):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(400, 3)), (rng.random((400, 4)) < 0.4).astype(int)
    X[3, 1], X[100, 1] = size, -size
    estimator = clone(estimator)
    for part in range(0, 400, 40):
        estimator.partial_fit(X[part : part + 40], Y[part : part + 40])
        proba = np.asarray(estimator.predict_proba(X))
        assert ((proba >= 0) & (proba <= 1)).all()
