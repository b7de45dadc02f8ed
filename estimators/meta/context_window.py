"""In-context learning from a stream: any classifier of scikit-learn, fitted again to a bounded window of rows."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.random import RandomState
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import check_random_state

from estimators._typing import Array, Estimator, RandomStateLike
from estimators.contract.base import Mask, StreamClassifier, check_precision
from estimators.contract.new_labels import OnNewLabels
from estimators.contract.parameters import check_number
from estimators.contract.row_codes import COUNTS, encode_labels
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.meta._context import POLICIES, Context, Schedule
from estimators.meta._context_models import Fit, Models, require_classifier, require_weights
from estimators.replay._kept_rows import KeptRows, take
from metrics.validation import require_choice, require_integer


class ContextWindowClassifier(MetaEstimatorMixin, StreamClassifier):
    """Fit any classifier again to a bounded context of labelled rows, as classifiers without `partial_fit` need.

    So streams are learnt by classifiers that take a table at once, from gradient boosting to models that were trained
    before and read the context when they predict. It forgets as fast as the context does, and spends its energy on
    fitting: the schedule decides how much.

    Parameters
    ----------
    estimator : estimator instance or None, default=None
        Any classifier with scikit-learn's ``fit`` and ``predict``. None: ``ExtraTreesClassifier`` of 20 trees.
    context_size : int, default=500
        Number of rows in the context.
    policy : {'last', 'task', 'label'}, default='last'
        Which rows are in it. 'last': the last ones. 'task': the last ones of each task, that is of each set of labels
        that count; tasks have as equal shares as can be. 'label': the last ones of each label, a row standing for the
        rarest label that it has, rows without labels for themselves; or the last ones of each class.
    change : float or None, default=0.2
        The context is learnt again once rows that were not in it the last time make up this share, from 0 to 1. None:
        after `refit_every` rows only.
    refit_every : int or None, default=None
        It is learnt again after so many rows at the latest. None: when it has changed, or after `context_size` rows.
    min_count : int, default=1
        Rows in the context that each value of a label needs for a classifier to be fitted. With fewer, the label is
        predicted with its share among the rows.
    multilabel : {'binary', 'native'}, default='binary'
        'binary': one classifier for each label. 'native': one classifier learns all labels, if its ``fit`` takes a
        table of labels, as that of forests, nearest neighbours and ``MLPClassifier``.
    n_jobs : int, optional
        Number of threads among which labels are divided; -1: one for each processor. The results are the same.
    random_state : int, RandomState instance or None, default=None
        Draws seeds for every classifier that is fitted; None keeps the seeds of the estimator.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.
        With 'native' they are refused.

    Attributes
    ----------
    n_fits_ : int
        How often the context was due to be learnt.

    Notes
    -----
    When all places are taken, the oldest row of the largest group leaves, the new row counted in: with 'last' all rows
    are one group. Of groups of one size, the one with the oldest row loses it, so that a group that has not
    been seen for long goes first where groups outnumber the places.

    With the first rows, the context changes fast: it is learnt after rows 1 to 5, then 7, 9, and so on, about 35 times
    until 500 rows are there. After that, 'last' learns it once in ``change * context_size`` rows. With 'task', a task
    that stays takes the places of its own old rows: these changes may never make up the share, but rows still count.

    The schedule counts rows, not calls, so that the cut of a stream into chunks changes nothing. `partial_fit` learns
    the context at most once: no prediction shows what was learnt in between. `fit` learns it at the end.

    A label is learnt from rows where it counts: with 'binary', labels outside the mask and unknown labels (NaN) leave
    their rows to the other labels. One classifier of all labels ('native') does not use the task, and rows with an
    unknown label are left out, as by `LabelCombination`.

    A label is predicted 1 if its probability is greater than 1/2; a classifier without ``predict_proba`` has
    probabilities 0 and 1. `predict_then_fit` predicts rows one by one, since bits of many classifiers depend on the
    rows predicted together. These predict rows at once: trees, forests, ``HistGradientBoostingClassifier``, LightGBM,
    ``LogisticRegression``, pipelines of a scaler and one of them, and our classifiers. Forests of scikit-learn with
    threads of their own (``n_jobs``) add votes in any order: their last bits vary.

    CSR rows become dense for a classifier that does not take them, such as ``HistGradientBoostingClassifier``: up to
    `context_size` rows at once.

    A fit that fails changes nothing: the classifiers fitted before are never changed.

    References
    ----------
    Lourenço, Gama, Xing, Marreiros, "In-context learning of evolving data streams with tabular foundational models",
    arXiv 2502.16840, 2025 (the last rows, and the last rows of each class, as the context of a trained network).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from estimators import ContextWindowClassifier
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> Y = X > [[0, 1]]
    >>> Y[500:, 0] ^= True
    >>> learner = ContextWindowClassifier(LogisticRegression(), context_size=200)
    >>> Y_pred, _ = learner.predict_then_fit(X, Y)
    >>> [float((Y_pred[i : i + 100] == Y[i : i + 100]).mean().round(2)) for i in (400, 500, 900)]
    [0.99, 0.5, 0.98]
    """

    _traits = Traits(takes_codes=True, learns_unknown=True)

    def __init__(  # noqa: PLR0913 - parameters of scikit-learn's kind
        self,
        estimator: Estimator | None = None,
        *,
        context_size: int = 500,
        policy: Literal["last", "task", "label"] = "last",
        change: float | None = 0.2,
        refit_every: int | None = None,
        min_count: int = 1,
        multilabel: Literal["binary", "native"] = "binary",
        n_jobs: int | None = None,
        random_state: RandomStateLike = None,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.estimator = estimator
        self.context_size = context_size
        self.policy = policy
        self.change = change
        self.refit_every = refit_every
        self.min_count = min_count
        self.multilabel = multilabel
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.on_new_labels = on_new_labels

    # ------------------------------------------------------------------- facts
    @property
    def uses_task(self) -> bool:
        """Whether `label_mask` changes what is learnt."""
        return self.multilabel != "native"

    @property
    def _model(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from sklearn.ensemble import ExtraTreesClassifier

        return ExtraTreesClassifier(20)

    @property
    def _rows_to_compile(self) -> int:
        # the first row that varies in a label is fitted to after it was learnt
        return 8

    def _can_grow(self) -> bool:
        return self.multilabel != "native"

    # ------------------------------------------------------------------- hooks
    def _start(self) -> None:
        self._check_parameters()
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        width = self.n_labels_ if self._target.multilabel else len(self.classes_)
        self._context = Context.start(int(self.context_size), width)
        self._models = Models(np.zeros(width))
        self.n_fits_ = 0

    def _grow(self, n_before: int) -> None:
        self._context = self._context.widened(self.n_labels_ - n_before)
        self._models = self._models.widened(self.n_labels_ - n_before)

    def _check_inside(self, X: Features) -> None:
        check_precision(self._model, X)

    def _at_risk_in_runs(self, X: Features) -> list[str]:  # noqa: ARG002 - nothing is changed in place
        return []

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:
        for _ in self._pass(X, Y, mask, weight, testing=False):
            pass

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:
        proba = np.concatenate(list(self._pass(X, Y, mask, None, testing=True)))
        return self._decide(proba), proba

    def _end_fit(self) -> None:
        if self._context.n_new:
            self._models = self._fit_to(self._context.in_order(self._context.arrivals), self.n_fits_ + 1)
            self._context = self._context.learnt()
            self.n_fits_ += 1

    def _predict_proba(self, X: Features) -> Array:
        return self._models.predict_proba(_as_doubles(X))

    def _infer(self, X: Features) -> tuple[Array, Array]:
        proba = self._predict_proba(X)
        return self._decide(proba), proba

    def _infer_each(self, X: Features) -> tuple[Array, Array]:
        proba = self._models.predict_proba_each(_as_doubles(X))
        return self._decide(proba), proba

    # ------------------------------------------------------------------- parts
    def _pass(
        self, X: Features, Y: Array, mask: Mask | None, weight: Array | None, *, testing: bool
    ) -> Iterator[Array]:
        """Predict rows if `testing`, and take them into the context, from one fit to the next; keep all at the end."""
        chunk = self._as_rows(X, Y, mask, weight)
        learnt = np.flatnonzero(self._can_learn(chunk))
        rows = take(chunk, learnt)
        context, arrivals, models = self._context, self._context.arrivals.copy(), self._models
        numbers = context.numbers(len(learnt))
        schedule = Schedule(self.policy, self.refit_every or int(self.context_size), self.change)
        after, slots, due = context.planned(rows, schedule)
        fits = np.flatnonzero(due)
        done = 0
        for n_fits, last in enumerate(fits.tolist(), self.n_fits_ + 1):
            if not testing and last != fits[-1]:
                continue
            part = slice(done, last + 1)
            if testing:
                yield models.predict_proba_each(chunk.X[slice(learnt[done - 1] + 1 if done else 0, learnt[last] + 1)])
            context = context.holding(take(rows, part), slots[part])
            arrivals[slots[part]] = numbers[part]
            models = self._fit_to(context.in_order(arrivals), n_fits)
            done = last + 1
        if testing:
            yield models.predict_proba_each(chunk.X[slice(learnt[done - 1] + 1 if done else 0, None)])
        context = context.holding(take(rows, slice(done, None)), slots[done:])
        self._context = after._replace(rows=context.rows)
        self._models, self.n_fits_ = models, self.n_fits_ + len(fits)

    def _fit_to(self, rows: KeptRows, n_fits: int) -> Models:
        """Return classifiers fitted to rows, the same for the same number of fits before."""
        seed = partial(_seed_of, None if self.random_state is None else self._seed, n_fits)
        fit = Fit(self._model, self.multilabel == "native", int(self.min_count), self.n_jobs, seed)
        return fit.labels(rows) if rows.Y.ndim == 2 else fit.classes(rows, len(self.classes_))

    def _as_rows(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> KeptRows:
        weight = np.ones(len(Y)) if weight is None else weight
        require_weights(self._model, weight)
        if Y.ndim == 2:
            Y = encode_labels(Y if mask is None else Y & mask, mask)
        return KeptRows(_as_doubles(X), Y, None, weight)

    def _can_learn(self, rows: KeptRows) -> Array:
        """Return which rows are taken in: for one classifier of all labels, those with all of them known."""
        learnt = rows.weight > 0
        if self.multilabel == "native" and rows.Y.ndim == 2:
            learnt &= (rows.Y >= COUNTS).all(axis=1)
        return learnt

    def _decide(self, proba: Array) -> Array:
        return proba > 0.5 if self._target.multilabel else proba.argmax(axis=1)

    def _check_parameters(self) -> None:
        require_classifier(self._model)
        require_choice(self.policy, "policy", POLICIES)
        require_choice(self.multilabel, "multilabel", ("binary", "native"))
        require_integer(self.context_size, "context_size", minimum=1)
        require_integer(self.min_count, "min_count", minimum=1)
        if self.refit_every is not None:
            require_integer(self.refit_every, "refit_every", minimum=1)
        if self.change is not None:
            check_number("change", self.change, maximum=1)
        if self.multilabel == "native" and self.policy == "task":
            raise ValueError("policy must be 'last' or 'label' with multilabel='native', which does not use the task.")
        if self.multilabel == "native" and self.on_new_labels == "grow":
            raise ValueError("on_new_labels must be 'error' with multilabel='native'. Got 'grow' instead.")


def _as_doubles(X: Features) -> Features:
    return X if X.dtype == np.float64 else X.astype(np.float64)


def _seed_of(seed: int | None, n_fits: int, column: int) -> RandomState | None:
    return None if seed is None else RandomState([seed, n_fits, column])
