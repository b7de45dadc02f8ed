"""Decisions at the prevalence of labels, around any classifier."""

import numpy as np
from sklearn.utils import Tags

from estimators._typing import Array, Estimator
from estimators.contract.base import Mask
from estimators.contract.prevalence import FOLLOW, MEMORY, Prevalence, one_hot, require_rule
from estimators.contract.targets import as_table
from estimators.contract.validation import Features
from estimators.meta._around_any import AroundAnyClassifier
from estimators.replay._meta_base import begin_inner


class PrevalenceThreshold(AroundAnyClassifier):
    """Decide labels where balanced accuracy is best: as soon as their probability reaches their prevalence.

    Probabilities are those of the classifier inside, unchanged. The prevalence that decides a row is that of the rows
    learnt before it, so nothing is searched and nothing is held out.

    Parameters
    ----------
    estimator : estimator instance
        One of our classifiers; or any scikit-learn classifier with ``partial_fit`` and ``predict_proba``, of which each
        label learns a copy (`BinaryRelevance`).
    follow : float, default=0.5
        How far the threshold moves against the prevalence of late, from 0 (not at all) to 1 (as if it would last).
    memory : float, default=20
        Rows that "of late" means, at least 1.
    late_in_predict : bool, default=False
        Whether `predict` moves the threshold too. The rows that it predicts need not follow those learnt: rows of an
        evaluation set may be of another task. `predict_then_fit` always moves it, since its rows do.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.
    estimator_ : StreamClassifier
        The classifier, as it has learnt.
    prevalence_ : ndarray of shape (n_labels,) or (n_classes,)
        Share of positive rows of each label, or of each class, among those learnt; 0 before any.

    See Also
    --------
    estimators.pragma.threshold.PragmaThreshold : Thresholds searched for another aim, on a window of rows.

    Notes
    -----
    The mean of recall and specificity of a label is greatest where exactly the rows with P(label = 1) above the
    prevalence pi are positive. In log-odds, the threshold t of a label is

        logit(t) = logit(pi) - follow * (logit(late) - logit(pi)).

    The prevalence of late is a mean over the last rows, older ones fading with rate 1 / `memory`; it starts from five
    rows of the usual prevalence, and is held between 0.0001 and 0.9999. The shift assumes that labels which have been
    frequent lately are more probable now than the classifier estimates. A label never seen positive is never
    predicted, and one that was always positive always is.

    If the classifier uses the task, labels are counted inside their masks, as it learns them; otherwise every row
    counts for every label, also here as it learns them. Unknown labels (NaN) do not count, weights of rows do.

    For one class a row the greatest probability over prevalence wins, among classes seen, moved in the same way; for
    two classes this is the rule above.

    `predict_then_fit` calls that of the classifier once for a chunk. It returns what a loop of `predict` and
    `partial_fit` does if `late_in_predict` is True. A rule for balanced accuracy costs plain accuracy: leave it out
    where all errors count the same.

    References
    ----------
    Menon, Narasimhan, Agarwal, Chawla, "On the statistical consistency of algorithms for binary classification under
    class imbalance", ICML 2013 (the prevalence as threshold of balanced accuracy).
    Saerens, Latinne, Decaestecker, "Adjusting the outputs of a classifier to new a priori probabilities", Neural
    Computation 14(1), 2002 (the shift).

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import OnlineNeuralClassifier, PrevalenceThreshold
    >>> from metrics import ba_macro
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> Y = X[:, :2] + rng.normal(size=(2000, 2)) > 2
    >>> plain = OnlineNeuralClassifier(learning_rate=0.1, random_state=0)
    >>> both = [learner.predict_then_fit(X, Y)[0] for learner in (plain, PrevalenceThreshold(plain))]
    >>> [round(ba_macro(Y, Y_pred), 2) for Y_pred in both]
    [0.59, 0.73]
    """

    def __init__(
        self, estimator: Estimator, *, follow: float = FOLLOW, memory: float = MEMORY, late_in_predict: bool = False
    ) -> None:
        self.estimator = estimator
        self.follow = follow
        self.memory = memory
        self.late_in_predict = late_in_predict

    @property
    def prevalence_(self) -> Array:
        """Share of positive rows of each label, or of each class, among those learnt."""
        return self._prevalence.usual_shares

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks of scores ask that labels be decided at a probability of 1/2, for accuracy
        tags.classifier_tags.poor_score = True
        return tags

    # ------------------------------------------------------------------ hooks
    def _start(self) -> None:
        require_rule(self.follow, self.memory)
        if not isinstance(self.late_in_predict, bool | np.bool_):
            # like every other parameter
            raise ValueError(  # noqa: TRY004
                f"late_in_predict must be True or False. Got {self.late_in_predict!r} instead."
            )
        if not hasattr(self.estimator, "predict_proba"):
            raise TypeError(f"estimator must have predict_proba, for probabilities. Got {self.estimator!r} instead.")
        n_columns = self.n_labels_ if self._target.multilabel else len(self.classes_)
        self._prevalence = Prevalence.start(n_columns)
        self.estimator_ = begin_inner(self, None)

    def _grow(self, n_before: int) -> None:
        super()._grow(n_before)
        self._prevalence = self._prevalence.widened(self.n_labels_ - n_before)

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, **metadata: Array) -> None:
        self.estimator_.partial_fit(X, as_table(Y), label_mask=mask, sample_weight=weight, **metadata)
        columns = Y if self._target.multilabel else one_hot(Y, len(self.classes_))
        self._prevalence = self._rule.learn(columns, self._counted(Y, mask), weight)

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None, **metadata: Array) -> tuple[Array, Array]:
        proba = self.estimator_.predict_then_fit(X, as_table(Y), label_mask=mask, **metadata)[1]
        if self._target.multilabel:
            decided, self._prevalence = self._rule.decide_then_learn(proba, Y, self._counted(Y, mask))
        else:
            decided, self._prevalence = self._rule.choose_then_learn(proba, Y)
        return decided, proba

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return self._decide(self.estimator_.predict_proba(X), late=bool(self.late_in_predict))

    def _infer_each(self, X: Features) -> tuple[Array, Array]:
        # rows of a stream that have nothing to learn stand where the rows around them stand
        return self._decide(self.estimator_._infer_each(X)[1], late=True)

    # ------------------------------------------------------------------ parts
    @property
    def _rule(self) -> Prevalence:
        return self._prevalence._replace(follow=float(self.follow), memory=float(self.memory))

    def _decide(self, proba: Array, *, late: bool) -> tuple[Array, Array]:
        rule = self._rule
        decided = rule.decide(proba, late=late) if self._target.multilabel else rule.choose(proba, late=late)
        return decided, proba

    @staticmethod
    def _counted(Y: Array, mask: Mask | None) -> Mask | None:
        """Return which labels count: those inside the mask, or, without one, those that are known."""
        return np.asarray(Y <= 1) if mask is None and Y.ndim == 2 else mask
