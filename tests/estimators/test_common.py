"""Every public learner, in every variant of variants.py, keeps every law: scikit-learn's, of streams, and of the house.

One test runs all laws of one variant, and reports every one that is broken.
"""

import pickle
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from inspect import cleandoc, isclass, signature
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
import pytest
from river.naive_bayes import GaussianNB
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import has_fit_parameter

import estimators
from estimators import StreamClassifier
from estimators.checks import Check, stream_checks
from estimators.checks._check_data import fresh, learn, predictions, stream
from tests.estimators import learners
from tests.estimators.variants import BATCHES, EXPECTED, FAST, LAWS_ONLY, LEFT_OUT, OTHERS
from tests.loops import check_all

PATIENCE_S = 300
IN_STREAMS = FAST | OTHERS
# skips of scikit-learn's checks that are no loss
SKIPS = {
    "check_array_api_input": "for arrays of other libraries; ours take NumPy and SciPy",
    "check_classifiers_multilabel_output_format_decision_function": "for learners with log-odds",
}
OF_THE_BASE = {"classes_", "n_labels_", "n_features_in_", "memory_bytes_"}
A, B, TEST = stream().parts(40, 40)


class Law(NamedTuple):
    """A law by name, and a call that raises where it is broken."""

    name: str
    check: Any


def _of_scikit_learn(learner: Any, expected: dict[str, str] | None = None) -> Iterator[Law]:
    results = check_estimator(clone(learner), on_fail=None, on_skip=None, expected_failed_checks=expected)
    assert results
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert bool(failed) == bool(expected), "no check fails that is expected to"
    for result in results:
        skipped = result["status"] == "skipped" and result["check_name"] in SKIPS
        yield Law(f"scikit-learn's {result['check_name']}", partial(_passed, result, skipped))


def _passed(result: dict[str, Any], skipped: bool) -> None:
    if result["status"] not in {"passed", "xfail"} and not skipped:
        raise result["exception"]


def _of_streams(learner: Any, left_out: dict[str, str]) -> Iterator[Law]:
    for one, check in stream_checks(learner, expected_failed_checks=left_out):
        yield Law(check.args[0].__name__, partial(check, one))
    yield from (Law(check.__name__, partial(check, learner)) for check in OF_THE_HOUSE)


def check_public_attributes_are_documented(learner: Any) -> None:
    """Check that what bears scikit-learn's mark of learnt attributes is documented, and the other way round."""
    learnt = learn(fresh(learner), A)
    public = {name for name in vars(learnt) if name.endswith("_") and not name.startswith("_")}
    documented = set(re.findall(r"^(\w+_) : ", cleandoc(type(learner).__doc__), flags=re.MULTILINE))
    assert public - OF_THE_BASE <= documented
    assert all(hasattr(learnt, name) for name in documented)


def check_all_that_learning_sets_is_listed(learner: Any) -> None:
    """Check that learning sets no attribute that is not among those which a refused call gives back."""
    learnt = learn(learn(fresh(learner), A), B)
    if not isinstance(learnt, StreamClassifier):
        return  # it stands for the learners inside, which list theirs
    assert set(vars(learnt)) - set(fresh(learner).get_params(deep=False)) <= set(learnt._learnt_names)


def check_fit_leaves_out_rows_of_weight_zero(learner: Any) -> None:
    """Check that `fit` learns rows of weight one as without weights, and no rows of weight zero.

    The weights are read-only, as those of every Series of pandas are.
    """
    if has_fit_parameter(learner, "sample_weight"):
        kept = np.arange(len(A.X)) % 3 > 0
        weight = np.frombuffer(kept.astype(np.float64).tobytes())
        weighted, others = (
            fresh(learner).fit(A.X, A.Y, sample_weight=weight),
            fresh(learner).fit(A.X[kept], A.Y[kept]),
        )
        for one, two in zip(predictions(weighted, TEST), predictions(others, TEST), strict=True):
            np.testing.assert_array_equal(one, two)


def check_a_clone_reads_the_same(learner: Any) -> None:
    """Check that a clone has the same text."""
    assert repr(clone(learner)) == repr(learner)


OF_THE_HOUSE: tuple[Check, ...] = (
    check_public_attributes_are_documented,
    check_all_that_learning_sets_is_listed,
    check_fit_leaves_out_rows_of_weight_zero,
    check_a_clone_reads_the_same,
)


def _ready(learner: Any) -> Any:
    """Return the learner; on a device, torch uses one thread: several wait for each other, busily, and may round."""
    if getattr(learner, "device", None):
        pytest.importorskip("torch").set_num_threads(1)
    return learner


def _laws(name: str) -> Iterator[Law]:
    if name in BATCHES:
        yield from _of_scikit_learn(BATCHES[name])
        return
    learner = _ready(IN_STREAMS[name])
    if name not in LAWS_ONLY:
        yield from _of_scikit_learn(learner, EXPECTED.get(name))
    yield from _of_streams(learner, LEFT_OUT.get(name, {}))


def _break_no(laws: Iterator[Law]) -> None:
    check_all(laws, lambda law: law.check(), lambda law: law.name)


@pytest.mark.parametrize("name", FAST)
def test_a_learner_keeps_every_law(name):
    _break_no(_laws(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OTHERS, *BATCHES])
def test_another_variant_keeps_every_law(name):
    _break_no(_laws(name))


LOGISTIC = estimators.OnlineLogisticRegression()
PARTS = {
    "PrequentialStack": [("mean", estimators.MeanLabelsClassifier()), ("learn", LOGISTIC)],
    "RiverClassifier": GaussianNB(),
    "StreamPipeline": [("scale", StandardScaler()), ("learn", LOGISTIC)],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", sorted(type(one).__name__ for one in FAST.values() if hasattr(estimators, type(one).__name__))
)
def test_with_its_defaults_a_learner_fails_the_expected_checks_of_scikit_learn_only(name):
    kind = getattr(estimators, name)
    required = [part for part in signature(kind).parameters.values() if part.default is part.empty]
    learner = kind(*(PARTS.get(name, LOGISTIC) for _ in required))
    expected = estimators.expected_failed_checks(learner)
    check_estimator(learner, on_skip=None, expected_failed_checks=expected)


# --------------------------------------------------------- in another process
def _go_on(saved: list[tuple[str, bytes, bytes]]) -> list[tuple[str, Any, Any]]:
    """Return what a learner predicts that goes on from a file, and what one predicts that learns all of it here."""
    left = []
    for name, halfway, unlearnt in saved:
        first, second = (_ready(pickle.loads(part)) for part in (halfway, unlearnt))  # noqa: S301 - our own bytes
        left.append((name, predictions(learn(first, B), TEST), predictions(learn(learn(second, A), B), TEST)))
    return left


def _same_elsewhere(variants: dict[str, Any]) -> None:
    begun = {name: learn(_ready(fresh(learner)), A) for name, learner in variants.items()}
    saved = [(name, pickle.dumps(one), pickle.dumps(fresh(variants[name]))) for name, one in begun.items()]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = pool.submit(_go_on, saved).result(PATIENCE_S)

    def agree(case: tuple[str, Any, Any]) -> None:
        name, *others = case
        here = predictions(learn(begun[name], B), TEST)
        for what, there in zip(("goes on", "learns"), others, strict=True):
            for one, two in zip(here, there, strict=True):
                np.testing.assert_array_equal(one, two, f"{name} {what} differently in another process")

    check_all(found, agree, lambda case: case[0])


def test_learners_go_on_in_another_process_to_the_last_bit():
    _same_elsewhere(FAST)


@pytest.mark.slow
def test_other_variants_go_on_in_another_process_to_the_last_bit():
    _same_elsewhere(OTHERS)


# ------------------------------------------------------------- of the tables
def test_every_public_learner_has_a_fast_variant():
    public = {one for name in estimators.__all__ if isclass(one := getattr(estimators, name)) and hasattr(one, "fit")}
    of_streams = {one for one in public if hasattr(one, "partial_fit")} - {StreamClassifier}
    fast = {name: type(one) for name, one in FAST.items()}
    assert set(fast.values()) - {learners.Logistic} == of_streams
    assert all(name == kind.__name__ for name, kind in fast.items() if kind is not learners.Logistic)
    assert public - of_streams - {StreamClassifier} == {type(one) for one in BATCHES.values()} - of_streams


def test_names_of_variants_are_told_apart():
    assert len(IN_STREAMS | BATCHES) == len(FAST) + len(OTHERS) + len(BATCHES)
    assert set(LEFT_OUT) | set(LAWS_ONLY) <= set(IN_STREAMS)


class Broken(learners.Logistic):
    """Forgets at every call, keeps its rows in an attribute that it does not name, and ignores the mask."""

    uses_task = True

    def _learn(self, X, Y, mask, weight):
        self._start()
        self.rows_ = [*getattr(self, "rows_", []), X]
        super()._learn(X, Y, None, weight)


def test_a_broken_learner_breaks_several_laws_at_once():
    with pytest.raises(AssertionError) as caught:
        _break_no(_of_streams(Broken(), {}))
    broken = {line.split()[1].rstrip(":") for line in str(caught.value).splitlines() if line.startswith("--- ")}
    assert broken >= {
        "check_accumulates_over_calls",
        "check_memory_is_bounded",
        "check_mask_is_honoured",
        "check_public_attributes_are_documented",
    }


class Unfit(learners.Logistic):
    """Overwrites its parameter, and returns nothing."""

    def fit(self, X, Y, **options):
        super().fit(X, Y, **options)
        self.learning_rate = 2.0


def test_checks_of_scikit_learn_that_fail_are_reported_together():
    with pytest.raises(AssertionError) as caught:
        _break_no(_of_scikit_learn(Unfit()))
    for name in ("check_estimators_fit_returns_self", "check_estimators_overwrite_params"):
        assert f"--- scikit-learn's {name}: " in str(caught.value)


def test_a_skip_that_is_not_allowed_fails():
    result = {"status": "skipped", "check_name": "check_pandas", "exception": pytest.skip.Exception("no pandas")}
    with pytest.raises(AssertionError, match=r"1 of 1 cases failed(.|\n)*no pandas"):
        _break_no(iter([Law("a law", partial(_passed, result, skipped=False))]))
