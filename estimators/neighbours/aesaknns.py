"""AESAKNNS: an ensemble of MLSAkNN on parts of the features, whose members are watched and replaced."""

from typing import Literal

import numpy as np
from numpy.random import RandomState
from sklearn.utils import Tags, check_random_state

from estimators._typing import Array
from estimators.contract.base import Mask, StreamClassifier
from estimators.contract.new_labels import OnNewLabels
from estimators.contract.parameters import check_number
from estimators.contract.traits import Traits
from estimators.contract.validation import Features
from estimators.neighbours._kernels.ensemble import Rules, Votes
from estimators.neighbours._member import NO_VOTES, Member, Plan, Rows, draw_features
from estimators.neighbours._options import check_options
from estimators.neighbours._window import blocks, dense_rows
from estimators.neighbours.mlsaknn import FIRST_K
from metrics.validation import require_integer

# as published
FADING, DELTA = 0.995, 0.002
# that of MLSAkNN over the share of rows, 1 - 1 / e, that a Poisson(1) number lets a member learn
PENALTY = 5.0
# rows that a member learns in one call: its room grows with its window, not with the chunk
SEGMENT = 128
# P of a label that is predicted although votes tie: rounding gives the prediction
TIE = float(np.nextafter(0.5, 1.0))


class AESAKNNSClassifier(StreamClassifier):
    """Vote with several MLSAkNN on parts of the features, and replace those that do badly: AESAKNNS.

    Parameters
    ----------
    n_members : int, default=10
        Members that vote, and members in the background while there are any.
    subspace : float, default=0.7
        Mean share of the features that a member looks at, above 0 and at most 1.
    background_rows : int, default=1000
        Rows for which members in the background learn before they are compared.
    max_window, min_window, reduction, criterion
        As in :class:`~estimators.MLSAkNNClassifier`, for each member.
    penalty : float, default=None
        As there, but 5 by default, since a member learns fewer rows than those in which its neighbours may be wrong.
    k_history : int, default=1000
        As there.
    faithful : bool, default=False
        Whether to repeat the defects of the authors' code.
    random_state : int, RandomState or None, default=None
        Seed of the features of members and of how often each learns a row.
    on_new_labels : {'error', 'grow'}, default='error'
        What happens to labels that appear after the first call: refused, or learnt from then on, unknown before.

    Attributes
    ----------
    features_ : list of int ndarray
        Positions of the features that each member looks at.
    window_sizes_ : int ndarray of shape (n_members,)
        Number of rows in the window of each member.
    n_restarts_ : int
        How often a member has started again because its errors grew.
    n_exchanged_ : int
        How often a member has been replaced by one from the background.

    Notes
    -----
    A member is a :class:`~estimators.MLSAkNNClassifier` on a part of the features. Of d features it looks at
    ``subspace * d`` plus a normal draw of standard deviation ``(1 - subspace) * d / 2``, rounded, at least 1 and at
    most d. P(label = 1) is the mean over the members that have votes for the label, 0 if none has. One half is
    predicted, and given as the next greater number, so that rounding P gives the prediction.

    Each member learns a row in four steps. (1) It votes, and neighbours that were wrong are punished. (2) Its scores,
    subset accuracy and Hamming score, fade by .995 and take in the row; its errors, 0 or 1 for each known label, are
    given to an ADWIN (delta .002), which reads a tie of votes as absent. (3) If that detects a change and the mean
    error is greater than before the row, the member starts again: only features and their ranges stay. It then learns
    the row once. (4) It learns the row with its weight times a Poisson(1) number, not if this is 0.

    From the first row on, and again from any restart on unless this goes on already, as many members in the background
    do the same but for step 3, without a say. After `background_rows` rows, each in turn replaces the active member
    with the least product of subset accuracy and Hamming score, if its own is greater; the others go.

    With ``faithful=True``, all members look at the same features and vote and punish twice a row while they are active,
    as in the authors' code, besides the defects that :class:`~estimators.MLSAkNNClassifier` repeats.

    A label that is unknown in a row is neither asked nor scored. Rows are kept dense, in double precision. Memory grows
    with the windows of the members: up to ``8 * max_window**2`` bytes for the distances of each of the
    ``2 * n_members`` (160 MB with the defaults), their rows, and ``16 * k_history`` bytes for each of their labels. A
    row costs as much as in that many MLSAkNN.

    References
    ----------
    Alberghini, Barbon Junior, Cano, "Adaptive ensemble of self-adjusting nearest neighbor subspaces for multi-label
    drifting data streams", Neurocomputing 481, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import AESAKNNSClassifier
    >>> X = np.random.default_rng(0).random((900, 4))
    >>> Y = X[:, :2] > 0.5
    >>> learner = AESAKNNSClassifier(n_members=5, random_state=0).fit(X, Y)
    >>> learner.predict([[0.9, 0.1, 0.5, 0.5]])
    array([[1, 0]])
    """

    _traits = Traits(fails_late=False, learns_unknown=True)

    def __init__(  # noqa: PLR0913 - scikit-learn's estimators take their parameters here
        self,
        n_members: int = 10,
        *,
        subspace: float = 0.7,
        background_rows: int = 1000,
        max_window: int = 1000,
        min_window: int = 50,
        penalty: float | None = None,
        reduction: float = 0.5,
        criterion: Literal["subset_accuracy", "hamming_score"] = "subset_accuracy",
        k_history: int = 1000,
        faithful: bool = False,
        random_state: int | RandomState | None = None,
        on_new_labels: OnNewLabels = "error",
    ) -> None:
        self.n_members = n_members
        self.subspace = subspace
        self.background_rows = background_rows
        self.max_window = max_window
        self.min_window = min_window
        self.penalty = penalty
        self.reduction = reduction
        self.criterion = criterion
        self.k_history = k_history
        self.faithful = faithful
        self.random_state = random_state
        self.on_new_labels = on_new_labels

    @property
    def features_(self) -> list[Array]:
        """Positions of the features that each member looks at."""
        return [member.features.copy() for member in self._members]

    @property
    def window_sizes_(self) -> Array:
        """Number of rows in the window of each member."""
        return np.array([member.window_size for member in self._members])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks of scores have two features, of which each member gets one or two
        tags.classifier_tags.poor_score = True
        return tags

    # ------------------------------------------------------------------ hooks
    def _start(self) -> None:
        self._plan = self._check_plan()
        self._n_members = require_integer(self.n_members, "n_members", 1)
        self._phase_rows = require_integer(self.background_rows, "background_rows", 1)
        self._rng = RandomState(check_random_state(self.random_state).randint(2**31 - 1))
        self._shared = draw_features(self._rng, self.n_features_in_, self._plan.subspace) if self.faithful else None
        self._members = self._new_members()
        self._background = self._new_members()
        self._left_rows = self._phase_rows
        self.n_restarts_ = self.n_exchanged_ = 0

    def _grow(self, n_before: int) -> None:
        n = self.n_labels_ - n_before
        self._members = [member.with_more_labels(n) for member in self._members]
        self._background = [member.with_more_labels(n) for member in self._background]

    def _learn(self, X: Features, Y: Array, mask: Mask | None, weight: Array | None) -> None:  # noqa: ARG002
        if weight is None:
            weight = np.ones(len(Y))
        learnt = np.flatnonzero(weight > 0.0)
        self._pass(X[learnt], Y[learnt], weight[learnt])

    def _predict_then_learn(self, X: Features, Y: Array, mask: Mask | None) -> tuple[Array, Array]:  # noqa: ARG002
        proba = self._pass(X, Y, np.ones(len(Y)))
        return proba >= 0.5, proba

    def _predict_proba(self, X: Features) -> Array:
        votes = _no_votes_yet(X.shape[0], self.n_labels_)
        for block in blocks(X.shape[0]):
            rows, part = dense_rows(X[block]), Votes(votes.shares[block], votes.counts[block])
            for member in self._members:
                member.add_votes(rows, part)
        return self._mean(votes)

    # ------------------------------------------------------------------ parts
    def _check_plan(self) -> Plan:
        options = check_options(self, adaptive=True, default_penalty=PENALTY)
        check_number("subspace", self.subspace)
        if not 0 < self.subspace <= 1:
            raise ValueError(f"subspace must be above 0 and at most 1. Got {self.subspace!r} instead.")
        n_hits = require_integer(self.k_history, "k_history", 1)
        rules = Rules(FIRST_K, True, options.faithful, DELTA, FADING)
        return Plan(options, rules, n_hits, float(self.subspace))

    def _new_members(self) -> list[Member]:
        shape, members = (self.n_features_in_, self.n_labels_), []
        for seed in self._rng.randint(2**31 - 1, size=self._n_members):
            rng = RandomState(seed)
            features = draw_features(rng, shape[0], self._plan.subspace) if self._shared is None else self._shared
            members.append(Member.new(self._plan, shape, features, rng))
        return members

    def _pass(self, X: Features, Y: Array, weight: Array) -> Array:
        votes, begin = _no_votes_yet(*Y.shape), 0
        while begin < len(Y):
            # members know nothing of each other until a phase in the background ends, at the end of a segment
            part = slice(begin, begin + min(SEGMENT, self._left_rows or self._phase_rows, len(Y) - begin))
            rows = Rows(dense_rows(X[part]), np.array(Y[part], order="C"), weight[part])
            self._learn_segment(rows, Votes(votes.shares[part], votes.counts[part]))
            begin = part.stop
        return self._mean(votes)

    def _learn_segment(self, rows: Rows, votes: Votes) -> None:
        n_rows = first = len(rows.Y)
        members = []
        for member in self._members:
            learnt, first_restart, n_restarts = member.learn(rows, votes, active=True)
            members.append(learnt)
            first, self.n_restarts_ = min(first, first_restart), self.n_restarts_ + n_restarts
        self._members = members
        if not self._left_rows and first < n_rows:
            self._background = self._new_members()
            self._left_rows = self._phase_rows + first + 1
            self._learn_background(Rows(*(part[first:] for part in rows)), n_rows)
        elif self._left_rows:
            self._learn_background(rows, n_rows)

    def _learn_background(self, rows: Rows, n_rows: int) -> None:
        self._background = [member.learn(rows, NO_VOTES, active=False)[0] for member in self._background]
        self._left_rows -= n_rows
        if not self._left_rows:
            self._exchange()

    def _exchange(self) -> None:
        """Let each member of the background take the place of the worst active one if it is better."""
        members = list(self._members)
        scores = np.array([member.score for member in members])
        for newcomer in self._background:
            worst = int(np.nanargmin(scores)) if not np.isnan(scores).all() else 0
            if newcomer.score > scores[worst]:
                members[worst], scores[worst] = newcomer.promoted(), newcomer.score
                self.n_exchanged_ += 1
        self._members, self._background = members, []

    def _mean(self, votes: Votes) -> Array:
        proba = np.where(votes.counts > 0, votes.shares / np.maximum(votes.counts, 1.0), 0.0)
        proba[(proba == 0.5) | (self._plan.options.faithful & (votes.counts == 0))] = TIE
        return proba


def _no_votes_yet(n_rows: int, n_labels: int) -> Votes:
    return Votes(np.zeros((n_rows, n_labels)), np.zeros((n_rows, n_labels)))
