"""River's models with our interface, and our learners with River's."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array, Estimator, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.lazy import needing
from estimators.contract.targets import LabelTarget
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.drift.base import DriftDetector
from estimators.interop._redo_log import RedoLog
from metrics.validation import require_choice

BLOCK = 1024


class RiverClassifier(StreamClassifier):
    """Learn with a River model: one for all labels, or a copy for each.

    - a multi-label classifier, or a multi-target regressor such as ``ISOUPTreeRegressor``, learns all labels;
    - of a classifier or a regressor, each label gets a copy; where every row has one class, a classifier of several
      classes learns them all, and one of two classes gets a copy for each class.

    Parameters
    ----------
    model : River model, or a pipeline that ends in one
        An untrained copy of it learns; the model itself is never changed.
    start : {'first-row', 'first-positive'}, default='first-row'
        First row that the copy for a label learns from. With 'first-positive', as in published binary relevance, a
        label is predicted 0 until it has occurred; this requires a model that is copied for each label, and has no
        effect where every row has one class.
    random_state : int, RandomState instance or None, default=None
        Draws a seed for every part of each copy whose seed is None. With None, the model's own seeds are kept, the same
        in each copy.

    Attributes
    ----------
    bridge_ : object
        Holds the River model (``bridge_.model``) or models (``bridge_.models``).

    Notes
    -----
    A model whose ``learn_one`` takes no weight ``w`` learns a row of weight two twice, and refuses fractions.

    Predictions are the model's own where it makes them; outputs of regressors are thresholded at 0.5, and clipped to
    [0, 1] as probabilities. A model without probabilities has 0 or 1, and 0 for a label it has learnt nothing about.

    Rows reach River as dictionaries, with the columns' names or x0, x1, ... as keys. River reads an absent key as a
    missing value, so that CSR rows are passed with their zeros, one row at a time. Labels have the announced names, or
    y0, y1, ... Weights other than 0 and 1 require a model that accepts them.

    Unknown labels (NaN) are not learnt: the copies for these labels skip the row, and a chain or a model of River's
    ``PerOutputClassifier`` kind gets a dictionary without them. Other models of all labels, among them
    ``ISOUPTreeRegressor`` and ``MultiClassEncoder``, cannot leave labels out: a row that is known in part is refused.

    A call that fails changes nothing, though River's models learn in place. A copy for each call would take hundreds of
    times as long as learning a row, so the model is copied once in some thousand rows; after an error, the copy learns
    the rows since then again. The copy and these rows take memory, which `memory_bytes_` leaves out, as files do.

    Examples
    --------
    >>> import numpy as np
    >>> from river.tree import HoeffdingTreeClassifier
    >>> from estimators.interop.river import RiverClassifier
    >>> X = np.random.default_rng(0).random((500, 1))
    >>> learner = RiverClassifier(HoeffdingTreeClassifier(grace_period=100, delta=1e-6, tau=0.05))
    >>> learner.fit(X, np.hstack([X > 0.2, X > 0.6])).predict([[0.1], [0.4], [0.9]])
    array([[0, 0],
           [1, 0],
           [1, 1]])
    """

    _traits = Traits(learns_unknown=True)

    def __init__(
        self,
        model: Estimator,
        *,
        start: Literal["first-row", "first-positive"] = "first-row",
        random_state: RandomStateLike = None,
    ) -> None:
        self.model = model
        self.start = start
        self.random_state = random_state

    # ------------------------------------------------------------------ hooks
    @needing("RiverClassifier")
    def _start(self) -> None:
        from estimators.interop import _river_bridges as bridges

        kind = bridges.model_kind(self.model)
        if kind == "classes" and (self._target.multilabel or self.n_labels_ == 1):
            kind = "column"
        self._check_start(kind)
        copies = [
            bridges.untrained(self.model, seed) for seed in self._seeds(self.n_labels_ if kind == "column" else 1)
        ]
        self.bridge_: bridges.Bridge
        if kind == "column":
            late = self.start == "first-positive" and self._target.multilabel
            self.bridge_ = bridges.OneModelEach(copies, at_first_positive=late)
        elif kind == "classes":
            self.bridge_ = bridges.OneModelForClasses(copies[0], self.n_labels_)
        else:
            self.bridge_ = bridges.OneModelForLabels(copies[0], self._label_names())
        self._log = RedoLog()

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        if weight is not None:
            self._check_weights(weight)
        self._check_known(Y)
        with self._log.restored_on_error(self.bridge_, self._learn_rows, (X, Y, weight)):
            self._learn_rows(self.bridge_, X, Y, weight)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return _stacked([self.bridge_.predict(x) for x in self._dictionaries(X)])

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        predictions = []
        self._check_known(Y)
        with self._log.restored_on_error(self.bridge_, self._learn_rows, (X, Y, None)):
            for x, labels in zip(self._dictionaries(X), Y.tolist(), strict=True):
                predictions.append(self.bridge_.predict(x))
                self.bridge_.learn(x, labels)
        return _stacked(predictions)

    # ------------------------------------------------------------------ parts
    def _learn_rows(self, bridge: Any, X: Features, Y: Array, weight: Array | None) -> None:
        from estimators.interop._river_bridges import takes_weight

        weights, repeats = (np.ones(len(Y)), False) if weight is None else (weight, not takes_weight(self.model))
        for x, labels, w in zip(self._dictionaries(X), Y.tolist(), weights.tolist(), strict=True):
            for _ in range(int(w) if repeats else w > 0):
                bridge.learn(x, labels, **({} if repeats or w == 1 else {"w": w}))

    def _seeds(self, n_copies: int) -> list[int | None]:
        if self.random_state is None:
            return [None] * n_copies
        return check_random_state(self.random_state).randint(2**31 - 1, size=n_copies).tolist()

    def _feature_names(self) -> list[str]:
        return list(getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)]))

    def _label_names(self) -> list[Hashable]:
        target = self._target
        announced = target.names if isinstance(target, LabelTarget) else None
        names = announced or [f"y{j}" for j in range(self.n_labels_)]
        shared = set(names) & set(self._feature_names())
        if shared:
            # a chain puts labels among the features of the next label
            raise ValueError(f"Labels must have other names than features. Got {sorted(shared)} for both instead.")
        return names

    def _dictionaries(self, X: Features) -> Iterator[dict[str, float]]:
        names = self._feature_names()
        if isinstance(X, sparse.csr_array):
            for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
                row = dict.fromkeys(names, 0.0)
                row.update(zip((names[j] for j in X.indices[begin:end]), X.data[begin:end].tolist(), strict=True))
                yield row
            return
        for begin in range(0, len(X), BLOCK):
            for values in X[begin : begin + BLOCK].tolist():
                yield dict(zip(names, values, strict=True))

    def _check_start(self, kind: str) -> None:
        require_choice(self.start, "start", ("first-row", "first-positive"))
        if self.start == "first-positive" and kind == "labels":
            raise ValueError("start must be 'first-row' for a model of all labels. Got 'first-positive' instead.")

    def _check_known(self, Y: Array) -> None:
        from estimators.interop import _river_bridges as bridges

        if isinstance(self.bridge_, bridges.OneModelForLabels) and not bridges.learns_in_part(self.model):
            incomplete = (Y == UNKNOWN).any(axis=1)
            if incomplete.any():
                raise ValueError(
                    f"Y must be known for every label of a row that {type(self.model).__name__} learns. Got a row with "
                    "NaN instead; a River classifier that is copied for each label learns the labels that are known."
                )

    def _check_weights(self, weights: Array) -> None:
        from estimators.interop._river_bridges import takes_weight

        other = weights[weights % 1 > 0]
        if len(other) and not takes_weight(self.model):
            raise ValueError(
                f"sample_weight must hold whole numbers, since {type(self.model).__name__} takes no weights, but "
                f"learns a row as often. Got {other[0]} instead."
            )


@needing("as_river")
def as_river(
    estimator: Estimator,
    *,
    features: Sequence[Hashable] | None = None,
    labels: Sequence[Hashable] | None = None,
    max_labels: int | None = None,
    max_features: int | None = None,
) -> Any:
    """Wrap a learner of this package in the interface of River's multi-label classifiers.

    By default, features and labels that are new in any row are learnt.

    Parameters
    ----------
    estimator : estimator instance
        Any multi-label classifier with our ``partial_fit``; it is cloned, so that the result has learnt nothing.
    features : sequence of hashable, optional
        Keys of the features, where they are known and no others are to come. A key that a row lacks counts as 0, as
        in River's sparse rows.
    labels : sequence of hashable, optional
        Keys of the labels, where they are known; others are errors, unless the estimator was made with
        ``on_new_labels="grow"``. A label that a row lacks, or whose value is None, is unknown, and is not learnt from
        that row.
    max_labels : int, optional
        Maximal number of labels, the learner's from its first row on. A label that first occurs later takes the next
        free place, exactly as if it had been declared and unknown until then.
    max_features : int, optional
        Maximal number of features, the learner's width from its first row on. A feature that first occurs later takes
        the next free place and counts as 0 in the rows before; while predicting, it is left out until it has been
        learnt.

    Returns
    -------
    river.base.MultiLabelClassifier
        With ``learn_one``, ``predict_one`` and ``predict_proba_one`` on dictionaries, and ``learn_many``,
        ``predict_many`` and ``predict_proba_many`` on data frames of pandas, polars and others, with a column for each
        feature or label (in ``predict_proba_many``: P(True)). Before any row is learnt it predicts nothing, an empty
        dictionary, or a frame without columns. ``model.learner`` is the estimator that learns.

    Raises
    ------
    ValueError
        If `max_labels`, or `max_features`, is smaller than the number declared.
        While learning or predicting: if a feature or label is neither declared nor has room.
    TypeError
        If a value is neither a number nor the text of one, such as '1' in the rows of River's ``iter_arff``; labels
        may also be the texts 'True' and 'False'.

    Warns
    -----
    UserWarning
        If rows are lost when the learner starts again, as in Notes.

    Notes
    -----
    Our learners have a fixed number of features. One whose features are not declared begins with those of its first
    row. When they are outgrown, a new clone of the estimator with room for a power of two of features learns the stored
    rows again, as if it had had this room from the start. The last 4,096 rows are stored, or fewer if they have more
    than 2**20 values; what was learnt from rows before these is lost, with a warning. Nothing is stored where features
    and labels are declared or have a maximum, and nothing is lost then. New features of a row take places by the length
    of their names, then by name, whatever their order in the row.

    New labels make a learner start again, too, unless it can grow: then its `on_new_labels` is set to "grow", and
    nothing has to be learnt again.

    Examples
    --------
    >>> from estimators.baselines import MeanLabelsClassifier
    >>> from estimators.interop.river import as_river
    >>> model = as_river(MeanLabelsClassifier())
    >>> model.learn_one({"size": 1.0}, {"red": True, "round": False})
    >>> model.learn_one({"weight": 2.0}, {"heavy": True})
    >>> model.predict_one({"size": 2.0})
    {'red': True, 'round': False, 'heavy': True}
    """
    from estimators.interop._river_adapter import RiverAdapter

    for kind, declared, room in (("labels", labels, max_labels), ("features", features, max_features)):
        minimum = max(1, len(declared or ()))
        if room is not None and room < minimum:
            raise ValueError(
                f"max_{kind} must be at least {minimum}, the number of {kind} declared. Got {room} instead."
            )
    return RiverAdapter(estimator, features, labels, max_labels, max_features)


@needing("as_river_classifier")
def as_river_classifier(
    estimator: Estimator,
    *,
    classes: Sequence[Hashable] | None = None,
    features: Sequence[Hashable] | None = None,
    max_features: int | None = None,
) -> Any:
    """Wrap a learner of this package in the interface of River's classifiers of one class a row.

    Parameters
    ----------
    estimator : estimator instance
        Any classifier with our ``partial_fit``; it is cloned, so that the result has learnt nothing.
    classes : sequence of hashable, optional
        The classes, all of them. None: those that have occurred, at any time.
    features, max_features
        As in `as_river`; by default, new features are learnt.

    Returns
    -------
    river.base.MiniBatchClassifier
        With ``learn_one``, ``predict_one`` and ``predict_proba_one``, and with ``learn_many``, ``predict_many`` and
        ``predict_proba_many`` on data frames. Before any row is learnt, all classes declared have the same probability;
        without any, None is predicted.
        ``model.learner`` is the estimator that learns.

    Raises
    ------
    ValueError
        If fewer than two classes are declared, or one twice. While learning: if a class or feature is neither declared
        nor has room.

    Warns
    -----
    UserWarning
        If rows are lost when the learner starts again, as in Notes.

    Notes
    -----
    Our learners have a fixed number of classes, too. One whose classes are not declared begins with room for two, and
    starts again with twice the room when it is outgrown, as described for features in `as_river`. Probabilities are
    those of the classes that have occurred.

    Examples
    --------
    >>> from estimators.baselines import NearestRowClassifier
    >>> from estimators.interop.river import as_river_classifier
    >>> model = as_river_classifier(NearestRowClassifier())
    >>> model.learn_one({"size": 1.0}, "cat")
    >>> model.learn_one({"size": 9.0}, "dog")
    >>> model.learn_one({"size": 5.0, "wings": 2.0}, "bird")
    >>> model.predict_one({"size": 8.0})
    'dog'
    """
    from estimators.interop._river_class_adapter import RiverClassAdapter

    if classes is not None and (len(classes) < 2 or len(set(classes)) < len(classes)):
        raise ValueError(f"classes must be at least two, each once. Got {list(classes)} instead.")
    return RiverClassAdapter(estimator, classes, features, max_features)


def as_river_detector(detector: DriftDetector) -> Any:
    """Wrap a drift detector of this package in the interface of River's, so that River's models take it.

    Parameters
    ----------
    detector : DriftDetector
        One that watches a single number: any of `estimators.drift` but ``LabelDrift`` and ``LabelSetDrift``. It is
        cloned, so that the result has seen no value.

    Returns
    -------
    river.base.DriftDetector
        With ``update`` and ``drift_detected``; a detector that warns is a ``river.base.DriftAndWarningDetector`` with
        ``warning_detected``. After a drift, it starts from a detector that has seen no value.

    Raises
    ------
    TypeError
        If `detector` is anything else.

    Examples
    --------
    >>> from estimators.drift import ADWIN
    >>> from estimators.interop.river import as_river_detector
    >>> detector = as_river_detector(ADWIN())
    >>> for i in range(1000):
    ...     detector.update(i >= 500)
    ...     if detector.drift_detected:
    ...         print(i)
    511
    """
    from estimators.interop._river_adapter import RiverDetector, RiverWarningDetector

    if not isinstance(detector, DriftDetector):
        raise TypeError(f"detector must be a drift detector of a single number. Got {detector!r} instead.")
    return (RiverWarningDetector if detector._warns else RiverDetector)(detector)


def _stacked(predictions: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    decided, proba = zip(*predictions, strict=True)
    return np.vstack(decided) == 1, np.vstack(proba)
