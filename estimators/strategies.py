"""The named strategies of the protocol: for each name a configured learner, and its grid of parameters.

Names are those of Peuzet et al. (EGC 2025), those of learners of the field, such as EWC, MLHAT and GOOWE_ML, and those
of ours: ContextWindow, StreamRidge and Stack. The last ones are learners of other packages, as a user would take them.
The oracle of Peuzet et al. returns the truth: it is not a learner, and not listed here.

Learners are imported when the first one is built: names, summaries and grids can be listed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from estimators.contract.lazy import installed_by, needing

if TYPE_CHECKING:
    from estimators.contract.base import StreamClassifier
    from estimators.contract.new_labels import OnNewLabels

Grid = Mapping[str, tuple[Any, ...]]
Build: TypeAlias = "Callable[..., StreamClassifier]"


class Strategy(NamedTuple):
    """A named, configured learner."""

    summary: str  # one line
    build: Callable[..., StreamClassifier]  # takes the parameters of the strategy, all with defaults
    grids: tuple[Grid, ...]  # values to search by parameter, as for scikit-learn's `ParameterGrid`
    package: str = ""  # whose learner it is, by the name of its module; ours have none

    @property
    def to_install(self) -> str:
        """Name of what pip installs for its package, or nothing where that is there."""
        return "" if not self.package or find_spec(self.package) else installed_by(self.package)


_RATES: Grid = {"learning_rate": (0.1, 0.01, 0.001)}
_HIDDEN: Grid = {**_RATES, "hidden_units": (200, 2000)}
_RESERVOIR: Grid = {"reservoir_size": (100, 1000), "reservoir_draws": (5, 10)}
_FIFO: Grid = {"fifo_size": (100, 1000), "fifo_draws": (5, 10)}
_TREE_GRID: Grid = {"grace_period": (100, 200), "delta": (1e-6, 1e-7), "tau": (0.05, 0.1)}
_ADAPTIVE_GRID: Grid = {"grace_period": (100, 200), "delta": (1e-5, 1e-7), "drift_window_threshold": (50, 300)}
# the values of the code of the authors and those of its README
_ADAPTIVE_TREE_GRID: Grid = {
    "delta": (1.6587784772850855e-7, 1e-5),
    "drift_window_threshold": (200, 50),
    "learning_rate": (0.3, 1.0),
}
_FOREST_GRID: Grid = {**_TREE_GRID, "n_models": (5, 10, 15), "grace_period": (50, 100)}
_STRENGTHS: Grid = {"strength": (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)}
_ENSEMBLE_GRID: Grid = {**_RATES, "variant": ("river", "paper")}


def make_strategy(name: str, *, on_new_labels: OnNewLabels = "error", **parameters: object) -> StreamClassifier:
    """Return a new, configured estimator.

    Parameters
    ----------
    name : str
        A name of `STRATEGIES`.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.
    **parameters
        Parameters of the strategy, listed by `grid`, and any other that the learner's constructor has, such as
        `max_bytes`; those of a learner inside have its name before them (``estimator__max_depth``). The others keep
        the values of the strategy. Every strategy accepts `random_state`, so that names can be looped over with one
        seed; those that draw nothing check it, and leave it out.

    Returns
    -------
    estimator
        An estimator that has learnt nothing.

    Raises
    ------
    ValueError
        If the name, or a parameter, is unknown; the message suggests the nearest name. If the strategy cannot learn
        new labels.
    ModuleNotFoundError
        If the package that the strategy needs is not installed; the message says how to install it.

    Examples
    --------
    >>> make_strategy("1NN", window=100)
    NearestRowClassifier(window=100)
    """
    strategy = _find(name)
    own = {
        parameter: parameters.pop(parameter) for grid in strategy.grids for parameter in grid if parameter in parameters
    }
    with needing(f"The strategy {name}"):
        learner = strategy.build(**own)
    _set_others(name, learner, parameters)
    if on_new_labels == "error":
        return learner
    from estimators.contract.new_labels import require_known_choice, set_choice

    require_known_choice(on_new_labels)
    if not learner._can_grow():
        able = [other for other, one in STRATEGIES.items() if not one.to_install and one.build()._can_grow()]
        raise ValueError(f"on_new_labels must be 'error' for {name}. Got 'grow' instead; {', '.join(able)} can grow.")
    grown: StreamClassifier = set_choice(learner, on_new_labels)
    return grown


def grid(name: str) -> list[dict[str, list[Any]]]:
    """Return the values that a search for the best configuration tries.

    Parameters
    ----------
    name : str
        A name of `STRATEGIES`.

    Returns
    -------
    list of dict
        Grids of values by parameter, as scikit-learn's `ParameterGrid` and `ParameterSampler` take them.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> grid("BR_HT")
    [{'grace_period': [100, 200], 'delta': [1e-06, 1e-07], 'tau': [0.05, 0.1]}]
    """
    return [{parameter: list(values) for parameter, values in one.items()} for one in _find(name).grids]


def _set_others(name: str, learner: StreamClassifier, others: Mapping[str, Any]) -> None:
    known = {*learner.get_params(), "random_state"}
    for parameter in others:
        if parameter not in known:
            raise _unknown_parameter(name, parameter, type(learner).__name__, known - {"on_new_labels"})
    if "random_state" in others and "random_state" not in learner.get_params(deep=False):
        from sklearn.utils import check_random_state

        check_random_state(others["random_state"])
        inside = {parameter: others["random_state"] for parameter in known if parameter.endswith("__random_state")}
        others = inside | {parameter: value for parameter, value in others.items() if parameter != "random_state"}
    learner.set_params(**others)


def _unknown_parameter(name: str, parameter: str, learner: str, known: set[str]) -> ValueError:
    searched = sorted({own for one in _find(name).grids for own in one})
    also = sorted(known - {*searched})
    rule = f"parameters among {searched}" if searched else f"no parameter but {', '.join(also)}"
    hint = _nearest(parameter, [*searched, *also])
    if hint == "." and searched:
        hint = f"; its learner, {learner}, also has {', '.join(also)}."
    return ValueError(f"{name} must have {rule}. Got {parameter!r} instead{hint}")


def _find(name: str) -> Strategy:
    if name not in STRATEGIES:
        near = get_close_matches(name, STRATEGIES, n=3)
        known = ", ".join([*near, *(one for one in STRATEGIES if one not in near)])
        raise ValueError(f"A strategy must be one of {known}. Got {name!r} instead{_nearest(name, STRATEGIES)}")
    return STRATEGIES[name]


def _nearest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else "."


def _of(name: str, **fixed: object) -> Build:
    """Return what builds a learner of this package, with parameters of the strategy that differ from its defaults."""

    def build(**parameters: object) -> StreamClassifier:
        with needing(f"{name} of estimators"):
            from estimators import _learners

        learner: StreamClassifier = getattr(_learners, name)(**(fixed | parameters))
        return learner

    return build


def _around(meta: str, name: str) -> Build:
    """Return what builds a meta-estimator around a learner, which takes the parameters."""
    return lambda **parameters: _of(meta, estimator=_of(name)(**parameters))()


_targeted = _of("OnlineNeuralClassifier", targeted_loss="signature")
_hidden = _of("OnlineNeuralClassifier", targeted_loss="signature", hidden_units=200)


def _replaying(reservoir: str | None = None, *, fifo: bool = False, **fixed: object) -> Build:
    """Return what builds a network with memories: a kind of reservoir, the latest rows, or both."""

    def build(
        reservoir_size: int = 1000,
        reservoir_draws: int = 5,
        fifo_size: int = 1000,
        fifo_draws: int = 5,
        **network: object,
    ) -> StreamClassifier:
        memories: dict[str, Any] = {}
        if reservoir is not None:
            memories["reservoir"] = _of(reservoir)(size=reservoir_size, draws=reservoir_draws)
        if fifo:
            memories["fifo"] = _of("FIFOMemory")(size=fifo_size, draws=fifo_draws)
        return _hidden(**fixed, **network, **memories)

    return build


def _gdumb(size: int = 2000, epochs: int = 10, **network: object) -> StreamClassifier:
    return _of("GDumbClassifier")(estimator=_hidden(**network), size=size, epochs=epochs)


def _goowe(chunk_size: int = 100, n_members: int = 10, **tree: object) -> StreamClassifier:
    trees = _around("BinaryRelevance", "HoeffdingTreeClassifier")(**tree)
    return _of("GOOWEMLClassifier")(estimator=trees, chunk_size=chunk_size, n_members=n_members)


def _stack() -> StreamClassifier:
    members = [
        ("ridge", _of("StreamRidgeClassifier")()),
        ("replay", _replaying(fifo=True, replay="mini-batch")(hidden_units=100)),
        ("forest", _of("RollingForestClassifier")()),
    ]
    # probabilities of the ridge follow recent labels already
    return _of("PrevalenceThreshold")(estimator=_of("PrequentialStack")(estimators=members, patience=1000), follow=0.0)


def _model(path: str, **fixed: object) -> Callable[..., Any]:
    """Return what builds a model of another package, given as its module and class."""
    module, _, name = path.rpartition(".")
    return lambda **parameters: getattr(import_module(module), name)(**(fixed | parameters))


def _window(model: Callable[..., object], **fixed: object) -> Build:
    """Return what builds a model that is fitted again every 100 rows to the last 2,000; it takes the parameters."""
    window = _of("ContextWindowClassifier", context_size=2000, change=None, refit_every=100, **fixed)
    return lambda **parameters: window(estimator=model(**parameters))


def _scaled_logistic(**parameters: object) -> object:
    scaler, join = _model("sklearn.preprocessing.StandardScaler"), import_module("sklearn.pipeline").make_pipeline
    logistic = _model("sklearn.linear_model.LogisticRegression", max_iter=1000)
    # CSR rows are not centred, so dense ones are not either: the intercept makes up for it
    return join(scaler(with_mean=False), logistic(**parameters))


def _by_label(**fixed: object) -> Build:
    """Return what builds an `SGDClassifier` for each label."""
    # rows are learnt in their order
    model = _model("sklearn.linear_model.SGDClassifier", shuffle=False, **fixed)
    return lambda **parameters: _of("BinaryRelevance", estimator=model(**parameters))()


def _of_river(path: str) -> Build:
    """Return what builds a model of River for each label."""

    def build(**parameters: object) -> StreamClassifier:
        from estimators.interop.river import RiverClassifier

        return RiverClassifier(_model(f"river.{path}")(**parameters))

    return build


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "NN": Strategy("Online linear network.", _of("OnlineNeuralClassifier"), (_RATES,)),
        "NN_TL": Strategy("Online linear network; its loss covers the labels of the task.", _targeted, (_RATES,)),
        "NN_TLH": Strategy("NN_TL with a hidden layer.", _hidden, (_HIDDEN,)),
        "NN_TLH_sampling": Strategy(
            "NN_TLH with replay from a reservoir of rows.", _replaying("ReservoirMemory"), ({**_HIDDEN, **_RESERVOIR},)
        ),
        "NN_TLH_fifo": Strategy(
            "NN_TLH with replay from the latest rows.", _replaying(fifo=True), ({**_HIDDEN, **_FIFO},)
        ),
        "NN_TLH_memories": Strategy(
            "NN_TLH with replay from both memories.",
            _replaying("ReservoirMemory", fifo=True),
            ({**_HIDDEN, **_RESERVOIR, **_FIFO},),
        ),
        "NN_TLH_mini_memories": Strategy(
            "NN_TLH_memories, with rows replayed in mini-batches.",
            _replaying("ReservoirMemory", fifo=True, replay="mini-batch"),
            ({**_HIDDEN, **_RESERVOIR, **_FIFO},),
        ),
        "EWC": Strategy(
            "Network with elastic weight consolidation.",
            _of("EWCClassifier", hidden_units=200),
            ({**_HIDDEN, "penalty": (30.0, 100.0, 300.0, 1000.0)},),
        ),
        "LwF": Strategy(
            "Network with learning without forgetting.",
            _of("LwFClassifier", hidden_units=200),
            ({**_HIDDEN, "distillation": (1.0, 2.0, 5.0, 10.0)},),
        ),
        "GDumb": Strategy(
            "Network trained from a balanced memory only.",
            _gdumb,
            ({**_HIDDEN, "size": (200, 2000), "epochs": (3, 10)},),
        ),
        "PRS": Strategy(
            "NN_TLH with replay from a memory balanced by label: partitioning reservoir sampling.",
            _replaying("PRSMemory"),
            ({**_HIDDEN, **_RESERVOIR},),
        ),
        "OCDM": Strategy(
            "NN_TLH with replay from a memory whose labels are as even as rows allow.",
            _replaying("OCDMMemory"),
            ({**_HIDDEN, **_RESERVOIR},),
        ),
        "DERpp": Strategy(
            "Network that replays labels and its own earlier logits (DER++).",
            _of("DERClassifier", hidden_units=200),
            ({**_HIDDEN, "alpha": (0.1, 0.5), "beta": (0.5, 1.0)},),
        ),
        "A-GEM": Strategy(
            "Network whose steps may not raise the loss on rows of earlier tasks.",
            _of("AGEMClassifier", hidden_units=200),
            ({**_HIDDEN, "size": (100, 1000), "draws": (10, 50)},),
        ),
        "BR_HT": Strategy(
            "Hoeffding trees by binary relevance.", _around("BinaryRelevance", "HoeffdingTreeClassifier"), (_TREE_GRID,)
        ),
        "BR_HAT": Strategy(
            "Hoeffding adaptive trees by binary relevance.",
            _around("BinaryRelevance", "HoeffdingAdaptiveTreeClassifier"),
            (_ADAPTIVE_GRID,),
        ),
        "BR_EFDT": Strategy(
            "Extremely fast decision trees by binary relevance.",
            _around("BinaryRelevance", "ExtremelyFastDecisionTreeClassifier"),
            (_TREE_GRID,),
        ),
        "LC_HT": Strategy(
            "Hoeffding tree on combinations of labels.",
            _around("LabelCombination", "HoeffdingTreeClassifier"),
            (_TREE_GRID,),
        ),
        "CC_HT": Strategy(
            "Hoeffding trees in a classifier chain.",
            _around("ClassifierChain", "HoeffdingTreeClassifier"),
            (_TREE_GRID,),
        ),
        "BR_random_forest": Strategy(
            "Adaptive random forests, one a label.", _of("AdaptiveRandomForestClassifier", delta=1e-7), (_FOREST_GRID,)
        ),
        "iSOUPtree": Strategy("Multi-target regression tree iSOUP.", _of("ISOUPTreeClassifier"), (_TREE_GRID,)),
        "MLSAMPkNN": Strategy(
            "Neighbours in a window that adjusts its size and drops rows that mislead.",
            _of("MLSAMPkNNClassifier"),
            ({"k": (1, 3, 5), "penalty": (1.0, 3.0)},),
        ),
        "MLSAkNN": Strategy(
            "MLSAMPkNN with a number of neighbours, and voters, of its own for each label.",
            _of("MLSAkNNClassifier"),
            ({"penalty": (1.0, 3.0, 10.0)},),
        ),
        "AESAKNNS": Strategy(
            "Ensemble of MLSAkNN on parts of the features, whose members are watched and replaced.",
            _of("AESAKNNSClassifier"),
            ({"penalty": (1.0, 3.0, 10.0), "subspace": (0.5, 0.7)},),
        ),
        "MLHAT": Strategy(
            "Adaptive Hoeffding tree for all labels, with neighbours or regressions in its leaves.",
            _of("MultiLabelHoeffdingAdaptiveTreeClassifier"),
            (_ADAPTIVE_TREE_GRID,),
        ),
        "BR_LR": Strategy("Logistic regressions by binary relevance.", _of("OnlineLogisticRegression"), (_RATES,)),
        "ABALR": Strategy(
            "Logistic regressions, bagged and replaced by ADWIN.", _of("ADWINBaggingClassifier"), (_ENSEMBLE_GRID,)
        ),
        "ABOLR": Strategy(
            "Logistic regressions, boosted and replaced by ADWIN.", _of("ADWINBoostingClassifier"), (_ENSEMBLE_GRID,)
        ),
        "OCB": Strategy(
            "Hoeffding trees, boosted by coordinates.",
            _around("OnlineCoordinateBoosting", "HoeffdingTreeClassifier"),
            (_TREE_GRID,),
        ),
        "StreamRidge": Strategy(
            "Recursive ridge regression.",
            _of("StreamRidgeClassifier"),
            ({"l2": ("auto", 0.3, 3.0), "hidden_units": (0, 200)},),
        ),
        "RollingForest": Strategy(
            "Random forest on a window of rows, of which a tree at a time is grown again.",
            _of("RollingForestClassifier"),
            ({"window": (500, 2000), "min_samples_leaf": (2, 5)},),
        ),
        "Stack": Strategy(
            "StreamRidge, a network that replays, and RollingForest, mixed by weights that follow their losses.",
            _stack,
            ({},),
        ),
        "ContextWindow": Strategy(
            "Randomised trees, fitted again to a bounded window of rows.",
            _of("ContextWindowClassifier"),
            ({"context_size": (200, 500, 1000), "policy": ("last", "task", "label")},),
        ),
        "GOOWE_ML": Strategy(
            "Hoeffding trees of different age, weighed by least squares.",
            _goowe,
            ({"chunk_size": (100, 500), "n_members": (5, 10), "grace_period": (100, 200)},),
        ),
        "ERM": Strategy(
            "Logistic regression on a sample of all rows: empirical risk minimisation.",
            _of("InvariantLogisticClassifier"),
            ({"l2": (0.1, 1.0, 10.0)},),
        ),
        "IRM": Strategy(
            "Logistic regression of which the same log-odds fit every environment: invariant risk minimisation.",
            _of("InvariantLogisticClassifier", penalty="irm"),
            (_STRENGTHS,),
        ),
        "V-REx": Strategy(
            "Logistic regression with equal risks in all environments: risk extrapolation.",
            _of("InvariantLogisticClassifier", penalty="vrex"),
            (_STRENGTHS,),
        ),
        "GroupDRO": Strategy(
            "Logistic regression that weighs the worst environment most: group distributionally robust optimisation.",
            _of("InvariantLogisticClassifier", penalty="group-dro"),
            ({"group_step": (0.01, 0.1, 1.0)},),
        ),
        "last_class": Strategy("Baseline: repeats the last labels.", _of("LastLabelsClassifier"), ({},)),
        "no_features": Strategy(
            "Baseline: predicts labels that are more frequent of late than usual.",
            _of("PrevalenceClassifier"),
            ({},),
        ),
        "prior_distribution": Strategy(
            "Baseline: predicts the most frequent value of each label.", _of("PriorLabelsClassifier"), ({},)
        ),
        "mean": Strategy(
            "Baseline: predicts labels whose mean so far is at least 0.5.", _of("MeanLabelsClassifier"), ({},)
        ),
        "1NN": Strategy(
            "Nearest row of a window.",
            _of("NearestRowClassifier"),
            (
                {"window": (None, 10, 100, 1000), "metric": ("euclidean",)},
                {"window": (None, 10, 100, 1000), "metric": ("cosine",), "zero_similarity": (0, 1)},
            ),
        ),
        # learners of other packages
        "window_random_forest": Strategy(
            "scikit-learn's random forest of all labels, refitted every 100 rows to the last 2,000.",
            _window(_model("sklearn.ensemble.RandomForestClassifier", n_estimators=50), multilabel="native"),
            ({"max_features": ("sqrt", 0.5), "min_samples_leaf": (1, 5)},),
            package="sklearn",
        ),
        "window_gradient_boosting": Strategy(
            "scikit-learn's histogram gradient boosting by label, refitted every 100 rows to the last 2,000.",
            _window(_model("sklearn.ensemble.HistGradientBoostingClassifier")),
            ({"learning_rate": (0.03, 0.1, 0.3), "max_leaf_nodes": (7, 31)},),
            package="sklearn",
        ),
        "window_logistic": Strategy(
            "scikit-learn's logistic regression by label on scaled rows, refitted every 100 rows to the last 2,000.",
            _window(_scaled_logistic),
            ({"C": (0.01, 0.1, 1.0, 10.0)},),
            package="sklearn",
        ),
        "window_LightGBM": Strategy(
            "LightGBM by label, refitted every 100 rows to the last 2,000.",
            _window(_model("lightgbm.LGBMClassifier", n_jobs=1, deterministic=True, force_row_wise=True, verbose=-1)),
            ({"learning_rate": (0.03, 0.1, 0.3), "num_leaves": (7, 31)},),
            package="lightgbm",
        ),
        "BR_SGD": Strategy(
            "scikit-learn's logistic regressions by stochastic gradient descent, one a label.",
            _by_label(loss="log_loss"),
            ({"alpha": (1e-5, 1e-4, 1e-3)},),
            package="sklearn",
        ),
        "BR_PA": Strategy(
            "scikit-learn's passive-aggressive classifiers, one a label.",
            _by_label(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0),
            ({"eta0": (0.01, 0.1, 1.0)},),
            package="sklearn",
        ),
        "River_HT": Strategy(
            "River's Hoeffding trees, one a label.",
            _of_river("tree.HoeffdingTreeClassifier"),
            (_TREE_GRID,),
            package="river",
        ),
        "River_ARF": Strategy(
            "River's adaptive random forests, one a label.",
            _of_river("forest.ARFClassifier"),
            ({"n_models": (5, 10), "grace_period": (50, 100)},),
            package="river",
        ),
    }
)
