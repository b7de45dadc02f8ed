"""The peak of memory is that since the last restart."""

import sys

import numpy as np
import pytest

from mlstream.evaluation import peak_memory as memory
from mlstream.evaluation.peak_memory import PeakMemory

MEGABYTE = 2**20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc of Linux")
def test_what_was_taken_and_given_back_between_two_readings_counts_once():
    peak = PeakMemory()
    if not peak.can_reset:
        pytest.skip("this system does not let a process reset its high-water mark")
    before = peak.read()
    np.ones(64 * MEGABYTE, dtype=np.uint8)
    assert 60 * MEGABYTE < peak.read() - before < 80 * MEGABYTE
    peak.restart()
    assert abs(peak.read() - before) < 8 * MEGABYTE
    assert "during learner calls" in peak.method


def test_where_the_mark_cannot_be_reset_it_is_that_of_the_process_and_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_PROCESS", tmp_path / "absent")
    peak = PeakMemory()
    first = peak.read()
    peak.restart()
    assert peak.read() >= first > MEGABYTE
    assert peak.method == "greatest resident memory of the whole process since the process started"
