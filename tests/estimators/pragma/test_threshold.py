import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from estimators import OnlineNeuralClassifier, PragmaThreshold
from metrics import pragma

SGD = SGDClassifier(loss="log_loss", random_state=0)
WANTED = {"importance": {0: 1, 1: 5, 2: 2}, "compromise": {0: (0.8, 0.8), 1: (0.1, 0.9), 2: (0.5, 0.2)}}
MINORITY = {"importance": {0: 1, 1: 10}, "compromise": {0: (0.8, 0.8), 1: (0.1, 0.9)}}


def classes(n_rows=400, seed=0):
    return make_classification(
        n_rows, n_classes=3, n_informative=4, weights=[0.7, 0.2], flip_y=0.1, class_sep=0.5, random_state=seed
    )


def test_the_measure_is_that_of_out_of_fold_predictions():
    X, y = classes()
    model = PragmaThreshold(GaussianNB(), cv=4, random_state=0, **WANTED).fit(X, y)
    proba = cross_val_predict(GaussianNB(), X, y, cv=StratifiedKFold(4), method="predict_proba")
    assert model.pragma_ == pytest.approx(pragma(y, (proba * model.vote_weights_).argmax(axis=1), **WANTED))
    assert model.pragma_ < pragma(y, proba.argmax(axis=1), **WANTED)


def test_rows_go_to_the_class_of_greatest_weight_times_probability():
    X, y = classes()
    names = np.array(["c", "b", "a"])[y]
    model = PragmaThreshold(GaussianNB(), importance={"a": 1, "b": 4, "c": 2}, compromise=(0.1, 0.9)).fit(X, names)
    weighted = GaussianNB().fit(X, names).predict_proba(X) * model.vote_weights_
    assert np.array_equal(model.predict(X), np.array(["a", "b", "c"])[weighted.argmax(axis=1)])
    assert model.predict_proba(X) == pytest.approx(weighted / weighted.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    "estimator", [RandomForestClassifier(10, random_state=0), OnlineNeuralClassifier(random_state=0)]
)
def test_labels_get_thresholds_of_their_own(estimator):
    X, Y = make_multilabel_classification(300, n_classes=3, n_labels=1, random_state=0)
    model = PragmaThreshold(estimator, compromise=(0.1, 0.9), cv=3, random_state=0).fit(X, Y)
    proba = np.zeros(Y.shape)
    for fold in range(3):
        test = np.arange(300) // 100 == fold
        said = clone(estimator).fit(X[~test], Y[~test]).predict_proba(X[test])
        proba[test] = np.column_stack([one[:, 1] for one in said]) if isinstance(said, list) else said
    decided = (proba * model.vote_weights_ > 1 - proba).astype(int)
    assert model.pragma_ == pytest.approx(pragma(Y, decided, compromise=(0.1, 0.9)))
    assert model.pragma_ < pragma(Y, (proba > 0.5).astype(int), compromise=(0.1, 0.9))


@pytest.mark.slow
def test_a_stream_is_weighed_on_predictions_made_before_learning():
    X, y = make_classification(300, weights=[0.8], class_sep=0.5, random_state=0)
    model, base = PragmaThreshold(SGD, window=100, period=50, random_state=0, **MINORITY), clone(SGD)
    proba = np.zeros((300, 2))
    for i in range(300):
        row = slice(i, i + 1)
        proba[i] = base.predict_proba(X[row])[0] if i else 0
        base.partial_fit(X[row], y[row], classes=[0, 1])
        model.partial_fit(X[row], y[row], classes=[0, 1])
        if (i + 1) % 50 == 0:
            last = slice(max(i - 99, 1), i + 1)
            decided = (proba[last] * model.vote_weights_).argmax(axis=1)
            assert model.pragma_ == pytest.approx(pragma(y[last], decided, **MINORITY))
            points = np.sort(proba[last, 0] / proba[last, 1])
            ratios = [points[0] / 2, *np.sqrt(points[1:] * points[:-1]), points[-1] * 2]
            tried = [pragma(y[last], (proba[last, 1] * r > proba[last, 0]).astype(int), **MINORITY) for r in ratios]
            assert model.pragma_ == pytest.approx(min(tried))
    assert len(model._window_truth) == 100


def test_batch_then_stream_goes_on_from_the_weights_of_the_batch():
    X, y = classes()
    model = PragmaThreshold(OnlineNeuralClassifier(random_state=0), period=100, random_state=0, **WANTED).fit(
        X[:200], y[:200]
    )
    before = model.vote_weights_.copy()
    assert np.array_equal(model.partial_fit(X[200:299], y[200:299]).vote_weights_, before)
    assert len(model._window_truth) == 299
    assert not np.array_equal(model.partial_fit(X[299:300], y[299:300]).vote_weights_, before)


def test_the_estimator_given_is_not_touched_and_what_it_cannot_do_is_not_offered():
    X, y = classes()
    given = LogisticRegression()
    model = PragmaThreshold(given).fit(X, y)
    assert not hasattr(given, "coef_")
    assert not hasattr(model, "partial_fit")
    assert not hasattr(model, "predict_then_fit")
    assert hasattr(PragmaThreshold(GaussianNB()), "partial_fit")


@pytest.mark.slow
def test_sparse_rows_are_rows():
    X, y = classes()
    X[np.abs(X) < 0.5] = 0
    dense = PragmaThreshold(LogisticRegression(), random_state=0, **WANTED).fit(X, y)
    csr = PragmaThreshold(LogisticRegression(), random_state=0, **WANTED).fit(sparse.csr_array(X), y)
    assert csr.predict_proba(sparse.csr_array(X)) == pytest.approx(dense.predict_proba(X), abs=1e-3)


def test_an_estimator_that_says_nan_is_refused():
    class Nan(GaussianNB):
        def predict_proba(self, X):
            return np.full((len(X), 3), np.nan)

    with pytest.raises(ValueError, match=r"Probabilities must be finite. Got NaN or infinity from Nan"):
        PragmaThreshold(Nan()).fit(*classes())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"importance": -1}, "importance must be a finite number greater than 0"),
        ({"compromise": (0.5, 1)}, r"y must be in \[0, 1\)"),
        ({"window": 0}, "window must be an integer of at least 1. Got 0"),
        ({"period": 1.5}, "period must be an integer of at least 1. Got 1.5"),
    ],
)
def test_nonsense_is_refused_before_anything_is_learnt(parameters, message):
    X, y = classes(60)
    model = PragmaThreshold(GaussianNB(), **parameters)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            learn(X, y)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_a_refused_chunk_leaves_a_stream_as_it_was():
    X, y = classes()
    model = PragmaThreshold(SGD, period=50, random_state=0).partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    before = model.predict_proba(X)
    spoilt = X[100:120].copy()
    spoilt[-1, 0] = np.nan
    for rows, targets in ((spoilt, y[100:120]), (X[100:120], y[100:119]), (X[100:120], y[100:120] + 7)):
        with pytest.raises(ValueError, match="must"):
            model.partial_fit(rows, targets)
    assert np.array_equal(before, model.predict_proba(X))


def test_a_class_is_predicted_one_row_at_a_time_and_predicted_with_its_shares():
    X, y = classes(60)
    names = np.array(["c", "b", "a"])[y]
    one, chunk = (
        PragmaThreshold(OnlineNeuralClassifier(random_state=0), window=30, period=10, random_state=0) for _ in "ab"
    )
    for i, (x, name) in enumerate(zip(X, names, strict=True)):
        announced = np.unique(names) if i == 0 else None
        expected = chunk.predict_then_fit([x], [name], announced)
        got = one.predict_then_fit_one(x, name, announced)
        assert got[0] == expected[0][0]
        assert np.array_equal(got[1], expected[1][0])
    decided, shares = one.predict_with_proba(X)
    assert np.array_equal(decided, one.predict(X))
    assert np.array_equal(shares, one.predict_proba(X))
    assert not hasattr(PragmaThreshold(LogisticRegression()), "predict_then_fit_one")
