"""Base of meta-estimators around any classifier, ours or of another package."""

from estimators.contract.base import StreamClassifier
from estimators.contract.environments import EnvironmentClassifier
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
