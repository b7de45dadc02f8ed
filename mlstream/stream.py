"""Tables, their tasks, and streams that visit the tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream import array_likes, label_values
from mlstream.card_model import ReadingCard, StreamCard

Features: TypeAlias = array_likes.Features
Indicator: TypeAlias = label_values.Indicator
Mask: TypeAlias = label_values.Mask
Index: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A multi-label table.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        Features, finite numbers or booleans; NaN for a missing value where `reading` keeps these. Kept as an ndarray of
        float32 or float64, as a csr_array if sparse in any format.
    Y : array-like, frame or sparse matrix of shape (n_samples, n_labels)
        Labels: 1 present, 0 absent, NaN unknown. Kept as uint8 where every label is known, as float32 otherwise.
    feature_names, label_names : sequence of str
        One name per column; by default the names of the columns of a frame, else x0, x1, ... and y0, y1, ...
    name : str
        Short name, used in titles and file names.
    source : str
        Where the table comes from: the name of a registered data set, or the path of a file.
    licence, citation : str
        Terms of use, and what to cite; empty when unknown.
    sha256 : str
        Hash of the content (unpacked) of the file that the table was read from; empty for a table made in memory.
    label_rule : int, tuple of str, str or None
        Rule for the label columns of that file: the parameter `labels` of `load_dataset`; names where it was not a
        number. None where the file alone names its labels.
    label_parents : mapping of str to str
        Label hierarchy: child -> parent.
    reading : ReadingCard or None
        How columns of that file became features; None where all options had their defaults.

    Raises
    ------
    ValueError
        If shapes or names disagree, Y holds anything but 0, 1 and NaN, or X holds infinity, or NaN where `reading` does
        not keep missing values.

    Examples
    --------
    >>> table = Dataset([[0.5, 1], [2, 3], [4, 5]], [[1, 0], [0, 1], [1, 1]])
    >>> table.X.shape, table.feature_names, table.label_names
    ((3, 2), ('x0', 'x1'), ('y0', 'y1'))
    """

    X: Features
    Y: Indicator
    feature_names: tuple[str, ...] = ()
    label_names: tuple[str, ...] = ()
    name: str = "table"
    source: str = ""
    licence: str = ""
    citation: str = ""
    sha256: str = ""
    label_rule: int | tuple[str, ...] | str | None = None
    label_parents: Mapping[str, str] = field(default_factory=dict)
    reading: ReadingCard | None = None

    def __post_init__(self) -> None:
        X, Y = array_likes.as_features(self.X, f"{self.name}: X"), array_likes.as_labels(self.Y, f"{self.name}: Y")
        _require_rows(X, Y, self.name)
        names = {
            "feature_names": array_likes.as_names(self.feature_names, self.X, "x", X.shape[1]),
            "label_names": array_likes.as_names(self.label_names, self.Y, "y", Y.shape[1]),
        }
        keeps_missing = self.reading is not None and self.reading.missing == "keep"
        _require_finite(X, names["feature_names"], self.name, keeps_missing=keeps_missing)
        for field_name, value in ({"X": X, "Y": Y} | names).items():
            object.__setattr__(self, field_name, value)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        labels: int | Iterable[str],
        *,
        name: str = "table",
        missing: str = "error",
        categories: str | None = None,
    ) -> Dataset:
        """Make a table of a data frame, whose columns keep their names.

        Parameters
        ----------
        frame : data frame
            A frame of pandas, polars, pyarrow or another library that narwhals reads. Its index is left out.
        labels : int or sequence of str
            The label columns: their names; or the first n, or the last n if negative. They hold 1 or true, 0 or false,
            and missing values, which are unknown labels.
        name : str
            Short name, used in titles and file names.
        missing : {"error", "drop", "mean", "indicator", "keep"}
            What becomes of missing values of features, as for `load_dataset`.
        categories : {"one-hot", "ordinal"}, optional
            What becomes of columns of words, as for `load_dataset`; by default one-hot where a column declares its
            values in an order, else an error.

        Returns
        -------
        Dataset
            X is float32 if all features are so in the frame, else float64; a CSR matrix if most are sparse columns.

        Raises
        ------
        TypeError
            If `frame` is no data frame.
        ValueError
            If `labels` are no columns of it, or a column can be neither features nor a label, such as dates.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"age": [3, 4], "sings": [True, False], "flies": [True, None]})
        >>> table = Dataset.from_frame(frame, labels=["sings", "flies"])
        >>> table.feature_names, table.Y.tolist()
        (('age',), [[1.0, 1.0], [0.0, nan]])
        """
        # The class is below the module that reads tables in memory with the options that files have.
        reader = import_module("mlstream.data.in_memory")
        table: Dataset = reader.read_frame(frame, labels, name=name, missing=missing, categories=categories)
        return table

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.Y.shape[0])


@dataclass(frozen=True, eq=False)
class Task:
    """Data with one label distribution.

    Parameters
    ----------
    name : str
        Short name, unique in its stream.
    signature : ndarray of bool, shape (n_labels,)
        The labels that can occur in the task.
    """

    name: str
    signature: Mask


@dataclass(frozen=True, eq=False)
class Experience:
    """One training segment of a stream, in stream order.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        Features.
    Y : array-like of shape (n_samples, n_labels)
        Labels: 1 present, 0 absent, NaN unknown. Kept as uint8 where every label is known, as float32 otherwise.
    task_ids : ndarray of int64, shape (n_samples,)
        Index of each row's task in ``stream.tasks``.
    label_mask : ndarray of bool, shape (n_labels,) or (n_samples, n_labels)
        Labels that count: the signature of the task, by row where the experience mixes tasks.
    row_ids : ndarray of int64, shape (n_samples,)
        Index of each row in the table that the stream was made from.
    """

    X: Features
    Y: Indicator
    task_ids: Index
    label_mask: Mask
    row_ids: Index

    def __post_init__(self) -> None:
        _settle_labels(self)

    def __len__(self) -> int:
        return int(self.Y.shape[0])


@dataclass(frozen=True, eq=False)
class EvaluationSet:
    """Held-out rows of one task.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        Features.
    Y : array-like of shape (n_samples, n_labels)
        Labels: 1 present, 0 absent, NaN unknown. Kept as uint8 where every label is known, as float32 otherwise.
    task_id : int
        Index of the task in ``stream.tasks``.
    label_mask : ndarray of bool, shape (n_labels,)
        The signature of the task.
    row_ids : ndarray of int64, shape (n_samples,)
        Index of each row in the table that the stream was made from.
    """

    X: Features
    Y: Indicator
    task_id: int
    label_mask: Mask
    row_ids: Index

    def __post_init__(self) -> None:
        _settle_labels(self)

    def __len__(self) -> int:
        return int(self.Y.shape[0])


class StreamParts(NamedTuple):
    """The parts of a stream, before it has a card.

    Parameters
    ----------
    tasks : tuple of Task
        The tasks, by index.
    experiences : tuple of Experience
        The training segments, in order.
    evaluation_sets : tuple of EvaluationSet
        Held-out rows, one set per task.
    """

    tasks: tuple[Task, ...]
    experiences: tuple[Experience, ...]
    evaluation_sets: tuple[EvaluationSet, ...]


class Stream:
    """A sequence of experiences over tasks, with one evaluation set per task and a card.

    A stream is immutable and can be iterated as often as needed: ``for experience in stream``.

    Parameters
    ----------
    parts : StreamParts
        Tasks, experiences in the order in which they arrive, and one evaluation set per task in the order of the tasks.
    card : StreamCard
        The description that travels with the stream.

    Raises
    ------
    ValueError
        If the parts disagree in width, or the evaluation sets are not one per task.
    """

    def __init__(self, parts: StreamParts, card: StreamCard) -> None:
        self._parts = parts
        self._card = card
        _require_consistent(parts)

    def __iter__(self) -> Iterator[Experience]:
        return iter(self.experiences)

    def __len__(self) -> int:
        return len(self.experiences)

    def __repr__(self) -> str:
        return (
            f"Stream({self._card.name!r}: {len(self)} experiences of {self.n_tasks} tasks, "
            f"{self.n_samples} rows, {self.n_features} features, {self.n_labels} labels)"
        )

    def with_card(self, card: StreamCard) -> Stream:
        """Return the same data under another card.

        Parameters
        ----------
        card : StreamCard
            The other card.

        Returns
        -------
        Stream
            The arrays are shared, not copied.
        """
        return Stream(self._parts, card)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, by index."""
        return self._parts.tasks

    @property
    def experiences(self) -> tuple[Experience, ...]:
        """The training segments, in order."""
        return self._parts.experiences

    @property
    def evaluation_sets(self) -> tuple[EvaluationSet, ...]:
        """Held-out rows, one set per task."""
        return self._parts.evaluation_sets

    @property
    def card(self) -> StreamCard:
        """The description that travels with the stream."""
        return self._card

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return len(self.tasks)

    @property
    def n_samples(self) -> int:
        """Number of rows to learn from, all experiences together."""
        return sum(len(experience) for experience in self.experiences)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.experiences[0].X.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return int(self.tasks[0].signature.shape[0])

    @property
    def order(self) -> Mask:
        """Tasks present in each experience: boolean (n_experiences, n_tasks), the ``order`` of the metrics."""
        present = np.zeros((len(self), self.n_tasks), dtype=bool)
        for row, experience in zip(present, self.experiences, strict=True):
            row[np.unique(experience.task_ids)] = True
        return present


def _settle_labels(part: Experience | EvaluationSet) -> None:
    # Labels of uint8 are trusted: to read them all would read a memory-mapped stream from end to end.
    if np.asarray(part.Y).dtype != np.uint8:
        object.__setattr__(part, "Y", label_values.as_indicator(part.Y))


def _require_rows(X: Features, Y: Indicator, name: str) -> None:
    if X.ndim != 2 or X.shape[0] != Y.shape[0]:
        raise ValueError(f"{name}: X and Y must be 2-D with as many rows each. Got shapes {X.shape} and {Y.shape}.")


def _require_finite(X: Features, names: tuple[str, ...], table: str, *, keeps_missing: bool) -> None:
    values = X.data if sparse.issparse(X) else np.asarray(X)
    fine = np.isfinite(values)
    if keeps_missing:
        fine |= np.isnan(values)
    if not fine.all():
        column = int(X.tocoo().col[~fine].min() if sparse.issparse(X) else np.argmin(fine.all(axis=0)))
        rule, got = ("finite or NaN", "infinity") if keeps_missing else ("finite", "NaN or infinity")
        way_out = "; missing= of Dataset.from_frame and load_dataset reads missing values" * bool(
            np.isnan(values).any()
        )
        raise ValueError(f"{table}: X must be {rule}. Got {got} in column {column}, {names[column]!r}{way_out}.")


def _require_consistent(stream: StreamParts) -> None:
    if not stream.experiences or not stream.tasks:
        raise ValueError(
            "A stream must hold at least one task and one experience. "
            f"Got {len(stream.tasks)} and {len(stream.experiences)}."
        )
    if [held_out.task_id for held_out in stream.evaluation_sets] != list(range(len(stream.tasks))):
        got = [held_out.task_id for held_out in stream.evaluation_sets]
        raise ValueError(f"There must be one evaluation set per task, in task order. Got {got}.")
    expected = _widths(stream.experiences[0])[0], *[stream.tasks[0].signature.shape[0]] * 2
    parts: tuple[Experience | EvaluationSet, ...] = (*stream.experiences, *stream.evaluation_sets)
    for part in parts:
        if _widths(part) != expected:
            raise ValueError(
                f"Every part of a stream must have (features, labels, mask) of width {expected}. Got {_widths(part)}."
            )
        if not part.X.shape[0] == part.Y.shape[0] == part.row_ids.shape[0]:
            raise ValueError(
                f"X, Y and row_ids of a part must have as many rows each. "
                f"Got {part.X.shape[0]}, {part.Y.shape[0]} and {part.row_ids.shape[0]}."
            )


def _widths(part: Experience | EvaluationSet) -> tuple[int, ...]:
    return part.X.shape[1], part.Y.shape[1], part.label_mask.shape[-1]
