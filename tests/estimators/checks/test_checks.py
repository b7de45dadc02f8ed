import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, SGDClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.utils.validation import validate_data

from estimators import checks
from tests.estimators import learners
from tests.loops import check_all


def broken_laws(estimator):
    broken = set()
    for one, check in checks.stream_checks(estimator):
        try:
            check(one)
        except AssertionError:
            broken.add(check.args[0].__name__)
    return broken


def test_a_broken_law_is_told_with_the_estimator_and_the_law():
    (_, check), *_ = checks.stream_checks(learners.Forgetful())
    with pytest.raises(
        AssertionError, match=r"Forgetful breaks check_accumulates_over_calls: A is forgotten. The law: "
    ):
        check(learners.Forgetful())


class Frequent(ClassifierMixin, BaseEstimator):
    """Predict the labels that are more often present than absent, with no more methods than a stream needs."""

    def fit(self, X, Y):
        self.__dict__.pop("counts_", None)
        return self.partial_fit(X, Y)

    def partial_fit(self, X, Y):
        X, Y = validate_data(self, X, Y, multi_output=True, reset=not hasattr(self, "counts_"))
        self.counts_ = getattr(self, "counts_", 0) + (2 * Y - 1).sum(axis=0)
        return self

    def predict(self, X):
        X = validate_data(self, X, reset=False)
        return np.tile(self.counts_ > 0, (len(X), 1)).astype(int)


class Failing(Frequent):
    def predict(self, X):
        return {}[len(X)]


def test_a_learner_needs_no_classes():
    # It learns too little for the laws that look for learning.
    kept = {"check_cuts_do_not_matter", "check_pickle_continues_exactly", "check_width_is_fixed"}
    assert broken_laws(Frequent()).isdisjoint(kept)


def test_any_error_breaks_a_law():
    (_, check), *_ = checks.stream_checks(Failing())
    with pytest.raises(AssertionError, match=r"Failing breaks check_accumulates_over_calls: KeyError: \d+. The law: "):
        check(Failing())


@pytest.mark.slow
@pytest.mark.parametrize("targeted", [False, True])
@pytest.mark.parametrize("kind", [learners.Logistic, learners.Growing])
def test_a_lawful_learner_breaks_no_law(targeted, kind):
    assert broken_laws(kind(targeted=targeted)) == set()


def test_laws_about_new_labels_are_for_learners_that_can_grow():
    about = {"check_new_labels_were_unknown", "check_refused_new_labels_leave_nothing", "check_grown_is_saved"}
    for learner, expected in ((learners.Growing(), about), (learners.Logistic(), set())):
        laws = {check.args[0].__name__ for _, check in checks.stream_checks(learner)}
        assert laws & about == expected


def test_a_broken_learner_breaks_its_law():
    def check(estimator, law):
        (broken,) = (one for _, one in checks.stream_checks(estimator) if one.args[0].__name__ == law)
        with pytest.raises(AssertionError, match=f"breaks {law}: "):
            broken(estimator)

    check_all(
        [
            (learners.Forgetful(), "check_accumulates_over_calls"),
            (learners.Hoarder(), "check_memory_is_bounded"),
            (learners.Nosy(), "check_predict_changes_nothing"),
            (learners.Rounding(), "check_one_call_equals_two"),
            (learners.Batch(), "check_cuts_do_not_matter"),
            (learners.Peeker(), "check_predict_then_fit_is_the_loop"),
            (learners.Unseeded(), "check_same_seed_same_bits"),
            (learners.Liar(), "check_mask_is_honoured"),
            (learners.Leaky(learners.Logistic()), "check_failing_part_changes_nothing"),
            (learners.Hasty(), "check_one_row_is_a_chunk_of_one"),
            (learners.Hasty(), "check_one_row_mixes_with_chunks"),
            (learners.Hasty(), "check_one_row_in_other_forms"),
            (learners.Hasty(), "check_learning_one_row_is_a_chunk_of_one"),
            (learners.Careless(), "check_wrong_row_changes_nothing"),
            (learners.Refusing(), "check_unknown_is_neither_value"),
            (learners.Refusing(), "check_unknown_labels_in_the_loop"),
            (learners.Filling(0), "check_unknown_is_neither_value"),
            (learners.Filling(1), "check_unknown_is_neither_value"),
            (learners.Counting(), "check_unknown_rows_change_nothing"),
            (learners.Pedantic(), "check_float_labels_are_integers"),
            (learners.Positive(), "check_unknown_is_masked"),
            (learners.Peeker(), "check_unknown_labels_in_the_loop"),
            (learners.Restarting(), "check_new_labels_were_unknown"),
            (learners.Overwriting(), "check_refused_new_labels_leave_nothing"),
            (learners.Narrow(), "check_grown_is_saved"),
        ],
        lambda case: check(*case),
    )


def test_foreign_estimators_meet_the_laws_they_can():
    foreign = MultiOutputClassifier(SGDClassifier(loss="log_loss", random_state=0))
    laws = {check.args[0].__name__ for _, check in checks.stream_checks(foreign)}
    assert "check_accumulates_over_calls" in laws
    assert "check_predict_then_fit_is_the_loop" not in laws


def test_laws_left_out_are_left_out_by_name():
    left_out = {"check_memory_is_bounded": "keeps every row by definition"}
    laws = {
        check.args[0].__name__ for _, check in checks.stream_checks(learners.Hoarder(), expected_failed_checks=left_out)
    }
    assert "check_memory_is_bounded" not in laws
    with pytest.raises(ValueError, match="must name laws"):
        list(checks.stream_checks(learners.Hoarder(), expected_failed_checks={"check_nothing": ""}))


def test_every_check_of_the_module_stands_in_the_table():
    written = {name for name in vars(checks) if name.startswith("check_")}
    assert written == {law.__name__ for law in checks.LAWS}


def test_the_estimator_given_is_not_changed():
    estimator = learners.Logistic()
    for one, check in checks.stream_checks(estimator):
        check(one)
    assert set(vars(estimator)) == {"learning_rate", "targeted"}
    assert not hasattr(estimator, "coef_")
    assert np.isscalar(estimator.learning_rate)


def test_what_does_not_learn_from_streams_is_refused():
    with pytest.raises(TypeError, match=r"must have partial_fit, to learn from a stream\. Got MultiOutputClassifier\."):
        next(checks.stream_checks(MultiOutputClassifier(LinearRegression())))
