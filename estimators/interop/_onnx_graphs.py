"""Graphs of ONNX that predict as learners do, from the state that they have now.

A graph is made of operators of skl2onnx. It computes in doubles, or in the precision of a network, as the learner does.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from onnx.helper import make_tensor
from skl2onnx.algebra import onnx_ops
from skl2onnx.algebra.onnx_operator import OnnxSubEstimator
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
from sklearn.base import ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import FunctionTransformer

from estimators._typing import Array, Estimator
from estimators.contract.base import StreamClassifier
from estimators.contract.log_odds import LogOddsClassifier
from estimators.contract.targets import LabelTarget
from estimators.invariance.logistic import InvariantLogisticClassifier
from estimators.linear._kernels.logistic import FLAT_SCORE
from estimators.linear.logistic import OnlineLogisticRegression
from estimators.meta._kernels.calibrating import _MOST_LOG_ODDS
from estimators.meta.alarm_budget import AlarmBudget
from estimators.meta.binary_relevance import BinaryRelevance
from estimators.meta.prequential_calibrator import PrequentialCalibrator
from estimators.meta.prequential_stack import MARGIN, PrequentialStack
from estimators.meta.prevalence_threshold import PrevalenceThreshold
from estimators.networks._network_classifier import NetworkClassifier
from estimators.pipeline import StreamPipeline
from estimators.replay._meta_base import OuterClassifier
from estimators.ridge._basis import Basis
from estimators.ridge._calibration import FixedRule
from estimators.ridge.ridge import StreamRidgeClassifier
from estimators.trees._tree_bank import TreeBank
from estimators.trees.rolling_forest import RollingForestClassifier

# an operator of skl2onnx
Node = Any
# types of numbers, as onnx.TensorProto has them
FLOAT, INT64, DOUBLE = 1, 7, 11
_TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.float64): DOUBLE}


class Operators:
    """The operators of ONNX by name, in one version of ONNX."""

    def __init__(self, version: int, kind: int) -> None:
        self.version = version
        self.kind = kind  # in which transformers get rows: they compute in the precision of rows

    def __getattr__(self, name: str) -> Callable[..., Node]:
        return partial(getattr(onnx_ops, f"Onnx{name}"), op_version=self.version)

    def estimator(self, estimator: Estimator, X: Node, kind: int = DOUBLE) -> Node:
        """Return the outputs of an estimator of another package, by its own converter, for rows cast to a type."""
        estimator = convertible_step(estimator)
        kinds = {FLOAT: FloatTensorType, DOUBLE: DoubleTensorType}
        types = [kinds[kind]([None, getattr(estimator, "n_features_in_", None)])]
        options = {"zipmap": False} if hasattr(estimator, "classes_") else None
        X = self.Cast(X, to=kind)
        return OnnxSubEstimator(estimator, X, op_version=self.version, options=options, input_types=types)

    def linear(self, X: Node, coef: Array, intercept: Array) -> Node:
        """Multiply rows by coefficients (n_features, n_outputs), and add intercepts (n_outputs,)."""
        return self.Add(self.MatMul(X, np.ascontiguousarray(coef)), intercept)

    def constant(self, X: Node, row: Array, n_columns: int) -> Node:
        """Return the same row for each row of X, which has so many columns."""
        return self.linear(X, np.zeros((n_columns, len(row))), row)

    def sigmoid(self, X: Node) -> Node:
        """Return the logistic function of doubles; runtimes round that of ONNX to 0 where it is small."""
        return self.Div(np.ones(1), self.Add(self.Exp(self.Neg(X)), np.ones(1)))

    def clip(self, X: Node, low: Array | float, high: Array | float) -> Node:
        """Hold numbers between two others."""
        return self.Min(self.Max(X, np.array(low, ndmin=1)), np.array(high, ndmin=1))

    def at_least(self, X: Node, low: Array | float) -> Node:
        """Return where numbers are not smaller than others."""
        return self.GreaterOrEqual(X, np.array(low, ndmin=1))


def convertible_step(step: Estimator) -> Estimator:
    """Return a step without what keeps it from being fitted; refuse a function."""
    step = step.estimator if isinstance(step, FrozenEstimator) else step
    if isinstance(step, FunctionTransformer) and step.func is not None:
        name = getattr(step.func, "__name__", repr(step.func))
        raise TypeError(
            f"Steps must be transformers that skl2onnx converts to become ONNX. Got a function, {name}, instead; "
            f"OneHotEncoder takes words, too."
        )
    return step


# Labels (n_samples, n_labels), or positions of classes (n_samples,), or None for the most probable one; probabilities;
# and what `decision_function` returns, in two columns for one of two classes a row.
Inferred = tuple[Node | None, Node, Node | None]


def require_convertible(learner: StreamClassifier) -> None:
    """Raise an error unless a learner, and those inside it, can be converted."""
    _graph_of(learner)


def predict(ops: Operators, learner: Estimator, X: Node) -> Inferred:
    """Return what `predict`, `predict_proba` and `decision_function` of a learner return, of rows in doubles."""
    if not isinstance(learner, StreamClassifier):
        outputs = ops.estimator(learner, X)
        return outputs[0], ops.Cast(outputs[1], to=DOUBLE), None
    decided, scores, raw = _graph_of(learner)(ops, learner, X)
    if isinstance(learner._target, LabelTarget):
        return ops.Cast(decided, to=INT64), scores, raw
    if isinstance(learner, LogOddsClassifier) and len(learner.classes_) == 2:
        raw = ops.Concat(ops.Neg(raw), raw, axis=1)
    proba = _class_probabilities(ops, learner, scores)
    codes = decided if decided is not None and learner._traits.takes_codes else ops.ArgMax(proba, axis=1, keepdims=0)
    return ops.Gather(class_values(learner), codes, axis=0), proba, raw


def class_values(learner: StreamClassifier) -> Array:
    """Return the classes of a learner as skl2onnx returns them: whole numbers, or texts."""
    values = learner.classes_
    if values.dtype.kind == "u" and values[-1] > np.iinfo(np.int64).max:
        raise ValueError(f"classes must be below 2^63 to become ONNX. Got {values[-1]} instead.")
    return values.astype(np.int64 if values.dtype.kind in "biuf" else str)


def _class_probabilities(ops: Operators, learner: StreamClassifier, scores: Node) -> Node:
    n_classes = len(learner.classes_)
    if n_classes == 1:
        return ops.constant(scores, np.ones(1), 1)
    if learner.n_labels_ == 1 and not learner._traits.takes_codes:
        return ops.Concat(ops.Sub(np.ones(1), scores), scores, axis=1)
    total = ops.MatMul(scores, np.ones((n_classes, 1)))
    uniform = np.full(n_classes, 1 / n_classes)
    return ops.Where(ops.Greater(total, np.zeros(1)), ops.Div(scores, total), uniform)


# ------------------------------------------------------------------ learners
def _logistic(ops: Operators, learner: OnlineLogisticRegression, X: Node) -> Inferred:
    z = ops.linear(X, *learner.models_)
    scores = ops.Where(ops.Less(z, np.array([-FLAT_SCORE])), np.zeros(1), ops.sigmoid(z))
    scores = ops.Where(ops.Greater(z, np.array([FLAT_SCORE])), np.ones(1), scores)
    return ops.Greater(scores, np.array([0.5])), scores, z


def _invariant(ops: Operators, learner: InvariantLogisticClassifier, X: Node) -> Inferred:
    z = ops.linear(X, learner.coef_.T, learner.intercept_)
    return ops.Greater(z, np.zeros(1)), ops.sigmoid(z), z


def _network(ops: Operators, learner: NetworkClassifier, X: Node) -> Inferred:
    kind = _TYPES[learner._dtype]
    units = ops.Cast(X, to=kind)
    if learner._scaling is not None:
        centre, deviation = learner._scaling
        units = ops.Cast(ops.Div(ops.Sub(ops.Cast(units, to=DOUBLE), centre), deviation), to=kind)
    for place, (weights, biases) in enumerate(learner._layers):
        units = ops.linear(ops.Relu(units) if place else units, weights.T, biases)
    # a sigmoid is rounded to the precision of the network: probabilities of classes can be equal
    logits = ops.Cast(units, to=DOUBLE)
    scores = ops.Cast(ops.Cast(ops.sigmoid(logits), to=kind), to=DOUBLE)
    return ops.at_least(scores, 0.5), scores, logits


def _ridge(ops: Operators, learner: StreamRidgeClassifier, X: Node) -> Inferred:
    late, basis = bool(learner.late_in_predict), learner._basis_
    if basis is None or learner._is_linear:
        scores = ops.linear(X, learner.coef_.T, learner.intercept_)
    else:
        coef, projection = learner._coefficients(late=late), learner._projection_
        X = X if projection is None else ops.MatMul(X, projection.table.toarray())
        scores = ops.linear(_expanded(ops, basis, X), coef[1:], coef[0])
    rule = learner.calibration_.fixed(late=late)
    decided, proba, log_odds = _calibrated(ops, rule, scores)
    if isinstance(learner._target, LabelTarget):
        log_odds = ops.Sub(log_odds, rule.log_odds_of_thresholds)
    return decided, proba, log_odds


def _expanded(ops: Operators, basis: Basis, X: Node) -> Node:
    """Return what `Basis.expand` returns, without the constant."""
    values = ops.Mul(ops.Sub(X, basis.shift), basis.scale)
    parts = [values]
    if basis.knots.size:
        repeated = ops.Gather(values, np.repeat(basis.hinged, basis.knots.shape[1]), axis=1)
        parts.append(ops.Relu(ops.Sub(repeated, basis.knots.ravel())))
    if len(basis.pairs):
        parts.append(ops.Mul(*(ops.Gather(values, column, axis=1) for column in basis.pairs.T)))
    if len(basis.biases):
        parts.append(ops.Relu(ops.linear(values, basis.weights, basis.biases)))
    return ops.Concat(*parts, axis=1)


def _forest(ops: Operators, learner: RollingForestClassifier, X: Node) -> Inferred:
    trees = [tree for tree in learner._trees() if tree[0] > 0]
    if not trees:
        nothing = ops.constant(X, np.zeros(learner.n_labels_), learner.n_features_in_)
        return ops.at_least(nothing, 0.5), nothing, None
    feature, left, threshold = (np.concatenate([tree[part] for _, *tree in trees]) for part in range(3))
    shares = np.concatenate([vote * tree[-1] for vote, *tree in trees])
    sizes, is_leaf = [len(tree[1]) for tree in trees], feature < 0
    is_equal = np.isin(feature, np.flatnonzero(learner._forest.nominal))
    ids = np.repeat(np.arange(len(trees)), sizes), np.concatenate([np.arange(size) for size in sizes])
    leaves = np.repeat(np.flatnonzero(is_leaf), learner.n_labels_)
    summed = onnx_ops.OnnxTreeEnsembleRegressor_3(
        X,
        n_targets=learner.n_labels_,
        nodes_treeids=ids[0],
        nodes_nodeids=ids[1],
        nodes_featureids=np.where(is_leaf, 0, feature),
        nodes_modes=np.where(is_leaf, "LEAF", np.where(is_equal, "BRANCH_EQ", "BRANCH_LT")).tolist(),
        nodes_values_as_tensor=make_tensor("thresholds", DOUBLE, threshold.shape, threshold),
        nodes_truenodeids=np.where(is_leaf, 0, left),
        nodes_falsenodeids=np.where(is_leaf, 0, left + 1),
        target_treeids=ids[0][leaves],
        target_nodeids=ids[1][leaves],
        target_ids=np.tile(np.arange(learner.n_labels_), int(is_leaf.sum())),
        target_weights_as_tensor=make_tensor("shares", DOUBLE, leaves.shape, shares[is_leaf].ravel()),
        op_version=3,
    )
    proba = ops.clip(ops.Cast(summed, to=DOUBLE), 0.0, 1.0)
    return ops.at_least(proba, 0.5), proba, None


def _calibrated(ops: Operators, rule: FixedRule, scores: Node) -> Inferred:
    held = ops.clip(scores, rule.low, rule.high)
    inside = ops.MatMul(ops.clip(scores, 0.0, 1.0), rule.counted[:, np.newaxis])
    evidence = (
        ops.clip(ops.Mul(ops.Sub(scores, rule.middle), rule.slope), -rule.most, rule.most),
        ops.Log(ops.Div(held, ops.Sub(np.ones(1), held))),
        ops.Log(ops.Div(ops.Add(inside, np.array([0.5])), np.array([rule.expected]))),
    )
    total = rule.offset
    for part, weight in zip(evidence, rule.weights, strict=True):
        total = ops.Add(ops.Mul(part, np.array([weight])), total)
    log_odds = ops.clip(total, -rule.most_log_odds, rule.most_log_odds)
    proba = ops.sigmoid(log_odds)
    return ops.at_least(proba, rule.thresholds), proba, log_odds


def _relevance(ops: Operators, learner: BinaryRelevance, X: Node) -> Inferred:
    if isinstance(learner._models, TreeBank):
        raise _refusal(learner.estimator)
    started = learner.occurred_ if learner.start == "first-positive" else np.ones(learner.n_labels_, np.bool_)
    decided, proba = [], []
    for member, has_started in zip(learner._models, started, strict=True):
        model: Any = member
        if model.has_learnt and has_started:
            labels, votes = _of_member(ops, model.estimator, X)
            decided.append(ops.Cast(ops.Reshape(labels, np.array([-1, 1])), to=DOUBLE))
            # GaussianNB divides by variances, which are 0 after one row
            proba.append(decided[-1] if votes is None else ops.Where(ops.IsNaN(votes), np.zeros(1), votes))
        else:
            decided.append(ops.constant(X, np.zeros(1), learner.n_features_in_))
            proba.append(decided[-1])
    return ops.Concat(*decided, axis=1), ops.Concat(*proba, axis=1), None


def _of_member(ops: Operators, member: ClassifierMixin, X: Node) -> tuple[Node, Node | None]:
    """Return what a classifier of 0 and 1 predicts, and the probabilities of 1, if it has such."""
    layers = []
    if type(member) is SGDClassifier and member.loss == "log_loss":
        layers = [(member.coef_.T, member.intercept_)]
    elif type(member) is MLPClassifier:
        layers = [*zip(member.coefs_, member.intercepts_, strict=True)]
    if layers:
        # skl2onnx rounds small probabilities to 0, which are shared out among classes
        functions = {"relu": ops.Relu, "tanh": ops.Tanh, "logistic": ops.sigmoid, "identity": ops.Identity}
        z = ops.linear(X, *layers[0])
        for layer in layers[1:]:
            z = ops.linear(functions[member.activation](z), *layer)
        return ops.Greater(z, np.zeros(1)), ops.sigmoid(z)
    labels, both, _ = predict(ops, member, X)
    return labels, ops.Gather(both, np.array([1]), axis=1) if hasattr(member, "predict_proba") else None


def _stack(ops: Operators, learner: PrequentialStack, X: Node) -> Inferred:
    mixed = np.full(learner.n_labels_, MARGIN)
    for (_, member), share in zip(learner.estimators_, learner._weights_of_sample(), strict=True):
        mixed = ops.Add(ops.Mul(predict(ops, member, X)[1], (1 - 2 * MARGIN) * share), mixed)
    return ops.at_least(mixed, 0.5), mixed, None


def _outer(ops: Operators, learner: OuterClassifier, X: Node) -> Inferred:
    return predict(ops, learner.estimator_, X)


def _budget(ops: Operators, learner: AlarmBudget, X: Node) -> Inferred:
    if not learner._is_learner:
        raise TypeError(
            "AlarmBudget must have an infinite budget and equal weights to become ONNX, since what it has spent is not "
            f"in a graph. Got budget={learner.budget}; convert the classifier inside, `estimator_`."
        )
    return _outer(ops, learner, X)


def _calibrator(ops: Operators, learner: PrequentialCalibrator, X: Node) -> Inferred:
    if not isinstance(learner._target, LabelTarget):
        raise TypeError(
            "A PrequentialCalibrator must have learnt a table of labels to become ONNX. Got one class a row; convert "
            "the classifier inside, `estimator_`."
        )
    proba = predict(ops, learner.estimator_, X)[1]
    (usual, share), (rise, fall, offset) = learner._usual_shares, learner.maps_.T
    mixed = ops.Add(ops.Mul(proba, 1.0 - share), usual * share)
    rests = ops.Log(ops.Sub(np.ones(1), mixed))
    log_odds = ops.Add(ops.Sub(ops.Mul(ops.Log(mixed), rise), ops.Mul(rests, fall)), offset)
    calibrated = ops.sigmoid(ops.clip(log_odds, -_MOST_LOG_ODDS, _MOST_LOG_ODDS))
    return ops.at_least(calibrated, 0.5), calibrated, None


def _threshold(ops: Operators, learner: PrevalenceThreshold, X: Node) -> Inferred:
    proba = predict(ops, learner.estimator_, X)[1]
    rule, late = learner._rule, bool(learner.late_in_predict)
    if isinstance(learner._target, LabelTarget):
        return ops.at_least(proba, rule.thresholds(late=late)), proba, None
    return ops.ArgMax(ops.Mul(proba, rule.worths(late=late)), axis=1, keepdims=0), proba, None


def _pipeline(ops: Operators, learner: StreamPipeline, X: Node) -> Inferred:
    if not learner._has_begun:
        nothing = ops.constant(X, np.zeros(len(learner.classes_)), learner.n_features_in_)
        return nothing if isinstance(learner._target, LabelTarget) else None, nothing, None
    for _, step in learner.steps_[:-1]:
        if not (step is None or isinstance(step, str)):
            X = ops.Cast(ops.estimator(step, X, ops.kind)[0], to=DOUBLE)
    labels, proba, raw = predict(ops, learner._last, X)
    return (labels if isinstance(learner._target, LabelTarget) else None), proba, raw


# The graph of each kind of learner, the special ones before the general.
_GRAPHS: dict[type, Callable[[Operators, Any, Node], Inferred]] = {
    OnlineLogisticRegression: _logistic,
    InvariantLogisticClassifier: _invariant,
    NetworkClassifier: _network,
    StreamRidgeClassifier: _ridge,
    RollingForestClassifier: _forest,
    BinaryRelevance: _relevance,
    PrequentialStack: _stack,
    AlarmBudget: _budget,
    PrequentialCalibrator: _calibrator,
    PrevalenceThreshold: _threshold,
    OuterClassifier: _outer,
    StreamPipeline: _pipeline,
}


# methods by which learners predict; those by which they learn may be others
_PREDICTING = {
    *("predict", "predict_proba", "predict_with_proba", "decision_function", "_infer", "_infer_each", "_predict_proba"),
    *("_log_odds", "_check_features", "_check_rows", "_transform", "_estimate", "_decide", "_projected", "_features"),
    *("_score", "_late_score"),
}


def _graph_of(learner: StreamClassifier) -> Callable[[Operators, Any, Node], Inferred]:
    kinds = type(learner).__mro__
    ours = next(kind for kind in kinds if kind.__module__.startswith("estimators."))
    changed = {name for kind in kinds[: kinds.index(ours)] for name in _PREDICTING & {*vars(kind)}}
    for known, graph in _GRAPHS.items():
        if isinstance(learner, known):
            if changed:
                raise TypeError(
                    f"A class that derives from {ours.__name__} must predict as it does to become ONNX. Got "
                    f"{type(learner).__name__} instead, which defines {', '.join(sorted(changed))}."
                )
            return graph
    raise _refusal(learner)


def _refusal(learner: object) -> TypeError:
    kinds = {kind for known in _GRAPHS for kind in subclasses(known)}
    # bases are in private modules
    names = ", ".join(sorted(kind.__name__ for kind in kinds if "._" not in kind.__module__))
    return TypeError(f"A learner must be one of {names} to become ONNX. Got {type(learner).__name__} instead.")


def subclasses(kind: type) -> list[type]:
    """Return a class and all classes that derive from it."""
    below: list[type] = type.__subclasses__(kind)
    return [kind, *(found for sub in below for found in subclasses(sub))]
