"""Trees split nominal features as River does on words; what they keep of them is bounded."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import tree as river_trees
from river.tree.base import Leaf

from estimators import (
    AdaptiveRandomForestClassifier,
    BinaryRelevance,
    ClassifierChain,
    ExtremelyFastDecisionTreeClassifier,
    GOOWEMLClassifier,
    HoeffdingAdaptiveTreeClassifier,
    HoeffdingTreeClassifier,
    ISOUPTreeClassifier,
    LabelCombination,
    MultiLabelHoeffdingAdaptiveTreeClassifier,
    MultiLabelHoeffdingTreeClassifier,
    OnlineCoordinateBoosting,
    PragmaStreamForestClassifier,
    PrevalenceThreshold,
    RollingForestClassifier,
)
from estimators.trees._graphviz import class_weights, list_children
from estimators.trees._kernels.categories import MULTIWAY
from estimators.trees._kernels.tree_arrays import NONE
from tests.loops import check_all

WORDS = [f"value {code:03d}" for code in range(100)]


def table(seed, n=2500, n_numbers=2, n_nominal=3, n_values=6, n_classes=2):
    """Draw rows whose class depends on pairs of values, which changes halfway, when two more values come."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(0.3, size=(n, n_nominal)) - 1, n_values - 1)
    codes[: n // 2][codes[: n // 2] >= n_values - 2] = 0
    rules = rng.integers(0, n_classes, size=(2, n_values, n_values))
    y = rules[(np.arange(n) > n // 2).astype(int), codes[:, 0], codes[:, -1]]
    y = np.where(rng.random(n) < 0.1, rng.integers(0, n_classes, n), y)
    return np.hstack([rng.normal(size=(n, n_numbers)).round(2), codes]), y


def as_words(X, n_numbers):
    return [
        dict(enumerate(row[:n_numbers])) | {f: WORDS[int(row[f])] for f in range(n_numbers, len(row))}
        for row in X.tolist()
    ]


# ------------------------------------------------------------------- River
def river_node(node):
    """Return all that a node of River holds, with its children by value."""
    if isinstance(node, Leaf):
        hits = node._mc_correct_weight, node._nb_correct_weight
        return list(node.stats.items()), node.is_active(), hits, node.depth
    children = [river_node(child) for child in node.children]
    if "Multiway" in type(node).__name__:
        return node.feature, [(node._r_mapping[k], child) for k, child in enumerate(children)]
    return node.feature, getattr(node, "value", None) or node.threshold, children


def our_node(arrays, i):
    """Return the same of ours."""
    node, (places, values, _, links) = arrays.nodes[i], arrays.categories
    if node["feature"] == NONE:
        hits = float(node["majority_hits"]), float(node["bayes_hits"])
        return class_weights(arrays, i), bool(node["active"]), hits, int(node["depth"])
    f, children = int(node["feature"]), list_children(arrays, i)
    below = [our_node(arrays, child) for child in children]
    if places[f] == NONE:
        return f, float(node["threshold"]), below
    word = {int(value["bin"]): WORDS[int(value["code"])] for value in values[places[f]] if value["bin"] != NONE}
    if node["threshold"] != MULTIWAY:
        return f, word[int(node["threshold"])], below
    return f, [(word[int(links[child]["bin"])], own) for child, own in zip(children, below, strict=True)]


def shares(votes):
    with np.errstate(invalid="ignore"):
        return votes / votes.sum(axis=1, keepdims=True)


EAGER = {"grace_period": 50, "delta": 1e-3}
TREES = [
    (HoeffdingTreeClassifier, river_trees.HoeffdingTreeClassifier, EAGER, {}),
    (
        HoeffdingAdaptiveTreeClassifier,
        river_trees.HoeffdingAdaptiveTreeClassifier,
        EAGER | {"bootstrap_sampling": False},
        {"drift_window_threshold": 50},
    ),
    (
        ExtremelyFastDecisionTreeClassifier,
        river_trees.ExtremelyFastDecisionTreeClassifier,
        EAGER | {"min_samples_reevaluate": 20},
        {},
    ),
]
TABLES = [
    {},
    {"n_numbers": 0, "n_nominal": 4, "n_values": 12, "n_classes": 3},
    {"n_numbers": 1, "n_nominal": 1, "n_values": 60},
]


@pytest.mark.parametrize("shape", TABLES, ids=["mixed", "categories", "many values"])
@pytest.mark.parametrize(("ours", "river", "common", "windows"), TREES, ids=["HT", "HAT", "EFDT"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_every_node_and_vote_is_that_of_river_on_words(seed, ours, river, common, windows, shape):
    X, y = table(seed, n=1200 + 800 * (seed > 0), **shape)
    n_numbers = shape.get("n_numbers", 2)
    nominal = list(range(n_numbers, X.shape[1]))
    model, votes = river(**common, **windows), np.zeros((len(y), 3))
    for i, (x, code) in enumerate(zip(as_words(X, n_numbers), y.tolist(), strict=True)):
        for c, vote in model.predict_proba_one(x).items():
            votes[i, c] = vote
        model.learn_one(x, code)
    learner = ours(**common, **windows, categorical_features=nominal)
    proba = learner.begin(X, y, classes=np.arange(3)).predict_then_fit(X, y)[1]
    arrays, place = learner.bank_.find(0)
    assert our_node(arrays, int(arrays.trees[place]["root"])) == river_node(model._root)
    # before the first row, River votes for nothing
    np.testing.assert_allclose(proba[1:], shares(votes)[1:], atol=1e-9)
    # values that were never seen, too
    learner_votes, unseen = (
        learner.predict_proba(np.full((1, X.shape[1]), 77.0)),
        as_words(X[:1] * 0 + 77, n_numbers),
    )
    theirs = model.predict_proba_one(unseen[0] | dict.fromkeys(range(n_numbers), 77.0))
    np.testing.assert_allclose(learner_votes[0], [theirs.get(c, 0.0) for c in range(3)], atol=1e-9)


def test_a_tree_of_one_label_is_the_hoeffding_tree():
    X, y = table(0)
    told = EAGER | {"categorical_features": [2, 3, 4]}
    one = BinaryRelevance(HoeffdingTreeClassifier(**told)).predict_then_fit(X, y[:, np.newaxis])
    all_labels = MultiLabelHoeffdingTreeClassifier(**told).predict_then_fit(X, y[:, np.newaxis])
    assert all(map(np.array_equal, one, all_labels))


# ------------------------------------------------------------------- learners
TAKE_CATEGORIES = {
    "HT": lambda told: BinaryRelevance(HoeffdingTreeClassifier(**EAGER, **told)),
    "HAT": lambda told: BinaryRelevance(HoeffdingAdaptiveTreeClassifier(**EAGER, random_state=0, **told)),
    "EFDT": lambda told: BinaryRelevance(ExtremelyFastDecisionTreeClassifier(**EAGER, **told)),
    "chain": lambda told: ClassifierChain(HoeffdingTreeClassifier(**EAGER, **told)),
    "combinations": lambda told: LabelCombination(HoeffdingTreeClassifier(**EAGER, **told)),
    "GOOWE": lambda told: GOOWEMLClassifier(BinaryRelevance(HoeffdingTreeClassifier(**EAGER, **told))),
    "threshold": lambda told: PrevalenceThreshold(BinaryRelevance(HoeffdingTreeClassifier(**EAGER, **told))),
    "boosting": lambda told: OnlineCoordinateBoosting(HoeffdingTreeClassifier(**EAGER, **told)),
    "forest": lambda told: AdaptiveRandomForestClassifier(3, random_state=0, **told),
    "PRAGMA": lambda told: PragmaStreamForestClassifier(
        AdaptiveRandomForestClassifier(3, random_state=0, **told), random_state=0
    ),
    "labels": lambda told: MultiLabelHoeffdingTreeClassifier(**EAGER, **told),
    "MLHAT": lambda told: MultiLabelHoeffdingAdaptiveTreeClassifier(**EAGER, random_state=0, **told),
    "iSOUP": lambda told: ISOUPTreeClassifier(grace_period=50, delta=1e-2, **told),
    "rolling": lambda told: RollingForestClassifier(random_state=0, **told),
}
RULES = [[2, 3, 4], [False, False, True, True, True], {2: 6, 3: 6, 4: 7}]


def labels_of(X, y):
    return np.column_stack([y, 1 - y, X[:, 2] == 2]).astype(int)


@pytest.mark.parametrize("make", TAKE_CATEGORIES.values(), ids=TAKE_CATEGORIES)
def test_every_way_to_name_categories_gives_the_same_learner_however_a_stream_is_cut(make):
    X, y = table(1, n=900)
    Y, columns = labels_of(X, y), ["a", "b", "c", "d", "e"]
    words = {name: np.array(WORDS)[X[:, f].astype(int)] for f, name in enumerate(columns) if f > 1}
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], **words})
    typed = frame.astype({name: pd.CategoricalDtype(WORDS[:6]) for name in words})
    enums = pl.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], **words}, schema_overrides=dict.fromkeys(words, pl.Enum(WORDS[:6]))
    )
    expected = make({"categorical_features": RULES[0]}).predict_then_fit(X, Y)
    others = [(rule, X) for rule in RULES] + [("from_dtype", typed), (["c", "d", "e"], enums)]
    for rule, rows in others:
        learner = make({"categorical_features": rule})
        parts = [learner.predict_then_fit(rows[:1], Y[:1]), learner.predict_then_fit(rows[1:400], Y[1:400])]
        learner = pickle.loads(pickle.dumps(learner))  # noqa: S301 - written here
        parts.append(learner.predict_then_fit(rows[400:], Y[400:]))
        got = [np.concatenate(part) for part in zip(*parts, strict=True)]
        assert all(map(np.array_equal, expected, got)), rule
    assert not np.array_equal(expected[1], make({}).predict_then_fit(X, Y)[1])


@pytest.mark.parametrize("make", TAKE_CATEGORIES.values(), ids=TAKE_CATEGORIES)
def test_categories_in_no_order_are_learnt_as_well_as_in_one(make):
    X, y = table(2, n=1500, n_values=12)
    Y, order = labels_of(X, y), np.random.default_rng(0).permutation(12)
    shuffled = np.hstack([X[:, :2], order[X[:, 2:].astype(int)]])
    scores = [
        (make({"categorical_features": [2, 3, 4]}).predict_then_fit(rows, Y)[0] == Y).mean() for rows in (X, shuffled)
    ]
    # values may be drawn, or tie, in another order
    assert abs(scores[0] - scores[1]) < 0.03


def test_predictions_leave_words_and_values_as_they_were():
    X, y = table(0, n=300)
    words = pd.DataFrame({f"x{f}": np.array(WORDS)[X[:, f].astype(int)] for f in (2, 3)})
    learner = HoeffdingTreeClassifier(categorical_features=["x2", "x3"]).fit(words, y)
    before = learner._nominal.words, learner.bank_.bins.values.copy()
    learner.predict(words.replace(WORDS[0], "never seen"))
    with pytest.raises(ValueError, match="finite"):
        learner.partial_fit(words.replace(WORDS[0], None), y)
    assert learner._nominal.words == before[0]
    assert np.array_equal(learner.bank_.bins.values, before[1])


@pytest.mark.parametrize(
    ("make", "options"),
    [(HoeffdingTreeClassifier, {}), (HoeffdingAdaptiveTreeClassifier, {"random_state": 0})],
    ids=["HT", "HAT"],
)
def test_memory_is_bounded_with_ten_thousand_values(make, options):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.zipf(1.3, 20_000).clip(max=10_000) - 1, rng.integers(0, 10_000, 20_000)]).astype(float)
    y = ((X[:, 0] % 3 == 0) ^ (rng.random(20_000) < 0.05)).astype(int)
    bound = 300_000
    learner = make(grace_period=100, max_bytes=bound, categorical_features=[0, 1], **options)
    decided = learner.predict_then_fit(X, y)[0]
    assert (decided[10_000:] == y[10_000:]).mean() > 0.85
    # arrays double, and every tree has a root and room for its first splits
    assert learner.memory_bytes_ < 12 * bound


# ----------------------------------------------------------------- bad input
BAD_RULES = [
    ([2.5], "categorical_features must be None, 'from_dtype', a mask"),
    ("dtype", "categorical_features must be None, 'from_dtype', a mask"),
    ([5], r"positions in 0\.\.4. Got 5"),
    ([-1], r"positions in 0\.\.4. Got -1"),
    (["a"], "by name need X as a data frame"),
    ([True, False], "a value for each of 5 features. Got 2"),
    ({2: 0}, "numbers of values, at least 1. Got 0"),
]


@pytest.mark.parametrize(("rule", "error"), BAD_RULES)
def test_a_rule_that_names_no_feature_is_one_error(rule, error):
    X, y = table(0, n=50)
    with pytest.raises(ValueError, match=error):
        HoeffdingTreeClassifier(categorical_features=rule).partial_fit(X, y)


@pytest.mark.parametrize("make", TAKE_CATEGORIES.values(), ids=TAKE_CATEGORIES)
def test_what_is_no_code_is_one_error_and_changes_nothing(make):
    X, y = table(0, n=200)
    Y, learner = labels_of(X, y), make({"categorical_features": {2: 6, 3: 6, 4: 6}})
    learner.partial_fit(X, Y)
    before = learner.predict_proba(X)

    def check(code):
        rows = X.copy()
        rows[7, 3] = code
        with pytest.raises(ValueError, match=f"whole numbers from 0 to 5. Got {code:g} at row 7, column 3, instead"):
            learner.partial_fit(rows, Y)

    check_all([-1.0, 1.5, 6.0], check)
    assert np.array_equal(learner.predict_proba(X), before)


def test_sparse_zeros_and_native_forests_refuse_categories():
    X, y = table(0, n=50)
    with pytest.raises(ValueError, match="zeros must be 'one-by-one' with categorical_features"):
        HoeffdingTreeClassifier(zeros="together", categorical_features=[2]).partial_fit(X, y)
    with pytest.raises(ValueError, match="multilabel must be 'binary' with categorical_features"):
        AdaptiveRandomForestClassifier(multilabel="native", categorical_features=[2]).partial_fit(X, labels_of(X, y))


def test_a_forest_cut_into_chunks_observes_the_drawn_features_of_new_leaves():
    X, y = table(3, n=700, n_values=40)
    Y, told = labels_of(X, y), {"categorical_features": [2, 3, 4], "grace_period": 20, "delta": 0.3, "tau": 0.5}
    forest = AdaptiveRandomForestClassifier(2, max_features=2, random_state=1, **told)
    expected = forest.predict_then_fit(X, Y)[1]
    again = AdaptiveRandomForestClassifier(2, max_features=2, random_state=1, **told)
    parts = [again.predict_then_fit(X[i : i + 7], Y[i : i + 7])[1] for i in range(0, 700, 7)]
    assert np.array_equal(np.concatenate(parts), expected)


def test_words_beyond_the_declared_number_are_refused_when_learnt_and_unseen_when_predicted():
    frame, y = pd.DataFrame({"a": ["x", "y"] * 20}), [0, 1] * 20
    tree = HoeffdingTreeClassifier(categorical_features={"a": 2}).fit(frame, y)
    assert np.array_equal(tree.predict_proba(pd.DataFrame({"a": ["new"]})), [[0.5, 0.5]])
    with pytest.raises(ValueError, match=r"at most 2 values, as categorical_features declares. Got 'new' as one more"):
        tree.partial_fit(pd.DataFrame({"a": ["new"]}), [0])


def test_a_learner_of_older_pickles_has_no_categories():
    X, y = table(0, n=200)
    for make in (HoeffdingTreeClassifier, ISOUPTreeClassifier, RollingForestClassifier):
        learner = make().fit(X, labels_of(X, y))
        del learner.__dict__["categorical_features"]
        assert learner.get_params()["categorical_features"] is None
        learner.partial_fit(X, labels_of(X, y))


def test_a_branch_is_drawn_with_its_codes():
    X, y = np.array([[1_234_560.0], [1_234_561.0], [7.0]] * 300), np.array([0, 1, 2] * 300)
    drawing = HoeffdingTreeClassifier(grace_period=50, categorical_features=[0]).fit(X, y).to_dot()
    assert all(f'[label="{code}"]' in drawing for code in (1_234_560, 1_234_561, 7))
