"""Labels that appear after the first call: a learner that grows equals one to which they were unknown before."""

import inspect
from copy import deepcopy
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

import estimators
from estimators import (
    AdaptiveRandomForestClassifier,
    ADWINBaggingClassifier,
    ADWINBoostingClassifier,
    AESAKNNSClassifier,
    AGEMClassifier,
    AlarmBudget,
    BinaryRelevance,
    ClassifierChain,
    ContextWindowClassifier,
    DERClassifier,
    EWCClassifier,
    ExtremelyFastDecisionTreeClassifier,
    FIFOMemory,
    GDumbClassifier,
    GOOWEMLClassifier,
    HoeffdingAdaptiveTreeClassifier,
    HoeffdingTreeClassifier,
    ISOUPTreeClassifier,
    LabelBudget,
    LabelCombination,
    LastLabelsClassifier,
    LwFClassifier,
    MeanLabelsClassifier,
    MLSAkNNClassifier,
    MLSAMPkNNClassifier,
    NearestRowClassifier,
    NovelLabels,
    OnlineCoordinateBoosting,
    OnlineLogisticRegression,
    OnlineNeuralClassifier,
    PragmaStreamForestClassifier,
    PragmaThreshold,
    PredictionSets,
    PrequentialCalibrator,
    PrequentialStack,
    PrevalenceClassifier,
    PrevalenceThreshold,
    PriorLabelsClassifier,
    PRSMemory,
    ReplayClassifier,
    ReservoirMemory,
    RollingForestClassifier,
    StreamClassifier,
    StreamPipeline,
    StreamRidgeClassifier,
)
from estimators.checks._check_data import REFUSED, Fragile
from estimators.contract.new_labels import set_choice
from tests.loops import check_all, in_two_tiers

# a classifier of scikit-learn that has learnt one value of a label only
pytestmark = pytest.mark.filterwarnings("ignore:(divide by zero|invalid value):RuntimeWarning")

WIDTHS = (3, 5, 12, 30)
TREE = HoeffdingTreeClassifier(grace_period=10)
MEMORIES = {"reservoir": ReservoirMemory(30), "fifo": FIFOMemory(20)}
GROWING = {
    "last": LastLabelsClassifier(),
    "prior": PriorLabelsClassifier(),
    "prior from the first positive": PriorLabelsClassifier("first-positive"),
    "no features": PrevalenceClassifier(),
    "mean": MeanLabelsClassifier(),
    "nearest": NearestRowClassifier(),
    "adjusting window": MLSAMPkNNClassifier(min_window=10),
    "adjusting window and k": MLSAkNNClassifier(min_window=10),
    "adjusting windows": AESAKNNSClassifier(2, background_rows=20, min_window=10, random_state=0),
    "nearest in a window": NearestRowClassifier(20),
    "rolling forest": RollingForestClassifier(5, random_state=0),
    "logistic": OnlineLogisticRegression(0.1),
    "logistic with the task": OnlineLogisticRegression(0.1, targeted=True),
    "bagging": ADWINBaggingClassifier(3, learning_rate=0.1, random_state=0),
    "boosting": ADWINBoostingClassifier(3, learning_rate=0.1, variant="paper", random_state=0),
    "boosted models": OnlineCoordinateBoosting(OnlineLogisticRegression(0.1), 3),
    "boosted trees": OnlineCoordinateBoosting(TREE, 3),
    "ridge": StreamRidgeClassifier(random_state=0),
    "trees": BinaryRelevance(HoeffdingTreeClassifier(grace_period=10)),
    "revised trees": BinaryRelevance(ExtremelyFastDecisionTreeClassifier(grace_period=10)),
    "trees in threads": BinaryRelevance(HoeffdingTreeClassifier(grace_period=10), n_jobs=2),
    "adaptive trees": BinaryRelevance(HoeffdingAdaptiveTreeClassifier(grace_period=10, random_state=0), n_jobs=2),
    "adaptive trees with seeds": BinaryRelevance(HoeffdingAdaptiveTreeClassifier(grace_period=10), random_state=0),
    "bayes": BinaryRelevance(GaussianNB()),
    "seeded": BinaryRelevance(SGDClassifier(loss="log_loss", shuffle=True), random_state=3),
    "chain": ClassifierChain(TREE),
    "chain of predictions": ClassifierChain(TREE, chain_features="predicted"),
    "chains": ClassifierChain(GaussianNB(), n_chains=2, random_state=0),
    "forest": AdaptiveRandomForestClassifier(2, grace_period=10, random_state=0),
    "forest in threads": AdaptiveRandomForestClassifier(2, grace_period=10, n_jobs=2, random_state=0),
    "pipeline": StreamPipeline([("scale", StandardScaler()), ("learn", BinaryRelevance(TREE))]),
    "pipeline that does not learn": StreamPipeline([("scale", Normalizer()), ("learn", MeanLabelsClassifier())]),
    "stack": PrequentialStack([("mean", MeanLabelsClassifier()), ("trees", BinaryRelevance(TREE))], random_state=0),
    "patient stack with the task": PrequentialStack(
        [("last", LastLabelsClassifier()), ("ridge", StreamRidgeClassifier(random_state=0))],
        patience=50,
        negligible=0.2,
        random_state=0,
    ),
    "context of labels": ContextWindowClassifier(TREE, context_size=80, policy="label", random_state=0),
    "context of tasks": ContextWindowClassifier(GaussianNB(), context_size=80, policy="task"),
    "replay": ReplayClassifier(MeanLabelsClassifier(), **MEMORIES, random_state=0),
    "replay with the task": ReplayClassifier(StreamRidgeClassifier(random_state=0), **MEMORIES, random_state=0),
    "alarm budget": AlarmBudget(OnlineLogisticRegression(0.1), budget=20, period=50, weights={1: 3.0}),
    "label budget": LabelBudget(OnlineLogisticRegression(0.1), 1),
    "calibrator": PrequentialCalibrator(OnlineLogisticRegression(0.1)),
    "novel labels": NovelLabels(OnlineLogisticRegression(0.1)),
    "prediction sets": PredictionSets(OnlineLogisticRegression(0.1)),
    "threshold": PrevalenceThreshold(MeanLabelsClassifier()),
    "threshold with the task": PrevalenceThreshold(StreamRidgeClassifier(random_state=0)),
    "searched threshold": PragmaThreshold(BinaryRelevance(TREE), period=25, window=100, random_state=0),
    "searched threshold with the task": PragmaThreshold(
        StreamRidgeClassifier(random_state=0), period=50, random_state=0
    ),
    "GDumb": GDumbClassifier(MeanLabelsClassifier(), size=40, epochs=2, random_state=0),
    "GDumb with the task": GDumbClassifier(StreamRidgeClassifier(), size=40, epochs=2, random_state=0),
}
# those of scikit-learn, a second or more each
COSTLY = ("bayes", "chains", "context of tasks", "seeded")
DRAWING = {
    "linear": OnlineNeuralClassifier(random_state=0),
    "targeted": OnlineNeuralClassifier(targeted_loss="signature", random_state=0),
    "frozen": OnlineNeuralClassifier(targeted_loss="signature", freeze_masked=True, random_state=0),
    "hidden": OnlineNeuralClassifier((16, 16), targeted_loss="signature", random_state=0),
    "replay": OnlineNeuralClassifier(
        8, targeted_loss="signature", reservoir=ReservoirMemory(30), fifo=FIFOMemory(20), random_state=0
    ),
    "EWC": EWCClassifier(16, penalty=1.0, random_state=0),
    "LwF": LwFClassifier(16, random_state=0),
    "DER++": DERClassifier(16, size=40, draws=3, random_state=0),
    "A-GEM": AGEMClassifier(16, size=40, draws=5, random_state=0),
    "replay by label": OnlineNeuralClassifier(8, targeted_loss="signature", reservoir=PRSMemory(30), random_state=0),
    "replay around a network": ReplayClassifier(OnlineNeuralClassifier(8), **MEMORIES, random_state=0),
}

# the parameter is that of the learner inside
FOLLOWING = {StreamPipeline, ReplayClassifier, GDumbClassifier, PragmaThreshold, PrevalenceThreshold, AlarmBudget} | {
    PrequentialCalibrator,
    LabelBudget,
    NovelLabels,
    PredictionSets,
}


def with_growth(learner):
    return set_choice(clone(learner), "grow")


def chunks(seed=0, n_rows=60, n_features=6):
    """Return chunks of rows, each with more labels than the one before."""
    rng = np.random.default_rng(seed)
    found = []
    for width in WIDTHS:
        X = rng.random((n_rows, n_features))
        found.append((X, (X[:, rng.integers(n_features, size=width)] + rng.normal(0, 0.1, (n_rows, width)) > 0.6) * 1))
    return found


def test_every_learner_with_the_parameter_is_tried_here():
    public = [getattr(estimators, name) for name in estimators.__all__]
    classes = {kind for kind in public if inspect.isclass(kind) and issubclass(kind, StreamClassifier)}
    able = {kind for kind in classes if "on_new_labels" in inspect.signature(kind).parameters}
    assert able == {type(learner) for learner in (GROWING | DRAWING).values()} - FOLLOWING
    assert all(not hasattr(kind, "on_new_labels") for kind in classes - able - FOLLOWING)


def with_unknown(Y):
    wide = np.full((len(Y), WIDTHS[-1]), np.nan)
    wide[:, : Y.shape[1]] = Y
    return wide


@in_two_tiers([*(name for name in GROWING if name not in COSTLY), *COSTLY], n_fast=-len(COSTLY))
def test_growing_equals_labels_that_were_unknown_before(cases):
    def check(name):
        growing, announced = with_growth(GROWING[name]), clone(GROWING[name])
        for X, Y in chunks():
            decided, proba = growing.predict_then_fit(X, Y)
            wanted = announced.predict_then_fit(X, with_unknown(Y))
            assert len(growing.classes_) == Y.shape[1] == proba.shape[1]
            np.testing.assert_array_equal(decided, wanted[0][:, : Y.shape[1]])
            np.testing.assert_allclose(proba, wanted[1][:, : Y.shape[1]], rtol=1e-9)
        X = chunks()[0][0]
        np.testing.assert_allclose(growing.predict_proba(X), announced.predict_proba(X), rtol=1e-9)

    check_all(cases, check)


@pytest.mark.slow
def test_a_network_that_grows_keeps_what_it_predicted_and_learns_the_new_labels():
    def check(name, rows):
        as_rows = sparse.csr_array if rows == "sparse" else np.asarray
        network = with_growth(DRAWING[name])
        (X, Y), *later = chunks(n_rows=300)
        network.partial_fit(as_rows(X), Y)
        for X, Y in later:
            before = network.predict_proba(as_rows(X))
            proba = deepcopy(network).predict_then_fit(as_rows(X[:1]), Y[:1])[1]
            np.testing.assert_array_equal(proba[:, : before.shape[1]], before[:1])
            network.partial_fit(as_rows(X), Y)
        X, Y = later[-1]
        for _ in range(20):
            network.partial_fit(as_rows(X), Y)
        decided = network.predict(as_rows(X))
        assert (decided == Y).mean() > max(0.75, (Y.mean(axis=0).round() == Y).mean())

    check_all(product(DRAWING, ["dense", "sparse"]), lambda case: check(*case))


def test_a_network_that_learns_of_its_labels_early_learns_the_same():
    def check(name):
        (X, Y), *_ = chunks()
        late, early = with_growth(DRAWING[name]).partial_fit(X, Y), with_growth(DRAWING[name]).partial_fit(X, Y)
        for width in WIDTHS[1:]:
            early.partial_fit(X[:1], np.full((1, width), np.nan))
        for X, Y in chunks():
            decided, proba = late.predict_then_fit(X, Y)
            wanted = early.predict_then_fit(X, with_unknown(Y))
            np.testing.assert_allclose(proba, wanted[1][:, : Y.shape[1]], rtol=1e-3)
            assert (decided == wanted[0][:, : Y.shape[1]]).mean() > 0.999
        np.testing.assert_allclose(late.predict_proba(X), early.predict_proba(X), rtol=1e-3)

    check_all(DRAWING, check)


def test_the_weights_of_new_labels_depend_on_the_seed_alone():
    def check(name):
        one, other = with_growth(DRAWING[name]), with_growth(DRAWING[name])
        for X, Y in chunks():
            one.partial_fit(X, Y)
            for i in range(len(X)):
                other.partial_fit(X[i : i + 1], Y[i : i + 1])
            np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))

    check_all(DRAWING, check)


def test_a_refused_call_leaves_no_new_label():
    def check(name):
        learner = with_growth((GROWING | DRAWING)[name])
        (X, Y), (_, wider), *_ = chunks()
        learner.partial_fit(X, Y)
        before = learner.predict_proba(X)
        for bad in (lambda: learner.partial_fit(X[1:], wider), lambda: learner.partial_fit(X, wider + 1)):
            with pytest.raises(ValueError, match="must"):
                bad()
            assert len(learner.classes_) == 3
            np.testing.assert_array_equal(learner.predict_proba(X), before)

    check_all([*GROWING, *DRAWING], check)


@pytest.mark.slow
def test_names_place_columns_whatever_their_order():
    def check(name):
        (X, Y), (Z, wider), *_ = chunks()
        named, placed = (with_growth((GROWING | DRAWING)[name]) for _ in range(2))
        named.partial_fit(X, Y, classes=["scan", "flood", "worm"])
        placed.partial_fit(X, Y)
        columns = [4, 0, 3, 1]  # the third label is not among the columns: it is unknown in these rows
        named.partial_fit(Z, wider[:, columns], classes=["bot", "scan", "leak", "flood"])
        known = wider.astype(float)
        known[:, 2] = np.nan
        placed.partial_fit(Z, known[:, [0, 1, 2, 4, 3]])
        assert named.label_names_ == ["scan", "flood", "worm", "bot", "leak"]
        np.testing.assert_array_equal(named.predict_proba(X), placed.predict_proba(X))

    check_all([*GROWING, *DRAWING], check)


def test_a_mask_follows_its_columns():
    (X, Y), *_ = chunks()
    network = with_growth(DRAWING["targeted"])
    plain = clone(DRAWING["targeted"])
    network.partial_fit(X, Y, classes=["a", "b", "c"])
    plain.partial_fit(X, Y)
    network.partial_fit(X, Y[:, [2, 0]], classes=["c", "a"], label_mask=np.array([False, True]))
    plain.partial_fit(X, Y, label_mask=np.array([True, False, False]))
    np.testing.assert_array_equal(network.predict_proba(X), plain.predict_proba(X))


def test_new_labels_are_refused_unless_asked_for():
    (X, Y), (Z, wider), *_ = chunks()
    for learner in (GROWING | DRAWING).values():
        with pytest.raises(ValueError, match="on_new_labels='grow'"):
            clone(learner).partial_fit(X, Y).partial_fit(Z, wider)


ISOUP = ISOUPTreeClassifier()
# each with the part that the error names
FIXED = [
    (ISOUP, "ISOUPTreeClassifier"),
    (LabelCombination(TREE), "LabelCombination"),
    (GOOWEMLClassifier(ISOUP), "GOOWEMLClassifier"),
    (PragmaStreamForestClassifier(AdaptiveRandomForestClassifier(2)), "PragmaStreamForestClassifier"),
    (AdaptiveRandomForestClassifier(2, multilabel="native"), "AdaptiveRandomForestClassifier"),
    (ContextWindowClassifier(ISOUP, multilabel="native"), "ISOUPTreeClassifier"),
    (StreamPipeline([("scale", Normalizer()), ("learn", ISOUP)]), "ISOUPTreeClassifier"),
    (ReplayClassifier(ISOUP, fifo=FIFOMemory(20)), "ISOUPTreeClassifier"),
    (GDumbClassifier(LabelCombination(TREE)), "LabelCombination"),
    (PrevalenceThreshold(ISOUP), "ISOUPTreeClassifier"),
    (PrevalenceThreshold(GaussianNB()), "GaussianNB"),
    (PredictionSets(ISOUP), "ISOUPTreeClassifier"),
    (PrequentialCalibrator(ISOUP), "ISOUPTreeClassifier"),
    (PragmaThreshold(ISOUP), "ISOUPTreeClassifier"),
    (PragmaThreshold(PrevalenceThreshold(ISOUP)), "ISOUPTreeClassifier"),
    (PrequentialStack([("mean", MeanLabelsClassifier()), ("sets", LabelCombination(TREE))]), "LabelCombination"),
]


def test_every_meta_estimator_grows_or_is_fixed_here():
    public = [getattr(estimators, name) for name in estimators.__all__]
    around = {"estimator", "estimators", "steps"}
    learners = [kind for kind in public if inspect.isclass(kind) and hasattr(kind, "predict")]
    meta = {kind for kind in learners if around & set(inspect.signature(kind).parameters)}
    assert meta <= {type(learner) for learner in [*GROWING.values(), *(learner for learner, _ in FIXED)]}


@pytest.mark.parametrize(
    ("learner", "part"), FIXED, ids=lambda one: one if isinstance(one, str) else type(one).__name__
)
def test_an_error_names_the_part_that_cannot_grow_and_the_way_out_works(learner, part):
    (X, Y), (Z, wider), *_ = chunks()
    with pytest.raises(ValueError, match=rf"Got 5 instead; {part} cannot .*: announce labels .* at the first call\.$"):
        clone(learner).partial_fit(X, Y).partial_fit(Z, wider)
    assert clone(learner).partial_fit(X, Y, classes=5).partial_fit(Z, wider).predict(Z).shape == (len(Z), 5)


def test_fewer_columns_than_at_first_and_growth_that_is_impossible_are_refused():
    (X, Y), *_ = chunks()
    with pytest.raises(ValueError, match=r"Got 2 instead; announce labels .* at the first call\.$"):
        LastLabelsClassifier().partial_fit(X, Y).partial_fit(X, Y[:, :2])
    with pytest.raises(ValueError, match=r"must be 'error' with multilabel='native'\. Got 'grow'"):
        AdaptiveRandomForestClassifier(multilabel="native", on_new_labels="grow").partial_fit(X, Y)


def test_a_threshold_asks_for_the_preference_of_a_new_label():
    (X, Y), (Z, wider), *_ = chunks()
    wanted = {0: 1.0, 1: 2.0, 2: 1.0}
    learner = with_growth(PragmaThreshold(MeanLabelsClassifier(), importance=wanted)).partial_fit(X, Y)
    before = learner.predict_proba(X)
    with pytest.raises(ValueError, match=r"Got no value for class 3 instead; set_params\(importance=\.\.\.\) can add"):
        learner.partial_fit(Z, wider)
    np.testing.assert_array_equal(learner.predict_proba(X), before)
    learner.set_params(importance=wanted | {3: 5.0, 4: 1.0}).partial_fit(Z, wider)
    assert learner.predict(Z).shape == wider.shape


def test_a_threshold_fitted_to_a_batch_grows_from_there():
    (X, Y), (Z, wider), *_ = chunks()
    learner = with_growth(PragmaThreshold(BinaryRelevance(TREE), cv=3, random_state=0)).fit(X, Y)
    weights = learner.vote_weights_
    learner.partial_fit(Z, wider)
    assert learner.vote_weights_.tolist() == [*weights, 1, 1]
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        PragmaThreshold(MeanLabelsClassifier()).partial_fit(X, Y, classes=[*"abc"]).partial_fit(X, Y, classes=[*"acb"])


FRAGILE = BinaryRelevance(Fragile())
AROUND_FRAGILE = {
    "labels": FRAGILE,
    "chain": ClassifierChain(Fragile()),
    "pipeline": StreamPipeline([("same", FunctionTransformer()), ("learn", FRAGILE)]),
    "learning pipeline": StreamPipeline([("scale", StandardScaler()), ("learn", FRAGILE)]),
    "searched threshold": PragmaThreshold(FRAGILE, period=25, random_state=0),
    "replay": ReplayClassifier(FRAGILE, fifo=FIFOMemory(20), random_state=0),
    "GDumb": GDumbClassifier(FRAGILE, size=40, epochs=1, share=0.1, random_state=0),
}


@pytest.mark.slow
def test_a_row_refused_inside_leaves_no_new_label():
    def check(method, name):
        (X, Y), (Z, wider), *_ = chunks()
        learner, twin = (with_growth(AROUND_FRAGILE[name]).partial_fit(X, Y) for _ in range(2))
        spoilt, labels = Z.copy(), wider.copy()
        spoilt[30, 0], labels[30] = REFUSED, 1
        with pytest.raises(ValueError, match="must be small where there is a label"):
            getattr(learner, method)(spoilt, labels)
        assert len(learner.classes_) == 3
        np.testing.assert_array_equal(learner.predict_proba(X), twin.predict_proba(X))
        for one in (learner, twin):
            one.partial_fit(Z, wider)
        np.testing.assert_array_equal(learner.predict_proba(X), twin.predict_proba(X))

    check_all(product(["partial_fit", "predict_then_fit"], AROUND_FRAGILE), lambda case: check(*case))


def test_what_is_wrong_with_names_is_one_clear_error():
    (X, Y), (Z, wider), *_ = chunks()
    named = with_growth(GROWING["last"]).partial_fit(X, Y, classes=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"pass classes=\[\.\.\.\] with a name for each column"):
        named.partial_fit(Z, wider)
    with pytest.raises(ValueError, match=r"one column for each of the 2 classes\. Got 5"):
        named.partial_fit(Z, wider, classes=["a", "d"])
    with pytest.raises(ValueError, match="name every label once"):
        named.partial_fit(Z, wider[:, :2], classes=["d", "d"])
    unnamed = with_growth(GROWING["last"]).partial_fit(X, Y)
    with pytest.raises(ValueError, match="have no names"):
        unnamed.partial_fit(Z, wider, classes=list("abcde"))
    with pytest.raises(ValueError, match="on_new_labels must be"):
        LastLabelsClassifier(on_new_labels="maybe").partial_fit(X, Y)


def test_a_number_announces_labels_that_have_not_occurred():
    (X, Y), *_ = chunks()
    learner = with_growth(GROWING["mean"]).partial_fit(X, Y)
    assert learner.partial_fit(X, Y, classes=7).n_labels_ == 7
    assert learner.partial_fit(X, Y).n_labels_ == 7
