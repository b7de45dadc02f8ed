"""Laws of learning from a stream, as a generator of (estimator, check), beyond scikit-learn's own checks."""

import inspect
import pickle
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from estimators._typing import StreamEstimator
from estimators.checks._check_data import (
    Rows,
    failed_first_call,
    fresh,
    learn,
    learners_inside,
    predictions,
    require,
    require_error,
    require_loop_however_cut,
    require_same,
    same,
    spoilt,
    stream,
    with_fragile_parts,
)
from estimators.checks._label_checks import (
    check_float_labels_are_integers,
    check_grown_is_saved,
    check_new_labels_were_unknown,
    check_refused_new_labels_leave_nothing,
    check_unknown_is_masked,
    check_unknown_is_neither_value,
    check_unknown_labels_in_the_loop,
    check_unknown_rows_change_nothing,
)
from estimators.checks._one_row_checks import (
    check_learning_one_row_is_a_chunk_of_one,
    check_one_row_in_other_forms,
    check_one_row_is_a_chunk_of_one,
    check_one_row_mixes_with_chunks,
    check_wrong_row_changes_nothing,
)
from estimators.contract.base import StreamClassifier
from estimators.contract.new_labels import can_grow
from estimators.meta.label_budget import LabelBudget
from estimators.meta.label_combination import LabelCombination
from estimators.pipeline import StreamPipeline

Check = Callable[[Any], None]


def stream_checks(
    estimator: StreamEstimator, *, expected_failed_checks: Mapping[str, str] | None = None
) -> Iterator[tuple[StreamEstimator, Check]]:
    """Yield every law of ``partial_fit`` that applies to an estimator, as (estimator, check).

    Laws about ``predict_then_fit``, ``label_mask`` and CSR input are yielded only for estimators that have the method,
    the parameter or the tag. Laws about unknown labels, NaN in Y, are yielded for estimators with ``predict_then_fit``,
    those about one row per call for estimators with ``predict_then_fit_one``, and those about labels that appear for
    estimators that can be made with ``on_new_labels="grow"``.

    Parameters
    ----------
    estimator : estimator instance
        Any multi-label classifier with ``partial_fit``; it is cloned, never changed.
    expected_failed_checks : mapping of str to str, optional
        Names of laws that cannot hold for this estimator, each with the reason; they are not yielded.

    Yields
    ------
    estimator : estimator instance
        The estimator passed.
    check : callable
        ``check(estimator)`` raises AssertionError that names the broken law.

    Raises
    ------
    TypeError
        If the estimator does not learn from streams.
    ValueError
        If `expected_failed_checks` names anything that is not a law.

    Examples
    --------
    >>> from estimators.checks import stream_checks
    >>> from estimators import OnlineNeuralClassifier
    >>> for estimator, check in stream_checks(OnlineNeuralClassifier(random_state=0)):
    ...     check(estimator)
    """
    if not hasattr(estimator, "partial_fit"):
        raise TypeError(f"estimator must have partial_fit, to learn from a stream. Got {type(estimator).__name__}.")
    unlawful = set(expected_failed_checks or {})
    unknown = unlawful - {law.__name__ for law in LAWS}
    if unknown:
        raise ValueError(f"expected_failed_checks must name laws of LAWS. Got {sorted(unknown)} instead.")
    for law, applies in LAWS.items():
        if law.__name__ not in unlawful and applies(estimator):
            yield estimator, partial(_run, law)


def expected_failed_checks(estimator: StreamEstimator) -> dict[str, str]:
    """Return the checks of scikit-learn that an estimator of this package cannot pass, each with the reason.

    Parameters
    ----------
    estimator : estimator instance
        A learner of this package.

    Returns
    -------
    dict of str to str
        To be passed to `sklearn.utils.estimator_checks.check_estimator` under the same name.

    Examples
    --------
    >>> from estimators import OnlineLogisticRegression, expected_failed_checks
    >>> from sklearn.utils.estimator_checks import check_estimator
    >>> learner = OnlineLogisticRegression()
    >>> results = check_estimator(learner, expected_failed_checks=expected_failed_checks(learner), on_skip=None)
    >>> sorted({result["status"] for result in results if result["check_name"] != "check_array_api_input"})
    ['passed', 'xfail']
    """
    failing = {}
    if has_fit_parameter(estimator, "sample_weight"):
        failing = dict.fromkeys(
            ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
            "a row of weight two is one step, twice as long, or one place in a window or a sample: not two rows",
        )
    learner = estimator.steps[-1][1] if isinstance(estimator, StreamPipeline) else estimator
    if isinstance(learner, LabelBudget):
        failing["check_classifiers_train"] = "it learns a share of the labels only"
    if isinstance(learner, LabelCombination):
        failing["check_classifier_multioutput"] = "the best set of labels need not agree with the marginals"
    if isinstance(estimator, StreamClassifier) and hasattr(estimator, "decision_function"):
        failing["check_classifier_multioutput"] = (
            "it looks up decided log-odds in `classes_`, which for scorers has 0 and 1 by label"
        )
    return failing


# ----------------------------------------------------------------------- laws
def check_accumulates_over_calls(estimator: StreamEstimator) -> None:
    """Check that learning A then B is not learning B alone."""
    A, B, test = stream().parts(40, 40)
    both = learn(learn(fresh(estimator), A), B)
    require(not same(predictions(both, test), predictions(learn(fresh(estimator), B), test)), "A is forgotten")


def check_fit_forgets(estimator: StreamEstimator) -> None:
    """Check that ``fit`` on B gives the same estimator whatever was learnt before."""
    A, B, test = stream().parts(40, 40)
    again = learn(fresh(estimator), A).fit(B.X, B.Y)
    require(same(predictions(again, test), predictions(fresh(estimator).fit(B.X, B.Y), test)), "fit remembers")


def check_width_is_fixed(estimator: StreamEstimator) -> None:
    """Check that more labels than at the first call, or fewer features, are errors."""
    A, B, _ = stream().parts(40, 40)
    learnt = learn(fresh(estimator), A)
    require_error(lambda: learnt.partial_fit(B.X, np.hstack([B.Y, B.Y[:, :1]])), "one more label is accepted")
    require_error(lambda: learnt.partial_fit(B.X[:, :-1], B.Y), "one feature less is accepted")


def check_error_changes_nothing(estimator: StreamEstimator) -> None:
    """Check that a call that fails leaves the estimator as it was."""
    A, B, test = stream().parts(40, 40)
    learnt = learn(fresh(estimator), A)
    before = predictions(learnt, test)
    spoilt = B.X.copy()
    spoilt[-1, 0] = np.nan
    require_error(lambda: learnt.partial_fit(spoilt, B.Y), "NaN in X is accepted")
    require_error(lambda: learnt.partial_fit(B.X, B.Y[:-1]), "fewer rows in Y than in X are accepted")
    require(same(before, predictions(learnt, test)), "a failed call changed the predictions")
    require_error(
        lambda: predictions(failed_first_call(estimator, spoilt, B.Y), test),
        "an estimator is fitted after a failed first call",
    )


def check_failing_part_changes_nothing(estimator: StreamEstimator) -> None:
    """Check that a chunk of which an estimator inside refuses one row leaves everything as it was."""
    A, B, test = stream().parts(40, 40)
    bad = spoilt(B)
    for method in ("partial_fit", "predict_then_fit"):
        try:
            learnt, twin = (learn(with_fragile_parts(estimator), A) for _ in range(2))
        except TypeError:
            return  # it accepts one class of estimators only, which cannot be replaced
        try:
            getattr(learnt, method, learnt.partial_fit)(bad.X, bad.Y)
        except ValueError:
            require(
                same(predictions(twin, test), predictions(learnt, test)),
                f"{method} changed what is predicted, and failed",
            )
            same_later = same(predictions(learn(twin, B), test), predictions(learn(learnt, B), test))
            require(same_later, f"{method} changed what is learnt later, and failed")


def check_cuts_do_not_matter(estimator: StreamEstimator) -> None:
    """Check that one chunk, one-row chunks and uneven chunks give the same estimator, to the last bit."""
    A, _, test = stream().parts(60, 0)
    whole = predictions(learn(fresh(estimator), A), test)
    for size in (1, 7):
        require(
            same(whole, predictions(learn(fresh(estimator), A, size), test)),
            f"chunks of {size} rows give another estimator",
        )


def check_chunk_without_a_positive(estimator: StreamEstimator) -> None:
    """Check that a chunk where no label occurs, even the first, is learnt like any other."""
    A, B, test = stream().parts(20, 40)
    empty = A._replace(Y=np.zeros_like(A.Y))
    learnt = learn(learn(fresh(estimator), empty), B)
    require(predictions(learnt, test)[0].shape == test.Y.shape, "predictions have another width than the labels")
    decided = predictions(learn(learnt, empty), test)[0]
    require(bool(np.isin(decided, (0, 1)).all()), "predictions are not 0/1 after a chunk without a positive")


def check_predict_changes_nothing(estimator: StreamEstimator) -> None:
    """Check that an estimator that has predicted continues exactly like its twin that has not."""
    A, B, test = stream().parts(40, 40)
    predicting, twin = learn(fresh(estimator), A), learn(fresh(estimator), A)
    first = predictions(predicting, test)
    require_same(first, predictions(predicting, test), "the second prediction differs from the first")
    after = predictions(learn(predicting, B), test), predictions(learn(twin, B), test)
    require_same(*after, "predicting changes what is learnt")


def check_one_call_equals_two(estimator: StreamClassifier) -> None:
    """Check that ``predict_with_proba`` returns the bits of ``predict`` and of ``predict_proba``."""
    A, _, test = stream().parts(60, 0)
    learnt = learn(fresh(estimator), A)
    both = learnt.predict_with_proba(test.X)
    require_same(predictions(learnt, test), both, "one call for both differs from a call for each")


def check_same_seed_same_bits(estimator: StreamEstimator) -> None:
    """Check that two clones that learn the same rows give the same bits."""
    A, _, test = stream().parts(60, 0)
    one, two = (predictions(learn(fresh(estimator), A), test) for _ in range(2))
    require_same(one, two, "two clones differ")


def check_pickle_continues_exactly(estimator: StreamEstimator) -> None:
    """Check that an estimator saved mid-stream and loaded continues bit for bit."""
    A, B, test = stream().parts(40, 40)
    learnt = learn(fresh(estimator), A)
    loaded = pickle.loads(pickle.dumps(learnt))  # noqa: S301 - our own bytes
    require(
        same(predictions(learn(learnt, B), test), predictions(learn(loaded, B), test)),
        "the loaded estimator continues differently",
    )


def check_memory_is_bounded(estimator: StreamEstimator) -> None:
    """Check that twice the rows of a stationary stream do not take twice the memory."""
    A, _, _ = stream().parts(100, 0)
    learnt, sizes = fresh(estimator), []
    for chunk in range(20):
        learn(learnt, A)
        if chunk in (9, 19):
            sizes.append(getattr(learnt, "memory_bytes_", None) or len(pickle.dumps(learnt)))
    require(sizes[1] < 1.5 * sizes[0], f"{sizes[0]} bytes after 1,000 rows, {sizes[1]} after 2,000")


def check_csr_equals_dense(estimator: StreamEstimator) -> None:
    """Check that CSR rows give the same estimator as dense rows, up to the order of additions."""
    A, _, test = stream().parts(60, 0)
    dense = predictions(learn(fresh(estimator), A), test)
    learnt = learn(fresh(estimator), A._replace(X=sparse.csr_array(A.X)))
    for one, two in zip(dense, predictions(learnt, test._replace(X=sparse.csr_array(test.X))), strict=True):
        require(bool(np.allclose(one, two, rtol=1e-4, atol=1e-5)), "CSR rows give another estimator than dense rows")


def check_predict_then_fit_is_the_loop(estimator: StreamClassifier) -> None:
    """Check that ``predict_then_fit``, however cut, equals predicting and learning row by row."""
    A, B, test = stream().parts(20, 40)
    require_loop_however_cut(estimator, A, B, test)


def check_no_row_sees_its_labels(estimator: StreamClassifier) -> None:
    """Check that ``predict_then_fit`` predicts a row before it learns it, whatever labels it and later rows have."""
    A, B, _ = stream().parts(20, 40)
    truth = learn(fresh(estimator), A).predict_then_fit(B.X, B.Y)
    for row in (0, 13, 39):
        Y = B.Y.copy()
        Y[row:] = 1 - Y[row:]
        predicted = learn(fresh(estimator), A).predict_then_fit(B.X, Y)
        differs = [(one != other)[: row + 1].any(axis=-1) for one, other in zip(truth, predicted, strict=True)]
        seen = np.flatnonzero(np.logical_or.reduce(differs))
        require(not len(seen), f"with other labels from row {row} on, row {seen[:1]} is predicted differently")


def check_cold_start(estimator: StreamClassifier) -> None:
    """Check that only ``predict_then_fit`` predicts before any row is learnt: its first row."""
    A, _, test = stream().parts(20, 0)
    require_error(lambda: fresh(estimator).predict(test.X), "an estimator that has learnt nothing predicts")
    decided, proba = fresh(estimator).predict_then_fit(A.X[:1], A.Y[:1])
    require(decided.shape == (1, A.Y.shape[1]) == proba.shape, "the prediction of the first row has the wrong width")


def check_mask_is_honoured(estimator: StreamClassifier) -> None:
    """Check that a learner that uses the task ignores labels outside the mask, and that others learn zeros there."""
    A, _, test = stream().parts(60, 0)
    mask = np.arange(A.Y.shape[1]) != 1
    uses_task = estimator.uses_task
    other = A.Y.copy()
    other[:, 1] = 1 - other[:, 1] if uses_task else other[:, 1]
    one = fresh(estimator).partial_fit(A.X, A.Y, label_mask=mask)
    two = fresh(estimator).partial_fit(A.X, other, label_mask=mask if uses_task else None)
    parts = predictions(one, test), predictions(two, test)
    require_same(*parts, "the mask has another effect than `uses_task` declares")


def check_weights(estimator: StreamClassifier) -> None:
    """Check that rows of weight one are learnt as without weights, and rows of weight zero are not learnt."""
    A, B, test = stream().parts(40, 40)
    ones, first_only = np.ones(40), (np.arange(40) == 0).astype(float)
    for weight, equal in ((ones, B), (first_only, Rows(B.X[:1], B.Y[:1]))):
        learnt = learn(fresh(estimator), A).partial_fit(B.X, B.Y, sample_weight=weight)
        expected = learn(learn(fresh(estimator), A), equal)
        require(
            same(predictions(expected, test), predictions(learnt, test)),
            f"weights of {weight[-1]:.0f} have the wrong effect",
        )


def _always(_: object) -> bool:
    return True


def _has(method: str) -> Callable[[object], bool]:
    return lambda estimator: hasattr(estimator, method)


def _takes_mask(estimator: StreamEstimator) -> bool:
    return hasattr(estimator, "uses_task") and _has_parameter(estimator, "label_mask")


def _has_parameter(estimator: StreamEstimator, name: str) -> bool:
    return name in inspect.signature(estimator.partial_fit).parameters


LAWS: dict[Check, Callable[[Any], bool]] = {
    check_accumulates_over_calls: _always,
    check_fit_forgets: _always,
    check_width_is_fixed: _always,
    check_error_changes_nothing: _always,
    check_failing_part_changes_nothing: lambda estimator: bool(learners_inside(estimator)),
    check_cuts_do_not_matter: _always,
    check_chunk_without_a_positive: _always,
    check_predict_changes_nothing: _always,
    check_one_call_equals_two: _has("predict_with_proba"),
    check_same_seed_same_bits: _always,
    check_pickle_continues_exactly: _always,
    check_memory_is_bounded: _always,
    check_csr_equals_dense: lambda estimator: bool(get_tags(estimator).input_tags.sparse),
    check_predict_then_fit_is_the_loop: _has("predict_then_fit"),
    check_no_row_sees_its_labels: _has("predict_then_fit"),
    check_cold_start: _has("predict_then_fit"),
    check_one_row_is_a_chunk_of_one: _has("predict_then_fit_one"),
    check_learning_one_row_is_a_chunk_of_one: _has("partial_fit_one"),
    check_one_row_mixes_with_chunks: _has("predict_then_fit_one"),
    check_one_row_in_other_forms: _has("predict_then_fit_one"),
    check_wrong_row_changes_nothing: _has("predict_then_fit_one"),
    check_mask_is_honoured: _takes_mask,
    check_weights: lambda estimator: _has_parameter(estimator, "sample_weight"),
    check_float_labels_are_integers: _always,
    check_unknown_rows_change_nothing: _has("predict_then_fit"),
    check_unknown_labels_in_the_loop: _has("predict_then_fit"),
    check_unknown_is_neither_value: _has("predict_then_fit"),
    check_unknown_is_masked: lambda estimator: _takes_mask(estimator) and bool(estimator.uses_task),
    check_new_labels_were_unknown: can_grow,
    check_refused_new_labels_leave_nothing: can_grow,
    check_grown_is_saved: can_grow,
}


def _run(law: Check, estimator: StreamEstimator) -> None:
    try:
        law(estimator)
    except Exception as error:
        # A learner may fail in any way; that, too, breaks the law.
        got = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
        raise AssertionError(
            f"{type(estimator).__name__} breaks {law.__name__}: {got}. The law: {inspect.getdoc(law)}"
        ) from error
