"""Predictions and learning of River models with arrays of 0/1 columns: one bridge for each kind of model."""

import inspect
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from river import base, compose, multioutput

from estimators._kernels.label_codes import UNKNOWN
from estimators._typing import Array

Row = dict[str, float]
Model = Any

# models of all labels that learn the labels that a dictionary holds, and no others
LEARNING_IN_PART = (
    multioutput.ClassifierChain
    | multioutput.RegressorChain
    | multioutput.PerOutputClassifier
    | multioutput.PerOutputRegressor
)


class Bridge(Protocol):
    """Predict and learn rows, which are dictionaries, with labels as columns of 0, 1 and `UNKNOWN`."""

    def predict(self, x: Row) -> tuple[Array, Array]:
        """Return decisions and probabilities of all columns."""

    def learn(self, x: Row, labels: Sequence[int], **weight: float) -> None:
        """Learn a row; the weight is passed as ``w`` unless it is one."""


class OneModelEach:
    """A River classifier, or a regressor, for each column.

    With `at_first_positive`, the model of a column learns from its first positive row on, and predicts 0 before.
    """

    def __init__(self, models: list[Model], *, at_first_positive: bool) -> None:
        self.models = models
        self.begun = np.full(len(models), not at_first_positive)
        self.predict_model = _predict_regressor if isinstance(_last(models[0]), base.Regressor) else _predict_classifier

    def predict(self, x: Row) -> tuple[Array, Array]:
        """Return decisions and probabilities of all columns."""
        predicted, proba = np.zeros(len(self.models)), np.zeros(len(self.models))
        for j in np.flatnonzero(self.begun).tolist():
            predicted[j], proba[j] = self.predict_model(self.models[j], x)
        return predicted, proba

    def learn(self, x: Row, labels: Sequence[int], **weight: float) -> None:
        """Learn a row, each column from a known label."""
        self.begun |= np.asarray(labels) == 1
        for j in np.flatnonzero(self.begun).tolist():
            if labels[j] != UNKNOWN:
                self.models[j].learn_one(x, bool(labels[j]), **weight)


class OneModelForClasses:
    """A River classifier of several classes, one of which each row has; it learns positions of columns as classes."""

    def __init__(self, model: Model, n_classes: int) -> None:
        self.model = model
        self.n_classes = n_classes

    def predict(self, x: Row) -> tuple[Array, Array]:
        """Return decisions and probabilities of all columns."""
        proba = np.zeros(self.n_classes)
        for code, value in _class_probabilities(self.model, x).items():
            proba[code] = value
        return proba >= 0.5, proba

    def learn(self, x: Row, labels: Sequence[int], **weight: float) -> None:
        """Learn a row."""
        self.model.learn_one(x, labels.index(1), **weight)


class OneModelForLabels:
    """A multi-label classifier, or a multi-target regressor, for all columns, whose keys are `labels`."""

    def __init__(self, model: Model, labels: Sequence[Hashable]) -> None:
        self.model = model
        self.labels = labels
        regressor = isinstance(_last(model), base.MultiTargetRegressor)
        self.value = int if regressor else bool
        self.predict_model = _predict_regressors if regressor else _predict_classifiers

    def predict(self, x: Row) -> tuple[Array, Array]:
        """Return decisions and probabilities of all columns."""
        predicted, proba = self.predict_model(self.model, x)
        return _column(predicted, self.labels), _column(proba, self.labels)

    def learn(self, x: Row, labels: Sequence[int], **weight: float) -> None:
        """Learn a row; unknown labels are left out of the dictionary."""
        known = [(key, self.value(label)) for key, label in zip(self.labels, labels, strict=True) if label != UNKNOWN]
        self.model.learn_one(x, dict(known), **weight)


def model_kind(model: Model) -> str:
    """Return 'labels' (one model for all labels), 'classes' (one for all classes) or 'column' (one for each column)."""
    last = _last(model)
    if isinstance(last, base.MultiLabelClassifier | base.MultiTargetRegressor):
        return "labels"
    if isinstance(last, base.Classifier):
        return "classes" if model._multiclass else "column"
    if isinstance(last, base.Regressor):
        return "column"
    raise ValueError(
        "model must be a River classifier, regressor, multi-label classifier or multi-target regressor. "
        f"Got {model!r} instead."
    )


def learns_in_part(model: Model) -> bool:
    """Return whether a model of all labels can learn a row of which some are unknown."""
    return isinstance(_last(model), LEARNING_IN_PART)


def untrained(model: Model, seed: int | None) -> Model:
    """Return an untrained copy; parts without a seed of their own get one."""
    return model.clone() if seed is None else model.clone(_seeds(model, np.random.RandomState(seed)))


def takes_weight(model: Model) -> bool:
    """Return whether ``learn_one`` takes a weight ``w``."""
    return "w" in inspect.signature(_last(model).learn_one).parameters


def _last(model: Model) -> Model:
    return model._last_step if isinstance(model, compose.Pipeline) else model


def _seeds(model: Model, rng: np.random.RandomState) -> dict[str, object]:
    """Return parameters for `clone` that seed every part whose seed is None."""
    if isinstance(model, compose.Pipeline):
        return {name: _seeds(step, rng) for name, step in model.steps.items()}
    seeds: dict[str, object] = {}
    for name in model._get_params():
        value = getattr(model, name, None)
        if name == "seed" and value is None:
            seeds[name] = int(rng.randint(2**31 - 1))
        elif isinstance(value, base.Estimator):
            seeds[name] = type(value), _seeds(value, rng)
    return seeds


def _decides_by_probability(model: Model, by: Any) -> bool:
    return type(_last(model)).predict_one is by.predict_one


def _predict_classifier(model: Model, x: Row) -> tuple[bool, float]:
    proba = _class_probabilities(model, x)
    if _decides_by_probability(model, base.Classifier):
        predicted = max(proba, key=proba.__getitem__) if proba else False
    else:
        predicted = model.predict_one(x)
    return predicted == 1, proba.get(True, 0.0)


def _class_probabilities(model: Model, x: Row) -> dict[Any, float]:
    try:
        return model.predict_proba_one(x)
    except NotImplementedError:  # River's sign that there are no probabilities
        predicted = model.predict_one(x)
        return {} if predicted is None else {predicted: 1.0}


def _predict_classifiers(model: Model, x: Row) -> tuple[dict[Hashable, bool], dict[Hashable, float]]:
    try:
        proba = model.predict_proba_one(x)
    except NotImplementedError:
        predicted = model.predict_one(x)
        return predicted, {label: float(value or 0) for label, value in predicted.items()}
    if _decides_by_probability(model, base.MultiLabelClassifier):
        predicted = {label: max(each, key=each.get) for label, each in proba.items() if each}
    else:
        predicted = model.predict_one(x)
    return predicted, {label: each.get(True, 0.0) for label, each in proba.items()}


def _predict_regressor(model: Model, x: Row) -> tuple[bool, float]:
    proba = _bounded(model.predict_one(x))
    return proba >= 0.5, proba


def _predict_regressors(model: Model, x: Row) -> tuple[dict[Hashable, bool], dict[Hashable, float]]:
    proba = {label: _bounded(output) for label, output in model.predict_one(x).items()}
    return {label: value >= 0.5 for label, value in proba.items()}, proba


def _bounded(output: float | None) -> float:
    """Clip an output to [0, 1]; None and NaN are 0."""
    return min(1.0, float(output)) if output is not None and output > 0 else 0.0


def _column(values: Mapping[Hashable, float], labels: Sequence[Hashable]) -> Array:
    return np.array([values.get(label) or 0 for label in labels], dtype=np.float64)
