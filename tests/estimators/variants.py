"""Every public learner in the variants that test_common.py holds to the laws, and what cannot hold for which."""

from river import forest, linear_model, multioutput, preprocessing, tree
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

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
    InvariantLogisticClassifier,
    ISOUPTreeClassifier,
    LabelBudget,
    LabelCombination,
    LastLabelsClassifier,
    LwFClassifier,
    MeanLabelsClassifier,
    MLSAkNNClassifier,
    MLSAMPkNNClassifier,
    MultiLabelHoeffdingAdaptiveTreeClassifier,
    MultiLabelHoeffdingTreeClassifier,
    NearestRowClassifier,
    NovelLabels,
    OCDMMemory,
    OnlineCoordinateBoosting,
    OnlineLogisticRegression,
    OnlineNeuralClassifier,
    PragmaForestClassifier,
    PragmaStreamForestClassifier,
    PragmaThreshold,
    PragmaTreeClassifier,
    PredictionSets,
    PrequentialCalibrator,
    PrequentialStack,
    PrevalenceClassifier,
    PrevalenceThreshold,
    PriorLabelsClassifier,
    PRSMemory,
    ReplayClassifier,
    ReservoirMemory,
    RiverClassifier,
    RollingForestClassifier,
    StreamPipeline,
    StreamRidgeClassifier,
)
from estimators.checks import expected_failed_checks
from tests.estimators.learners import Growing, Logistic

SEED = {"random_state": 0}
TASK = {"targeted_loss": "signature"}
SAMPLING, FIFO = {"reservoir": ReservoirMemory(40, 5)}, {"fifo": FIFOMemory(30, 5)}
MINI = {"hidden_units": 20, **TASK, **SAMPLING, "replay": "mini-batch"}
HIDDEN, DEEP = {"hidden_units": 8}, {"hidden_units": (6, 5)}
DESCENT = {"optimizer": "sgd", "learning_rate": 0.1}
BOTH = {"reservoir": ReservoirMemory(12, 3), "fifo": FIFOMemory(8, 2)}
PRS, OCDM = PRSMemory(12, 3), OCDMMemory(12, 3, count_empty=True, ties="random")

HASTY = {"grace_period": 5, "delta": 0.5, "tau": 0.5, "warning_delta": 0.5, "drift_delta": 0.4}
HASTY_LABEL_SETS = {"drift_window_threshold": 30, "cardinality_threshold": 80, "window": 25, "n_models": 3}
TREE = HoeffdingTreeClassifier()
TREES = BinaryRelevance(HoeffdingTreeClassifier(grace_period=10))
FOREST = AdaptiveRandomForestClassifier(3, drift_delta=0.3, **SEED)
RANDOM_TREE = DecisionTreeClassifier(splitter="random", max_depth=4)
NETWORK = OnlineNeuralClassifier(5, **TASK)
PRAGMA = {"window": 30, "period": 15, **SEED}
MEAN, LOGISTIC, RIVER_TREE = MeanLabelsClassifier(), OnlineLogisticRegression(0.1), tree.HoeffdingTreeClassifier()


def _stack(*learners, **parameters):
    steps = [(f"{i}", learner) for i, learner in enumerate(learners)]
    return PrequentialStack(steps, **{"reservoir_size": 0, **SEED, **parameters})


def _goowe(learner, **parameters):
    return GOOWEMLClassifier(learner, **{"chunk_size": 6, "n_members": 3, **SEED, **parameters})


def _gdumb(learner, **parameters):
    return GDumbClassifier(learner, **{"size": 50, "epochs": 2, **SEED, **parameters})


def _context(learner, **parameters):
    return ContextWindowClassifier(learner, **{"context_size": 60, **SEED, **parameters})


def _pipeline(*steps):
    return StreamPipeline([(f"{i}", step) for i, step in enumerate(steps)])


# One of each class, cheap to train; the checks of scikit-learn and the laws of streams.
FAST = {
    "ADWINBaggingClassifier": ADWINBaggingClassifier(2, **SEED),
    "ADWINBoostingClassifier": ADWINBoostingClassifier(2, **SEED),
    "AESAKNNSClassifier": AESAKNNSClassifier(2, subspace=0.9, max_window=60, background_rows=40, **SEED),
    "AGEMClassifier": AGEMClassifier(8, draws=1, task_rows=40, size=40, learning_rate=0.1, **SEED),
    "AdaptiveRandomForestClassifier": AdaptiveRandomForestClassifier(3, **SEED),
    "AlarmBudget": AlarmBudget(LOGISTIC, weights=2.0),
    "BinaryRelevance": BinaryRelevance(TREE),
    "ClassifierChain": ClassifierChain(TREE),
    "ContextWindowClassifier": ContextWindowClassifier(HoeffdingTreeClassifier(grace_period=5), context_size=60),
    "DERClassifier": DERClassifier(8, draws=3, alpha=1.0, beta=0.3, size=30, learning_rate=0.1, **SEED),
    "EWCClassifier": EWCClassifier(8, penalty=100, learning_rate=0.1, **SEED),
    "ExtremelyFastDecisionTreeClassifier": ExtremelyFastDecisionTreeClassifier(max_bytes=5000),
    "GDumbClassifier": _gdumb(OnlineLogisticRegression(0.3), size=30, epochs=1, share=0.5),
    "GOOWEMLClassifier": _goowe(OnlineLogisticRegression(0.3), chunk_size=12, n_members=2),
    "HoeffdingAdaptiveTreeClassifier": HoeffdingAdaptiveTreeClassifier(**SEED),
    "HoeffdingTreeClassifier": TREE,
    "InvariantLogisticClassifier": InvariantLogisticClassifier(memory=100, max_iter=40, **SEED),
    "ISOUPTreeClassifier": ISOUPTreeClassifier(),
    "LabelBudget": LabelBudget(OnlineNeuralClassifier(5, **SEED), 0.6, **SEED),
    "LabelCombination": LabelCombination(TREE),
    "LastLabelsClassifier": LastLabelsClassifier(),
    "LwFClassifier": LwFClassifier(8, distillation=3, temperature=1, learning_rate=0.1, **SEED),
    "MLSAMPkNNClassifier": MLSAMPkNNClassifier(min_window=5, max_window=60),
    # a k that changes with the last 100 rows can take all votes of a class in a window of ten rows
    "MLSAkNNClassifier": MLSAkNNClassifier(min_window=5, max_window=30, k_history=1000),
    "MeanLabelsClassifier": MEAN,
    "MultiLabelHoeffdingAdaptiveTreeClassifier": MultiLabelHoeffdingAdaptiveTreeClassifier(**SEED),
    "MultiLabelHoeffdingTreeClassifier": MultiLabelHoeffdingTreeClassifier(),
    "NearestRowClassifier": NearestRowClassifier(),
    "OnlineCoordinateBoosting": OnlineCoordinateBoosting(LOGISTIC, 3),
    "OnlineLogisticRegression": OnlineLogisticRegression(),
    "NovelLabels": NovelLabels(LOGISTIC, group_size=2, **SEED),
    "OnlineNeuralClassifier": OnlineNeuralClassifier(**MINI, **FIFO, learning_rate=0.1, **SEED),
    "PragmaStreamForestClassifier": PragmaStreamForestClassifier(FOREST, **PRAGMA),
    "PragmaThreshold": PragmaThreshold(OnlineNeuralClassifier(learning_rate=0.1, **SEED), cv=2, **PRAGMA),
    "PredictionSets": PredictionSets(LOGISTIC),
    "PrequentialCalibrator": PrequentialCalibrator(OnlineNeuralClassifier(5, **SEED)),
    "PrequentialStack": _stack(MEAN, TREE),
    "PrevalenceClassifier": PrevalenceClassifier(),
    "PrevalenceThreshold": PrevalenceThreshold(OnlineNeuralClassifier(5, **SEED)),
    "PriorLabelsClassifier": PriorLabelsClassifier(),
    "ReplayClassifier": ReplayClassifier(TREE, **BOTH),
    "RiverClassifier": RiverClassifier(preprocessing.StandardScaler() | linear_model.LogisticRegression()),
    "StreamPipeline": _pipeline(StandardScaler(), NearestRowClassifier(50)),
    "RollingForestClassifier": RollingForestClassifier(10, window=200, **SEED),
    "StreamRidgeClassifier": StreamRidgeClassifier(hidden_units=8, knots=2, late_in_predict=True, **SEED),
    "a learner of three hooks": Logistic(),
}
# Other variants.
OTHERS = {
    "AESAKNNS": AESAKNNSClassifier(4, subspace=0.9, max_window=200, **SEED),
    "AESAKNNS, faithful": AESAKNNSClassifier(4, subspace=0.9, max_window=200, faithful=True, **SEED),
    "A-GEM, linear": AGEMClassifier(draws=4, size=40, **SEED),
    "A-GEM, hidden": AGEMClassifier(8, draws=5, size=40, **SEED),
    "A-GEM, two layers, descent": AGEMClassifier(**DEEP, **DESCENT, draws=3, size=40, **SEED),
    "A-GEM, slow": AGEMClassifier(8, draws=1, task_rows=40, size=40, **SEED),
    "DER, linear": DERClassifier(draws=2, size=30, **SEED),
    "DER, hidden": DERClassifier(8, draws=3, alpha=1.0, beta=0.3, size=30, **SEED),
    "DER, two layers, descent": DERClassifier(**DEEP, **DESCENT, draws=1, size=30, **SEED),
    "DER, logits alone": DERClassifier(8, alpha=2.0, beta=0, draws=4, size=30, **SEED),
    "EWC, linear": EWCClassifier(penalty=10, **SEED),
    "EWC, hidden": EWCClassifier(8, penalty=100, **SEED),
    "EWC, forgetting": EWCClassifier(8, penalty=300, decay=0.5, **SEED),
    "EWC, two layers": EWCClassifier(**DEEP, penalty=50, decay=0.9, task_rows=40, **SEED),
    "LwF, linear": LwFClassifier(**SEED),
    "LwF, hidden": LwFClassifier(8, distillation=3, temperature=1, **SEED),
    "LwF, two layers": LwFClassifier(**DEEP, distillation=0.5, temperature=3.5, task_rows=40, **SEED),
    "ADWIN bagging": ADWINBaggingClassifier(3, learning_rate=0.1, **SEED),
    "ADWIN boosting": ADWINBoostingClassifier(3, learning_rate=0.1, variant="paper", targeted=True, **SEED),
    "boosted trees": OnlineCoordinateBoosting(HoeffdingTreeClassifier(grace_period=20, delta=0.01, tau=0.2), 3),
    "boosted models": OnlineCoordinateBoosting(LOGISTIC, 4, variant="derived", smoothing=1.0, targeted=True),
    "boosting": OnlineCoordinateBoosting(),
    "logistic regression": OnlineLogisticRegression(0.3, targeted=True),
    "invariant, Group DRO": InvariantLogisticClassifier("group-dro", memory=100, max_iter=40, **SEED),
    "invariant, IRM": InvariantLogisticClassifier("irm", memory=100, max_iter=40, **SEED),
    "invariant, V-REx": InvariantLogisticClassifier("vrex", memory=100, max_iter=40, **SEED),
    "forest, hasty": AdaptiveRandomForestClassifier(2, **HASTY, targeted=True, **SEED),
    "forest, native": AdaptiveRandomForestClassifier(3, multilabel="native", **HASTY, **SEED),
    "forest, native, task": AdaptiveRandomForestClassifier(3, multilabel="native", **HASTY, targeted=True, **SEED),
    "tree": HoeffdingTreeClassifier(grace_period=10, delta=0.1, tau=0.3, max_depth=2),
    "adaptive tree": HoeffdingAdaptiveTreeClassifier(
        grace_period=10,
        delta=0.3,
        tau=0.05,
        drift_window_threshold=20,
        switch_significance=0.5,
        max_depth=2,
        bootstrap_sampling=False,
    ),
    "revised tree": ExtremelyFastDecisionTreeClassifier(
        grace_period=10, delta=0.1, tau=0.3, max_depth=2, min_samples_reevaluate=5
    ),
    "revised tree, large": ExtremelyFastDecisionTreeClassifier(),
    "iSOUP": ISOUPTreeClassifier(grace_period=30, delta=0.1),
    "multi-label tree": MultiLabelHoeffdingTreeClassifier(
        grace_period=50, delta=1e-2, tau=0.2, max_depth=2, targeted=True
    ),
    "multi-label adaptive tree": MultiLabelHoeffdingAdaptiveTreeClassifier(
        grace_period=60, delta=0.1, tau=0.3, **HASTY_LABEL_SETS, switch_significance=0.9, **SEED
    ),
    "MLSAMPkNN": MLSAMPkNNClassifier(max_window=200),
    "MLSAMPkNN, Hamming": MLSAMPkNNClassifier(1, min_window=5, max_window=30, criterion="hamming_score"),
    "MLSAMPkNN, faithful": MLSAMPkNNClassifier(min_window=5, max_window=30, faithful=True),
    "MLSAkNN": MLSAkNNClassifier(max_window=200),
    "MLSAkNN, Hamming": MLSAkNNClassifier(min_window=5, max_window=30, criterion="hamming_score", k_history=1000),
    "MLSAkNN, faithful": MLSAkNNClassifier(min_window=5, max_window=30, faithful=True),
    "nearest row, cosine": NearestRowClassifier(metric="cosine", zero_similarity=1),
    "mean from the first positive": MeanLabelsClassifier("first-positive"),
    "prior from the first positive": PriorLabelsClassifier("first-positive"),
    "network, linear": OnlineNeuralClassifier(learning_rate=0.1, **SEED),
    "network, standardised": OnlineNeuralClassifier(20, standardize=True, **FIFO, learning_rate=0.1, **SEED),
    "binary relevance in threads": BinaryRelevance(
        HoeffdingTreeClassifier(grace_period=50, delta=1e-2, tau=0.2), start="first-positive", targeted=True, n_jobs=2
    ),
    "binary relevance of Bayes": BinaryRelevance(BernoulliNB(), targeted=True),
    "binary relevance of River": BinaryRelevance(
        RiverClassifier(linear_model.LogisticRegression()), start="first-positive"
    ),
    "chain of predictions": ClassifierChain(TREE, chain_features="predicted"),
    "chains in threads": ClassifierChain(TREE, order="random", n_chains=3, n_jobs=2),
    "chain of Bayes": ClassifierChain(BernoulliNB()),
    "label combination, pruned": LabelCombination(TREE, pruning=2, buffer_size=3, max_combinations=6),
    "GOOWE-ML": GOOWEMLClassifier(),
    "GOOWE-ML of trees": _goowe(TREES),
    "GOOWE-ML, label combination": _goowe(LabelCombination(TREE)),
    "context, default": ContextWindowClassifier(DecisionTreeClassifier()),
    "context, default trees": ContextWindowClassifier(TREE),
    "context, tree": ContextWindowClassifier(HoeffdingTreeClassifier(grace_period=5), context_size=60, **SEED),
    "alarm budget of a threshold": AlarmBudget(PrevalenceThreshold(Logistic(targeted=True), late_in_predict=True)),
    "alarm budget of Bayes": AlarmBudget(BernoulliNB(), weights=5.0),
    "calibrated Bayes": PrequentialCalibrator(BernoulliNB(), method="sigmoid", memory=50),
    "novel labels of Bayes": NovelLabels(BernoulliNB(), share=0.5),
    "sets of Bayes": PredictionSets(BernoulliNB(), alpha=0.3, of="label"),
    "threshold of Bayes": PrevalenceThreshold(BernoulliNB(), late_in_predict=True),
    "threshold of the usual prevalence": PrevalenceThreshold(Growing(), follow=0),
    "replay by a network": ReplayClassifier(NETWORK, reservoir=ReservoirMemory(12, 3)),
    "replay by a tree": ReplayClassifier(TREE, reservoir=ReservoirMemory(12, 3)),
    "GDumb of a network": _gdumb(OnlineNeuralClassifier(5, learning_rate=0.1), size=200),
    "GDumb of a tree": _gdumb(TREE, size=200),
    "rolling forest of a short window": RollingForestClassifier(3, window=40, max_features=1, **SEED),
    "ridge": StreamRidgeClassifier(hidden_units=8, knots=2, **SEED),
    "ridge of a projection": StreamRidgeClassifier(n_components=2, hidden_units=4, knots=1, **SEED),
    "ridge of a projection, late": StreamRidgeClassifier(
        n_components=2, hidden_units=4, knots=1, late_in_predict=True, **SEED
    ),
    "ridge, plain": StreamRidgeClassifier(hidden_units=0, knots=0, memory=1, late_in_predict=True),
    "ridge of concepts": StreamRidgeClassifier(hidden_units=0, knots=0, late_in_predict=True, **SEED),
    "pipeline of trees": _pipeline(
        Normalizer(), BinaryRelevance(HoeffdingTreeClassifier(grace_period=10, max_depth=1))
    ),
    "pipeline of nothing": StreamPipeline(
        [("none", "passthrough"), ("nothing", None), ("learn", NearestRowClassifier(50))]
    ),
    "PRAGMA forest": PragmaStreamForestClassifier(
        AdaptiveRandomForestClassifier(4, **SEED), window=50, period=20, **SEED
    ),
    "River, trees": RiverClassifier(RIVER_TREE),
    "River, late trees": RiverClassifier(RIVER_TREE, start="first-positive"),
    "River, iSOUP": RiverClassifier(tree.ISOUPTreeRegressor()),
    "River, combination": RiverClassifier(multioutput.MultiClassEncoder(tree.HoeffdingTreeClassifier())),
    "River, forest": RiverClassifier(forest.ARFClassifier(n_models=2), random_state=3),
    "stack": _stack(MEAN, Logistic()),
    "stack with the task": _stack(LastLabelsClassifier(), Growing(targeted=True)),
    "stack, patient": _stack(LastLabelsClassifier(), Logistic(), BernoulliNB(), patience=9, negligible=0.3),
    "stack with a reservoir": PrequentialStack([("mean", MEAN), ("logistic", Logistic())], reservoir_size=20),
    "stack, default": PrequentialStack([("mean", MEAN), ("tree", TREE)]),
    "AESAKNNS, small": AESAKNNSClassifier(3, background_rows=40, max_window=40, min_window=5, **SEED),
    "AESAKNNS, small, faithful": AESAKNNSClassifier(
        3, background_rows=40, max_window=40, min_window=5, faithful=True, **SEED
    ),
    "nearest row of seven": NearestRowClassifier(window=7),
    "network, slow": OnlineNeuralClassifier(**SEED),
    "network, hidden": OnlineNeuralClassifier(20, **TASK, **SEED),
    "network, memories": OnlineNeuralClassifier(20, **TASK, **SAMPLING, **FIFO, **SEED),
    "network, mini-batches": OnlineNeuralClassifier(**MINI, **FIFO, **SEED),
    "network, frozen": OnlineNeuralClassifier(**MINI, freeze_masked=True, **SEED),
    "network, scaled": OnlineNeuralClassifier(20, standardize="scale", **FIFO, **SEED),
    "network, balanced": OnlineNeuralClassifier(**MINI, balance_labels=True, **SEED),
    "network, two layers": OnlineNeuralClassifier((9, 7), **TASK, **SEED),
    "network, descent": OnlineNeuralClassifier(20, **DESCENT, **TASK, **SEED),
    "network, published loss": OnlineNeuralClassifier(targeted_loss="published", **SEED),
    "network, PRS": OnlineNeuralClassifier(5, **TASK, reservoir=PRS, **SEED),
    "network, PRS, mini-batches": OnlineNeuralClassifier(5, **TASK, reservoir=PRS, replay="mini-batch", **SEED),
    "network, OCDM": OnlineNeuralClassifier(5, **TASK, reservoir=OCDM, **SEED),
    "network, OCDM, mini-batches": OnlineNeuralClassifier(5, **TASK, reservoir=OCDM, replay="mini-batch", **SEED),
    "network on a device": OnlineNeuralClassifier(**MINI, **FIFO, device="cpu", **SEED),
    "label combination of Bayes": LabelCombination(BernoulliNB(), pruning=1),
    "linear models that do not shuffle": BinaryRelevance(SGDClassifier(loss="log_loss", shuffle=False, **SEED)),
    "GOOWE-ML of networks": _goowe(OnlineNeuralClassifier()),
    "context of random trees": _context(RANDOM_TREE, context_size=30),
    "context of tasks": _context(RANDOM_TREE, policy="task", refit_every=7, change=None),
    "context of labels": _context(RANDOM_TREE, policy="label"),
    "context of all labels": _context(RANDOM_TREE, context_size=90, multilabel="native"),
    "calibrated with the task": PrequentialCalibrator(Logistic(targeted=True)),
    "novel labels with the task": NovelLabels(Logistic(targeted=True), window=100),
    "sets with the task": PredictionSets(Logistic(targeted=True), of="row"),
    "threshold with the task": PrevalenceThreshold(Logistic(targeted=True), late_in_predict=True),
    "threshold of a network": PrevalenceThreshold(
        OnlineNeuralClassifier(5), late_in_predict=True, follow=1.0, memory=7
    ),
    "threshold in streams only": PrevalenceThreshold(Logistic()),
    "threshold in streams only, of Bayes": PrevalenceThreshold(BernoulliNB()),
    "replay with the task": ReplayClassifier(Logistic(targeted=True), **BOTH),
    "replay by trees": ReplayClassifier(
        BinaryRelevance(HoeffdingTreeClassifier(grace_period=20)), fifo=FIFOMemory(8, 2)
    ),
    "replay of nothing": ReplayClassifier(MEAN),
    "replay, PRS": ReplayClassifier(MEAN, reservoir=PRS, **SEED),
    "replay, OCDM": ReplayClassifier(MEAN, reservoir=OCDM, **SEED),
    "GDumb with the task": _gdumb(NETWORK),
    "GDumb of all rows": _gdumb(NETWORK, size=20, share=1),
    "GDumb of means": _gdumb(MEAN),
    "PRAGMA forest with the task": PragmaStreamForestClassifier(
        AdaptiveRandomForestClassifier(3, targeted=True, drift_delta=0.3, **SEED), **PRAGMA
    ),
    "PRAGMA threshold": PragmaThreshold(OnlineNeuralClassifier(**SEED), window=30, period=15),
    "PRAGMA threshold of a network": PragmaThreshold(OnlineNeuralClassifier(**SEED), cv=2, **SEED),
}
# Learnt by `fit` alone, from tables or classes: the checks of scikit-learn.
BATCHES = {
    "PRAGMA threshold of a linear model": PragmaThreshold(SGDClassifier(loss="log_loss", **SEED), cv=2, **SEED),
    "PRAGMA threshold of a batch": PragmaThreshold(LogisticRegression(), cv=2, **SEED),
    "PragmaForestClassifier": PragmaForestClassifier(8, criterion="entropy", **SEED),
    "PRAGMA forest of its criterion": PragmaForestClassifier(8, criterion="pragma", **SEED),
    "PragmaTreeClassifier": PragmaTreeClassifier(**SEED),
}

# Those that scikit-learn's checks ask something of that they are not made for.
LAWS_ONLY = {
    "GDumb of all rows": "a memory of 20 rows is too small to be accurate",
    "GOOWE-ML, label combination": "too few rows to be accurate",
    "alarm budget of a threshold": "`predict` follows the prevalence of late, and so is not the greatest probability",
    "context of labels": "too few rows to be accurate",
    "threshold of a network": "`predict` follows the prevalence of late, and so the order of rows",
    "threshold with the task": "`predict` follows the prevalence of late, and so is not the greatest probability",
}
_IN_STREAMS_ONLY = dict.fromkeys(
    ("check_predict_then_fit_is_the_loop", "check_unknown_labels_in_the_loop", "check_unknown_rows_change_nothing"),
    "rows of the stream are predicted with what was learnt of late, which `predict` leaves out",
)
_NEEDS_ALL_LABELS = dict.fromkeys(
    ("check_unknown_labels_in_the_loop", "check_unknown_is_neither_value"), "refuses rows that are known in part"
)
_FORGETS = {"check_accumulates_over_calls": "it knows the last rows only, by definition"}
_GROWS = {"check_memory_is_bounded": "the tree grows up to max_bytes"}
_DRAWS = {"check_new_labels_were_unknown": "draws other weights before it learns its memory again"}
# Laws that cannot hold for a variant, each with the reason.
LEFT_OUT = {
    "GDumb of a network": _DRAWS,
    "GDumb of all rows": _DRAWS,
    "GDumb with the task": _DRAWS,
    "GOOWE-ML": {
        "check_accumulates_over_calls": "it has no member before it has met a chunk",
        "check_unknown_is_neither_value": "it has no member before it has met a chunk",
    },
    "LabelBudget": {"check_new_labels_were_unknown": "an unknown label costs, and one that has not come does not"},
    "LastLabelsClassifier": _FORGETS,
    "PrevalenceThreshold": _IN_STREAMS_ONLY,
    "River, combination": _NEEDS_ALL_LABELS,
    "River, iSOUP": _NEEDS_ALL_LABELS,
    "context of random trees": _FORGETS,
    "iSOUP": _GROWS,
    "linear models that do not shuffle": {
        "check_cuts_do_not_matter": "scikit-learn multiplies weights by their scale at the end of each call",
        "check_unknown_rows_change_nothing": "rows without a label cut a chunk in two",
        "check_csr_equals_dense": "scikit-learn moves the intercept a hundred times less where rows are sparse",
    },
    "nearest row of seven": _FORGETS,
    "network on a device": dict.fromkeys(
        (
            "check_cuts_do_not_matter",
            "check_predict_then_fit_is_the_loop",
            "check_unknown_labels_in_the_loop",
            "check_unknown_rows_change_nothing",
        ),
        "a device adds up in another order than the compiled network, which `predict` uses",
    ),
    "network, standardised": {
        "check_csr_equals_dense": "takes dense rows: sparse ones are not centred",
        "check_new_labels_were_unknown": "steps of 0.1 enlarge what a mean over more labels changes",
    },
    "revised tree, large": _GROWS,
    "ridge": _IN_STREAMS_ONLY,
    "ridge of a projection": _IN_STREAMS_ONLY,
    "stack with a reservoir": _IN_STREAMS_ONLY,
    "stack, default": _IN_STREAMS_ONLY,
    "threshold in streams only": _IN_STREAMS_ONLY,
    "threshold in streams only, of Bayes": _IN_STREAMS_ONLY,
}

# For these, a row of weight two is the same row twice, as scikit-learn's check of weights asks for.
_REPEATING = {
    "ContextWindowClassifier",
    "ExtremelyFastDecisionTreeClassifier",
    "HoeffdingTreeClassifier",
    "InvariantLogisticClassifier",
    "LabelCombination",
    "LastLabelsClassifier",
    "MeanLabelsClassifier",
    "NearestRowClassifier",
    "PriorLabelsClassifier",
    "invariant, Group DRO",
    "invariant, V-REx",
    "adaptive tree",
    "revised tree, large",
    "nearest row, cosine",
    "mean from the first positive",
    "prior from the first positive",
    "binary relevance of Bayes",
    "chain of Bayes",
    "GOOWE-ML",
    "context, default",
    "context, default trees",
    "context, tree",
    "alarm budget of Bayes",
    "novel labels of Bayes",
    "sets of Bayes",
    "threshold of Bayes",
    "pipeline of nothing",
    "River, trees",
    "River, late trees",
    "threshold in streams only, of Bayes",
    "replay of nothing",
}
# Checks of scikit-learn that fail for a variant, each with the reason.
EXPECTED = {
    name: {
        check: reason
        for check, reason in expected_failed_checks(learner).items()
        # the label sets of this one are those of its probabilities
        if name not in _REPEATING or not ("equivalence" in check or name == "LabelCombination")
    }
    for name, learner in (FAST | OTHERS).items()
}
