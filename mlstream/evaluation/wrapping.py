"""Wrappers for learners that have no tables of labels: classifiers of one class a row, and River models."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from estimators.contract.base import StreamClassifier
from estimators.meta.binary_relevance import BinaryRelevance
from estimators.meta.label_budget import LabelBudget
from estimators.pipeline import StreamPipeline
from estimators.replay._meta_base import OuterClassifier

_RULE = "estimator must be a scikit-learn estimator with partial_fit"
_NOT_CLASSIFIERS = {"regressor", "clusterer", "outlier_detector"}


def wrap(estimator: object) -> Any:
    """Return a learner of labels: the estimator itself, or a wrapper around it.

    Taken are a learner of labels with `partial_fit` or `predict_then_fit`; a classifier of one class a row with
    `partial_fit`, of which each label gets a copy (`BinaryRelevance`); and a River model (`RiverClassifier`). Anything
    else raises a TypeError that says what can be taken.
    """
    if _is_river_model(estimator):
        return _wrap_river_model(estimator)
    _require_learner(estimator)
    if not learns_one_class(estimator):
        return estimator
    return BinaryRelevance(estimator)


def with_label_budget(learner: Any, budget: float | None) -> Any:
    """Return a learner of labels that asks for a share of them; itself if it does so already.

    A TypeError is raised for a learner of another package that takes tables of labels: nothing can hide labels from it.
    """
    if budget is None or any(isinstance(part, LabelBudget) for part in nested(learner)):
        return learner
    if not isinstance(learner, StreamClassifier):
        raise TypeError(
            f"label_budget must be None for {type(learner).__name__}, which takes tables of labels without unknown "
            f"ones. Got {budget}; one of our learners, or a classifier of one class a row, can have a budget."
        )
    return LabelBudget(learner, budget)


def nested(learner: Any, ending: str = "") -> Iterator[Any]:
    """List a learner, then those inside it, each around one copy of the next; with ending "_", those that learn."""
    while isinstance(learner, OuterClassifier | StreamPipeline):
        yield learner
        is_outer = isinstance(learner, OuterClassifier)
        learner = getattr(learner, f"estimator{ending}") if is_outer else getattr(learner, f"steps{ending}")[-1][1]
    yield learner


def wrapped_as(estimator: object) -> str | None:
    """Return the wrapper and the class inside it, such as "BinaryRelevance(GaussianNB)"; None without a wrapper."""
    wrapper = wrap(estimator)
    return None if wrapper is estimator else f"{type(wrapper).__name__}({type(estimator).__name__})"


def learns_one_class(estimator: Any) -> bool:
    """Return whether `partial_fit` takes one class a row: so say scikit-learn's tags, and the parameter `classes`."""
    if hasattr(estimator, "predict_then_fit") or not hasattr(estimator, "__sklearn_tags__"):
        return False
    if not is_classifier(estimator) or "classes" not in inspect.signature(estimator.partial_fit).parameters:
        return False
    tags = get_tags(estimator)
    return tags.target_tags.single_output and not tags.classifier_tags.multi_label


def _is_river_model(estimator: object) -> bool:
    # Whoever has a River model has imported River, which takes a second.
    river = sys.modules.get("river.base")
    return river is not None and isinstance(estimator, river.Estimator)


def _wrap_river_model(model: Any) -> Any:
    from estimators.interop._river_bridges import model_kind
    from estimators.interop.river import RiverClassifier

    try:
        model_kind(model)
    except ValueError as error:
        raise TypeError(f"estimator: {_in_one_line(str(error))}") from None
    return RiverClassifier(model)


def _require_learner(estimator: object) -> None:
    if isinstance(estimator, str):
        raise TypeError(
            f"{_RULE}: make_strategy({estimator!r}) of estimators makes that of a name. Got {estimator!r} instead."
        )
    if isinstance(estimator, type):
        raise TypeError(f"{_RULE}: an instance, such as {estimator.__name__}(). Got {estimator!r} instead.")
    way_out = _find_way_out(estimator)
    if way_out is not None:
        raise TypeError(f"{_RULE}{way_out}. Got {_in_one_line(repr(estimator))} instead.")


def _find_way_out(estimator: object) -> str | None:
    """Return what to do about an instance that cannot learn from a stream; None if it can."""
    learns = hasattr(estimator, "partial_fit") or hasattr(estimator, "predict_then_fit")
    if not learns:
        return _find_substitute(estimator)
    if not hasattr(estimator, "get_params"):
        return ": derive its class from sklearn.base.BaseEstimator"
    if hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).estimator_type in _NOT_CLASSIFIERS:
        return f" that classifies, and this one is a {get_tags(estimator).estimator_type.replace('_', ' ')}"
    return None


def _find_substitute(estimator: object) -> str:
    if isinstance(estimator, Pipeline):
        return ": StreamPipeline of estimators takes such steps, with BinaryRelevance around its classifier"
    if hasattr(estimator, "fit"):
        return (
            ", and this one only learns whole tables: make_strategy of estimators makes some by name, such as '1NN' "
            "or 'BR_random_forest'"
        )
    return ""


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
