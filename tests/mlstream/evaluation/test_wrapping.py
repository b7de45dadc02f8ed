"""Classifiers of one class a row and River models are evaluated as they are, in the wrapper that a user would take."""

import numpy as np
import pytest
from river import cluster, linear_model, multioutput, naive_bayes, preprocessing, tree
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import MiniBatchKMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from estimators import BinaryRelevance, PragmaStreamForestClassifier, RiverClassifier
from mlstream import Search, evaluate, run_campaign
from mlstream.evaluation.learners import adapt_to_stream, fresh
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.wrapping import wrap, wrapped_as
from tests.loops import check_all, in_two_tiers
from tests.mlstream.evaluation.streams import Online, Targeted, make_stream

STREAM = make_stream()
SMALL = make_stream(sizes=(9, 7, 8, 6))
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")


def record(estimator, stream=STREAM, **options):
    """Return the fields of the record that do not measure time, as text."""
    result = evaluate(estimator, stream, seed=3, **{"energy": "none"} | options)
    return result.model_dump(exclude={"resources"}) | {"phases": set(result.resources.phases)}


LOG_LOSS = SGDClassifier(loss="log_loss", average=True)
SCALED = preprocessing.StandardScaler() | linear_model.LogisticRegression()
# An estimator, its wrapper, and what the record calls it.
WRAPPED = [
    (SGDClassifier(), BinaryRelevance(SGDClassifier()), "BinaryRelevance(SGDClassifier)"),
    (LOG_LOSS, BinaryRelevance(LOG_LOSS), "BinaryRelevance(SGDClassifier)"),
    (GaussianNB(), BinaryRelevance(GaussianNB()), "BinaryRelevance(GaussianNB)"),
    (Perceptron(), BinaryRelevance(Perceptron()), "BinaryRelevance(Perceptron)"),
    (
        OneVsRestClassifier(SGDClassifier()),
        BinaryRelevance(OneVsRestClassifier(SGDClassifier())),
        "BinaryRelevance(OneVsRestClassifier)",
    ),
    (naive_bayes.GaussianNB(), RiverClassifier(naive_bayes.GaussianNB()), "RiverClassifier(GaussianNB)"),
    (SCALED, RiverClassifier(SCALED), "RiverClassifier(Pipeline)"),
    (
        multioutput.ClassifierChain(linear_model.LogisticRegression()),
        RiverClassifier(multioutput.ClassifierChain(linear_model.LogisticRegression())),
        "RiverClassifier(ClassifierChain)",
    ),
    (
        multioutput.MultiClassEncoder(tree.HoeffdingTreeClassifier()),
        RiverClassifier(multioutput.MultiClassEncoder(tree.HoeffdingTreeClassifier())),
        "RiverClassifier(MultiClassEncoder)",
    ),
]


@pytest.mark.parametrize(
    ("cases", "references"),
    [
        ([WRAPPED[0], WRAPPED[-1]], False),
        pytest.param(WRAPPED[1:-1], False, marks=pytest.mark.slow),
        pytest.param(WRAPPED, True, marks=pytest.mark.slow),
    ],
    ids=["one of each library", "others", "with references"],
)
def test_the_wrapper_by_default_is_the_one_written_out(cases, references):
    def check(case):
        given, wrapped, name = case
        before = repr(given)
        automatic, explicit = (record(one, SMALL, references=references) for one in (given, wrapped))
        assert (automatic.pop("wrapped_as"), explicit.pop("wrapped_as")) == (name, None)
        assert (automatic.pop("strategy"), explicit.pop("strategy")) == (type(given).__name__, type(wrapped).__name__)
        assert automatic == explicit
        assert repr(given) == before

    check_all(cases, check)


@pytest.mark.parametrize(
    "estimator",
    [
        Online(),
        Targeted(),
        MLPClassifier(),
        MultiOutputClassifier(SGDClassifier()),
        BinaryRelevance(GaussianNB()),
        RiverClassifier(SCALED),
        PragmaStreamForestClassifier(),
    ],
    ids=repr,
)
def test_learners_of_labels_are_not_wrapped(estimator):
    assert wrap(estimator) is estimator
    assert wrapped_as(estimator) is None


@in_two_tiers([SGDClassifier(), LOG_LOSS, GaussianNB(), BernoulliNB(), Perceptron()], n_fast=2)
def test_a_label_alone_is_the_loop_of_scikit_learn(cases):
    def check(classifier):
        experience = STREAM.experiences[0]
        learner = adapt_to_stream(fresh(classifier, 3), STREAM, ResourceMeter("none"))
        predictions = learner.test_then_train(experience.X, experience.Y, experience.label_mask)
        assert not predictions.decided[0].any()
        for label in range(5):
            alone = clone(classifier)
            for i in range(len(experience)):
                row = experience.X[i : i + 1]
                if i:
                    assert predictions.decided[i, label] == alone.predict(row)[0]
                    if hasattr(alone, "predict_proba"):
                        expected = alone.predict_proba(row)[0, 1]
                        # Probabilities that are NaN count as 0, and ours are inside (0, 1).
                        expected = 0.0 if np.isnan(expected) else expected
                        inside = min(max(expected, np.finfo(float).tiny), np.nextafter(1.0, 0.0))
                        assert predictions.proba[i, label] == inside
                alone.partial_fit(row, experience.Y[i : i + 1, label], classes=[0, 1])

    check_all(cases, check)


class OfClasses(ClassifierMixin, BaseEstimator):
    """A class of one's own in scikit-learn's manner: one class a row."""

    def partial_fit(self, X, y, classes=None):
        assert np.ndim(y) == 1
        self.last_ = y[-1]
        return self

    def predict(self, X):
        return np.full(len(X), self.last_)


class OfLabels(OfClasses):
    """The same for tables of labels, without `classes`: nothing to announce."""

    def partial_fit(self, X, Y):
        assert Y.ndim == 2
        self.last_ = Y[-1]
        return self

    def predict(self, X):
        return np.tile(self.last_, (len(X), 1))


def test_classes_of_ones_own_are_wrapped_if_they_take_the_classes_of_a_row():
    of_classes, of_labels = record(OfClasses()), record(OfLabels())
    assert (of_classes["wrapped_as"], of_labels["wrapped_as"]) == ("BinaryRelevance(OfClasses)", None)
    assert of_classes["scores"]["ba_macro"] == of_labels["scores"]["ba_macro"]


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (
            KNeighborsClassifier(),
            r"only learns whole tables: make_.*'1NN'.* Got KNeighborsClassifier\(\) inst",
        ),
        (RandomForestClassifier(), "only learns whole tables"),
        (
            make_pipeline(StandardScaler(), SGDClassifier()),
            r"StreamPipeline of estimators takes such steps",
        ),
        (SGDClassifier, r"an instance, such as SGDClassifier\(\)\. Got <class"),
        (SGDRegressor(), r"that classifies, and this one is a regressor. Got SGDRegressor\(\)"),
        (MiniBatchKMeans(), "that classifies, and this one is a clusterer"),
        (cluster.KMeans(), "estimator: model must be a River classifier, regressor, multi-label classifier or"),
        (object(), "with partial_fit. Got <object"),
    ],
)
def test_what_cannot_learn_labels_from_a_stream_is_refused_in_one_line(estimator, message, tmp_path):
    for call in (
        lambda: evaluate(estimator, STREAM, energy="none"),
        lambda: run_campaign({"a": estimator}, [STREAM], [0], tmp_path, energy="none"),
    ):
        with pytest.raises(TypeError, match=message) as refusal:
            call()
        assert "\n" not in str(refusal.value)


@pytest.mark.slow
def test_a_campaign_takes_them_too_and_goes_on_where_it_was(tmp_path):
    learners = {
        "bayes": GaussianNB(),
        "river": naive_bayes.GaussianNB(),
        "searched": Search(SGDClassifier(), {"alpha": [0.1, 0.01]}, n_configurations=2),
    }
    for _ in range(2):
        results = run_campaign(learners, [STREAM], [3], tmp_path, energy="none")
        assert {result.strategy: result.wrapped_as for result in results} == {
            "bayes": "BinaryRelevance(GaussianNB)",
            "river": "RiverClassifier(GaussianNB)",
            "searched": "BinaryRelevance(SGDClassifier)",
        }
        assert [result.error for result in results] == [None] * 3
    assert results[0].scores == evaluate(GaussianNB(), STREAM, seed=3, energy="none").scores
