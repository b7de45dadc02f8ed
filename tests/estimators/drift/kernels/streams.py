"""Several streams of values, of which some do not count, and slow detectors of one stream each to compare with."""

import numpy as np
from hypothesis import strategies as st

from estimators.drift._kernels.signals import NONE
from tests.scattered import tables

RATES = (0.0, 0.1, 0.5, 0.9, 1.0, 0.3)


def errors(rate, chance):
    """Return 1 for the share of chances that a rate says, otherwise 0."""
    return float(chance < rate)


@st.composite
def one_stream(draw, value, levels, longest):
    """Draw stretches of values, each of a level; the golden ratio scatters them as if by chance."""
    parts = draw(st.lists(st.tuples(st.sampled_from(levels), st.integers(1, longest)), max_size=4))
    first = draw(st.integers(0, 99))
    places = [level for level, n in parts for _ in range(n)]
    return [value(level, (first + i) * 0.6180339887 % 1) for i, level in enumerate(places)]


@st.composite
def streams(draw, value=errors, levels=RATES, longest=40):
    """Draw values (n_rows, 2), and whether each counts; the streams are not equally long."""
    values = [draw(one_stream(value, levels, longest)) for _ in range(2)]
    n = max(map(len, values))
    counted = np.array([[i < len(one) for one in values] for i in range(n)], bool).reshape(n, 2)
    counted[draw(tables((5, 2), (True, True, True, False)))[np.arange(n) % 5] == 0] = False
    return np.array([one + [0.0] * (n - len(one)) for one in values]).T.reshape(n, 2), counted


def signals_of(kernel, states, values, counted, settings):
    """Return the signals of a kernel, 9 where nothing was written."""
    signals = np.full(values.shape, 9, np.uint8)
    kernel(states, values, counted, np.array(settings, float), signals)
    return signals


def slow_signals(detectors, values, counted):
    """Pass the values that count to a detector of each stream, which begins again after a drift."""
    return [
        [detector.add(value) if counts else 9 for detector, value, counts in zip(detectors, *row, strict=True)]
        for row in zip(values.tolist(), counted.tolist(), strict=True)
    ]


class Fresh:
    """A detector that holds the values since the last drift, and answers from their list."""

    def __init__(self, *settings):
        self.settings, self.values = settings, []

    def add(self, value):
        self.values.append(value)
        signal = self.signal()
        if signal == 2:
            self.values = []
        return signal

    def signal(self):
        return NONE


def compare(run, states, detectors, stream, settings):
    """Compare the signals of a kernel with those of slow detectors."""
    values, counted = stream
    found = signals_of(run, states, values, counted, settings)
    assert found.tolist() == slow_signals(detectors, values, counted)
