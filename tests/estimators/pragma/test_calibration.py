"""Calibrated probabilities of several classes: held to scikit-learn's own calibration, fold by fold."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from estimators import PragmaThreshold
from metrics import pragma

WANTED = {"importance": {0: 1, 1: 5, 2: 2}, "compromise": {0: (0.8, 0.8), 1: (0.1, 0.9), 2: (0.5, 0.2)}}


def some_classes(n_rows=400, n_classes=3):
    return make_classification(
        n_rows, n_classes=n_classes, n_informative=4, weights=[0.7, 0.2], flip_y=0.1, class_sep=0.5, random_state=0
    )


def test_isotonic_probabilities_are_those_of_scikit_learn():
    X, y = some_classes()
    trees = RandomForestClassifier(10, max_depth=4, random_state=0)
    model = PragmaThreshold(trees, calibration="isotonic", random_state=0, **WANTED).fit(X, y)
    theirs = CalibratedClassifierCV(trees, method="isotonic", cv=StratifiedKFold(5), ensemble=False).fit(X, y)
    weighted = theirs.predict_proba(X) * model.vote_weights_
    assert model.predict_proba(X) == pytest.approx(weighted / weighted.sum(axis=1, keepdims=True))


def test_a_sigmoid_recovers_log_odds_that_were_stretched():
    class Stretched(GaussianNB):
        def predict_proba(self, X):
            proba = super().predict_proba(X) ** 3
            return proba / proba.sum(axis=1, keepdims=True)

    rng = np.random.default_rng(0)
    y = rng.integers(2, size=4000)
    X = rng.normal(size=(4000, 2)) + 0.8 * y[:, np.newaxis]
    model = PragmaThreshold(Stretched(), calibration="sigmoid", random_state=0).fit(X, y)
    unweighted = model.predict_proba(X) / model.vote_weights_
    unweighted /= unweighted.sum(axis=1, keepdims=True)
    assert unweighted == pytest.approx(GaussianNB().fit(X, y).predict_proba(X), abs=0.05)


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
def test_weights_are_searched_on_what_was_calibrated(calibration):
    X, y = some_classes()
    model = PragmaThreshold(GaussianNB(), calibration=calibration, random_state=0, **WANTED).fit(X, y)
    proba = cross_val_predict(GaussianNB(), X, y, method="predict_proba")
    calibrated = model._calibration.transform(proba)
    assert calibrated.sum(axis=1) == pytest.approx(1)
    assert model.pragma_ == pytest.approx(pragma(y, (calibrated * model.vote_weights_).argmax(axis=1), **WANTED))
    assert model.pragma_ < pragma(y, calibrated.argmax(axis=1), **WANTED)


def test_of_two_classes_a_threshold_undoes_a_sigmoid():
    X, y = make_classification(400, weights=[0.8], class_sep=0.5, random_state=0)
    wanted = {"importance": {0: 1, 1: 10}, "compromise": (0.1, 0.9)}
    plain = PragmaThreshold(GaussianNB(), random_state=0, **wanted).fit(X, y)
    sigmoid = PragmaThreshold(GaussianNB(), calibration="sigmoid", random_state=0, **wanted).fit(X, y)
    assert plain.pragma_ == pytest.approx(sigmoid.pragma_)


def test_bags_make_weights_the_mean_of_many_searches():
    X, y = some_classes(200)
    once = PragmaThreshold(GaussianNB(), random_state=0, **WANTED).fit(X, y)
    bagged = PragmaThreshold(GaussianNB(), n_bags=10, random_state=0, **WANTED).fit(X, y)
    assert bagged.pragma_ >= once.pragma_
    assert bagged.vote_weights_.prod() == pytest.approx(1)
    assert not np.allclose(once.vote_weights_, bagged.vote_weights_)


def test_calibration_is_refused_where_it_does_nothing():
    X, y = some_classes()
    with pytest.raises(ValueError, match=r"calibration must be None for partial_fit. Got 'sigmoid'"):
        PragmaThreshold(GaussianNB(), calibration="sigmoid").partial_fit(X, y)
    with pytest.raises(ValueError, match=r"calibration must be one of 'sigmoid', 'isotonic'. Got 'platt'"):
        PragmaThreshold(GaussianNB(), calibration="platt").fit(X, y)
    X, Y = make_multilabel_classification(60, random_state=0)
    with pytest.raises(ValueError, match="calibration must be None for labels: a threshold undoes it"):
        PragmaThreshold(RandomForestClassifier(2), calibration="isotonic").fit(X, Y)
