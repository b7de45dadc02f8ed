"""A learner gets good, odd and wrong calls, and must end as its twin that only got those that were taken."""

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from estimators import DivergedError
from tests.estimators.instances import made
from tests.soak.hostile import tables
from tests.soak.hostile.calls import PREDICTS, Call, Fate, Target, any_call, draw_target, good_call

_N_CALLS = 12
# what scikit-learn's users know from its own estimators
_KNOWN_WARNINGS = (
    "feature names",
    "column-vector y was passed",
    "did not converge",
    "number of unique classes",
    "out-of-bag vote",
)
Step = Callable[[str], Any]


def run_calls(step: Step, name: str, seed: list[int]) -> Counter[str]:
    """Make drawn calls of a learner, and check every law after each of them."""
    rng = np.random.default_rng(seed)
    learner = made(name)
    shrink(learner, rng)
    target = draw_target(rng, "both" if get_tags(learner).classifier_tags.multi_label else "classes")
    sequence = _Sequence(step, learner, target, rng)
    sequence.call_before_learning()
    for _ in range(_N_CALLS):
        sequence.call(any_call(learner, target, rng))
    sequence.compare_with_twin()
    return sequence.counts


def shrink(learner: Any, rng: tables.Draw) -> None:
    """Half of the time, make windows and memories small enough to be full, and trees eager to split."""
    if rng.random() < 0.5:
        small = {"grace_period": 10, "delta": 0.3, "window": 9, "size": 12, "chunk_size": 11, "context_size": 25,
                 "period": 8, "min_window": 5, "max_window": 30, "memory": 10, "drift_window_threshold": 10,
                 "buffer_size": 5, "reservoir_size": 9, "n_models": 2, "n_members": 2}  # fmt: skip
        found = {name: small[end] for name in learner.get_params() if (end := name.rpartition("__")[2]) in small}
        numbers = {name: one for name, one in found.items() if isinstance(learner.get_params()[name], int | float)}
        learner.set_params(**numbers)


class _Sequence:
    """The calls of one learner, what it took, and what it predicted last."""

    def __init__(self, step: Step, learner: Any, target: Target, rng: tables.Draw) -> None:
        self.step, self.learner, self.target, self.rng = step, learner, target, rng
        self.blank = deepcopy(learner)
        self.taken: list[Call] = []
        self.counts: Counter[str] = Counter()
        self.probe = tables.rows_of_features(5, rng)

    def call_before_learning(self) -> None:
        """Predict too early, then learn: by a good call or, sometimes, by any."""
        self.step("predict before anything is learnt")
        for method in PREDICTS:
            if hasattr(self.learner, method):
                expect_error(lambda method=method: getattr(self.learner, method)(self.probe), NotFittedError)
        if self.rng.random() < 0.3:
            self.call(any_call(self.learner, self.target, self.rng))
        self.call(self._good("partial_fit"))

    def call(self, call: Call) -> None:
        """Make a call; check what it returns, or that it has changed nothing."""
        self.step(str(call))
        known, before = hasattr(self.learner, "n_features_in_"), self._predictions()
        given = deepcopy((call.arguments, call.options))
        try:
            returned = quietly(lambda: call.on(self.learner))
        except (ValueError, TypeError) as error:
            self._check_refused(call, error, before)
        else:
            self._check_taken(call, returned, restarts=call.starts_again or not known)
        if not same_values(given, (call.arguments, call.options)):
            raise AssertionError("the arguments were changed")

    def compare_with_twin(self) -> None:
        """Go on with the learner and with one that got the calls that were taken only."""
        self.step("its twin")
        twin = deepcopy(self.blank)
        for call in self.taken:
            quietly(lambda call=call: call.on(twin))
        last = self._good("partial_fit")
        for one in (self.learner, twin):
            quietly(lambda one=one: last.on(one))
        self._compare(quietly(lambda: predictions(twin, self.probe)), "refused calls changed what is learnt later")
        self.counts["hostile calls: sequences that end as their twin"] += 1

    # --------------------------------------------------------------- outcomes
    def _check_taken(self, call: Call, returned: Any, *, restarts: bool) -> None:
        if call.fate is Fate.REFUSED:
            raise AssertionError("was not refused")
        self.counts["hostile calls: taken" if not call.is_good else "good calls between them"] += 1
        check_predicted(call.method, returned)
        if call.method not in PREDICTS:
            self.taken.append(call)
        if restarts and not (call.is_good and self.target.of_labels):
            # the form may be another now, with other widths or fewer classes
            self._start_again()
        elif not call.changed:
            self._predictions()

    def _check_refused(self, call: Call, error: Exception, before: Any) -> None:
        self.counts["hostile calls: refused"] += 1
        check_message(error)
        if isinstance(error, DivergedError) and self._is_marked():
            self.counts["hostile calls: diverged"] += 1
            self._start_again()
            return
        if call.is_good and before is not None:
            raise AssertionError(f"a good call was refused: {error}")
        self._compare(before, "a refused call changed what is predicted")

    def _start_again(self) -> None:
        call = self._good("fit")
        self.step("fit again")
        quietly(lambda: call.on(self.learner))
        self.taken.append(call)

    def _is_marked(self) -> bool:
        if not hasattr(self.learner, "n_features_in_"):
            return False
        try:
            quietly(lambda: self.learner.predict(self.probe))
        except DivergedError as error:
            check_message(error)
            expect_error(lambda: self._good("partial_fit").on(self.learner), DivergedError)
            return True
        return False

    def _predictions(self) -> Any:
        """Return what is predicted for the rows of the probe, or None before anything is learnt."""
        try:
            return quietly(lambda: predictions(self.learner, self.probe))
        except NotFittedError:
            return None

    def _compare(self, expected: Any, otherwise: str) -> None:
        got = self._predictions()
        if (got is None) != (expected is None) or (got is not None and not same_values(got, expected)):
            raise AssertionError(otherwise)

    def _good(self, method: str) -> Call:
        return good_call(method if hasattr(self.learner, method) else "fit", self.target, self.rng, 20)


def predictions(learner: Any, X: Any) -> Any:
    """Return what is predicted, after a look at it."""
    predicted = learner.predict(X), learner.predict_proba(X)
    check_predicted("predict_with_proba", predicted)
    return predicted


def check_predicted(method: str, returned: Any) -> None:
    """Require finite probabilities between 0 and 1 of a method that returns some."""
    if method not in ("predict_proba", "predict_with_proba", "predict_then_fit", "predict_then_fit_one"):
        return
    proba = np.asarray(returned[-1] if isinstance(returned, tuple) else returned)
    if not np.isfinite(proba).all():
        raise AssertionError("a probability is NaN or infinite")
    if not ((proba >= 0) & (proba <= 1)).all():
        raise AssertionError("a probability is outside of [0, 1]")


def check_message(error: Exception) -> None:
    """Require one line that says something."""
    if "\n" in str(error) or not str(error).strip():
        raise AssertionError(f"the message must be one line: {error!r}")


def expect_error(call: Callable[[], Any], kind: type[Exception]) -> None:
    """Require an error of this kind, of one line."""
    try:
        call()
    except kind as error:
        check_message(error)
        return
    raise AssertionError(f"{kind.__name__} was not raised")


def quietly(call: Callable[[], Any]) -> Any:
    """Return what the call returns; fail on warnings that are not documented, nor those of a learner inside."""
    caught: list[str] = []

    def show(message: Any, category: type[Warning], filename: str, line: int, *_: Any) -> None:
        if not any(known in str(message) for known in _KNOWN_WARNINGS) and not _is_by_others():
            caught.append(f"{category.__name__}: {message} ({filename}:{line})")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        returned = call()
    if caught:
        raise AssertionError(caught[0])
    return returned


def _is_by_others() -> bool:
    """Return whether scikit-learn or River, called by our code, is at work."""
    frame = sys._getframe()
    while frame is not None:
        path = Path(frame.f_code.co_filename).parts
        if "sklearn" in path or "river" in path:
            return True
        if "estimators" in path:
            return False
        frame = frame.f_back
    return False


def same_values(one: Any, two: Any) -> bool:
    """Return whether two values of any kind are equal, NaN to NaN."""
    # first of all, since a sparse matrix may be a dictionary
    if sparse.issparse(one):
        return (one.shape, one.nnz, one.format) == (two.shape, two.nnz, two.format) and same_values(
            one.toarray(), two.toarray()
        )
    if isinstance(one, tuple | list):
        return len(one) == len(two) and all(map(same_values, one, two))
    if isinstance(one, dict):
        return all(same_values(one[key], two[key]) for key in one)
    first, second = np.asarray(one), np.asarray(two)
    if first.dtype.kind in "fc":
        return np.array_equal(first, second, equal_nan=True)
    return first.shape == second.shape and repr(one) == repr(two)
