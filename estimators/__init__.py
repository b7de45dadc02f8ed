"""Multi-label classifiers that learn from a stream, in scikit-learn's manner."""

from estimators.base import StreamClassifier

__all__ = ["StreamClassifier"]
