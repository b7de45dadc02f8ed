"""The converter of skl2onnx for all learners."""

from copy import copy

import skl2onnx
from skl2onnx import _parse as parsers
from skl2onnx.common._apply_operation import apply_identity
from skl2onnx.common._container import ModelComponentContainer
from skl2onnx.common._registration import get_converter, register_converter
from skl2onnx.common._topology import Operator, Scope, Variable
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType
from skl2onnx.operator_converters.calibrated_classifier_cv import convert_sklearn_calibrated_classifier_cv
from skl2onnx.operator_converters.pipelines import convert_pipeline
from skl2onnx.operator_converters.stacking import convert_sklearn_stacking_classifier
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

import estimators._learners  # noqa: F401 - all learners, to be told what can be converted
from estimators._typing import Estimator
from estimators.contract.base import StreamClassifier
from estimators.contract.failed_calls import check_not_diverged
from estimators.contract.locks import lock_of
from estimators.interop._onnx_graphs import (
    DOUBLE,
    FLOAT,
    Operators,
    class_values,
    convertible_step,
    predict,
    require_convertible,
    subclasses,
)
from estimators.pipeline import StreamPipeline
from estimators.pragma.forest import PragmaForestClassifier
from estimators.pragma.threshold import PragmaThreshold
from estimators.pragma.tree import PragmaTreeClassifier

_ALIAS = "MlstreamStreamClassifier"


def register() -> None:
    """Register the converter for every learner, also those that it refuses with a line of its own."""
    options = {"zipmap": [True, False, "columns"]}
    options |= {name: [False, True] for name in ("output_class_labels", "nocl", "raw_scores")}
    others = PragmaForestClassifier, PragmaThreshold, PragmaTreeClassifier
    for learner in (*subclasses(StreamClassifier), *others):
        skl2onnx.update_registered_converter(learner, _ALIAS, _set_shapes, _convert, parser=_parse, options=options)
    skl2onnx.update_registered_converter(
        FrozenEstimator, "MlstreamFrozen", _keep_shapes, _convert_frozen, parser=_parse_frozen, options=options
    )
    for alias, convert in (
        ("SklearnPipeline", _convert_pipeline),
        ("SklearnCalibratedClassifierCV", _convert_calibrated),
        ("SklearnStackingClassifier", _convert_stacking),
    ):
        register_converter(alias, convert, overwrite=True, options=get_converter(alias).get_allowed_options())


def require_fitted(estimator: object) -> None:
    """Raise an error unless an estimator is fitted, and has not diverged since."""
    if isinstance(estimator, StreamClassifier):
        check_not_diverged(estimator)
    check_is_fitted(estimator)


def _parse(
    scope: Scope, model: StreamClassifier, inputs: list[Variable], custom_parsers: object = None
) -> list[Variable]:
    """Return the outputs of a learner: two arrays, or what the options ask for where there is one class a row."""
    require_fitted(model)
    require_convertible(model)
    if isinstance(model, StreamPipeline):
        model, inputs = _past_columns(scope, model, inputs)
    multilabel = model._target.multilabel
    parse = parsers._parse_sklearn_simple_model if multilabel else parsers._parse_sklearn_classifier
    return parse(scope, model, inputs, custom_parsers=custom_parsers)


def _past_columns(scope: Scope, model: StreamPipeline, inputs: list[Variable]) -> tuple[StreamPipeline, list[Variable]]:
    """Let skl2onnx convert the first steps, up to the last that it parses; return the rest and what it reads."""
    rest, steps = copy(model), _convertible_steps(model)
    scope.add_options(id(rest), scope.get_options(model, {}))
    parsed = [place for place, step in steps if isinstance(step, ColumnTransformer | FeatureUnion | Pipeline)]
    for place, step in steps if model._has_begun else []:
        if not (_hold_text(inputs) or place <= max(parsed, default=-1)):
            break
        if len(inputs) == 1:
            # skl2onnx does not tell how many columns a step has made before it has parsed all
            inputs[0].type.shape = [None, step.n_features_in_]
        inputs = parsers._parse_sklearn(scope, step, inputs)
        rest.steps_ = [*rest.steps_[:place], (rest.steps_[place][0], None), *rest.steps_[place + 1 :]]
    return rest, inputs


def _convertible_steps(model: StreamPipeline) -> list[tuple[int, BaseEstimator]]:
    """Return the transformers by place, without those that leave rows as they are."""
    steps = enumerate(step for _, step in model.steps_[:-1])
    return [(place, convertible_step(step)) for place, step in steps if not isinstance(step, str | None)]


def _hold_text(inputs: list[Variable]) -> bool:
    return any(isinstance(column.type, StringTensorType) for column in inputs)


def _set_shapes(operator: Operator) -> None:
    """Set the types and shapes of the outputs; refuse an input of text."""
    if _hold_text(operator.inputs):
        raise TypeError(f"X must hold numbers where {type(operator.raw_operator).__name__} reads it. Got text instead.")
    learner, n_rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    multilabel = learner._target.multilabel
    is_text = not multilabel and class_values(learner).dtype.kind == "U"
    n_columns = learner.n_labels_ if multilabel else len(learner.classes_)
    shape = [n_rows, n_columns] if multilabel else [n_rows]
    operator.outputs[0].set_type((StringTensorType if is_text else Int64TensorType)(shape))
    operator.outputs[1].type.shape = [n_rows, n_columns]


def _keep_shapes(operator: Operator) -> None:
    """Leave the outputs as they are declared."""


def _convert(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """Add the graph of a learner to a model."""
    learner = operator.raw_operator
    in_floats = all(isinstance(column.type, FloatTensorType) for column in operator.inputs)
    ops = Operators(container.target_opset, FLOAT if in_floats else DOUBLE)
    columns = [ops.Cast(column, to=DOUBLE) for column in operator.inputs]
    with lock_of(learner):
        labels, proba, raw = predict(ops, learner, columns[0] if len(columns) == 1 else ops.Concat(*columns, axis=1))
    # converters ask in the container, parsers in the scope
    asked = [place.get_options(learner, {"raw_scores": False})["raw_scores"] for place in (scope, container)]
    if raw is not None and any(asked):
        proba = raw
    kind = DOUBLE if isinstance(operator.outputs[1].type, DoubleTensorType) else FLOAT
    label, probabilities = operator.outputs
    ops.Identity(labels, output_names=[label]).add_to(scope, container)
    ops.Cast(proba, to=kind, output_names=[probabilities]).add_to(scope, container)


def _hand_on(scope: Scope, container: ModelComponentContainer, outer: Estimator, inner: Estimator) -> None:
    """Ask an estimator for scores where the one around it is asked."""
    options = container.get_options(outer, {"raw_scores": False})
    if options["raw_scores"]:
        _require_scores(inner)
    if container.has_options(inner, "raw_scores"):
        for place in (scope, container):
            place.add_options(id(inner), {"raw_scores": options["raw_scores"]})


def _require_scores(estimator: Estimator) -> None:
    """Raise an error if skl2onnx would give probabilities for scores."""
    if hasattr(estimator, "best_estimator_") and hasattr(estimator, "decision_function"):
        raise ValueError(
            f"A search must not stand where scores are read to become ONNX. Got a {type(estimator).__name__} "
            "instead; its best_estimator_ can."
        )


def _parse_frozen(
    scope: Scope, model: FrozenEstimator, inputs: list[Variable], custom_parsers: object = None
) -> list[Variable]:
    scope.add_options(id(model.estimator), scope.get_options(model, {}))
    return parsers._parse_sklearn(scope, model.estimator, inputs, custom_parsers)


def _convert_frozen(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """Convert what is frozen inside an estimator whose converter does not parse it."""
    inner = operator.raw_operator.estimator
    _hand_on(scope, container, operator.raw_operator, inner)
    within = scope.declare_local_operator(parsers._get_sklearn_operator_name(type(inner)), inner)
    within.inputs = operator.inputs
    for output in operator.outputs:
        within.outputs.append(scope.declare_local_variable(output.raw_name, output.type))
        apply_identity(scope, within.outputs[-1].full_name, output.full_name, container)


def _convert_pipeline(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """Convert a `Pipeline` as skl2onnx does, which does not ask its last step for scores."""
    _hand_on(scope, container, operator.raw_operator, operator.raw_operator.steps[-1][1])
    convert_pipeline(scope, operator, container)


def _convert_calibrated(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """Convert a `CalibratedClassifierCV`, whose method must be one that skl2onnx computes as scikit-learn does."""
    method = operator.raw_operator.method
    if method != "sigmoid":
        raise ValueError(f"method of CalibratedClassifierCV must be 'sigmoid' to become ONNX. Got {method!r} instead.")
    for part in operator.raw_operator.calibrated_classifiers_:
        _require_scores(part.estimator)
    convert_sklearn_calibrated_classifier_cv(scope, operator, container)


def _convert_stacking(scope: Scope, operator: Operator, container: ModelComponentContainer) -> None:
    """Convert a `StackingClassifier`; skl2onnx makes two columns of the scores of two classes."""
    stack = operator.raw_operator
    if "decision_function" in stack.stack_method_ and len(stack.classes_) == 2:
        raise ValueError(
            "stack_method of StackingClassifier must be 'predict_proba' to become ONNX where there are two classes. "
            "Got 'decision_function' instead."
        )
    for estimator, method in zip(stack.estimators_, stack.stack_method_, strict=True):
        if method == "decision_function":
            _require_scores(estimator)
    convert_sklearn_stacking_classifier(scope, operator, container)
