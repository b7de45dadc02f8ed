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
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from estimators import (
    BinaryRelevance,
    ClassifierChain,
    GOOWEMLClassifier,
    LabelBudget,
    LabelCombination,
    OnlineLogisticRegression,
    PragmaStreamForestClassifier,
    PredictionSets,
    PrevalenceThreshold,
    RiverClassifier,
    StreamPipeline,
)
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


class TakesClasses(OfLabels):
    """A learner of tables that takes `classes`, as scikit-learn's do, and does not say what it learns."""

    def partial_fit(self, X, Y, classes=None):
        self.n_labels_ = Y.shape[1]
        return super().partial_fit(X, Y)


class PredictsTables(TakesClasses):
    """It learns whatever it is given."""

    def partial_fit(self, X, Y, classes=None):
        return super().partial_fit(X, np.reshape(Y, (len(Y), -1)))


def test_a_learner_of_tables_that_does_not_say_so_is_told_what_to_write():
    X, Y = STREAM.experiences[0].X, STREAM.experiences[0].Y
    for learner, fault in [
        (TakesClasses(), r"for y of shape \(\d+,\) it raised IndexError \(tuple index out of range\)"),
        (PredictsTables(), r"of which predict returned shape \(\d+, 1\) instead of \(\d+,\)"),
    ]:
        for call in (
            lambda learner=learner: evaluate(learner, STREAM, energy="none"),
            lambda learner=learner: BinaryRelevance(learner).partial_fit(X, Y).predict(X),
        ):
            with pytest.raises(TypeError, match=rf"Got a {type(learner).__name__}, .*{fault}") as refusal:
                call()
            advice = str(refusal.value).partition("if its class has: ")[2]
            told = {}
            # made outside a class, it has no cell for a `super` without arguments
            exec(advice.replace("super()", "super(type(self), self)"), told)  # noqa: S102 - our own words
            following = type("Following", (type(learner),), {"__sklearn_tags__": told["__sklearn_tags__"]})
            assert record(following())["scores"] == record(OfLabels())["scores"]
            for wrapper in (BinaryRelevance, ClassifierChain, LabelCombination):
                with pytest.raises(TypeError, match=r"A wrapper needs a classifier of one class a row; .* needs none"):
                    wrapper(following()).partial_fit(X, Y).predict(X)


def test_partial_fit_need_not_return_the_learner():
    class ReturnsNothing(OfLabels):
        def partial_fit(self, X, Y):
            super().partial_fit(X, Y)

    assert record(ReturnsNothing())["scores"] == record(OfLabels())["scores"]


def test_a_tag_of_several_outputs_does_not_say_that_tables_are_learnt():
    class SeveralOutputs(TakesClasses):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.target_tags.multi_output = True
            return tags

    # OneVsRestClassifier has that tag, and its `partial_fit` takes one class a row
    with pytest.raises(TypeError, match="multi_label = True"):
        evaluate(SeveralOutputs(), STREAM, energy="none")


def test_an_error_of_a_classifier_of_one_class_a_row_is_its_own():
    with pytest.raises(ValueError, match="Negative values in data passed to MultinomialNB"):
        BinaryRelevance(MultinomialNB()).partial_fit([[-1.0]], [[0, 1]])


def test_predictions_of_one_class_a_row_are_refused_with_the_way_out():
    class WithoutClasses(OfClasses):
        def partial_fit(self, X, y):
            self.last_ = 0
            return self

    with pytest.raises(ValueError, match=r"one column per label. Got \(1,\) instead; BinaryRelevance of estimators"):
        evaluate(WithoutClasses(), STREAM, energy="none")


@in_two_tiers([GaussianNB(), BernoulliNB(), SGDClassifier(), Perceptron()])
def test_a_classifier_of_one_class_learns_in_a_multi_output_classifier_as_alone(cases):
    def check(classifier):
        alone, inside = record(classifier), record(MultiOutputClassifier(classifier))
        assert inside["scores"] == pytest.approx(alone["scores"])

    check_all(cases, check)


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


@pytest.mark.parametrize(
    "around", [PrevalenceThreshold, PredictionSets, lambda learner: StreamPipeline([("learner", learner)])]
)
def test_a_budget_inside_another_learner_is_the_only_one_and_is_in_the_record(around):
    learner = around(LabelBudget(OnlineLogisticRegression(), 0.1))
    shares = [evaluate(learner, STREAM, energy="none", label_budget=one).scores["share_asked"] for one in (None, 0.5)]
    assert 0 < shares[0] < 0.1 + 1e-9
    assert shares[1] == shares[0]


def test_sets_inside_a_budget_are_in_the_record():
    scores = evaluate(PredictionSets(OnlineLogisticRegression()), STREAM, energy="none", label_budget=0.5).scores
    assert {"share_asked", "set_coverage", "set_size"} <= scores.keys()


@pytest.mark.parametrize("budget", ["0.1", None, float("nan"), 0])
def test_the_record_of_a_wrong_budget_says_what_it_must_be(budget, tmp_path):
    learner = LabelBudget(OnlineLogisticRegression(), budget)
    (result,) = run_campaign({"a": learner}, [STREAM], [0], tmp_path, energy="none")
    assert f"budget must be a share of the labels, from 0.00001 to 1. Got {budget!r}" in result.error


@pytest.mark.parametrize("size", ["x", None, float("nan")])
def test_the_record_of_a_wrong_chunk_size_says_what_it_must_be(size, tmp_path):
    (result,) = run_campaign({"a": GOOWEMLClassifier(chunk_size=size)}, [STREAM], [0], tmp_path, energy="none")
    assert "chunk_size must be" in result.error


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
