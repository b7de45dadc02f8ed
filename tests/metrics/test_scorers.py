"""Scorers by name are the metrics, of the cells that are known and count, for estimators of any kind."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn import metrics as peers
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB

from metrics.scorers import get_scorer, get_scorer_names
from tests.loops import check_all

RNG = np.random.default_rng(0)
X = RNG.random((80, 4))
TRUTH = (X + RNG.normal(0, 0.2, X.shape) > 0.5).astype(int)
# Each row has two known labels, and two that count at least.
KNOWN = RNG.permuted(np.tile([True, True, True, False], (80, 1)), axis=1)
Y = np.where(KNOWN, TRUTH, np.nan)
OF_ONE_COLUMN = pytest.mark.filterwarnings("ignore:A column-vector y was passed")
ROOT = Path(__file__).parents[2]


class Given(ClassifierMixin, BaseEstimator):
    """Predict the features as probabilities."""

    def fit(self, X: Any, Y: Any, label_mask: Any = None) -> "Given":
        self.classes_ = np.tile([0, 1], (Y.shape[1], 1))
        self.mask_ = label_mask
        return self

    def predict(self, X: Any) -> Any:
        return (X >= 0.5).astype(int)

    def predict_proba(self, X: Any) -> Any:
        return X


GIVEN = Given().fit(X, TRUTH)


def scorer_of(name: str) -> Any:
    return get_scorer(name, k=2 if name.endswith("at_k") else None)


def test_without_unknown_labels_they_are_scores_of_scikit_learn() -> None:
    decided = GIVEN.predict(X)
    wanted: dict[str, Callable[[], float]] = {
        "subset_accuracy": lambda: peers.accuracy_score(TRUTH, decided),
        "neg_hamming_loss": lambda: -peers.hamming_loss(TRUTH, decided),
        "f1_macro": lambda: peers.f1_score(TRUTH, decided, average="macro"),
        "recall_samples": lambda: peers.recall_score(TRUTH, decided, average="samples", zero_division=1),
        "neg_coverage": lambda: -peers.coverage_error(TRUTH, X),
        "lrap": lambda: peers.label_ranking_average_precision_score(TRUTH, X),
        "ba_macro": lambda: np.mean(
            [peers.balanced_accuracy_score(t, p) for t, p in zip(TRUTH.T, decided.T, strict=True)]
        ),
        "roc_auc_macro": lambda: peers.roc_auc_score(TRUTH, X),
        "average_precision_micro": lambda: peers.average_precision_score(TRUTH, X, average="micro"),
        "neg_rmse": lambda: -np.mean([peers.root_mean_squared_error(t, p) for t, p in zip(TRUTH, X, strict=True)]),
    }
    check_all(wanted, lambda name: np.testing.assert_allclose(scorer_of(name)(GIVEN, X, TRUTH), wanted[name]()))


def test_unknown_labels_are_labels_outside_a_mask() -> None:
    def check(name: str) -> None:
        with sklearn.config_context(enable_metadata_routing=True):
            masked = scorer_of(name)(GIVEN, X, TRUTH, label_mask=KNOWN)
        assert scorer_of(name)(GIVEN, X, Y) == masked != scorer_of(name)(GIVEN, X, TRUTH)

    check_all(get_scorer_names(), check)


def test_macro_averages_are_of_the_rows_where_a_label_is_known() -> None:
    decided = GIVEN.predict(X)
    each = [peers.f1_score(TRUTH[rows, j], decided[rows, j]) for j, rows in enumerate(KNOWN.T)]
    assert scorer_of("f1_macro")(GIVEN, X, Y) == pytest.approx(np.mean(each))


def test_rows_with_fewer_than_k_known_labels_are_left_out_of_metrics_at_k() -> None:
    few = Y.copy()
    few[::2, 1:] = np.nan
    scorer = scorer_of("precision_at_k")
    assert scorer(GIVEN, X, few) == scorer(GIVEN, X[1::2], few[1::2])


@pytest.mark.parametrize("model", [MultiOutputClassifier(GaussianNB()), RandomForestClassifier(5, random_state=0)])
def test_probabilities_in_a_list_are_read_where_a_label_has_one_value(model: Any) -> None:
    labels = np.column_stack([TRUTH[:, :2], np.zeros(80), np.ones(80)]).astype(int)
    model = clone(model).fit(X, labels)
    first, second, *_ = model.predict_proba(X)
    table = np.column_stack([first[:, 1], second[:, 1], np.zeros(80), np.ones(80)])
    wanted = peers.label_ranking_average_precision_score(labels, table)
    assert scorer_of("lrap")(model, X, labels) == pytest.approx(wanted)


@pytest.mark.parametrize("model", [ClassifierChain(GaussianNB()), OneVsRestClassifier(GaussianNB())])
def test_probabilities_in_an_array_are_read_as_they_are(model: Any) -> None:
    for n_labels in (2, 3):
        labels = TRUTH[:, :n_labels]
        wanted = peers.roc_auc_score(labels, model.fit(X, labels).predict_proba(X))
        assert scorer_of("roc_auc_macro")(model, X, labels) == pytest.approx(wanted)


@OF_ONE_COLUMN
def test_a_table_of_one_label_is_scored_where_predictions_are_a_vector() -> None:
    def check(model: Any) -> None:
        truth = TRUTH[:, :1]
        found = {
            name: scorer_of(name)(clone(model).fit(X, truth), X, Y[:, :1]) for name in ("f1_micro", "roc_auc_macro")
        }
        known = KNOWN[:, 0]
        model = clone(model).fit(X, truth[:, 0])
        scores = model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.decision_function(X)
        assert found["f1_micro"] == pytest.approx(peers.f1_score(truth[known], model.predict(X)[known]))
        assert found["roc_auc_macro"] == pytest.approx(peers.roc_auc_score(truth[known], scores[known]))

    check_all([RandomForestClassifier(5, random_state=0), GaussianNB(), RidgeClassifier()], check)
    only_absent = RandomForestClassifier(5).fit(X, np.zeros((80, 1)))
    assert scorer_of("neg_rmse")(only_absent, X, np.ones((80, 1))) == -1


@OF_ONE_COLUMN
@pytest.mark.parametrize("n_labels", [1, 2])
def test_probabilities_of_other_values_than_0_and_1_are_refused(n_labels: int) -> None:
    words = np.where(TRUTH[:, :n_labels], "yes", "no")
    for model in (MultiOutputClassifier(GaussianNB()), RandomForestClassifier(5)):
        with pytest.raises(ValueError, match=r"labels of 0 and 1. Got \['no', 'yes'\] for label 0 instead."):
            scorer_of("roc_auc_macro")(model.fit(X, words), X, TRUTH[:, :n_labels])


def test_searches_and_cross_validation_take_them_and_route_masks() -> None:
    scoring = {"f1": get_scorer("f1_macro"), "loss": get_scorer("neg_hamming_loss")}
    plain = cross_validate(Given(), X, Y, cv=KFold(4), scoring=scoring, error_score="raise")
    with sklearn.config_context(enable_metadata_routing=True):
        asking = Given().set_fit_request(label_mask=True)
        masked = {
            name: clone(scorer, safe=False).set_score_request(label_mask=True) for name, scorer in scoring.items()
        }
        routed = cross_validate(asking, X, TRUTH, cv=KFold(4), scoring=masked, params={"label_mask": KNOWN})
        search = GridSearchCV(asking, {}, cv=KFold(4), scoring=masked, refit="f1").fit(X, TRUTH, label_mask=KNOWN)
    for name in ("test_f1", "test_loss"):
        assert routed[name].tolist() == plain[name].tolist()
    assert search.best_score_ == plain["test_f1"].mean()
    assert search.best_estimator_.mask_.tolist() == KNOWN.tolist()


def test_a_pickled_scorer_is_the_same() -> None:
    scorer = scorer_of("ndcg_at_k")
    copy = pickle.loads(pickle.dumps(scorer))  # noqa: S301 - made here
    assert repr(copy) == repr(scorer)
    assert copy(GIVEN, X, Y) == scorer(GIVEN, X, Y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "hamming_loss"}, r"name must be among average_precision_macro, .* did you mean 'neg_hamming_loss'\?"),
        ({"name": "f1_makro"}, r"did you mean 'f1_macro'\?"),
        ({"name": "roc_auc"}, r"did you mean 'roc_auc_macro'\?"),
        ({"name": "lrap", "k": 2}, "k must be None for 'lrap'. Got 2 instead."),
        ({"name": ["f1_macro"]}, r"name must be among .* Got \['f1_macro'\] instead"),
        ({"name": "precision_at_k", "k": "1"}, "k must be an integer of at least 1. Got '1' instead."),
        ({"name": "ndcg_at_k"}, "k must be an integer for 'ndcg_at_k'. Got None instead."),
    ],
)
def test_wrong_names_and_options_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        get_scorer(**arguments)


def test_a_k_that_no_row_has_labels_for_is_refused() -> None:
    for k, message in [
        (5, "k must be an integer from 1 to n_labels = 4. Got 5 instead."),
        (4, "a row with at least k = 4 labels that are known and count. Got at most 3 in a row instead."),
    ]:
        with pytest.raises(ValueError, match=message):
            get_scorer("precision_at_k", k=k)(GIVEN, X, Y)


def test_without_scikit_learn_one_line_says_what_to_install() -> None:
    code = "import sys; sys.modules['sklearn'] = None; import metrics, metrics.scorers"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.stderr.splitlines()[-1] == (
        "ImportError: scikit-learn must be installed for metrics.scorers: pip install scikit-learn."
    )


def test_one_class_a_row_is_for_scorers_of_scikit_learn() -> None:
    classifier = GaussianNB().fit(X, TRUTH[:, 0])
    with pytest.raises(ValueError, match=r"Got one class a row, which scikit-learn's own scorers score"):
        get_scorer("f1_macro")(classifier, X, TRUTH[:, 0])
