"""The contract of drift detectors: a value, or many, in; whether the stream has drifted, out."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from estimators._typing import Array
from estimators.contract.locks import Locked, lock_of
from estimators.drift._checks import ValueRange, check_value, check_values
from estimators.drift._kernels.signals import DRIFT, NONE, WARNING

Signals = npt.NDArray[np.uint8]


class DriftDetector(Locked, BaseEstimator):
    """Base of detectors of drift in one stream of numbers.

    A detector states the range of its values and whether it warns, and names its confidence, if it has one. ``_run``
    is its compiled loop, and ``_new_states(n_streams)`` returns states before any value. The hook
    ``_settings(share)`` checks the parameters and returns them as numbers.
    """

    _range: ClassVar[ValueRange] = "numbers"
    _warns: ClassVar[bool] = False
    _confidence: ClassVar[str | None] = None
    _run: ClassVar[Callable[..., None]]
    _new_states: Callable[[int], Any]

    def update(self, value: float) -> bool:
        """Pass a value.

        Parameters
        ----------
        value : float
            The next value of the stream. For detectors of errors, 1 is an error and 0 none.

        Returns
        -------
        bool
            Whether a drift is detected at this value. The next value starts from a detector that has seen none.

        Raises
        ------
        ValueError
            If the value, or a parameter, is outside its range. The detector stays as it was.
        """
        with lock_of(self):
            number = check_value(value, self._range)
            if not hasattr(self, "_streams"):
                self._start()
            signal = self._streams.step(number)
            self.n_values_ += 1
            self.warning_ = signal == WARNING
            return signal == DRIFT

    def update_many(self, values: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Pass values, one after another.

        Parameters
        ----------
        values : array-like of shape (n_values,)
            The next values of the stream.

        Returns
        -------
        ndarray of bool, shape (n_values,)
            Whether a drift is detected at each of them: what `update` returns, value by value.

        Raises
        ------
        ValueError
            If a value, or a parameter, is outside its range. The detector stays as it was.
        """
        with lock_of(self):
            column = check_values(values, 1, self._range)[:, np.newaxis]
            if not hasattr(self, "_streams"):
                self._start()
            signals = self._streams.advance(column, np.ones(column.shape, dtype=np.bool_))[:, 0]
            self.n_values_ += len(signals)
            if len(signals):
                self.warning_ = bool(signals[-1] == WARNING)
            return np.asarray(signals == DRIFT)

    def reset(self) -> Self:
        """Forget all values.

        Returns
        -------
        self
            The detector as it was before the first value.
        """
        with lock_of(self):
            forget(self, "_streams", "n_values_", "warning_")
            return self

    def _start(self) -> None:
        self._streams = Streams(self, np.ones(1))
        self.n_values_, self.warning_ = 0, False

    # ------------------------------------------------------------------ hooks
    def _settings(self, share: float) -> list[float]:
        """Check the parameters and return them as numbers, the confidence times a share of it."""
        raise NotImplementedError


class Streams:
    """The states of one detector for several streams.

    `shares` holds the share of the confidence that each stream has. Parameters of the detector are read here, once.
    """

    def __init__(self, detector: DriftDetector, shares: Array) -> None:
        self.run = type(detector)._run
        self.settings = np.array([detector._settings(share) for share in shares], dtype=np.float64)
        self.states = detector._new_states(len(shares))
        self._value, self._counted = np.zeros((1, 1)), np.ones((1, 1), dtype=np.bool_)
        self._signal = np.zeros((1, 1), dtype=np.uint8)

    def step(self, value: float) -> int:
        """Pass a value to the only stream, in arrays that are there already, and return its signal."""
        self._value[0, 0] = value
        self.run(self.states, self._value, self._counted, self.settings, self._signal)
        return int(self._signal[0, 0])

    def advance(self, values: Array, counted: npt.NDArray[np.bool_]) -> Signals:
        """Pass values (n_rows, n_streams), those that count, and return the signals at each of them."""
        signals = np.full(values.shape, NONE, dtype=np.uint8)
        self.run(self.states, values, counted, self.settings, signals)
        return signals


def forget(detector: Any, *names: str) -> None:
    """Remove attributes that the first values have made."""
    for name in names:
        if hasattr(detector, name):
            delattr(detector, name)
