"""Labels whose truth is withheld until a group of their rows is named."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from estimators.contract.new_labels import advise_growth, grows
from estimators.contract.validation import stack_rows
from estimators.meta.novel_labels import NovelLabels
from metrics import roc_auc
from metrics.validation import require_integer
from mlstream.evaluation.predictions import Floats
from mlstream.publishing.named_streams import StreamLike, as_stream
from mlstream.streams.stream import Dataset, Features, Index, Indicator, Mask


class NamedLabel(NamedTuple):
    """How a label was found whose truth was withheld.

    Attributes
    ----------
    auc : float
        Area under the ROC curve of the novelty, while the label had no name: of rows with the label against rows
        without any label that has no name. NaN if rows of either kind are missing.
    delay : int or None
        Number of rows from the first one with the label to the first group that was named so, both included; None if
        there was no such group.
    n_missed : int
        Number of rows with the label up to then, or in the whole stream.
    auc_named : float
        Area under the ROC curve of the probability of the label once it had a name; NaN if it never had.
    """

    auc: float
    delay: int | None
    n_missed: int
    auc_named: float


class Naming(NamedTuple):
    """How a learner found labels whose truth was withheld.

    Attributes
    ----------
    labels : dict of str to NamedLabel
        What became of each label that was withheld.
    n_rows : int
        Number of rows played.
    n_groups : int
        Number of groups that were offered.
    n_false_groups : int
        Number of groups of which less than half of the rows had the same label that was withheld.
    novelty : ndarray of shape (n_rows,)
        Score of each row before anything was told of it.
    """

    labels: dict[str, NamedLabel]
    n_rows: int
    n_groups: int
    n_false_groups: int
    novelty: Floats

    @property
    def false_groups_per_1000(self) -> float:
        """Number of false groups in a thousand rows."""
        return 1000.0 * self.n_false_groups / self.n_rows


def evaluate_naming(
    learner: NovelLabels,
    stream: StreamLike | Dataset,
    withheld: Sequence[str],
    *,
    absent_until: int = 0,
    every: int = 50,
    answer: bool = True,
) -> Naming:
    """Play a stream in which nobody knows some labels, until a group of their rows is offered and named.

    Parameters
    ----------
    learner : NovelLabels
        The learner; a clone of it learns. With `answer`, the classifier inside must be made with
        ``on_new_labels="grow"``.
    stream : Stream, Dataset or str
        The stream, or the name of one that is published; or a table whose rows are in their order, such as the windows
        of a log. All learning rows come, with all labels.
    withheld : sequence of str
        Names of the labels whose truth is withheld. At least one other label must be left.
    absent_until : int, default=0
        Rows before this one that have a withheld label are left out, so that it appears later.
    every : int, default=50
        Number of rows after which somebody looks at the groups.
    answer : bool, default=True
        Whether groups are answered. A group is named if at least half of its rows have the same withheld label, whose
        truth is told from the next rows on; others are dismissed. Without, no label gets a name.

    Returns
    -------
    Naming
        Scores of each label, and the groups counted.

    Raises
    ------
    ValueError
        If a label is not one of the stream, no other is left, no row is, or labels cannot get a name.
    """
    if not isinstance(learner, NovelLabels):
        raise TypeError(f"learner must be a NovelLabels around the learner. Got {learner!r} instead.")
    absent_until, every = require_integer(absent_until, "absent_until", 0), require_integer(every, "every", 1)
    if answer and not grows(learner):
        way_out = advise_growth(learner, "pass answer=False, so that no label gets a name")
        raise ValueError(f"learner must take in new labels. Got {learner!r}; {way_out}.")
    names, X, Y = _rows_of(stream)
    hidden = _find_places(withheld, names)
    kept = (np.arange(len(Y)) >= absent_until) | ~(Y[:, hidden] == 1).any(axis=1)
    if not kept.any():
        raise ValueError(f"absent_until must leave a row. Got {absent_until}, and {len(Y)} rows with such labels.")
    X, Y = X[kept], Y[kept]
    game = _Game(clone(learner), Y, hidden)
    for start in range(0, len(Y), every):
        game.play(X[start : start + every])
        if answer:
            game.answer()
    return game.scores(names)


def _find_places(withheld: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return the columns of the labels that are withheld."""
    unknown = [name for name in withheld if name not in names]
    if isinstance(withheld, str) or unknown or not 0 < len(set(withheld)) < len(names):
        raise ValueError(
            f"withheld must be a list of labels of the stream, at least one and not all of {list(names)[:8]}. "
            f"Got {withheld!r} instead."
        )
    return [names.index(name) for name in dict.fromkeys(withheld)]


def _rows_of(stream: StreamLike | Dataset) -> tuple[Sequence[str], Features, Indicator]:
    """Return the names of labels, and features and labels of all learning rows."""
    if isinstance(stream, Dataset):
        return stream.label_names, stream.X, stream.Y
    stream = as_stream(stream)
    X, Y = stack_rows([part.X for part in stream]), np.concatenate([part.Y for part in stream])
    return stream.card.label_names, X, Y


class _Game:
    """A learner, what it has been told, and what it has scored so far."""

    def __init__(self, learner: NovelLabels, Y: Indicator, hidden: Sequence[int]) -> None:
        self.learner, self.Y, self.hidden = learner, Y, list(hidden)
        self.told = [label for label in range(Y.shape[1]) if label not in hidden]
        self.named_after: dict[int, int] = {}  # rows played when a label was named
        self.proba: dict[int, list[Floats]] = {label: [] for label in hidden}
        self.novelty: list[Floats] = []
        self.learnt: list[Index] = []  # numbers of the rows that the learner counts
        self.n_rows = self.n_groups = self.n_false = 0

    def play(self, X: Features) -> None:
        """Score rows, then tell their labels."""
        Y = self.Y[self.n_rows : self.n_rows + X.shape[0], self.told]
        novelty, proba = self.learner.score_novelty_then_fit(X, Y)
        self.novelty.append(novelty)
        # a row of which nothing is told is not learnt
        self.learnt.append(self.n_rows + np.flatnonzero(~np.isnan(Y).all(axis=1)))
        for label in self.named_after:
            self.proba[label].append(proba[:, self.told.index(label)])
        self.n_rows += X.shape[0]

    def answer(self) -> None:
        """Name groups whose rows have a label that is withheld, and dismiss all others."""
        learnt = np.concatenate(self.learnt)
        for group in self.learner.groups_:
            shares = (self.Y[learnt[group.rows]][:, self.hidden] == 1).mean(axis=0)
            label = self.hidden[int(shares.argmax())]
            self.n_groups += 1
            if shares.max() < 0.5:
                self.n_false += 1
                self.learner.dismiss_group(group.number)
                continue
            if label not in self.named_after:
                self.named_after[label] = self.n_rows
                self.told.append(label)
            self.learner.name_group(group.number, self.told.index(label))

    def scores(self, names: Sequence[str]) -> Naming:
        """Return what became of each label."""
        novelty = np.concatenate(self.novelty)
        hidden = self.Y[:, self.hidden] == 1
        until = [self.named_after.get(label, self.n_rows) for label in self.hidden]
        unnamed = hidden & (np.arange(self.n_rows)[:, np.newaxis] < until)
        labels = {}
        for place, label in enumerate(self.hidden):
            first = int(hidden[:, place].argmax()) if hidden[:, place].any() else self.n_rows
            last, has = until[place], hidden[:, place]
            counts = unnamed[first:last, place] | ~unnamed[first:last].any(axis=1)
            labels[names[label]] = NamedLabel(
                _area(has[first:last][counts], novelty[first:last][counts]),
                last - first if label in self.named_after else None,
                int(has[:last].sum()),
                _area(has[last:], np.concatenate([*self.proba[label], np.empty(0)])),
            )
        return Naming(labels, self.n_rows, self.n_groups, self.n_false, novelty)


def _area(truth: Mask, score: Floats) -> float:
    return float(roc_auc(truth[:, np.newaxis], score[:, np.newaxis])) if len(truth) else math.nan
