"""A run visits every row and every evaluation set, and stops where it is told to."""

import warnings
from itertools import count, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from mlstream import evaluate
from mlstream.evaluation.learners import adapt, fresh
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.run import MAX_TEXTS, Run, collapsed_warnings, precision_k
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


class Complains(Online):
    """Warns at every row that it learns."""

    def partial_fit(self, X, Y):
        warnings.warn("This row is odd.", RuntimeWarning, stacklevel=1)
        return super().partial_fit(X, Y)


def shown(call, action="default"):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter(action)
        result = call()
    return result, [(one.category, str(one.message)) for one in given]


def test_one_warning_with_its_number_is_given_and_recorded():
    result, given = shown(lambda: evaluate(Complains(), STREAM, energy="none"))
    text = f"This row is odd. ({sum(SIZES)} times while Complains was evaluated)"
    assert given == [(RuntimeWarning, text)]
    assert result.warnings == {"This row is odd.": sum(SIZES)}
    assert shown(lambda: evaluate(Online(), STREAM, energy="none"))[1] == []


def test_warnings_of_scikit_learn_are_one_each():
    result, given = shown(lambda: evaluate(GaussianNB(), STREAM, energy="none"))
    assert 1 <= len(given) == len(result.warnings) < 5
    assert max(result.warnings.values()) > 20
    assert all("GaussianNB was evaluated)" in text for _, text in given)


def test_what_is_ignored_stays_silent_and_what_is_an_error_is_raised():
    result, given = shown(lambda: evaluate(Complains(), STREAM, energy="none"), "ignore")
    assert (result.warnings, given) == ({}, [])
    with pytest.raises(RuntimeWarning, match="odd"):
        shown(lambda: evaluate(Complains(), STREAM, energy="none"), "error")


def test_a_single_warning_is_as_it_was():
    class Own(UserWarning):
        def __init__(self, number):
            super().__init__(f"number {number}")

    def call():
        with collapsed_warnings("x"):
            warnings.warn(Own(1), stacklevel=1)
            for _ in range(3):
                warnings.warn(Own(2), stacklevel=1)

    assert shown(call)[1] == [(Own, "number 1"), (Own, "number 2 (3 times while x was evaluated)")]


def test_warnings_are_given_even_if_the_run_fails():
    class Fails(Complains):
        def predict_proba(self, X):
            raise ZeroDivisionError

    def fail():
        with pytest.raises(ZeroDivisionError):
            evaluate(Fails(), STREAM, energy="none")

    assert shown(fail)[1] == [(RuntimeWarning, "This row is odd.")]


def test_texts_without_end_are_bounded():
    def call():
        with collapsed_warnings("x") as counts:
            for number in np.arange(3 * MAX_TEXTS):
                warnings.warn(f"row {number}", stacklevel=1)
        return counts

    counts, given = shown(call)
    assert len(counts) == len(given) == MAX_TEXTS + 1
    assert sum(counts.values()) == 3 * MAX_TEXTS


def test_filters_and_printing_are_as_they_were():
    before = warnings.showwarning, list(warnings.filters)
    with collapsed_warnings("x"):
        warnings.simplefilter("error")
    assert (warnings.showwarning, list(warnings.filters)) == before
