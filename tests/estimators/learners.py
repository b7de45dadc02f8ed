"""Learners of a few lines, right or broken on purpose, to try the base and the laws on."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone

from estimators import DivergedError
from estimators._kernels.label_codes import UNKNOWN
from estimators.contract.base import StreamClassifier
from estimators.contract.traits import Traits


class Logistic(StreamClassifier):
    """Online logistic regression, one model per label, in plain NumPy.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features + 1, n_labels)
        Weights, and last the intercepts.
    """

    _traits = Traits(learns_unknown=True)

    def __init__(self, learning_rate=0.5, targeted=False):
        self.learning_rate = learning_rate
        self.targeted = targeted

    @property
    def uses_task(self):
        return self.targeted

    def _start(self):
        self.coef_ = np.zeros((self.n_features_in_ + 1, self.n_labels_))

    def _learn(self, X, Y, mask, weight):
        for i in range(len(Y)):
            row = X[i : i + 1]
            error = (self._predict_proba(row) - Y[i : i + 1]) * (1.0 if weight is None else weight[i])
            error[Y[i : i + 1] == UNKNOWN] = 0
            if mask is not None:
                error *= mask[i]
            self.coef_[:-1] -= self.learning_rate * np.asarray(row.T @ error)
            self.coef_[-1] -= self.learning_rate * error[0]

    def _predict_proba(self, X):
        # row by row: a product of matrices rounds otherwise when rows are added
        scores = np.vstack([np.asarray(X[i : i + 1] @ self.coef_[:-1]) for i in range(X.shape[0])])
        return expit(scores + self.coef_[-1])


class Given(StreamClassifier):
    """Take the features for the probabilities of the labels, and learn nothing."""

    _traits = Traits(learns_unknown=True)

    def __init__(self, targeted=False):
        self.targeted = targeted

    @property
    def uses_task(self):
        return self.targeted

    def _start(self):
        pass

    def _learn(self, X, Y, mask, weight):
        pass

    def _predict_proba(self, X):
        return np.asarray(X, dtype=np.float64)


class Forgetful(Logistic):
    """Starts anew at every call."""

    def _learn(self, X, Y, mask, weight):
        self._start()
        super()._learn(X, Y, mask, weight)


class Hoarder(Logistic):
    """Keeps every row."""

    def _start(self):
        super()._start()
        self.rows_ = []

    def _learn(self, X, Y, mask, weight):
        super()._learn(X, Y, mask, weight)
        self.rows_.append(np.array(X.todense() if hasattr(X, "todense") else X))


class Nosy(Logistic):
    """Learns from being asked."""

    def _predict_proba(self, X):
        proba = super()._predict_proba(X)
        self.coef_ += 1e-6
        return proba


class Rounding(Logistic):
    """Estimates other probabilities where it decides as well."""

    def _infer(self, X):
        decided, proba = super()._infer(X)
        return decided, proba.round(2)


class Batch(Logistic):
    """One step a chunk, so that cuts matter."""

    def _learn(self, X, Y, mask, weight):
        error = self._predict_proba(X) - Y
        self.coef_[:-1] -= self.learning_rate * (X.T @ error)


class Peeker(Logistic):
    """Trains, then tests."""

    def _predict_then_learn(self, X, Y, mask):
        self._learn(X, Y, mask, None)
        return self._infer(X)


class Unseeded(Logistic):
    """Starts somewhere else each time."""

    def _start(self):
        super()._start()
        self.coef_ += np.random.default_rng().normal(size=self.coef_.shape)


class Liar(Logistic):
    """Says it uses the task, and does not."""

    @property
    def uses_task(self):
        return True

    def _learn(self, X, Y, mask, weight):
        super()._learn(X, Y, None, weight)


class Hasty(Logistic):
    """Learns a single row before it predicts it."""

    def predict_then_fit_one(self, x, y, classes=None, *, label_mask=None):
        super().predict_then_fit_one(x, y, classes, label_mask=label_mask)
        x = x.toarray()[0] if hasattr(x, "toarray") else x
        return self.predict([x])[0], self.predict_proba([x])[0]

    def partial_fit_one(self, x, y, classes=None, *, label_mask=None):
        return super().partial_fit_one(x, np.nan_to_num(y), classes, label_mask=label_mask)


class Careless(Logistic):
    """Learns a single row without a look at it."""

    def predict_then_fit_one(self, x, y, classes=None, *, label_mask=None):
        return super().predict_then_fit_one(np.nan_to_num(x), y, classes, label_mask=label_mask)


class Refusing(Logistic):
    """States nothing about unknown labels, as learners of users do."""

    _traits = Traits()


class Filling(Logistic):
    """Takes an unknown label for a value."""

    def __init__(self, value=0, learning_rate=0.5, targeted=False):
        super().__init__(learning_rate, targeted)
        self.value = value

    def _learn(self, X, Y, mask, weight):
        super()._learn(X, np.where(Y == UNKNOWN, self.value, Y), mask, weight)


class Counting(Logistic):
    """Takes smaller steps with each row that it is given, whether anything is known of it or not."""

    def partial_fit(self, X, Y, classes=None, **options):
        self.learning_rate = 10 / (20 + getattr(self, "n_given_", 0))
        self.n_given_ = getattr(self, "n_given_", 0) + len(Y)
        return super().partial_fit(X, Y, classes, **options)


class Pedantic(Logistic):
    """Looks at the type of the labels."""

    def partial_fit(self, X, Y, classes=None, **options):
        weight = np.full(len(Y), 0.5 if np.asarray(Y).dtype.kind == "f" else 1.0)
        return super().partial_fit(X, Y, classes, sample_weight=weight, **options)


class Positive(Logistic):
    """Learns the positive labels outside the mask, and those that are not zero although they are unknown."""

    @property
    def uses_task(self):
        return True

    def _learn(self, X, Y, mask, weight):
        super()._learn(X, Y, None if mask is None else mask | (Y == 1), weight)


class Growing(Logistic):
    """Takes in labels that appear."""

    def __init__(self, learning_rate=0.5, targeted=False, on_new_labels="error"):
        super().__init__(learning_rate, targeted)
        self.on_new_labels = on_new_labels

    def _grow(self, n_before):
        self.coef_ = np.pad(self.coef_, ((0, 0), (0, self.n_labels_ - n_before)))


class Restarting(Growing):
    """Forgets what it has learnt when a label appears."""

    def _grow(self, n_before):
        self._start()


class Overwriting(Growing):
    """Changes in place what it has learnt when a label appears."""

    def _grow(self, n_before):
        self.coef_ *= 0.5
        super()._grow(n_before)


class Narrow(Growing):
    """Saves the first labels only."""

    def __setstate__(self, state):
        super().__setstate__(state)
        self.coef_[:, 2:] = 0


class Leaky(StreamClassifier):
    """Learns row by row with an estimator inside, and keeps what came before a row that this refuses."""

    def __init__(self, estimator):
        self.estimator = estimator

    def _start(self):
        blank = np.zeros((1, self.n_features_in_)), np.zeros((1, self.n_labels_), dtype=int)
        self.estimator_ = clone(self.estimator).begin(*blank)

    def _learn(self, X, Y, mask, weight):
        for i in range(len(Y)):
            self.estimator_.partial_fit(X[i : i + 1], Y[i : i + 1])

    def _predict_proba(self, X):
        return self.estimator_.predict_proba(X)


def refuses_until_it_is_fitted(diverged, twin, X, Y):
    """Assert that a learner whose numbers diverged refuses to go on, and learns as its unfitted twin once fitted."""
    for call in (lambda: diverged.predict(X), lambda: diverged.predict_proba(X), lambda: diverged.partial_fit(X, Y)):
        with pytest.raises(DivergedError, match=r"has diverged: call `fit` to start again"):
            call()
    np.testing.assert_array_equal(diverged.fit(X, Y).predict_proba(X), twin.fit(X, Y).predict_proba(X))
