"""Traits are safe where nothing is stated, and one of them can be stated by its old name."""

from sklearn.naive_bayes import GaussianNB

from estimators import StreamClassifier
from estimators.contract.traits import Traits, traits_of


def test_of_other_packages_nothing_is_known():
    assert traits_of(GaussianNB()) == traits_of(StreamClassifier()) == Traits()


def test_a_learner_of_a_user_that_states_the_old_name_learns_unknown_labels():
    class Old(StreamClassifier):
        _learns_unknown = True

    assert Old()._traits == Traits(learns_unknown=True)
