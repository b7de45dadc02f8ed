import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

from estimators import BinaryRelevance
from estimators.contract.seeding import clone_with_seed


def _seeds(estimator):
    return estimator.random_state, estimator.estimator.random_state


def test_an_integer_seeds_the_clone_and_the_estimators_inside_and_nothing_else():
    estimator = BinaryRelevance(SGDClassifier(random_state=7))
    assert _seeds(clone_with_seed(estimator, 3)) == (3, 3)
    assert _seeds(estimator) == (None, 7)


def test_each_seed_is_drawn_in_the_order_of_names():
    source, twin = (np.random.RandomState(5) for _ in range(2))
    inner, outer = (int(twin.randint(2**31 - 1)) for _ in range(2))  # estimator__random_state before random_state
    assert _seeds(clone_with_seed(BinaryRelevance(SGDClassifier()), source)) == (outer, inner)


@pytest.mark.parametrize(("seed", "expected"), [(3, (3, 7)), (None, (None, 7))])
def test_seeds_that_are_set_can_stay(seed, expected):
    estimator = BinaryRelevance(SGDClassifier(random_state=7))
    assert _seeds(clone_with_seed(estimator, seed, only_unset=True)) == expected
    assert _seeds(clone(estimator)) == (None, 7)
