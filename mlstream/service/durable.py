"""A buffer whose state survives the death of its process: a snapshot, and a journal of what came after it."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from estimators.contract.locks import lock_of
from estimators.contract.row_keys import as_moments
from metrics.validation import require_integer
from mlstream.service.feedback import FeedbackBuffer, Predicted
from mlstream.service.journal import Journal
from mlstream.service.snapshot import load_snapshot, read_snapshot_facts, save_snapshot

Event: TypeAlias = list[Any]
_SNAPSHOT = "snapshot.skops"


class DurableBuffer:
    """A `FeedbackBuffer` in a folder: whatever it has accepted is still there after the process was killed.

    Parameters
    ----------
    folder : path-like
        The folder, which is made if it does not exist. One process at a time may use it.
    start : callable
        Returns the `FeedbackBuffer` to begin with, where the folder is new.
    snapshot_bytes : int
        Length of the journal after which a call takes a snapshot.
    archive_bytes : int
        Length of journals that are kept beside the snapshot, which holds all that they say; for `relearn`.
    relearn : bool
        Whether to begin with `start` again, learn all journals that were kept, and replace the snapshot: the way into a
        version of mlstream that cannot load it, or to another learner.
    trusted : iterable of str
        Classes that a snapshot may hold, as in `load_snapshot`.

    Attributes
    ----------
    buffer : FeedbackBuffer
        The buffer, to be looked at. Calls that do not come through this object are lost with the process.
    n_skipped_ : int
        Number of calls that `relearn` left out, such as feedback for rows that came before the oldest journal.
    snapshot_error_ : str
        Why the last snapshot failed; empty if it did not. The journal grows until one succeeds.

    Raises
    ------
    BlockingIOError
        If another process uses the folder.
    ValueError
        If a file is damaged or missing, or another version has written the snapshot.

    See Also
    --------
    Journal, save_snapshot : Its parts.

    Notes
    -----
    Feedback is on the disk when `learn` returns. Threads that wait at once share one flush of the disk. Predictions
    survive the death of the process when `predict` returns; a power failure may take those since the last feedback, and
    feedback for these is then refused. Without a power failure nothing is lost: killed at any moment, the buffer that
    is opened next is, bit for bit, one that got the same calls in the same order.

    Each call is applied first, then written: the journal holds what was accepted, and nothing else. If it cannot be
    written, the buffer is ahead of the disk; all calls after that are refused until the folder is opened again.

    Examples
    --------
    >>> import tempfile
    >>> from estimators import OnlineLogisticRegression
    >>> from mlstream.service import DurableBuffer, FeedbackBuffer
    >>> def start():
    ...     return FeedbackBuffer(OnlineLogisticRegression().begin([[0.0, 0.0]], [[0]], classes=["scan"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with DurableBuffer(folder, start) as served:
    ...         Y_pred, Y_proba = served.predict(["a", "b"], [[0.5, 1.0], [0.2, 0.1]])
    ...         served.learn(["b"], [{"scan": 1}])
    ...     with DurableBuffer(folder, start) as served:
    ...         served.buffer.n_learnt_, "a" in served.buffer
    (1, True)
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        start: Callable[[], FeedbackBuffer],
        *,
        snapshot_bytes: int = 2**26,
        archive_bytes: int = 2**28,
        relearn: bool = False,
        trusted: Iterable[str] = (),
    ) -> None:
        self.folder = Path(folder)
        self.snapshot_bytes = require_integer(snapshot_bytes, "snapshot_bytes", 1)
        self.archive_bytes = require_integer(archive_bytes, "archive_bytes", 0)
        self.n_skipped_, self.snapshot_error_ = 0, ""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._snapshot_lock = Lock()
        self._failed = False
        self._journal = Journal(self.folder)
        try:
            self._recover(start, relearn=relearn, trusted=tuple(trusted))
        except BaseException:
            self._journal.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def predict(
        self,
        ids: Iterable[Hashable],
        X: npt.ArrayLike,
        *,
        times: object = None,
        keys: Mapping[str, Sequence[object]] | None = None,
    ) -> Predicted:
        """Predict rows, and keep them until their labels come, as `FeedbackBuffer.predict` does.

        Parameters
        ----------
        ids : sequence of int or str
            The id of each row.
        X : array-like of shape (n_samples, n_features)
            Features, as numbers.
        times : array-like of shape (n_samples,), optional
            As in `FeedbackBuffer.predict`.
        keys : mapping, optional
            Keys of the rows: lists of numbers and texts by name. Times are texts in ISO 8601, and the learner
            must know the name of their field (``time=``).

        Returns
        -------
        Y_pred, Y_proba : ndarray of shape (n_samples, n_labels)
            As `FeedbackBuffer.predict` returns.

        Raises
        ------
        ValueError
            As there; nothing is changed.
        OSError
            If the disk fails, or has failed.
        """
        rows = _as_numbers(X, "X")
        moments = None if times is None else as_moments(times, len(rows), "times").tolist()
        predicted, _ = self._accept(["predict", _plain(ids), rows.tolist(), moments, keys])
        self._snapshot_if_due()
        return predicted  # type: ignore[no-any-return]

    def learn(self, ids: Iterable[Hashable], Y: npt.ArrayLike | Sequence[Mapping[Hashable, float]]) -> None:
        """Learn rows that wait, and return when this is on the disk.

        Parameters
        ----------
        ids : sequence of int or str
            Their ids.
        Y : array-like of shape (n_samples, n_labels), or sequence of mappings
            Labels, as in `FeedbackBuffer.learn`.

        Raises
        ------
        ValueError
            As there: all rows of the call still wait.
        OSError
            If the disk fails, or has failed: the feedback may or may not be there when the folder is opened again.
        """
        _, position = self._accept(["learn", _plain(ids), _as_labels(Y)])
        try:
            self._journal.sync(position)
        except OSError:
            self._failed = True
            raise
        self._snapshot_if_due()

    def advance(self, time: object) -> None:
        """Say what time it is, as `FeedbackBuffer.advance` does.

        Parameters
        ----------
        time : datetime, str or float
            A time.

        Raises
        ------
        ValueError
            As there.
        """
        self._accept(["advance", as_moments(time, 1, "time").tolist()])

    def snapshot(self) -> None:
        """Save the state, so that the journal begins again.

        Calls wait while the state is copied, and go on while the copy is written.

        Raises
        ------
        OSError
            If the disk fails; the snapshot before stays.
        """
        with self._snapshot_lock:
            self._save()

    def require_healthy(self) -> None:
        """Refuse to go on where the disk has failed, and the buffer is ahead of it.

        Raises
        ------
        OSError
            If it has.
        """
        if self._failed:
            raise OSError(f"{self.folder}: the disk has failed, and the buffer is ahead of it. Open it again.")

    def close(self) -> None:
        """Flush what has been written, and let go of the folder."""
        self._journal.close()

    # ---------------------------------------------------------------- parts
    def _recover(self, start: Callable[[], FeedbackBuffer], *, relearn: bool, trusted: Sequence[str]) -> None:
        path = self.folder / _SNAPSHOT
        if path.exists() and not relearn:
            self.buffer: FeedbackBuffer = load_snapshot(path, trusted=trusted)
            since = _first_journal(path)
            self._journal.require_begun(since)
        else:
            self._require_whole(path, relearn=relearn)
            self.buffer, since = start(), 0
        for record in self._journal.records(since):
            self._redo(json.loads(record), relearn=relearn)
        if not path.exists() or relearn:
            self._save()

    def _require_whole(self, path: Path, *, relearn: bool) -> None:
        if self._journal.first > 1 and not relearn:
            raise FileNotFoundError(
                f"{path} must be there, as the journals before {self._journal.first} are not. Restore it from a "
                "backup, or begin with what the journals say: relearn=True."
            )

    def _redo(self, event: Event, *, relearn: bool) -> None:
        try:
            _apply(self.buffer, event)
        except ValueError:
            if not relearn:
                raise
            self.n_skipped_ += 1

    def _accept(self, event: Event) -> tuple[Any, int]:
        """Apply a call, and write it to the journal; the position of its record is for `sync`."""
        try:
            record = json.dumps(event, separators=(",", ":")).encode()
        except TypeError as error:
            raise ValueError(f"A call must hold what JSON can: numbers, texts and lists. Got: {error}.") from None
        with lock_of(self.buffer):
            self.require_healthy()
            result = _apply(self.buffer, event)
            try:
                return result, self._journal.write(record)
            except BaseException:
                self._failed = True
                raise

    def _snapshot_if_due(self) -> None:
        """Take a snapshot where the journal is long, unless another thread does: what was accepted stays accepted."""
        if self._journal.n_bytes < self.snapshot_bytes or not self._snapshot_lock.acquire(blocking=False):
            return
        try:
            self._save()
        except (OSError, TypeError) as error:
            self.snapshot_error_ = str(error)
            warnings.warn(f"No snapshot: {error}. The journal grows until one succeeds.", RuntimeWarning, stacklevel=3)
        finally:
            self._snapshot_lock.release()

    def _save(self) -> None:
        with lock_of(self.buffer):
            state = self.buffer.__getstate__()
            number = self._journal.rotate()
        copy = FeedbackBuffer.__new__(FeedbackBuffer)
        copy.__setstate__(state)
        save_snapshot(self.folder / _SNAPSHOT, copy, notes={"journal": number})
        self._journal.drop_before(number, self.archive_bytes)
        self.snapshot_error_ = ""


def _first_journal(path: Path) -> int:
    """Return the number of the journal that a snapshot goes on with."""
    number = read_snapshot_facts(path)["notes"].get("journal")
    if type(number) is not int:
        raise ValueError(
            f"{path} must be a snapshot that a DurableBuffer took, which names its journal. Got one of something else: "
            "restore it from a backup, or return what it holds from `start`, for a new folder."
        )
    return number


def _apply(buffer: FeedbackBuffer, event: Event) -> Any:
    """Do what a call says. Live calls and those of a journal come the same way, so that they do the same."""
    match event:
        case ["predict", ids, rows, moments, keys]:
            times = None if moments is None else np.array(moments, dtype="datetime64[us]")
            return buffer.predict(ids, np.array(rows, dtype=np.float64), times=times, keys=keys)
        case ["learn", ids, {"names": names}]:
            return buffer.learn(ids, [dict(map(tuple, pairs)) for pairs in names])
        case ["learn", ids, rows]:
            return buffer.learn(ids, np.array(rows, dtype=np.float64))
        case ["advance", [moment]]:
            return buffer.advance(np.datetime64(moment, "us"))
    raise ValueError(f"A record must be a call of this version. Got {str(event)[:80]} instead.")


def _plain(ids: Iterable[Hashable]) -> list[Hashable]:
    """Return ids that JSON gives back as they were."""
    listed = ids if isinstance(ids, str | bytes) else [_number(row_id) for row_id in ids]
    if wrong := [row_id for row_id in listed if type(row_id) not in {int, str}]:
        raise ValueError(f"ids must be integers or texts. Got {wrong[0]!r} instead.")
    return listed  # type: ignore[return-value]


def _as_labels(Y: Any) -> Any:
    """Return labels for JSON: names of labels may be numbers, which keys of JSON cannot be."""
    if isinstance(Y, Sequence) and any(isinstance(labels, Mapping) for labels in Y):
        if not all(isinstance(labels, Mapping) for labels in Y):
            raise ValueError("Y must hold a mapping for each row if it does for one. Got others too.")
        return {"names": [[[name, _number(value)] for name, value in labels.items()] for labels in Y]}
    return _as_numbers(Y, "Y").tolist()


def _as_numbers(table: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a table of numbers, with rows of one length. Got: {error}.") from None


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
