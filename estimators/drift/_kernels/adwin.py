"""ADWIN: two parts of a window of adaptive length have means that differ by more than chance."""

from estimators._kernels.adwin import Windows, detect_change
from estimators._kernels.compile import OWNING, njit
from estimators._typing import Array
from estimators.drift._kernels.signals import DRIFT, NONE


@njit(**OWNING)
def run(states: Windows, values: Array, counted: Array, settings: Array, signals: Array) -> None:
    """Pass values to the detectors of all streams; the setting is the confidence."""
    for row in range(values.shape[0]):
        for stream in range(values.shape[1]):
            if counted[row, stream]:
                changed = detect_change(states, stream, values[row, stream], settings[stream, 0])
                signals[row, stream] = DRIFT if changed else NONE
