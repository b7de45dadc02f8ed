"""A pipeline is the loop over rows: predict as was learnt before, teach the transformers, teach the classifier."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, Normalizer, OneHotEncoder, StandardScaler
from sklearn.utils import get_tags

from estimators import OnlineLogisticRegression, StreamRidgeClassifier, hash_categories
from estimators.baselines import MeanLabelsClassifier, NearestRowClassifier
from estimators.pipeline import StreamPipeline

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) * [1, 10, 100, 1000] + 5
Y = (X[:, :3] > [5, 6, 50]).astype(np.uint8)


def scaled(learner):
    return StreamPipeline([("scale", StandardScaler()), ("learn", learner)])


def normalised(learner):
    return StreamPipeline([("normalise", Normalizer()), ("learn", learner)])


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


@pytest.mark.parametrize("target", [Y, Y[:, 0], Y[:, 0] + Y[:, 1]])
def test_nothing_is_decided_before_the_transformers_have_learnt_a_row(target):
    fitted = scaled(OnlineLogisticRegression()).fit(X, target)
    scores, begun = fitted.decision_function(X), fitted.begin(X, target).decision_function(X)
    np.testing.assert_array_equal(begun, np.zeros_like(scores))


def test_tags_of_a_classifier_are_those_of_the_last_step():
    for learner in (StreamRidgeClassifier(), OnlineLogisticRegression()):
        assert get_tags(scaled(learner)).classifier_tags == get_tags(learner).classifier_tags


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


# ------------------------------------------------- as scikit-learn's Pipeline
def steps():
    return [("scale", StandardScaler()), ("norm", Normalizer()), ("learn", NearestRowClassifier())]


def pairs():
    """Return our pipeline and scikit-learn's, before they learn anything and after."""
    ours, theirs = StreamPipeline(steps()), Pipeline(steps())
    yield ours, theirs
    yield clone(ours).fit(X, Y), clone(theirs).fit(X, Y)


@pytest.mark.parametrize(("ours", "theirs"), list(pairs()), ids=["new", "fitted"])
def test_steps_are_selected_as_in_scikit_learn(ours, theirs):
    assert len(ours) == len(theirs) == 3
    assert list(ours.named_steps) == list(theirs.named_steps)
    for key in (0, 1, 2, -1, "scale", "learn"):
        assert type(ours[key]) is type(theirs[key])
        assert hasattr(ours[key], "mean_") == hasattr(theirs[key], "mean_")
    assert ours.named_steps.scale is ours["scale"] is ours[0]
    for wrong, error in ((3, IndexError), ("other", KeyError), (slice(0, 3, 2), ValueError)):
        for pipeline in (ours, theirs):
            with pytest.raises(error):
                pipeline[wrong]
    for part in (slice(0, 2), slice(1, None), slice(None), slice(-1, None), slice(1, 2), slice(2, 1)):
        assert [name for name, _ in ours[part].steps] == [name for name, _ in theirs[part].steps]


@pytest.mark.parametrize("n_learnt", [1, 30])
def test_slices_of_what_has_learnt_do_what_the_steps_do(n_learnt):
    pipeline = StreamPipeline(steps()).partial_fit(X[:n_learnt], Y[:n_learnt])
    Z, expected = pipeline[:2].transform(X), pipeline.predict(X)
    assert np.array_equal(Z, Pipeline(pipeline.steps_[:2]).transform(X))
    assert np.array_equal(pipeline[1:].predict(pipeline[:1].transform(X)), expected)
    assert np.array_equal(pipeline[2:].predict(Z), expected)
    assert np.array_equal(pipeline[:].predict(X), expected)
    pipeline[1:].partial_fit(X, 1 - Y)
    assert np.array_equal(pipeline.predict(X), expected)


def test_a_tail_has_the_width_of_its_own_rows():
    frozen = FrozenEstimator(PCA(2, random_state=0).fit(X))
    pipeline = StreamPipeline([("project", frozen), ("none", None), ("learn", NearestRowClassifier())]).fit(X, Y)
    tail = pipeline[1:]
    assert (pipeline.n_features_in_, tail.n_features_in_) == (4, 2)
    Z = frozen.transform(X)
    alone = NearestRowClassifier().fit(Z, Y)
    for rows in (slice(0, 1), slice(1, 7)):
        got, expected = (learner.predict_then_fit(Z[rows], 1 - Y[rows])[1] for learner in (tail, alone))
        assert np.array_equal(got, expected)
    assert pipeline.n_features_in_ == 4


@pytest.mark.slow
@pytest.mark.parametrize("nothing", ["passthrough", None])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_step_that_passes_rows_through_is_as_if_it_was_not_there(nothing, as_sparse):
    rows = sparse.csr_array(X) if as_sparse else X
    without = StreamPipeline([("scale", MaxAbsScaler()), ("learn", NearestRowClassifier())])
    with_it = StreamPipeline([("scale", MaxAbsScaler()), ("none", nothing), ("learn", NearestRowClassifier())])
    replaced = StreamPipeline([("first", StandardScaler()), *with_it.steps]).set_params(first=nothing)
    for start in (0, 20, 40):
        chunk = slice(start, start + 20)
        expected = without.predict_then_fit(rows[chunk], Y[chunk])
        for pipeline in (with_it, replaced):
            assert np.array_equal(pipeline.predict_then_fit(rows[chunk], Y[chunk]), expected)
    assert with_it["none"] == replaced.named_steps.first == nothing
    only = StreamPipeline([("none", nothing), ("learn", NearestRowClassifier())]).fit(X, Y)
    assert np.array_equal(only.predict(X), NearestRowClassifier().fit(X, Y).predict(X))
    copy = pickle.loads(pickle.dumps(clone(with_it).fit(X, Y)))  # noqa: S301 - our own bytes
    assert np.array_equal(copy.predict(X), clone(without).fit(X, Y).predict(X))


def test_setting_a_step_reads_as_in_scikit_learn():
    for pipeline in (StreamPipeline(steps()), Pipeline(steps())):
        pipeline.set_params(norm="passthrough", scale__with_mean=False)
        assert pipeline.named_steps["norm"] == pipeline[1] == pipeline.get_params()["norm"] == "passthrough"
        assert not pipeline["scale"].with_mean


def test_the_diagram_is_that_of_scikit_learn():
    ours, theirs = StreamPipeline(steps()), Pipeline(steps())
    for name in ("Normalizer", "StandardScaler", "NearestRowClassifier"):
        assert name in ours._repr_html_()
    for _ in range(2):
        blocks = [pipeline._sk_visual_block_() for pipeline in (ours, theirs)]
        assert blocks[0].kind == blocks[1].kind == "serial"
        assert blocks[0].names == blocks[1].names
        for pipeline in (ours, theirs):
            pipeline.set_params(norm="passthrough")
    assert "passthrough" in ours._repr_html_()


@pytest.mark.parametrize(
    ("steps", "error", "message"),
    [
        ([], ValueError, "steps must hold at least a classifier"),
        ([("scale", StandardScaler()), ("learn", "passthrough")], TypeError, "classifier of this package"),
        ([("scale", "pass"), ("learn", NearestRowClassifier())], TypeError, "must have `transform`. Got a str"),
    ],
)
def test_steps_that_are_none_are_refused(steps, error, message):
    with pytest.raises(error, match=message):
        StreamPipeline(steps).partial_fit(X, Y)


# ---------------------------------------------------------- words and frames
WORDS = pd.DataFrame(
    {"colour": np.array(["red", "green", "blue"])[np.arange(60) % 3], "size": X[:, 0], "n": np.arange(60) % 2}
)
TABLES = {
    "pandas": WORDS,
    "categories": WORDS.astype({"colour": "category"}),
    "polars": pl.from_pandas(WORDS),
    "objects": WORDS.to_numpy(object),
    "lists": WORDS.to_numpy(object).tolist(),
}


def row_of(table, i):
    return table.iloc[[i]] if isinstance(table, pd.DataFrame) else table[i : i + 1]


@pytest.mark.parametrize("kind", TABLES)
def test_words_are_hashed_whatever_holds_them(kind):
    table, learner = TABLES[kind], OnlineLogisticRegression(0.5)
    hashed = StreamPipeline([("hash", FunctionTransformer(hash_categories)), ("learn", learner)])
    in_rows, one_by_one = clone(hashed), clone(hashed)
    expected = clone(learner).predict_then_fit(hash_categories(WORDS), Y)[1]
    np.testing.assert_array_equal(hashed.predict_then_fit(table, Y)[1], expected)
    for i, row in enumerate(row_of(table, i) for i in range(60)):
        np.testing.assert_array_equal(in_rows.predict_then_fit(row, Y[i : i + 1])[1][0], expected[i])
        one = row if hasattr(row, "columns") else row[0]
        np.testing.assert_array_equal(one_by_one.predict_then_fit_one(one, Y[i])[1], expected[i])


def test_sparse_frames_whose_gaps_are_missing_values_are_dense():
    frame = pd.DataFrame(X)
    for learner in (OnlineLogisticRegression(), scaled(OnlineLogisticRegression())):
        got = clone(learner).fit(frame.astype(pd.SparseDtype(float)), Y).predict_proba(X)
        np.testing.assert_array_equal(got, clone(learner).fit(frame, Y).predict_proba(X))
    with pytest.raises(ValueError, match=r"X must be finite. Got NaN at row 0, column 0"):
        OnlineLogisticRegression().fit(frame.where(frame > 6).astype(pd.SparseDtype(float)), Y)


def test_rows_of_frames_are_left_out_as_those_of_arrays():
    unknown = Y.astype(float)
    unknown[::2], weight = np.nan, np.arange(60) % 3
    kept = weight * (np.arange(60) % 2) > 0
    got = StreamPipeline([("hash", FunctionTransformer(hash_categories)), ("learn", NearestRowClassifier())])
    expected = clone(got).partial_fit(WORDS[kept], Y[kept], sample_weight=weight[kept]).predict_proba(WORDS)
    np.testing.assert_array_equal(got.partial_fit(WORDS, unknown, sample_weight=weight).predict_proba(WORDS), expected)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_names_of_features_reach_the_last_step_where_output_is_a_frame(library):
    encode = ColumnTransformer([("word", OneHotEncoder(), ["colour"]), ("rest", "passthrough", ["size", "n"])])
    table = WORDS if library is pd else pl.from_pandas(WORDS)
    encode.set_params(word__sparse_output=False).set_output(transform=library.__name__).fit(table)
    steps = [("encode", FrozenEstimator(encode)), ("scale", StandardScaler()), ("learn", OnlineLogisticRegression())]
    framed = StreamPipeline(steps).set_output(transform=library.__name__).fit(table, Y)
    Z = framed[:-1].transform(table)
    assert isinstance(Z, library.DataFrame)
    names = ["word__colour_blue", "word__colour_green", "word__colour_red", "rest__size", "rest__n"]
    assert list(Z.columns) == list(framed[:-1].get_feature_names_out()) == list(framed[-1].feature_names_in_) == names
    assert list(framed.feature_names_in_) == ["colour", "size", "n"]
    assert list(framed[1:].feature_names_in_) == names
    expected = framed.predict_proba(table)
    np.testing.assert_array_equal(framed[2:].predict_proba(Z), expected)


def test_what_learns_nothing_knows_the_names_of_its_features():
    table = pd.DataFrame(X, columns=list("abcd"))
    for first in ([], [("scale", MaxAbsScaler())]):
        pipeline = StreamPipeline([*first, ("norm", Normalizer()), ("learn", NearestRowClassifier())])
        pipeline.set_output(transform="pandas").partial_fit(table, Y)
        assert list(pipeline[-1].feature_names_in_) == list(pipeline[:-1].get_feature_names_out()) == list("abcd")


def test_columns_of_frames_keep_their_names_and_order():
    pipeline = StreamPipeline([("hash", FunctionTransformer(hash_categories)), ("learn", NearestRowClassifier())])
    pipeline.fit(WORDS, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        pipeline.predict(WORDS[["size", "colour", "n"]])
    with pytest.raises(ValueError, match="0 sample"):
        pipeline.predict(WORDS[:0])


def as_given(table, library):
    return (
        table if library is None else library.DataFrame(table, **{"columns" if library is pd else "schema": [*"abcd"]})
    )


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize("first", [StandardScaler(), Normalizer()])
def test_a_frame_of_numbers_is_learnt_as_an_array_and_names_stay_checked(library, first):
    for table in (X, X.astype(np.float32), (X * 10).astype(int)):
        array, framed, in_rows = (
            StreamPipeline([("first", clone(first)), ("scale", StandardScaler()), ("learn", NearestRowClassifier())])
            for _ in range(3)
        )
        expected = array.partial_fit(table[:20], Y[:20]).predict_then_fit(table[20:], Y[20:])[1]
        frame = as_given(table, library)
        framed.partial_fit(frame[:20], Y[:20])
        np.testing.assert_array_equal(framed.predict_then_fit(frame[20:], Y[20:])[1], expected)
        for i in range(60):
            in_rows.partial_fit(frame[i : i + 1], Y[i : i + 1])
        for pipeline in (framed, in_rows):
            np.testing.assert_array_equal(pipeline.predict_proba(frame), array.predict_proba(table))
            assert [*pipeline[:-1].get_feature_names_out()] == [*pipeline[0].feature_names_in_] == [*"abcd"]
            with pytest.raises(ValueError, match="feature names should match"):
                pipeline.partial_fit(frame[["b", "a", "c", "d"]], Y)


def test_an_error_leaves_the_names_of_columns_where_they_were():
    frame = as_given(X, pd)
    pipeline = scaled(NearestRowClassifier()).fit(frame, Y)
    before = pickle.dumps(pipeline)
    frame = frame.replace(X[-1, 1], np.nan)
    for learn in (pipeline.partial_fit, pipeline.predict_then_fit):
        with pytest.raises(ValueError, match="X must be finite"):
            learn(frame, Y)
        assert pickle.dumps(pipeline) == before


def test_missing_values_are_for_the_steps_to_fill():
    holes = X.copy()
    holes[3, 1] = np.nan
    fill = SimpleImputer().fit(holes)
    filled = StreamPipeline([("fill", FrozenEstimator(fill)), ("learn", NearestRowClassifier())]).fit(holes, Y)
    expected = NearestRowClassifier().fit(fill.transform(holes), Y).predict_proba(X)
    np.testing.assert_array_equal(filled.predict_proba(X), expected)


def test_what_the_learner_refuses_leaves_the_steps_as_they_were():
    pipeline = scaled(NearestRowClassifier()).fit(X, Y)
    before = pickle.dumps(pipeline)
    holes = X.copy()
    holes[-1, 1] = np.nan
    for learn in (pipeline.partial_fit, pipeline.predict_then_fit):
        for wrong, message in ((holes, "X must be finite"), (X.astype(str) + "m", "could not convert")):
            with pytest.raises(ValueError, match=message):
                learn(wrong, Y)
            assert pickle.dumps(pipeline) == before


def test_what_is_frozen_learns_nothing():
    scaler = StandardScaler().fit(X)
    StreamPipeline([("scale", FrozenEstimator(scaler)), ("learn", NearestRowClassifier())]).fit(X + 100, Y)
    np.testing.assert_array_equal(scaler.mean_, StandardScaler().fit(X).mean_)
