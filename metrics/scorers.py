"""Scorers of the metrics by name, for ``scoring=`` of scikit-learn, which this module needs.

They leave out unknown labels (NaN in Y), and labels outside a mask where metadata routing passes one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metrics import (
    average_precision,
    ba_macro,
    calibration_sums,
    hamming_loss,
    label_counts,
    precision_at_k,
    rmse,
    roc_auc,
)
from metrics._typing import LabelMatrix
from metrics.named import NAMED_METRICS, NamedMetric
from metrics.validation import check_k, check_truth, positive_columns, require_integer

try:
    from sklearn.metrics import make_scorer
except ImportError as error:
    raise ImportError("scikit-learn must be installed for metrics.scorers: pip install scikit-learn.") from error

__all__ = ["get_scorer", "get_scorer_names"]

_METRICS = (
    NamedMetric("ba_macro", "Balanced accuracy", "higher", "", "decisions", ba_macro),
    NamedMetric("rmse", "RMSE", "lower", "", "scores", rmse),
    NamedMetric("precision_at_k", "Precision@k", "higher", "", "best", precision_at_k),
    *(
        NamedMetric(f"{area.__name__}_{average}", "", "higher", "", "scores", partial(area, average=average))
        for area in (roc_auc, average_precision)
        for average in ("macro", "micro", "samples")
    ),
    *NAMED_METRICS.values(),
)
_BY_NAME = {f"{'neg_' * (metric.better == 'lower')}{metric.name}": metric for metric in _METRICS}
# any scores do for a ranking
_NEED_PROBABILITIES = {"rmse", "confident_accuracy_at_k", "brier_macro", "brier_micro", "ece_macro", "ece_micro"}


def get_scorer_names() -> list[str]:
    """List the names that `get_scorer` takes.

    Returns
    -------
    list of str
        Names of metrics. A metric of which lower is better has the prefix ``neg_``, and its scorer the opposite sign.

    Examples
    --------
    >>> from metrics.scorers import get_scorer_names
    >>> [name for name in get_scorer_names() if name.startswith("neg_ham")]
    ['neg_hamming_loss', 'neg_hamming_loss_samples']
    """
    return sorted(_BY_NAME)


def get_scorer(name: str, *, k: int | None = None) -> Any:
    """Make a scorer for `cross_validate`, `GridSearchCV` and other functions of scikit-learn; greater is better.

    Parameters
    ----------
    name : str
        One of `get_scorer_names`.
    k : int, optional
        Number of best-scored labels, for the metrics whose names end in ``at_k``.

    Returns
    -------
    callable
        What `sklearn.metrics.make_scorer` returns: ``scorer(estimator, X, Y)``. Metrics of rankings take
        ``predict_proba``, or ``decision_function`` without it; RMSE, confident accuracy and scores of calibration take
        ``predict_proba``, and all others ``predict``.

    Raises
    ------
    ValueError
        If there is no such name, or `k` is missing, given in vain, or less than 1. A scorer raises it if no row has `k`
        labels that count, or if the probabilities are those of other values than 0 and 1.

    Notes
    -----
    A cell counts if it is known and, where metadata routing passes a mask, if the mask counts it: ask for it with
    ``set_score_request(label_mask=True)``. As in `mlstream.evaluate`, rows with fewer than `k` labels that count are
    left out of metrics at k, and other rows without any of every metric; ratios without a denominator are left out of
    macro averages.

    Probabilities may also be a list with an array for each label, as those of `MultiOutputClassifier` and of forests of
    scikit-learn, also where a label has been learnt with one value only. For a table of one label, predictions may be a
    vector, and probabilities have a column for each of its values.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import PriorLabelsClassifier
    >>> from metrics.scorers import get_scorer
    >>> from sklearn.model_selection import KFold, cross_validate
    >>> X, Y = np.zeros((6, 1)), np.array([[1, 0], [1, np.nan]] * 3)
    >>> scoring = {"f1": get_scorer("f1_micro"), "best": get_scorer("precision_at_k", k=1)}
    >>> scores = cross_validate(PriorLabelsClassifier(), X, Y, cv=KFold(3), scoring=scoring)
    >>> scores["test_f1"].tolist(), scores["test_best"].tolist()
    ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    """
    metric = _find(name)
    if (k is None) == (metric.form == "best"):
        raise ValueError(f"k must be {'an integer' if k is None else 'None'} for {name!r}. Got {k!r} instead.")
    sign = -1 if metric.better == "lower" else 1
    return _LabelScorer(_Score(metric), sign, {} if k is None else {"k": require_integer(k, "k", 1)}, _response(metric))


def _find(name: str) -> NamedMetric:
    if isinstance(name, str) and name in _BY_NAME:
        return _BY_NAME[name]
    alike = [known for known in (f"neg_{name}", f"{name}_macro") if known in _BY_NAME]
    near = alike or get_close_matches(str(name), _BY_NAME, 1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise ValueError(f"name must be among {', '.join(get_scorer_names())}. Got {name!r} instead{hint}")


def _response(metric: NamedMetric) -> str | tuple[str, ...]:
    if metric.form in ("counts", "decisions"):
        return "predict"
    return "predict_proba" if metric.name in _NEED_PROBABILITIES else ("predict_proba", "decision_function")


@dataclass(frozen=True)
class _Score:
    """A metric as one function of truth, decisions or scores, and mask."""

    metric: NamedMetric

    @property
    def __name__(self) -> str:
        return self.metric.name

    def __call__(
        self, y_true: LabelMatrix, y_pred: LabelMatrix, *, k: int = 1, label_mask: ArrayLike | None = None
    ) -> float:
        if self.metric.form == "counts":
            return float(self.metric.function(label_counts(y_true, y_pred, label_mask=label_mask)))
        if self.metric.form == "calibration":
            return float(self.metric.function(calibration_sums(y_true, np.asarray(y_pred), label_mask=label_mask)))
        if self.metric.form != "best":
            return float(self.metric.function(y_true, y_pred, label_mask=label_mask))
        truth, counted = check_truth(y_true, label_mask)
        k = check_k(k, truth.shape[1])
        mask = None if counted is None else np.broadcast_to(counted.view(np.bool_), truth.shape)
        if mask is not None:
            n_counted = np.count_nonzero(mask, axis=1)
            rows = n_counted >= k
            if not rows.any():
                got = f"Got at most {n_counted.max()} in a row instead."
                raise ValueError(f"y_true must hold a row with at least k = {k} labels that are known and count. {got}")
            truth, y_pred, mask = truth[rows], np.asarray(y_pred)[rows], mask[rows]
        return float(self.metric.function(truth, y_pred, k, label_mask=mask))


# scikit-learn has no public name for the class
class _LabelScorer(type(make_scorer(hamming_loss))):  # type: ignore[misc]
    """A scorer of scikit-learn that reads what multi-label classifiers return in any form, a column for each label."""

    def _score(
        self, method_caller: Callable[..., Any], estimator: Any, X: object, y_true: LabelMatrix, **metadata: object
    ) -> float:
        if len(np.shape(y_true)) == 1:
            raise ValueError(
                "y must be a table of labels, of shape (n_samples, n_labels). Got one class a row, which "
                "scikit-learn's own scorers score, such as 'f1_macro'."
            )
        caller = partial(_respond, method_caller, np.shape(y_true)[1:] == (1,))
        return float(super()._score(caller, estimator, X, y_true, **metadata))


def _respond(
    method_caller: Callable[..., Any], is_one_label: bool, estimator: Any, method: str, X: object, **options: object
) -> Any:
    """Return decisions or scores, a column for each label, where scikit-learn returns lists, vectors and classes."""
    classes: Any = getattr(estimator, "classes_", None)
    if method != "predict_proba" or not (isinstance(classes, list) or np.ndim(classes) == 1):
        response = method_caller(estimator, method, X, **options)
        return np.reshape(response, (-1, 1)) if is_one_label and np.ndim(response) == 1 else response
    proba = estimator.predict_proba(X)
    if isinstance(proba, list):
        return positive_columns(proba, classes)
    # classes of several labels in an array are the numbers of the labels
    return positive_columns([proba], [classes]) if is_one_label and np.ndim(classes) == 1 else proba
