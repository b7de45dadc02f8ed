"""Calls that fail: the estimator gets its attributes back, or is marked where numbers diverged inside a step."""

from collections.abc import Iterable
from copy import deepcopy
from types import TracebackType
from typing import Self

from estimators._typing import Estimator
from estimators.contract.locks import lock_of


class DivergedError(ValueError):
    """Numbers left their range in the middle of a step: the learner must be fitted again.

    A learner that changes its state in place raises it as soon as it sees such numbers. It need not foresee them, nor
    keep a copy to go back to: the estimator is marked, and refuses to predict or to learn more until `fit` or `begin`
    starts it again.
    """

    # whether the estimator whose state has changed bears the mark: those around it have nothing to add
    is_marked = False


def check_not_diverged(estimator: Estimator) -> None:
    """Refuse an estimator whose numbers diverged in a call before."""
    reason = getattr(estimator, "_diverged", None)
    if reason is not None:
        error = DivergedError(
            f"This {type(estimator).__name__} has diverged: call `fit` to start again, for instance with a smaller "
            f"learning_rate. It failed with: {reason}"
        )
        # the mark keeps the first reason, and does not grow with every call
        error.is_marked = True
        raise error


class unchanged_on_error:  # noqa: N801 - a context manager that reads like a clause, and costs less than a generator
    """Hold the lock of the estimator, and give it back the attributes it had if the block fails."""

    in_place = False

    def __init__(self, estimator: Estimator) -> None:
        self.lock = lock_of(estimator)
        self.attributes = vars(estimator)

    def __enter__(self) -> Self:
        self.lock.__enter__()
        self.before = self.attributes.copy()
        return self

    def copy(self, names: Iterable[str]) -> None:
        """Copy attributes that are about to be changed in place, to give back the copies if the block fails."""
        copies = deepcopy({name: self.before[name] for name in names if name in self.before})
        self.before |= copies
        self.in_place = self.in_place and not copies

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._restore()
            has_learnt = self.in_place and "_target" in self.before
            if has_learnt and isinstance(error, DivergedError) and not error.is_marked:
                self.attributes["_diverged"] = str(error)
                error.is_marked = True
        self.lock.__exit__(kind, error, trace)

    def _restore(self) -> None:
        # never empty in between: parameters are read without the lock
        self.attributes.update(self.before)
        for name in self.attributes.keys() - self.before.keys():
            del self.attributes[name]


class unchanged_or_marked(unchanged_on_error):  # noqa: N801 - reads like a clause, too
    """The same for a block that changes in place what has been learnt, if anything has.

    If numbers diverge in it, and nothing was copied, the estimator is marked: its attributes are those it had, but not
    the numbers in them.
    """

    in_place = True
