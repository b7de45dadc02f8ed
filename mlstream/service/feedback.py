"""Feedback that comes late, in part, or never: rows wait with their features until their labels come."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from itertools import accumulate
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from estimators._typing import Array, Attributes, MatrixLike
from estimators.contract.durations import parse_duration
from estimators.contract.locks import lock_of
from estimators.contract.row_keys import KeysLike, as_moments, read_times
from metrics.validation import require_choice, require_integer
from mlstream.service.labelled_rows import place_labels
from mlstream.service.waiting import Row, WaitingRows, as_matrix, as_row, join_rows, split_rows

Expired = Literal["unknown", "absent"]
Labels: TypeAlias = "Mapping[Hashable, float] | npt.ArrayLike"
Predicted: TypeAlias = tuple[Array, Array]

_METHODS = ("predict_then_fit", "predict_then_fit_one", "partial_fit", "partial_fit_one")


class FeedbackBuffer:
    """Rows that a learner has predicted, kept under their ids for labels that come late, in part, or never.

    `predict` predicts rows and keeps their features; `learn` takes them out with their labels and has the learner learn
    them, in this order. If every row is learnt right after its prediction, predictions and learner are those of
    `predict_then_fit`, to the last bit.

    Parameters
    ----------
    learner : estimator
        A learner of `estimators`, which is changed. It must have begun (`begin`) or have learnt rows. `BinaryRelevance`
        wraps classifiers of scikit-learn, `RiverClassifier` those of River.
    max_rows : int
        Largest number of rows that wait; beyond it the oldest are dropped.
    max_bytes : int
        Largest memory of the rows that wait: their features and ids, and 400 bytes for each row. Beyond it the oldest
        are dropped.
    expiry : int or str, optional
        How long a row waits: a number of further rows; or a time, such as "2h" (units ms, s, min, h, d), for which rows
        need times. By default there is no limit.
    expired : {"unknown", "absent"}
        What becomes of a row that has waited longer: nothing is learnt of it, or all labels that the learner knows by
        then are learnt as 0.

    Attributes
    ----------
    learner : estimator
        The learner.
    n_predicted_, n_learnt_, n_expired_, n_dropped_ : int
        Numbers of rows that came in; and that left with labels, because of `expiry`, and because of `max_rows` or
        `max_bytes`. The others wait: ``len(buffer)``.

    Notes
    -----
    A row is learnt once: labels that its feedback does not name stay unknown. ``id in buffer`` says whether it waits.

    Rows that have waited too long leave at `advance`, or after the predictions of the next `predict`, whose rows count
    as coming together. The time is the latest of any row so far. A clock that goes back does not make rows younger: a
    row with an earlier time waits from the latest one. A clock that jumps ahead lets rows expire, which ``n_expired_``
    counts.

    A call that fails changes nothing: a row whose labels are refused waits for better ones. Calls from several threads
    run one after another. A buffer that is pickled goes on exactly, with its learner and its rows.

    Examples
    --------
    >>> import numpy as np
    >>> from estimators import OnlineLogisticRegression
    >>> from mlstream.service import FeedbackBuffer
    >>> learner = OnlineLogisticRegression(on_new_labels="grow").begin([[0.0, 0.0]], [[0]], classes=["scan"])
    >>> buffer = FeedbackBuffer(learner, expiry=1000)
    >>> Y_pred, Y_proba = buffer.predict(["a", "b"], np.array([[0.5, 1.0], [0.2, 0.1]]))
    >>> buffer.learn_one("b", {"scan": 0, "worm": 1})
    >>> learner.label_names_, len(buffer), "a" in buffer
    (['scan', 'worm'], 1, True)
    """

    def __init__(
        self,
        learner: Any,
        *,
        max_rows: int = 100_000,
        max_bytes: int = 2**30,
        expiry: int | str | None = None,
        expired: Expired = "unknown",
    ) -> None:
        _require_learner(learner)
        require_choice(expired, "expired", get_args(Expired))
        self.learner = learner
        self.max_rows = require_integer(max_rows, "max_rows", 1)
        self.max_bytes = require_integer(max_bytes, "max_bytes", 1)
        self.expiry = expiry
        self.expired = expired
        self.n_predicted_ = self.n_learnt_ = self.n_expired_ = self.n_dropped_ = 0
        self._by_time = isinstance(expiry, str)
        self._longest = _read_expiry(expiry)
        self._now = int(np.iinfo(np.int64).min)
        self._rows = WaitingRows()
        # all labels of the learner unknown, as long as these are its `classes_`; None for one class a row
        self._unknown: npt.NDArray[np.float64] | None = None
        self._classes: Array | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row_id: object) -> bool:
        return row_id in self._rows

    def __repr__(self) -> str:
        return f"FeedbackBuffer({self.learner!r}: {len(self):,} rows wait)"

    def __getstate__(self) -> Attributes:
        with lock_of(self):
            return {**vars(self), "learner": deepcopy(self.learner), "_rows": self._rows.packed()}

    def __setstate__(self, state: Attributes) -> None:
        vars(self).update(state, _rows=WaitingRows.unpacked(state["_rows"]))

    def predict(
        self, ids: Iterable[Hashable], X: MatrixLike, *, times: object = None, keys: KeysLike = None
    ) -> Predicted:
        """Predict rows of the stream, and keep them until their labels come.

        Parameters
        ----------
        ids : sequence of hashable
            The id of each row: a number, a text, or a tuple, say of host and time.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        times : array-like of shape (n_samples,), optional
            Datetimes, ISO 8601 texts (UTC, if without a zone), or seconds since 1970; read where `expiry` is a time.
        keys : structured array, mapping or data frame, optional
            Keys of the rows. Where `expiry` is a time, their field of times stands for `times`. A learner with
            ``uses_keys`` gets them.

        Returns
        -------
        Y_pred, Y_proba : ndarray of shape (n_samples, n_labels)
            As the learner's `predict_then_fit` returns.

        Raises
        ------
        ValueError
            If an id waits already or comes twice, a time is missing, or X does not suit the learner.
        """
        with lock_of(self):
            ids, X = _as_list(ids), as_matrix(X)
            self._require_new(ids)
            if X.ndim != 2 or len(ids) != X.shape[0]:
                raise ValueError(f"X must have a row for each of {len(ids)} ids. Got shape {X.shape} instead.")
            moments = self._read_moments(len(ids), times, keys)
            if (unknown := self._unknown_labels()) is None:
                predicted = self.learner.predict_with_proba(X)
            else:
                predicted = self.learner.predict_then_fit(X, np.tile(unknown, (len(ids), 1)), **self._given(keys))
            self._put(ids, split_rows(X), moments)
        return predicted  # type: ignore[no-any-return]

    def predict_one(self, row_id: Hashable, x: MatrixLike, *, times: object = None, keys: KeysLike = None) -> Predicted:
        """Predict one row as `predict` does, with as little as possible besides.

        Parameters
        ----------
        row_id : hashable
            The id of the row.
        x : array-like of shape (n_features,), or sparse matrix of shape (1, n_features)
            Features.
        times, keys
            The time of the row, and its keys, as in `predict`.

        Returns
        -------
        y_pred, y_proba : ndarray of shape (n_labels,)
            As the learner's `predict_then_fit_one` returns.

        Raises
        ------
        ValueError
            As in `predict`.
        """
        with lock_of(self):
            if type(x) is not np.ndarray or x.ndim != 1 or (unknown := self._unknown_labels()) is None:
                Y_pred, Y_proba = self.predict([row_id], as_row(x), times=times, keys=keys)
                return Y_pred[0], Y_proba[0]
            self._require_new((row_id,))
            moments = self._read_moments(1, times, keys) if self._by_time else (self.n_predicted_,)
            given = {} if keys is None else self._given(keys)
            predicted = self.learner.predict_then_fit_one(x, unknown, **given)
            self._put((row_id,), (x.copy(),), moments)
        return predicted  # type: ignore[no-any-return]

    def learn(
        self,
        ids: Iterable[Hashable],
        Y: npt.ArrayLike | Sequence[Mapping[Hashable, float]],
        classes: Sequence[Hashable] | None = None,
    ) -> None:
        """Learn rows that wait, in the order of `ids`, and let them go.

        Parameters
        ----------
        ids : sequence of hashable
            Their ids.
        Y : array-like of shape (n_samples, n_labels), or sequence of mappings
            0/1 labels, NaN where one is unknown. Or for each row a mapping from the names of labels (from indices, if
            the labels of the learner have no names) to 0 or 1; labels that it does not name are unknown. A learner made
            with ``on_new_labels="grow"`` takes in new ones.
        classes : list, optional
            Names of the columns of Y, as in `partial_fit`.

        Raises
        ------
        ValueError
            If a row does not wait, or labels do not suit the learner: all rows of the call still wait.
        """
        with lock_of(self):
            ids = _as_list(ids)
            rows = [self._find(row_id) for row_id in ids]
            if isinstance(Y, Sequence) and any(isinstance(labels, Mapping) for labels in Y):
                if wrong := [labels for labels in Y if not isinstance(labels, Mapping)]:
                    raise ValueError(f"Y must hold a mapping for each row if it does for one. Got {wrong[0]!r} too.")
                Y, classes = place_labels(self.learner, Y, classes)  # type: ignore[arg-type]
            if not rows and len(Y):  # type: ignore[arg-type]
                raise ValueError(f"ids must name the row of each label set. Got 0 for {len(Y)}.")  # type: ignore[arg-type]
            if rows:
                self.learner.partial_fit(join_rows(rows), Y, classes)
            self._rows.remove(ids)
            self.n_learnt_ += len(rows)

    def learn_one(self, row_id: Hashable, labels: Labels, classes: Sequence[Hashable] | None = None) -> None:
        """Learn one row that waits, and let it go.

        Parameters
        ----------
        row_id : hashable
            The id of the row.
        labels : mapping, or array-like of shape (n_labels,)
            Its labels, as one row of the Y of `learn`.
        classes : list, optional
            Names of the labels of an array, as in `partial_fit`.

        Raises
        ------
        ValueError
            As in `learn`: the row still waits.
        """
        with lock_of(self):
            row = self._find(row_id)
            if type(labels) is not np.ndarray and isinstance(labels, Mapping):
                (y,), classes = place_labels(self.learner, [labels], classes)
            else:
                y = np.asarray(labels)
            self.learner.partial_fit_one(row if isinstance(row, np.ndarray) else join_rows([row]), y, classes)
            self._rows.remove((row_id,))
            self.n_learnt_ += 1

    def advance(self, time: object) -> None:
        """Say what time it is, so that rows that have waited longer than `expiry` leave.

        Parameters
        ----------
        time : datetime, str or float
            A time, as in `predict`.

        Raises
        ------
        ValueError
            If `expiry` is not a time.
        """
        if not self._by_time or self._longest is None:
            raise ValueError(f"expiry must be a time such as '2h' for `advance`. Got {self.expiry!r} instead.")
        (moment,) = as_moments(time, 1, "time").tolist()
        with lock_of(self):
            self._expire(max(self._now, moment), self._longest)

    def _require_new(self, ids: Sequence[Hashable]) -> None:
        for row_id in ids:
            if row_id in self._rows:
                raise ValueError(
                    f"ids must be new, and {row_id!r} waits for its labels: learn it first, or take another id."
                )
            if row_id is None or row_id != row_id:  # noqa: PLR0124 - NaN
                raise ValueError(f"ids must hold an id for each row. Got {row_id!r} instead.")

    def _find(self, row_id: Hashable) -> Row:
        if row_id in self._rows:
            return self._rows[row_id][0]
        reasons = "was never predicted, has been learnt already"
        reasons += ", has expired" * bool(self.n_expired_) + ", was dropped" * bool(self.n_dropped_)
        counts = f"{self.n_learnt_} learnt, {self.n_expired_} expired, {self.n_dropped_} dropped so far"
        raise ValueError(
            f"ids must be of rows that wait. Got {row_id!r}, which {' or'.join(reasons.rsplit(',', 1))} ({counts})."
        )

    def _read_moments(self, n_rows: int, times: object, keys: KeysLike) -> Sequence[int]:
        """Return the moment at which each row comes, which none before it exceeds: its time, or its number."""
        if not self._by_time:
            return range(self.n_predicted_, self.n_predicted_ + n_rows)
        if times is None and keys is None:
            raise ValueError(f"times (or keys with times) must be given where expiry is {self.expiry!r}. Got None.")
        read = read_times(keys, None, n_rows) if times is None else as_moments(times, n_rows, "times")
        return list(accumulate([self._now, *read.tolist()], max))[1:]

    def _put(self, ids: Sequence[Hashable], rows: Sequence[Row], moments: Sequence[int]) -> None:
        for row_id, row, moment in zip(ids, rows, moments, strict=True):
            self._rows.add(row_id, row, moment)
        if self._longest is not None and moments:
            try:
                self._expire(moments[-1], self._longest)
            except Exception:
                self._rows.remove(ids)
                raise
        self.n_predicted_ += len(ids)
        self.n_dropped_ += self._rows.drop_oldest(self.max_rows, self.max_bytes)

    def _expire(self, now: int, longest: int) -> None:
        if ids := self._rows.older_than(now - longest):
            if self.expired == "absent":
                absent = np.zeros((len(ids), len(self.learner.classes_)), dtype=np.uint8)
                self.learner.partial_fit(join_rows([self._rows[row_id][0] for row_id in ids]), absent)
            self._rows.remove(ids)
            self.n_expired_ += len(ids)
        self._now = now

    def _unknown_labels(self) -> npt.NDArray[np.float64] | None:
        """Return a row of unknown labels; None for a learner of one class a row. Refuse one that cannot predict yet."""
        classes = getattr(self.learner, "classes_", None)
        if classes is None:
            way_out = "have it learn rows with labels first"
            if hasattr(self.learner, "begin"):
                way_out = "call `begin(X, Y, classes=...)` with one row, of which only the widths are read"
            raise ValueError(
                f"learner must know what it predicts. Got a new {type(self.learner).__name__} instead: {way_out}."
            )
        if classes is not self._classes:
            if classes.ndim == 1 and self.expired == "absent":
                raise ValueError("expired must be 'unknown' for a learner of one class a row. Got 'absent' instead.")
            self._unknown = np.full(len(classes), np.nan) if classes.ndim == 2 else None
            self._classes = classes
        return self._unknown

    def _given(self, keys: KeysLike) -> dict[str, KeysLike]:
        return {"keys": keys} if getattr(self.learner, "uses_keys", False) else {}


def _require_learner(learner: object) -> None:
    if isinstance(learner, type) or not all(hasattr(learner, method) for method in _METHODS):
        raise TypeError(
            f"learner must be a learner of estimators. Got {learner!r} instead; BinaryRelevance(...) wraps a "
            "classifier of scikit-learn, RiverClassifier(...) one of River."
        )


def _read_expiry(expiry: int | str | None) -> int | None:
    if isinstance(expiry, str):
        return parse_duration(expiry, "expiry")
    return None if expiry is None else require_integer(expiry, "expiry", 1)


def _as_list(ids: Iterable[Hashable]) -> list[Hashable]:
    """Return ids as a list, which holds each once."""
    if isinstance(ids, str | bytes):
        raise TypeError(f"ids must be a sequence with an id for each row. Got {ids!r} instead.")
    ids = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    if len(set(ids)) < len(ids):
        twice = next(row_id for place, row_id in enumerate(ids) if row_id in ids[:place])
        raise ValueError(f"ids must hold each id once. Got {twice!r} twice.")
    return ids
