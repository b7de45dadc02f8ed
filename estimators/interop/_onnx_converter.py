"""The converter of skl2onnx for all learners."""

from copy import copy
from typing import Any

import skl2onnx
from skl2onnx import _parse as parsers
from skl2onnx.common._topology import Operator, Scope, Variable
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import check_is_fitted

import estimators._learners  # noqa: F401 - all learners, to be told what can be converted
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
    options = {"zipmap": [True, False, "columns"], "output_class_labels": [False, True], "nocl": [False, True]}
    others = PragmaForestClassifier, PragmaThreshold, PragmaTreeClassifier
    for learner in (*subclasses(StreamClassifier), *others):
        skl2onnx.update_registered_converter(learner, _ALIAS, _set_shapes, _convert, parser=_parse, options=options)


def require_fitted(estimator: Any) -> None:
    """Raise an error unless an estimator is fitted, and has not diverged since."""
    if isinstance(estimator, StreamClassifier):
        check_not_diverged(estimator)
    check_is_fitted(estimator)


def _parse(scope: Scope, model: StreamClassifier, inputs: list[Variable], custom_parsers: Any = None) -> Any:
    """Return the outputs of a learner: two arrays, or what the options ask for where there is one class a row."""
    require_fitted(model)
    require_convertible(model)
    if isinstance(model, StreamPipeline):
        model, inputs = _past_columns(scope, model, inputs)
    multilabel = model._target.multilabel
    parse = parsers._parse_sklearn_simple_model if multilabel else parsers._parse_sklearn_classifier
    return parse(scope, model, inputs, custom_parsers=custom_parsers)


def _past_columns(scope: Scope, model: StreamPipeline, inputs: list[Variable]) -> tuple[StreamPipeline, list[Variable]]:
    """Let skl2onnx convert the first steps that take text, or columns by name; return the rest and what it reads."""
    rest = copy(model)
    scope.add_options(id(rest), scope.get_options(model, {}))
    for place, (name, step) in enumerate(model.steps_[:-1]):
        if step is None or isinstance(step, str):
            continue
        transformer = convertible_step(step)
        if not (_hold_text(inputs) or isinstance(transformer, ColumnTransformer)):
            break
        inputs = parsers._parse_sklearn(scope, transformer, inputs)
        rest.steps_ = [*rest.steps_[:place], (name, None), *rest.steps_[place + 1 :]]
    return rest, inputs


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


def _convert(scope: Scope, operator: Operator, container: Any) -> None:
    """Add the graph of a learner to a model."""
    learner = operator.raw_operator
    in_floats = all(isinstance(column.type, FloatTensorType) for column in operator.inputs)
    ops = Operators(container.target_opset, FLOAT if in_floats else DOUBLE)
    columns = [ops.Cast(column, to=DOUBLE) for column in operator.inputs]
    with lock_of(learner):
        labels, proba = predict(ops, learner, columns[0] if len(columns) == 1 else ops.Concat(*columns, axis=1))
    kind = DOUBLE if isinstance(operator.outputs[1].type, DoubleTensorType) else FLOAT
    label, probabilities = operator.outputs
    ops.Identity(labels, output_names=[label]).add_to(scope, container)
    ops.Cast(proba, to=kind, output_names=[probabilities]).add_to(scope, container)
