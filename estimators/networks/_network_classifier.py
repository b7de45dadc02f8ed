"""Base of compiled networks: a state, and one pass that predicts rows and learns them."""

from typing import Any

import numpy as np

from estimators._typing import Array
from estimators.contract.batching import blocks, dense
from estimators.contract.locks import lock_of
from estimators.contract.log_odds import LogOddsClassifier
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.networks._kernels.state import STEPS
from estimators.networks._network_state import State, layers_of, scaling_of
from estimators.networks._torch_network import as_module


class NetworkClassifier(LogOddsClassifier):
    """Base of compiled networks; subclasses define in `_pass` how rows are predicted and learnt."""

    _state: State
    dtype: str

    @property
    def _traits(self) -> Traits:
        return Traits(fails_late=False, precision=self._dtype.name if hasattr(self, "_state") else self.dtype)

    @property
    def _dtype(self) -> np.dtype[Any]:
        """Precision of what has been learnt: a change of the parameter counts from the next `fit`."""
        return self._state["w"].dtype

    @property
    def n_steps_(self) -> int:
        """Number of steps taken."""
        with lock_of(self):
            return int(self._state["clock"][STEPS])

    @property
    def _layers(self) -> list[tuple[Array, Array]]:
        """Weights (outputs, inputs) and biases of each layer."""
        return layers_of(self._state)

    @property
    def _scaling(self) -> tuple[Array, Array] | None:
        """Numbers that are subtracted from features, and divide them; None if features stay as they are."""
        return scaling_of(self._state, getattr(self, "standardize", False))

    def to_torch(self) -> Any:
        """Return the network as it is now, as a ``torch.nn.Module`` that returns probabilities (extra ``torch``).

        Returns
        -------
        torch.nn.Sequential
            Linear layers, ReLU between them, and a sigmoid.
        """
        with lock_of(self):
            return as_module(self._layers, self._scaling)

    def _log_odds(self, X: Features, proba: Array) -> Array:  # noqa: ARG002
        """Return the logits, in doubles, of features in the precision of the network."""
        layers, scaling, logits = self._layers, self._scaling, np.empty((X.shape[0], self.n_labels_))
        for rows in blocks(X):
            units = dense(dense(X[rows]).astype(self._dtype))
            if scaling is not None:
                units = (units - scaling[0]) / scaling[1]
            for place, (weights, biases) in enumerate(layers):
                units = (np.maximum(units, 0.0) if place else units) @ weights.T + biases
            logits[rows] = units
        return logits

    def _pass(self, X: Features, Y: Array, mask: Array | None, weight: Array | None) -> Array:
        """Predict each row, then learn it; return the probabilities."""
        raise NotImplementedError

    def _learn(self, X: Features, Y: Array, mask: Array | None, weight: Array | None) -> None:
        self._pass(X, Y, mask, weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Array | None) -> tuple[Array, Array]:
        proba = self._pass(X, Y, mask, None)
        return proba >= 0.5, proba


def writable(state: State) -> State:
    """Copy arrays: those loaded as a read-only map of a file cannot be updated in place."""
    return {name: np.array(part) for name, part in state.items()}
