"""Base of meta-estimators around any classifier, ours or of another package."""

from collections.abc import Mapping

from estimators._typing import Array
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.environments import EnvironmentClassifier
from estimators.contract.failed_calls import check_not_diverged, unchanged_or_marked
from estimators.contract.validation import Features
from estimators.meta.binary_relevance import BinaryRelevance
from estimators.replay._meta_base import OuterClassifier


class AroundAnyClassifier(EnvironmentClassifier, OuterClassifier):
    """Train one of our classifiers, or binary relevance around one of another package, and pass environments on."""

    @property
    def _model(self) -> StreamClassifier:
        estimator = self.estimator
        return estimator if isinstance(estimator, StreamClassifier) else BinaryRelevance(estimator)

    @property
    def uses_environment(self) -> bool:
        """Whether the environment of a row changes what is learnt: that of the classifier inside."""
        return self._model.uses_environment

    @property
    def _row_metadata(self) -> tuple[str, ...]:  # type: ignore[override]
        return self._model._row_metadata

    def _can_grow(self) -> bool:
        # the binary relevance put around others has no parameter that could be set
        return isinstance(self.estimator, StreamClassifier) and super()._can_grow()

    def _takes_checked(self) -> bool:
        """Return whether the classifier inside reads rows and labels as they have been checked here."""
        return self._target.multilabel and self.estimator_._nominal is None

    def _predict_then_learn_inside(
        self, rows: tuple[Features, Array, Mask | None, Mask | None], passed: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        """Predict and learn checked rows: the classifier would check them again, as long as all else takes for one."""
        inner = self.estimator_
        check_not_diverged(inner)
        with unchanged_or_marked(inner) as inside:
            return inner._predict_then_learn_checked(inside, rows, passed)
