"""A run visits every row and every evaluation set, and stops where it is told to."""

from itertools import count, pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from mlstream.evaluation.learners import adapt, fresh
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.run import Run, precision_k
from mlstream.evaluation.settings import Settings
from tests.mlstream.evaluation.streams import SIZES, Online, make_stream

STREAM = make_stream()


def make_run(**choices):
    learner = adapt(fresh(Online(), 0), STREAM.n_labels, ResourceMeter("none"))
    return Run(learner, STREAM, Settings(energy="none", **choices))


def test_k_is_three_or_the_size_of_the_smallest_signature():
    assert precision_k(STREAM) == 3
    signatures = [SimpleNamespace(signature=np.arange(9) < size) for size in (7, 2, 5)]
    assert precision_k(SimpleNamespace(tasks=signatures)) == 2
    assert precision_k(SimpleNamespace(tasks=signatures[:1])) == 3


def test_progress_is_told_after_each_chunk_and_each_row_of_the_matrix():
    told = []
    run = make_run(chunk_size=20)
    assert not run.is_complete
    run.run(lambda met, n_rows: told.append(met))
    expected = [0]
    for start, end in pairwise([0, *np.cumsum(SIZES).tolist()]):
        expected += [*range(start + 20, end, 20), end, end]
    assert told == expected
    assert run.is_complete
    assert not np.isnan(run.R["rmse"]).any()


@pytest.mark.parametrize("cap", [1, 2, 5, 8])
def test_the_clock_is_looked_at_between_chunks_and_a_row_of_the_matrix_is_whole_or_absent(monkeypatch, cap):
    monkeypatch.setattr("mlstream.evaluation.run.time", SimpleNamespace(perf_counter=count().__next__))
    run = make_run(chunk_size=1000, time_cap_s=cap)
    run.run(None)
    # Looks: row 0 of R, then for each experience one after its rows and one after its row of R.
    measured = (cap + 2) // 2
    assert (~np.isnan(run.R["rmse"])).all(axis=1).tolist() == [row < measured for row in range(5)]
    assert run.is_complete == (cap >= 8)


def test_a_run_that_ends_at_the_last_moment_is_complete(monkeypatch):
    monkeypatch.setattr("mlstream.evaluation.run.time", SimpleNamespace(perf_counter=count().__next__))
    run = make_run(chunk_size=1000, time_cap_s=8.5)
    run.run(None)
    assert run.is_complete
