"""What a learner says a thousand times is printed once, with the number."""

import warnings

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from mlstream import evaluate
from mlstream.evaluation.repeated_warnings import MAX_TEXTS, collapsed_warnings
from tests.mlstream.evaluation.streams import SIZES, Online, make_stream

STREAM = make_stream()


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
