"""Multi-label classifiers that learn from a stream, in scikit-learn's manner."""

from estimators.base import StreamClassifier
from estimators.neural import OnlineNeuralClassifier
from estimators.replay import FIFOMemory, ReservoirMemory

__all__ = ["FIFOMemory", "OnlineNeuralClassifier", "ReservoirMemory", "StreamClassifier"]
