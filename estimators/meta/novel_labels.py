"""Find rows that carry a label nobody has named, around any classifier."""

from collections.abc import Hashable
from copy import deepcopy
from numbers import Real
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.random_projection import SparseRandomProjection
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from estimators._typing import Array, Classes, Estimator, MaskLike, MatrixLike, RandomStateLike, RowValues
from estimators.contract.batching import dense
from estimators.contract.failed_calls import DivergedError, unchanged_on_error, unchanged_or_marked
from estimators.contract.locks import lock_of
from estimators.contract.new_labels import advise_growth, grows, place_labels
from estimators.contract.parameters import Rule, check_rules
from estimators.contract.targets import as_table
from estimators.contract.validation import Features
from estimators.meta._around_any import AroundProbabilities, Rows, as_cells, as_floats, refusal_of
from estimators.meta._kernels.novelty import NOTHING, STEP, UNLABELLED, State, measure, measure_then_learn
from estimators.meta._novel_groups import Groups, NovelGroup, Seen
from estimators.replay._meta_base import begin_inner
from metrics.validation import require_integer

# Positions of a row: a table of products has the square of so many.
_MOST_PLACES = 64
_SHARE_RULE: Rule = (Real, lambda value: 0 < value < 1, "a share of the rows, inside (0, 1)")


class NovelLabels(AroundProbabilities):
    """Score how likely a row carries a label that nobody has named, and offer groups of such rows for naming.

    Predictions and probabilities are those of the classifier inside, unchanged. `score_novelty` adds a score; rows that
    turn out to have no known label, are novel and lie close together are offered in ``groups_``. Answer each group with
    `name_group`, which teaches the classifier the new label, or with `dismiss_group`.

    Parameters
    ----------
    estimator : estimator instance
        One of our classifiers; or any scikit-learn classifier with ``partial_fit`` and ``predict_proba``, of which each
        label learns a copy (`BinaryRelevance`). New labels need one of ours, made with ``on_new_labels="grow"``.
    share : float, default=0.1
        Share of recent rows, inside (0, 1), whose scores are high enough for a group.
    group_size : int, default=20
        Number of neighbours, at least 2, of which half must be candidates for a group. The greater, the fewer false
        groups, and the more rows pass before the first.
    window : int, default=1000
        Number of recent rows among which groups are looked for, at least 100.
    random_state : int, RandomState instance or None, default=None
        Seed of the projection of more than 64 features.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels, 2) or (n_classes,)
        For labels, 0 and 1 for each; for one class a row, the sorted values.
    estimator_ : StreamClassifier
        The classifier, as it has learnt.
    groups_ : list of NovelGroup
        Groups that wait for an answer, oldest first: ``number``, ``rows`` (numbers of the rows learnt, from 0), ``X``
        (their features) and ``novelty`` (their scores).

    See Also
    --------
    LabelBudget : Ask for the labels that are worth it.
    mlstream.evaluate_naming : Withhold labels of a stream until their groups are named.

    Notes
    -----
    The novelty of a row is

        (1 - g^2) log r + (1 - g) / 2 * sum over labels of log(1 - p) + g^2 log d.

    - r is the share of recent rows, about 20, that had no known label: new labels come in runs. It is drawn to g with
      the weight of two rows.
    - p is the probability of a label, at most 1 - 1e-6: the row carries no label that the classifier knows.
    - d is the squared distance of the row from the mean of all rows before, divided by the number of features that
      vary, in the metric of their covariance. This is what finds the new among rows of which most have no label.
      Correlations get a ridge of n_features / n_rows, and are factorised every 50 rows; d is 1 before.
      More than 64 features are added up with random signs in 64 dimensions.
    - g is the share of all rows so far that had no known label. If every row should have one, g is 0, and a row without
      any is suspicious. If most have none, as in a log of mostly harmless traffic, lacking one says nothing.

    A row tells that it has no known label if all labels are known, count, and are 0. If some are unknown and none of
    the others is 1, it tells nothing about r and g.

    Every 50 rows, groups are looked for. A candidate is a row without a known label whose novelty is in the
    greatest `share` of the last `window` rows. With at least half of its `group_size` nearest rows candidates,
    among the last `window` rows that have no known label, these form a group. Rows that lie within the radius of an
    earlier group found no other. The last 1,000 groups are remembered. Distances are Euclidean, of features divided
    by their deviations, with each difference within 5.

    A label that comes only together with known ones is not found: none of its rows lacks a known label. For one class a
    row the novelty is log d, and no group is offered.

    Rows with weights count as others, unless the weight is 0.

    Put it around other meta-estimators, not inside them: one that is around it refuses all rows once a label is named.

    References
    ----------
    Costa Júnior, Faria, Silva, Gama, Cerri, "Novelty detection for multi-label stream classification under extreme
    verification latency" (MINAS-BR), Applied Soft Computing 141, 2023 (groups of rows that no known label explains).
    Faria, Goncalves, de Carvalho, Gama, "Novelty detection in data streams", Artificial Intelligence Review 45, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import NovelLabels, OnlineLogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> new = np.arange(600) % 4 == 1
    >>> new[:400] = False
    >>> X[new], Y[new] = X[new] / 4 + [-3, -3, 5], 0
    >>> learner = NovelLabels(OnlineLogisticRegression(on_new_labels="grow"))
    >>> novelty, Y_proba = learner.score_novelty_then_fit(X, Y)
    >>> group = learner.groups_[0]
    >>> bool(new[group.rows].mean() > 0.5)
    True
    >>> learner = learner.name_group(group.number)
    >>> learner.n_labels_, int(learner.predict([[-3, -3, 5]])[0, 2])
    (3, 1)
    """

    _groups: Groups

    def __init__(
        self,
        estimator: Estimator,
        *,
        share: float = 0.1,
        group_size: int = 20,
        window: int = 1000,
        random_state: RandomStateLike = None,
    ) -> None:
        self.estimator = estimator
        self.share = share
        self.group_size = group_size
        self.window = window
        self.random_state = random_state

    # ---------------------------------------------------------------- novelty
    def score_novelty(self, X: MatrixLike) -> Array:
        """Score rows that come next.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            The greater, the more novel. Only the order of scores has a meaning.

        Raises
        ------
        ValueError
            If X is wrong, or the classifier returns what is not a probability.
        """
        with lock_of(self):
            X = self._check_features(X)
            return self._read_probabilities(X, self._target.probabilities(self._infer_each(X)[1]))

    def score_novelty_then_fit(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        classes: Classes = None,
        *,
        environment: RowValues = None,
        label_mask: MaskLike = None,
    ) -> tuple[Array, Array]:
        """Test, then train: what a loop over rows of `score_novelty`, `predict_proba` and `partial_fit` does.

        Parameters
        ----------
        X, Y, classes, environment, label_mask
            As in `partial_fit`.

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
            As `score_novelty` returns row by row.
        Y_proba : ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            As `predict_proba` returns row by row.

        Raises
        ------
        ValueError
            If anything in the call is wrong; nothing is learnt.
        DivergedError
            If the classifier, which has learnt the rows already, returned what is not a probability.
        """
        with unchanged_or_marked(self) as call:
            rows = self._check_chunk(X, Y, classes, label_mask)
            passed = self._check_metadata({"environment": environment}, len(rows[1]))
            novelty, _, proba = self._learn_then_return(call, rows, passed)
            return novelty, proba

    # ----------------------------------------------------------------- groups
    @property
    def groups_(self) -> list[NovelGroup]:
        """Groups that wait for an answer, oldest first."""
        check_is_fitted(self)
        # copies: what is named is what was offered
        return deepcopy(list(self._groups.offered))

    def name_group(self, group: int, label: Hashable = None) -> Self:
        """Teach the classifier that the rows of a group have a label, and no other.

        Parameters
        ----------
        group : int
            Number of a group in ``groups_``.
        label : int or name of a label, optional
            The label: a column of Y, or a name where labels have names. By default it is a new label, whose column
            follows the others; where labels have names, a new one must be given.

        Returns
        -------
        self
            The estimator, which has learnt the rows; unchanged if anything in the call is wrong.

        Raises
        ------
        ValueError
            If there is no such group or label, or if the label is new and the classifier does not grow.
        """
        with unchanged_or_marked(self):
            check_is_fitted(self)
            members, groups = self._groups.without(group)
            column = self._column(label)
            Y = np.zeros((len(members.rows), max(self.n_labels_, column + 1)), dtype=np.uint8)
            Y[:, column] = 1
            if column == self.n_labels_:
                self._add_label(Y, label)
            self.estimator_.partial_fit(members.X, as_table(Y))
            self._groups = groups
        return self

    def dismiss_group(self, group: int) -> Self:
        """Answer that the rows of a group share no new label; rows close to them are not offered again.

        Parameters
        ----------
        group : int
            Number of a group in ``groups_``.

        Returns
        -------
        self
            The estimator.

        Raises
        ------
        ValueError
            If there is no such group.
        """
        with unchanged_on_error(self):
            check_is_fitted(self)
            self._groups = self._groups.without(group)[1]
        return self

    # ------------------------------------------------------------------ hooks
    def _start(self) -> None:
        check_rules({"share": self.share}, {"share": _SHARE_RULE})
        size = require_integer(self.group_size, "group_size", 2)
        window = require_integer(self.window, "window", 100)
        if size > window:
            raise ValueError(f"group_size must be at most window, {window}. Got {size} instead.")
        self._check_estimator()
        self._projection = None
        if self.n_features_in_ > _MOST_PLACES:
            # each feature goes to one dimension, in the mean
            seed = check_random_state(self.random_state)
            drawn = SparseRandomProjection(_MOST_PLACES, density=1 / _MOST_PLACES, random_state=seed)
            drawn.fit(sparse.csr_array((1, self.n_features_in_)))
            self._projection = sparse.csr_array(drawn.components_.T)
        self._state = State.start(min(self.n_features_in_, _MOST_PLACES))
        self._groups = Groups(float(self.share), size, window)
        self.estimator_ = begin_inner(self, None)

    def _infer(self, X: Features) -> tuple[Array, Array]:
        return self.estimator_.predict_with_proba(X)

    def _read_probabilities(self, X: Features, proba: Array) -> Array:
        """Return the novelty of rows beside those learnt so far."""
        # other threads read the same sums
        state, novelty = self._state._replace(rest=self._state.rest.copy()), np.empty(X.shape[0])
        if not measure(self._places(X), as_floats(proba), state, not self._target.multilabel, novelty):
            raise ValueError(refusal_of(proba))
        return novelty

    def _learn_probabilities(self, proba: Array, rows: Rows, weight: Array | None) -> Array:
        """Return the novelty of each row by the rows before it, then learn it."""
        X, n_rows = rows[0], len(proba)
        places, state = self._places(X), self._state.copy()
        novelty, told = np.empty(n_rows), np.empty(n_rows, dtype=np.int8)
        scales = np.empty((n_rows // STEP + 1, places.shape[1]))
        cells = as_cells(rows, weight, proba.shape[1])
        of_classes = not self._target.multilabel
        if not measure_then_learn(places, as_floats(proba), *cells, state, of_classes, novelty, told, scales):
            raise DivergedError(refusal_of(proba))
        learnt = told != NOTHING
        self._groups = self._groups.plus(
            Seen(novelty, told == UNLABELLED, places, X)
            if learnt.all()
            else Seen(novelty[learnt], told[learnt] == UNLABELLED, places[learnt], X[learnt]),
            scales,
        )
        self._state = state
        return novelty

    # ------------------------------------------------------------------ parts
    def _places(self, X: Features) -> Array:
        """Return the positions of rows, by which they are compared."""
        return dense(X if self._projection is None else X @ self._projection)

    def _column(self, label: Hashable) -> int:
        """Return the column of a label, which for a new one is the first that is free."""
        if not self._target.multilabel:
            raise ValueError(
                "y must be a table of labels, one column each, for groups to be named. Got one class a row."
            )
        names = getattr(self, "label_names_", None)
        if names is not None:
            if label is None:
                raise ValueError(f"label must be a name, since the labels have names: {names[:8]}. Got None instead.")
            return names.index(label) if label in names else self.n_labels_
        if label is None:
            return self.n_labels_
        column = require_integer(label, "label", 0)
        if column > self.n_labels_:
            raise ValueError(f"label must be at most {self.n_labels_}, which is a new label. Got {column} instead.")
        return column

    def _add_label(self, Y: Array, label: Hashable) -> None:
        if not grows(self):
            way_out = advise_growth(self, "name one of the labels that it knows")
            raise ValueError(f"estimator must take in new labels, for a group to get one. Got {label!r}; {way_out}.")
        names = getattr(self, "label_names_", None)
        placed = place_labels(self._target, as_table(Y), None if names is None else [*names, label], None)
        if placed is not None:
            self._take_placed(placed)
