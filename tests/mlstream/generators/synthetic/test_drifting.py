"""Drifting concepts have the labels that their params ask for, and drift where their card says, nowhere else."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score

from mlstream.generators import drifting_stream
from mlstream.generators.synthetic.concept_functions import KINDS
from mlstream.publishing.folder import regenerate
from tests.loops import check_all

PURE = {"learning_fractions": (0.25, 0.25), "evaluation_fraction": 0.5}


def learnt(stream):
    return (np.concatenate([getattr(part, name) for part in stream]) for name in ("X", "Y"))


def input_change(a, b):
    """Least p-value of any feature, times the number of features."""
    X, Z = a[0], b[0]
    return X.shape[1] * min(stats.ks_2samp(x, z, method="asymp").pvalue for x, z in zip(X.T, Z.T, strict=True))


def correlation_change(a, b):
    """Greatest difference between the correlations of two labels, in standard errors."""
    one, two = (np.corrcoef(part[1].T) for part in (a, b))
    return np.abs(one - two).max() * np.sqrt(len(a[0]) / 2)


def conditional_change(a, b):
    """Greatest difference, in standard errors, of the share of a label among rows alike in a feature or two."""
    greatest = 0.0
    for here, there in zip(sides(a[0]), sides(b[0]), strict=True):
        one, two = a[1][here], b[1][there]
        if min(len(one), len(two)) >= 200:
            error = np.sqrt(one.var(axis=0) / len(one) + two.var(axis=0) / len(two))
            greatest = max(greatest, float((np.abs(one.mean(axis=0) - two.mean(axis=0)) / error).max()))
    return greatest


def sides(X):
    """Rows on either side of a feature's middle, and rows that have two features on the same side or not."""
    above = (X > 0.5).T
    for side in (*above, *(one ^ two for one, two in combinations(above, 2))):
        yield from (side, ~side)


def with_pairs(X):
    """The columns and the products of any two of them, when the middle is 0."""
    centred = X - 0.5
    return np.column_stack([centred, *(one * two for one, two in combinations(np.sign(centred.T), 2))])


def linear_score(inputs, stream):
    """Mean area under the ROC curve of a linear model of what is made of the features."""
    learnt, held_out = stream.experiences[0], stream.evaluation_sets[0]
    model = LinearRegression().fit(inputs(learnt.X), learnt.Y)
    return roc_auc_score(held_out.Y, model.predict(inputs(held_out.X)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("cardinality", "imbalance"), [(2.5, 1), (1.5, 8)])
def test_cardinality_and_imbalance_are_as_asked_for_in_every_concept(kind, cardinality, imbalance):
    stream = drifting_stream(kind, n_rows=20000, cardinality=cardinality, imbalance=imbalance, n_labels=6, seed=1)
    for task in stream.card.tasks:
        assert task.cardinality == pytest.approx(cardinality, rel=0.05)
        assert task.label_frequencies[0] / task.label_frequencies[-1] == pytest.approx(imbalance, rel=0.15)
        steps = np.diff(np.log(task.label_frequencies))
        assert steps == pytest.approx(-np.log(imbalance) / 5, abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("dependence", [0.0, 0.4, 0.8])
def test_dependence_is_the_correlation_of_the_scores(dependence):
    # Labels that half of all rows carry: the correlation of signs is 2 / pi arcsin of that of Gaussian scores.
    stream = drifting_stream(
        "hyperplane", n_rows=20000, n_features=40, cardinality=3, n_labels=6, dependence=dependence, noise=0.5
    )
    for part in stream.evaluation_sets:
        phi = np.corrcoef(part.Y.T)[np.triu_indices(6, 1)]
        assert phi.mean() == pytest.approx(2 / np.pi * np.arcsin(dependence), abs=0.04)


@pytest.mark.slow
def test_a_drift_changes_what_the_card_says_and_nothing_else():
    def check(case):
        kind, target = case
        stream = drifting_stream(
            kind,
            n_rows=16000,
            n_concepts=2,
            n_features=4,
            drift_in=[target],
            noise=0.5,
            dependence=0.6,
            order=[0, 1, 0, 1],
        )
        X, Y = learnt(stream)
        (first, *_) = stream.card.drifts
        assert first.what == [target]
        around = [slice(0, first.start), slice(first.stop, first.stop + 4000)]
        before, after = ((X[rows], Y[rows]) for rows in around)
        halves = [(X[rows], Y[rows]) for rows in (slice(0, 2000), slice(2000, 4000))]
        assert input_change(*halves) > 1e-3
        assert correlation_change(*halves) < 5
        assert conditional_change(*halves) < 5
        assert (input_change(before, after) < 1e-9) == (target == "P(X)")
        if target != "P(X)":
            assert input_change(before, after) > 1e-3
            assert (conditional_change(before, after) > 8) == (target == "P(Y|X)")
        if target == "dependence":
            assert correlation_change(before, after) > 8
            np.testing.assert_allclose(before[1].mean(axis=0), after[1].mean(axis=0), atol=0.04)

    check_all(product(KINDS, ["P(X)", "P(Y|X)", "dependence"]), check)


@pytest.mark.parametrize("pattern", ["abrupt", "gradual", "incremental"])
def test_concepts_come_back_and_are_the_same_again(pattern):
    window = 0 if pattern == "abrupt" else 200
    stream = drifting_stream("tree", n_rows=12000, n_features=4, pattern=pattern, window=window, seed=2)
    drifts = stream.card.drifts
    X, Y = learnt(stream)
    assert [drift.recurring for drift in drifts] == [False, False, True, True, True]
    assert [(drift.start, drift.stop) for drift in drifts] == [
        (4200 * number - window // 2, 4200 * number + window - window // 2) for number in range(1, 6)
    ]
    spans = [
        slice(start, stop)
        for start, stop in zip([0, *(d.stop for d in drifts)], [*(d.start for d in drifts), len(X)], strict=True)
    ]
    parts = [(X[span], Y[span]) for span in spans]
    for number in range(3):
        assert conditional_change(parts[number], parts[number + 3]) < 5
        assert conditional_change(parts[number], parts[number + 1]) > 8


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["linear", "sigmoid"])
def test_an_incremental_drift_moves_the_inputs_steadily(shape):
    stream = drifting_stream(
        "rbf", n_rows=30000, n_concepts=2, drift_in=["P(X)"], pattern="incremental", window=8000, shape=shape, seed=4
    )
    X, _ = learnt(stream)
    start, stop = stream.card.drifts[0].start, stream.card.drifts[0].stop
    means = [part.mean(axis=0) for part in (X[:start], *np.split(X[start:stop], 8), X[stop : stop + 2000])]
    way = means[-1] - means[0]
    progress = np.array([(mean - means[0]) @ way / (way @ way) for mean in means])
    assert np.all(np.diff(progress) > -0.2)
    assert progress[[1, 8]] == pytest.approx([1 / 16, 15 / 16] if shape == "linear" else [0.01, 0.99], abs=0.12)
    assert abs(progress[4:6].mean() - 0.5) < 0.12


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_rows_on_their_way_keep_the_cardinality(kind):
    stream = drifting_stream(kind, n_rows=30000, n_concepts=2, pattern="incremental", window=10000)
    _, Y = learnt(stream)
    drift = stream.card.drifts[0]
    assert Y[drift.start : drift.stop].sum(axis=1).mean() == pytest.approx(2, rel=0.12)


ONE_CONCEPT = {"n_rows": 12000, "n_concepts": 1, "learning_fractions": (0.7,)}


def test_no_feature_of_interactions_tells_anything_by_itself_but_pairs_do():
    stream = drifting_stream("interactions", seed=3, **ONE_CONCEPT)
    X, Y = learnt(stream)
    for feature in X.T:
        # Thresholds anywhere: the first split of a tree gains nothing.
        for low, high in pairwise(np.linspace(0, 1, 5)):
            part = Y[(feature >= low) & (feature < high)]
            assert part.mean(axis=0) == pytest.approx(Y.mean(axis=0), abs=5 * 0.5 / np.sqrt(len(part)))
    assert linear_score(lambda X: X, stream) == pytest.approx(0.5, abs=0.03)
    assert linear_score(with_pairs, stream) > 0.9


def test_a_linear_model_of_categories_is_good_and_pairs_of_categories_are_better():
    stream = drifting_stream("categorical", n_features=4, noise=0.05, seed=1, **ONE_CONCEPT)
    alone = linear_score(lambda X: X, stream)
    assert 0.8 < alone < 0.96
    assert linear_score(with_pairs, stream) > alone + 0.02


def test_features_of_categories_are_columns_with_one_1_per_feature():
    stream = drifting_stream("categorical", n_rows=300)
    columns = {}
    for place, name in enumerate(stream.card.feature_names):
        feature, value = name.split("=")
        columns.setdefault(feature, []).append(place)
        assert int(value) == len(columns[feature]) - 1
    sizes = sorted(map(len, columns.values()))
    assert (len(sizes), sizes[0], sizes[-1]) == (10, 2, 20)
    for part in stream:
        assert np.isin(part.X, (0, 1)).all()
        assert all((part.X[:, places].sum(axis=1) == 1).all() for places in columns.values())


def test_a_window_alone_makes_drifts_gradual():
    alone, named = (drifting_stream(n_rows=90, window=20, **given) for given in ({}, {"pattern": "gradual"}))
    assert alone.card == named.card
    assert {drift.pattern for drift in alone.card.drifts} == {"gradual"}
    assert drifting_stream(n_rows=90).card == drifting_stream(n_rows=90, pattern="abrupt").card


def test_a_gradual_drift_mixes_rows_of_both_concepts_in_its_window_only():
    stream = drifting_stream("tree", n_rows=2000, n_concepts=2, pattern="gradual", window=301)
    tasks = np.concatenate([part.task_ids for part in stream])
    drift = stream.card.drifts[0]
    assert set(tasks[: drift.start]) == {drift.before}
    assert set(tasks[drift.stop : stream.card.drifts[1].start]) == {drift.after}
    assert set(tasks[drift.start : drift.stop]) == {0, 1}


@pytest.mark.parametrize("options", [{"magnitude": 0}, {"drift_in": []}, {"order": [0, 0, 1, 1], "n_concepts": 2}])
def test_equal_neighbours_are_no_drift(options):
    stream = drifting_stream("hyperplane", n_rows=100, **options)
    assert [(drift.before, drift.after) for drift in stream.card.drifts] == ([(0, 1)] if "order" in options else [])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pattern", ["gradual", "incremental"])
def test_the_card_makes_the_stream_again(kind, pattern):
    stream = drifting_stream(kind, n_rows=200, drift_in=["P(X)", "dependence"], pattern=pattern, window=20, seed=6)
    assert regenerate(stream.card).card == stream.card
    other = drifting_stream(kind, n_rows=200, drift_in=["P(X)", "dependence"], pattern=pattern, window=20, seed=7)
    assert other.card.data_sha256 != stream.card.data_sha256


def test_errors_name_rule_and_value():
    def check(case):
        options, message = case
        with pytest.raises(ValueError, match=message):
            drifting_stream(**options)

    check_all(
        [
            ({"kind": "forest"}, "kind must be one of 'hyperplane', .*'interactions'. Got 'forest'"),
            *(
                ({"kind": kind, "n_features": 1}, f"n_features of kind '{kind}', .* at least 2. Got 1")
                for kind in ("categorical", "interactions")
            ),
            ({"n_rows": 0}, "n_rows must be a whole number, at least 1. Got 0"),
            ({"n_features": 0}, "n_features must be a whole number"),
            ({"n_concepts": 0}, "n_concepts must be a whole number"),
            ({"n_labels": 0}, "n_labels must be a whole number"),
            ({"cardinality": 8}, "cardinality must lie between 0 and 8, for 8 labels and an imbalance of 1. Got 8"),
            ({"cardinality": 0}, "cardinality must lie between 0 and 8"),
            ({"imbalance": 0.5}, "imbalance must be finite, at least 1. Got 0.5"),
            ({"imbalance": 1e9}, "cardinality must lie between 0 and 1.05"),
            ({"dependence": 1.5}, r"dependence must lie in \[0, 1\]. Got 1.5"),
            ({"noise": 0}, r"noise must lie in \(0, 1\]. Got 0"),
            ({"magnitude": -1}, r"magnitude must lie in \[0, 1\]. Got -1"),
            ({"drift_in": "P(X)"}, r"drift_in must be a sequence of P\(X\), P\(Y\|X\), dependence. Got 'P\(X\)'"),
            ({"drift_in": ["labels"]}, r"drift_in must be a sequence of .* Got \['labels'\]"),
            ({"drift_in": ["dependence"], "dependence": 0}, "dependence above 0. Got n_labels=8, dependence=0"),
            ({"pattern": "sudden"}, "pattern must be one of 'abrupt', 'gradual', 'incremental'. Got 'sudden'"),
            ({"pattern": "gradual"}, "window must be 0 for abrupt drifts, and at least 1 for others. Got 0"),
            ({"pattern": "abrupt", "window": 5}, "window must be 0 for abrupt drifts, .* Got 5 for pattern 'abrupt'"),
            ({"window": 999}, "window must be at most the rows of each experience. Got 999"),
            ({"pattern": "incremental", "window": 999}, "window must be at most the rows of each experience. Got 999"),
            ({"seed": -1}, "seed must be a whole number, at least 0. Got -1"),
        ],
        check,
    )
