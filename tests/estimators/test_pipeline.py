"""A pipeline is the loop over rows: predict as was learnt before, teach the transformers, teach the classifier."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators.baselines import MeanLabelsClassifier, NearestRowClassifier
from estimators.checks import stream_checks
from estimators.meta.binary_relevance import BinaryRelevance
from estimators.pipeline import StreamPipeline
from estimators.trees.hoeffding import HoeffdingTreeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) * [1, 10, 100, 1000] + 5
Y = (X[:, :3] > [5, 6, 50]).astype(np.uint8)


def scaled(learner):
    return StreamPipeline([("scale", StandardScaler()), ("learn", learner)])


def normalised(learner):
    return StreamPipeline([("normalise", Normalizer()), ("learn", learner)])


PIPELINES = [
    scaled(NearestRowClassifier(window=50)),
    normalised(BinaryRelevance(HoeffdingTreeClassifier(grace_period=10, max_depth=1))),
]


@pytest.mark.slow
@parametrize_with_checks(PIPELINES)
def test_pipelines_are_scikit_learn_estimators(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("estimator", "law"), [pair for pipeline in PIPELINES for pair in stream_checks(pipeline)])
def test_pipelines_obey_the_laws(estimator, law):
    law(estimator)


@pytest.mark.parametrize("cuts", [[60], [1, 59], [7, 20, 33]])
def test_rows_are_predicted_before_the_transformers_learn_them(cuts):
    pipeline, scaler, learner = scaled(NearestRowClassifier()), StandardScaler(), NearestRowClassifier()
    expected = [np.zeros((1, 3))]
    for i in range(60):
        if i:
            expected.append(learner.predict(scaler.transform(X[i : i + 1])))
        scaler.partial_fit(X[i : i + 1])
        learner.partial_fit(scaler.transform(X[i : i + 1]), Y[i : i + 1])
    got, start = [], 0
    for size in cuts:
        got.append(pipeline.predict_then_fit(X[start : start + size], Y[start : start + size])[0])
        start += size
    assert np.array_equal(np.concatenate(got), np.concatenate(expected))
    assert np.array_equal(pipeline.predict(X), learner.predict(scaler.transform(X)))


def test_what_needs_no_fitting_and_what_is_frozen_goes_through_in_one_call():
    frozen = FrozenEstimator(PCA(2, random_state=0).fit(X))
    pipeline = StreamPipeline([("project", frozen), ("learn", NearestRowClassifier())])
    plain = NearestRowClassifier()
    assert np.array_equal(pipeline.predict_then_fit(X, Y)[0], plain.predict_then_fit(frozen.transform(X), Y)[0])


def test_sparse_rows_stay_sparse():
    pipeline = StreamPipeline([("scale", MaxAbsScaler()), ("learn", NearestRowClassifier())])
    dense = StreamPipeline([("scale", MaxAbsScaler()), ("learn", NearestRowClassifier())])
    assert np.array_equal(pipeline.predict_then_fit(sparse.csr_array(X), Y)[0], dense.predict_then_fit(X, Y)[0])


def test_classes_of_a_row_go_through():
    y = np.array(["a", "b", "c"])[np.arange(60) % 3]
    pipeline = normalised(NearestRowClassifier()).fit(X, y)
    assert pipeline.predict(X).tolist() == y.tolist()


def test_labels_announced_are_known_to_the_last_step():
    pipeline = scaled(MeanLabelsClassifier()).partial_fit(X, Y, classes=5)
    assert pipeline.predict(X[:2]).shape == (2, 5)


def test_parameters_of_steps_can_be_set_by_name():
    pipeline = scaled(NearestRowClassifier()).set_params(learn__window=7, scale__with_mean=False)
    assert pipeline.get_params()["learn__window"] == 7
    assert not pipeline.get_params()["scale"].with_mean


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([("scale", StandardScaler()), ("learn", SGDClassifier())], "classifier of this package"),
        ([("project", PCA()), ("learn", NearestRowClassifier())], "must have `partial_fit`, need no fitting"),
        ([("learn", NearestRowClassifier()), ("again", NearestRowClassifier())], "must have `transform`"),
    ],
)
def test_a_step_that_cannot_be_used_is_named(steps, message):
    with pytest.raises(TypeError, match=message):
        StreamPipeline(steps).partial_fit(X, Y)


def test_an_error_leaves_the_transformers_as_they_were():
    pipeline = scaled(NearestRowClassifier()).partial_fit(X, Y)
    mean = pipeline.steps_[0][1].mean_.copy()
    with pytest.raises(ValueError, match="sample_weight"):
        pipeline.partial_fit(X, Y, sample_weight=-np.ones(60))
    assert np.array_equal(pipeline.steps_[0][1].mean_, mean)
