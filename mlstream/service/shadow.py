"""A new learner in the shadow of the old one: both predict and learn, one alarms, until the new one has won."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from estimators._typing import Array, Attributes, Classes, MatrixLike
from estimators.contract.locks import Locked, lock_of
from estimators.contract.row_keys import KeysLike
from estimators.contract.validation import is_sparse
from metrics.validation import check_number, require_choice
from mlstream.service.waiting import as_row

Loss = Literal["brier", "hamming"]
# of this package or another: its methods are asked for
Learner: TypeAlias = Any
Predicted: TypeAlias = tuple[Array, Array]
Floats: TypeAlias = npt.NDArray[np.float64]

# Shares of the wealth that are bet on each row.
_BETS = 0.5 ** np.arange(1, 11)
# Rows after which a part of the wealth begins to bet: a new learner may lose at first. The parts sum to less than 1.
_STARTS = np.array([0, *(2.0 ** np.arange(6, 40))])
_PARTS = 1 / ((np.arange(len(_STARTS)) + 1) * (np.arange(len(_STARTS)) + 2))
_LOG_PARTS = np.log(_PARTS / len(_BETS))[:, np.newaxis] * np.ones(len(_BETS))
_UNSPENT = 1 - _PARTS.sum()


class Shadow(Locked):
    """A champion that predicts, and a challenger that learns the same rows until it has won.

    It stands where the champion stood, such as in a `FeedbackBuffer`. Rows with labels are a contest: each learner has
    predicted them before it learns them, and the losses of the two are compared row by row. Once the challenger is
    better beyond doubt, it is the champion from the next call on.

    Parameters
    ----------
    champion : estimator
        The learner in service, which has begun; it is changed.
    challenger : estimator
        The new learner, which is changed. One that has not begun begins with the widths and names of the champion.
    loss : {"brier", "hamming"}
        What the two are compared by: the mean over the known labels of a row of the squared error of the probability,
        or of whether the decision is wrong.
    alpha : float
        Probability that a challenger which is not better is ever promoted, however long it runs.

    Attributes
    ----------
    champion_ : estimator
        The learner that predicts.
    challenger_ : estimator or None
        The learner in the shadow; None after it has won or failed.
    n_compared_ : int
        Number of rows that were compared.
    champion_loss_, challenger_loss_ : float
        Mean losses of these rows; NaN before the first.
    evidence_ : float
        The wealth of a bettor on the challenger; 1 / `alpha` promotes it.
    promoted_ : int or None
        Number of rows compared when the challenger was promoted; None if it was not.
    failure_ : str
        Why the challenger was dropped: it has refused what the champion took. Empty if it was not.

    Notes
    -----
    The rule is a test martingale. Wealth of 1 is bet on the challenger: with ``d`` the loss of the champion minus that
    of the challenger on a row, a bet of a share ``b`` multiplies the wealth by ``1 + b * d``. If the challenger is no
    better, given the rows before, the expected wealth does not grow, and by Ville's inequality the probability that it
    ever reaches ``1 / alpha`` is at most `alpha`. So the rule may be looked at after every row. The wealth is spread
    over shares from 1/2 to 1/1024, and over bets that begin after 0, 64, 128, 256, ... rows, as new learners may lose
    at first.

    The rows of a call are predicted before any of them is learnt, except by `predict_then_fit`. Only rows with feedback
    are compared: where only alarms of the champion get feedback, they are its choice.

    The challenger does not see rows that the champion refuses. A challenger that fails does not harm the champion:
    it is dropped, with a warning.

    References
    ----------
    I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", Journal of the Royal
    Statistical Society B 86(1), 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import OnlineLogisticRegression, PriorLabelsClassifier
    >>> from mlstream.service import Shadow
    >>> X = np.random.default_rng(0).random((1000, 3))
    >>> Y = (X[:, :2] > 0.5).astype(int)
    >>> served = Shadow(PriorLabelsClassifier().begin(X[:1], Y[:1]), OnlineLogisticRegression())
    >>> Y_pred, Y_proba = served.predict_then_fit(X, Y)
    >>> type(served.champion_).__name__, served.promoted_ < 1000
    ('OnlineLogisticRegression', True)
    """

    def __init__(self, champion: Learner, challenger: Learner, *, loss: Loss = "brier", alpha: float = 0.01) -> None:
        require_choice(loss, "loss", get_args(Loss))
        if not 0 < check_number(alpha, "alpha") < 1:
            raise ValueError(f"alpha must be above 0 and below 1. Got {alpha!r} instead.")
        if getattr(champion, "classes_", np.empty(0)).ndim != 2:
            raise ValueError(
                f"champion must have begun, with a table of labels: `begin(X, Y)`. Got {champion!r} instead."
            )
        self.loss, self.alpha = loss, alpha
        self.champion_ = champion
        self.challenge(challenger)

    def challenge(self, challenger: Learner) -> None:
        """Begin a contest with a new challenger; the one before, if there is one, is dropped.

        Parameters
        ----------
        challenger : estimator
            As in the constructor. Each contest has its own `alpha`.

        Raises
        ------
        ValueError
            If it does not suit the champion.
        """
        with lock_of(self):
            if challenger is self.champion_:
                raise ValueError(
                    "challenger must be another object than champion. Got the same; `clone` makes a new one."
                )
            if not hasattr(challenger, "classes_"):
                _begin_like(challenger, self.champion_)
            _require_alike(self.champion_, challenger)
            self.challenger_: Learner = challenger
            self.n_compared_, self.failure_ = 0, ""
            self.promoted_: int | None = None
            self._losses = np.zeros(2)
            self._log_wealth = _LOG_PARTS.copy()

    def __repr__(self) -> str:
        return f"Shadow({self.champion_!r}, {self.challenger_!r}: {self.n_compared_:,} rows compared)"

    # ----------------------------------------------------------------- facts
    @property
    def classes_(self) -> Array:
        """Classes of the champion."""
        return self.champion_.classes_  # type: ignore[no-any-return]

    @property
    def on_new_labels(self) -> str:
        """Whether the champion takes in new labels."""
        return getattr(self.champion_, "on_new_labels", "error")

    @property
    def uses_keys(self) -> bool:
        """Whether one of the two needs keys of rows."""
        return any(getattr(learner, "uses_keys", False) for learner in (self.champion_, self.challenger_))

    @property
    def champion_loss_(self) -> float:
        """Mean loss of the champion; after a promotion, of the one before."""
        return float(self._losses[0] / self.n_compared_) if self.n_compared_ else math.nan

    @property
    def challenger_loss_(self) -> float:
        """Mean loss of the challenger; after a promotion, of the one that was promoted."""
        return float(self._losses[1] / self.n_compared_) if self.n_compared_ else math.nan

    @property
    def evidence_(self) -> float:
        """Wealth of a bettor on the challenger."""
        return float(_UNSPENT + np.exp(self._log_wealth).sum())

    def __getattr__(self, name: str) -> Any:
        if name not in {"label_names_", "n_labels_", "n_features_in_", "feature_names_in_", "explain"}:
            raise AttributeError(f"Shadow has no attribute {name!r}")
        return getattr(vars(self)["champion_"], name)

    # --------------------------------------------------------------- predict
    def predict_with_proba(self, X: MatrixLike) -> Predicted:
        """Predict as the champion does; nothing is changed.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        Y_pred, Y_proba : ndarray of shape (n_samples, n_labels)
            Decisions and probabilities.
        """
        with lock_of(self):
            return self.champion_.predict_with_proba(X)  # type: ignore[no-any-return]

    def predict_then_fit(
        self, X: MatrixLike, Y: MatrixLike, classes: Classes = None, *, keys: KeysLike = None
    ) -> Predicted:
        """Let both predict and learn rows, and compare them where labels are known.

        Parameters
        ----------
        X, Y, classes
            As in `partial_fit`.
        keys : structured array, mapping or data frame, optional
            Keys of the rows, for a learner with ``uses_keys``.

        Returns
        -------
        Y_pred, Y_proba : ndarray of shape (n_samples, n_labels)
            Those of the champion.
        """
        with lock_of(self):
            predicted: Predicted = self.champion_.predict_then_fit(X, Y, classes, **_given(self.champion_, keys))
            rival = self._try(lambda one: one.predict_then_fit(X, Y, classes, **_given(one, keys)))
            self._compare(Y, classes, predicted, rival)
            return predicted

    def predict_then_fit_one(
        self, x: MatrixLike, y: MatrixLike, classes: Classes = None, *, keys: KeysLike = None
    ) -> Predicted:
        """Do as `predict_then_fit` for one row.

        Parameters
        ----------
        x, y, classes, keys
            As there, for one row.

        Returns
        -------
        y_pred, y_proba : ndarray of shape (n_labels,)
            Those of the champion.
        """
        with lock_of(self):
            y_pred, y_proba = self.champion_.predict_then_fit_one(x, y, classes, **_given(self.champion_, keys))
            rival = self._try(lambda one: one.predict_then_fit_one(x, y, classes, **_given(one, keys)))
            rows = [said and (said[0][None], said[1][None]) for said in ((y_pred, y_proba), rival)]
            self._compare(np.asarray(y)[None], classes, *rows)
            return y_pred, y_proba

    # ----------------------------------------------------------------- learn
    def partial_fit(self, X: MatrixLike, Y: MatrixLike, classes: Classes = None) -> Shadow:
        """Let both learn rows, after they have predicted them for the contest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : array-like of shape (n_samples, n_labels)
            0/1 labels, NaN where one is unknown.
        classes : list, optional
            Names of the columns, as in `partial_fit` of a learner.

        Returns
        -------
        Shadow
            Itself.
        """
        with lock_of(self):
            known = None if self.challenger_ is None else self.champion_.predict_with_proba(X)
            self.champion_.partial_fit(X, Y, classes)
            rival = self._try(lambda one: (one.predict_with_proba(X), one.partial_fit(X, Y, classes))[0])
            self._compare(Y, classes, known, rival)
        return self

    def partial_fit_one(self, x: MatrixLike, y: MatrixLike, classes: Classes = None) -> Shadow:
        """Do as `partial_fit` for one row.

        Parameters
        ----------
        x, y, classes
            As there, for one row.

        Returns
        -------
        Shadow
            Itself.
        """
        return self.partial_fit(as_row(x), np.asarray(y)[np.newaxis], classes)

    # ----------------------------------------------------------------- parts
    def _try(self, step: Callable[[Learner], Predicted]) -> Predicted | None:
        """Let the challenger take a step, and drop it with a warning if it cannot."""
        if self.challenger_ is None:
            return None
        try:
            return step(self.challenger_)
        except Exception as error:
            self.failure_ = f"{type(error).__name__}: {error}"
            self.challenger_ = None
            warnings.warn(f"The challenger has failed and was dropped. {self.failure_}", RuntimeWarning, stacklevel=3)
            return None

    def _compare(self, Y: MatrixLike, classes: Classes, known: Predicted | None, rival: Predicted | None) -> None:
        """Bet on the challenger by the losses of rows, and promote it if it has won."""
        if known is None or rival is None:
            return
        table = _in_columns(Y, classes, self.label_names_ if hasattr(self, "label_names_") else None)
        losses = np.stack([_losses(table, Y_pred, Y_proba, self.loss) for Y_pred, Y_proba in (known, rival)])
        losses = losses[:, ~np.isnan(losses).any(axis=0)]
        for pair in losses.T:
            self._bet(pair)
            if self.evidence_ >= 1 / self.alpha:
                self.champion_, self.challenger_, self.promoted_ = self.challenger_, None, self.n_compared_
                return

    def _bet(self, losses: Floats) -> None:
        begun = self.n_compared_ >= _STARTS
        self._log_wealth[begun] += np.log1p(_BETS * (losses[0] - losses[1]))
        self._losses += losses
        self.n_compared_ += 1


def _in_columns(Y: Any, classes: Classes, names: list[Hashable] | None) -> Floats:
    """Return labels as a table, in the columns of the champion; NaN where one is unknown."""
    table: Floats = (Y.toarray() if is_sparse(Y) else np.asarray(Y)).astype(np.float64)
    if names is None or not isinstance(classes, list):
        return table
    placed = np.full((len(table), len(names)), np.nan)
    placed[:, [names.index(name) for name in classes]] = table
    return placed


def _losses(table: Floats, Y_pred: Array, Y_proba: Array, loss: Loss) -> Floats:
    """Return the loss of each row, in [0, 1]; NaN where no label is known that was predicted."""
    table = table[:, : Y_pred.shape[1]]
    known = ~np.isnan(table)
    errors = (Y_proba - table) ** 2 if loss == "brier" else Y_pred != table
    counts = known.sum(axis=1)
    sums = np.where(known, errors, 0.0).sum(axis=1)
    losses: Floats = np.divide(sums, counts, out=np.full(len(table), np.nan), where=counts > 0)
    return losses


def _given(learner: Learner, keys: KeysLike) -> Attributes:
    return {"keys": keys} if keys is not None and getattr(learner, "uses_keys", False) else {}


def _begin_like(challenger: Learner, champion: Learner) -> None:
    if not hasattr(challenger, "begin"):
        raise ValueError(f"challenger must have learnt rows, as it has no `begin`. Got {challenger!r} instead.")
    names = getattr(champion, "label_names_", None)
    X, Y = np.zeros((1, champion.n_features_in_)), np.zeros((1, len(champion.classes_)), dtype=np.uint8)
    challenger.begin(X, Y, classes=names)


def _require_alike(champion: Learner, challenger: Learner) -> None:
    for name, of in (("n_features_in_", "features"), ("n_labels_", "labels"), ("label_names_", "names of labels")):
        one, other = getattr(champion, name, None), getattr(challenger, name, None)
        if one != other:
            raise ValueError(f"challenger must have the {of} of the champion, {one!r}. Got {other!r} instead.")
