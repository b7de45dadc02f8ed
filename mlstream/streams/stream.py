"""Tables, their tasks, and streams that visit the tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, TypeAlias, Unpack, overload

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream._support import html as _html
from mlstream._support.mapped import pieces
from mlstream._support.reading import ReadingOptions
from mlstream.streams import frames, label_values
from mlstream.streams.card_model import ReadingCard, StreamCard, summarise
from mlstream.streams.categories import category_sizes, describe_sizes, require_codes, settle_values
from mlstream.streams.frames import Frame, make_table
from mlstream.streams.keys import Keys, join_keys, key_levels, key_names, settle_keys, take_keys
from mlstream.streams.summaries import describe_shape, label_shares, list_facts

if TYPE_CHECKING:
    import pandas as pd

    from mlstream.streams.tables.labels import LabelRule

Features: TypeAlias = frames.Features
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
        How that file was read; None where all options had their defaults.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows, at least 0, as WEKA's files may hold them. Streams do not keep them, which their generators
        warn of; those of an experience are ``table.sample_weight[experience.row_ids]``.
    times : array-like of shape (n_samples,), optional
        Times of the rows, such as seconds since 1970, by which streams in the order of time sort them.
    feature_values : mapping of str to sequence of str
        The features that are categories, by name: their declared values, in the order of their codes in X, 0, 1, ...
    keys : structured array, mapping of str to array-like, or frame, optional
        Whose each row is, such as a host and the start of a window: one field per column, of text, numbers or times,
        no row like another. Kept as a structured array of ``U``, int64, float64 and datetime64[us]. Keys travel with
        the rows through streams and files; they are never features.

    Raises
    ------
    ValueError
        If shapes or names disagree, Y holds anything but 0, 1 and NaN, or X holds infinity, or NaN where `reading` does
        not keep missing values, or in a category anything but the code of a value, or a key is missing or comes twice.

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
    sample_weight: npt.NDArray[np.float64] | None = None
    times: npt.NDArray[np.float64] | None = None
    feature_values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    keys: Keys | None = None

    def __post_init__(self) -> None:
        X, Y = frames.as_features(self.X, f"{self.name}: X"), frames.as_labels(self.Y, f"{self.name}: Y")
        if X.ndim != 2 or X.shape[0] != Y.shape[0]:
            shapes = f"{X.shape} and {Y.shape}"
            raise ValueError(f"{self.name}: X and Y must be 2-D with as many rows each. Got shapes {shapes}.")
        names = {
            "feature_names": frames.as_names(self.feature_names, self.X, "x", X.shape[1]),
            "label_names": frames.as_names(self.label_names, self.Y, "y", Y.shape[1]),
        }
        keeps_missing = self.reading is not None and self.reading.missing == "keep"
        _require_finite(X, names["feature_names"], self.name, keeps_missing=keeps_missing)
        values = {"feature_values": settle_values(self.feature_values, names["feature_names"], self.name)}
        require_codes(X, names["feature_names"], values["feature_values"], self.name)
        by_row = {
            "sample_weight": _as_numbers(
                self.sample_weight, len(Y), f"{self.name}: sample_weight", "of at least 0 ", 0
            ),
            "times": _as_numbers(self.times, len(Y), f"{self.name}: times"),
        }
        if self.keys is not None:
            taken = {*names["feature_names"], *names["label_names"]}
            object.__setattr__(self, "keys", settle_keys(self.keys, len(Y), taken, self.name))
        for field_name, value in ({"X": X, "Y": Y} | by_row | names | values).items():
            object.__setattr__(self, field_name, value)

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}: {describe_shape(self.X, self.Y)})"

    def _repr_html_(self) -> str:
        facts = list_facts(self.X, self.Y) | {"Categories": describe_sizes(self.feature_values)}
        facts |= {"Keys": ", ".join(key_names(self.keys)), "Source": self.source, "Licence": self.licence}
        shares = _html.shares("Share of the rows that have the label", label_shares(self.label_names, self.Y))
        return _html.summary(f"Dataset {self.name}", facts, shares)

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        labels: LabelRule = None,
        *,
        name: str = "table",
        **options: Unpack[ReadingOptions],
    ) -> Dataset:
        """Make a table of a data frame, whose columns keep their names.

        Parameters
        ----------
        frame : data frame
            A frame of pandas, polars, pyarrow or another library that narwhals reads. Its index is left out.
        labels : int or sequence of str
            The label columns: their names; or the first n, or the last n if negative. They hold 1 or true, 0 or false,
            and missing values, which are unknown labels. With `tags`, the tags wanted.
        name : str
            Short name, used in titles and file names.
        **options
            How columns are read, as for `load_dataset`: missing, categories, ignore, keys, dates, date_format, time,
            present, classes, tags, tag_separator, missing_words. Words are one-hot by default where a column declares
            its values in an order.

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
        # Few tables come from frames, and what reads them takes 30 ms to import.
        from mlstream.streams.tables.frame_tables import read_frame

        parted, parents = read_frame(frame, labels, name, options)
        return cls(**parted._asdict(), name=name, label_parents=parents)

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a frame of pandas, which must be installed.

        Returns
        -------
        DataFrame
            Labels first, then features, in their own types; an unknown label is NaN. Features of a CSR matrix are
            sparse columns. Keys, if there are any, are the index. `from_frame` reads it again, with keys after
            ``reset_index()``. `sample_weight` and `times` are not among the columns.

        Examples
        --------
        >>> Dataset([[0.5], [2]], [[1, 0], [0, 1]]).to_frame()
           y0  y1   x0
        0   1   0  0.5
        1   0   1  2.0
        """
        index = key_levels(self.keys, ()) or None
        return make_table(self.X, self.Y, self.feature_names, self.label_names, index)

    @property
    def categorical_features(self) -> dict[int, int]:
        """Number of values of each feature that is a category, by the position of the feature."""
        return category_sizes(self.feature_names, self.feature_values)

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

    def __repr__(self) -> str:
        return f"Task({self.name!r}: {np.count_nonzero(self.signature)} of {len(self.signature)} labels)"


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
    keys : structured array of shape (n_samples,), optional
        The keys of the rows in that table, if it has any.
    """

    X: Features
    Y: Indicator
    task_ids: Index
    label_mask: Mask
    row_ids: Index
    keys: Keys | None = None

    def __post_init__(self) -> None:
        _settle_labels(self)

    def __repr__(self) -> str:
        tasks = np.unique(self.task_ids)
        names = f"task{'s' if len(tasks) > 1 else ''} {', '.join(map(str, tasks))}" if len(tasks) else "no task"
        return f"Experience({describe_shape(self.X, self.Y)}; {names})"

    def _repr_html_(self) -> str:
        tasks, counts = np.unique(self.task_ids, return_counts=True)
        rows = ", ".join(f"{count:,} of task {task}" for task, count in zip(tasks, counts, strict=True))
        return _html.summary("Experience", {**list_facts(self.X, self.Y), "Tasks": rows, **_count_masked(self)})

    def __len__(self) -> int:
        return int(self.Y.shape[0])

    def to_frame(self, feature_names: Sequence[str] = (), label_names: Sequence[str] = ()) -> pd.DataFrame:
        """Return the rows as a frame of pandas, which must be installed.

        Parameters
        ----------
        feature_names, label_names : sequence of str
            One name per column; by default x0, x1, ... and y0, y1, ... `Stream.to_frame` takes those of the card.

        Returns
        -------
        DataFrame
            Labels first, then features. The index holds the task of each row, its row in the source, and its key.
        """
        return _part_frame(self, feature_names, label_names)


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
    keys : structured array of shape (n_samples,), optional
        The keys of the rows in that table, if it has any.
    """

    X: Features
    Y: Indicator
    task_id: int
    label_mask: Mask
    row_ids: Index
    keys: Keys | None = None

    def __post_init__(self) -> None:
        _settle_labels(self)

    def __repr__(self) -> str:
        return f"EvaluationSet({describe_shape(self.X, self.Y)}; task {self.task_id})"

    def _repr_html_(self) -> str:
        return _html.summary(
            "Evaluation set", {**list_facts(self.X, self.Y), "Task": str(self.task_id), **_count_masked(self)}
        )

    def __len__(self) -> int:
        return int(self.Y.shape[0])

    def to_frame(self, feature_names: Sequence[str] = (), label_names: Sequence[str] = ()) -> pd.DataFrame:
        """Return the rows as a frame of pandas, which must be installed.

        Parameters
        ----------
        feature_names, label_names : sequence of str
            One name per column; by default x0, x1, ... and y0, y1, ... `Stream.to_frame` takes those of the card.

        Returns
        -------
        DataFrame
            Labels first, then features. The index holds the task, the row of each row in the source, and its key.
        """
        return _part_frame(self, feature_names, label_names)


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

    def with_keys(self, keys: Keys | None) -> StreamParts:
        """Give every row the key that it has in the table: ``keys[row_ids]``, or no key.

        Parameters
        ----------
        keys : structured array or None
            The keys of all rows of the table.

        Returns
        -------
        StreamParts
            The same parts with these keys.
        """
        return StreamParts(
            self.tasks,
            tuple(replace(part, keys=take_keys(keys, part.row_ids)) for part in self.experiences),
            tuple(replace(part, keys=take_keys(keys, part.row_ids)) for part in self.evaluation_sets),
        )


class Stream:
    """A sequence of experiences over tasks, with one evaluation set per task and a card.

    A stream is immutable and can be iterated as often as needed: ``for experience in stream``. ``stream[0]`` is its
    first experience, ``stream[-1]`` its last; ``stream[1:3]`` is a tuple of experiences, not a shorter stream, since
    the card describes the stream as a whole.

    Parameters
    ----------
    parts : StreamParts
        Tasks, experiences in the order in which they arrive, and one evaluation set per task in the order of the tasks.
    card : StreamCard
        The description that travels with the stream.

    Raises
    ------
    ValueError
        If the parts disagree in width or keys, or the evaluation sets are not one per task.

    Examples
    --------
    >>> from mlstream.generators import multiplier_stream
    >>> stream = multiplier_stream("bilab", n_rows=200)
    >>> stream[0]
    Experience(70 rows, 4 features, 4 labels; task 2)
    >>> [len(experience) for experience in stream[-2:]]
    [70, 70]
    """

    def __init__(self, parts: StreamParts, card: StreamCard) -> None:
        self._parts = parts
        self._card = card
        _require_consistent(parts)

    def __iter__(self) -> Iterator[Experience]:
        return iter(self.experiences)

    def __len__(self) -> int:
        return len(self.experiences)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Experience: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Experience, ...]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Experience | tuple[Experience, ...]:
        try:
            return self.experiences[index]
        except (IndexError, TypeError) as error:
            rule = f"A stream of {len(self)} experiences must be indexed by a whole number from {-len(self)} to"
            raise type(error)(f"{rule} {len(self) - 1}, or by a slice. Got {index!r} instead.") from None

    def __repr__(self) -> str:
        return (
            f"Stream({self._card.name!r}: {len(self)} experiences of {self.n_tasks} tasks, "
            f"{self.n_samples} rows, {self.n_features} features, {self.n_labels} labels)"
        )

    def _repr_html_(self) -> str:
        return summarise(self._card, "Stream")

    def to_frame(self, *, evaluation: bool = False) -> pd.DataFrame:
        """Return the rows as a frame of pandas, which must be installed.

        Parameters
        ----------
        evaluation : bool
            Whether to return the rows of all evaluation sets, rather than those to learn from.

        Returns
        -------
        DataFrame
            Labels first, then features, as stored, whatever label masks say. The index holds the number of the
            experience (not of evaluation sets), the name of the task, the row in the source, and the columns of its
            key; one called like a level before has ``_`` behind its name.

        Examples
        --------
        >>> from mlstream.generators import multiplier_stream
        >>> frame = multiplier_stream("monolab", n_rows=200).to_frame()
        >>> frame.index.names, frame.columns[:5].tolist()
        (FrozenList(['experience', 'task', 'row']), ['y0', 'y1', 'y2', 'y3', 'x0'])
        """
        parts: Sequence[Experience | EvaluationSet] = self.evaluation_sets if evaluation else self.experiences
        names = np.array([task.name for task in self.tasks], dtype=object)
        index = {} if evaluation else {"experience": np.repeat(np.arange(len(parts)), list(map(len, parts)))}
        index |= {"task": names[np.concatenate([_task_ids(part) for part in parts])]}
        index |= {"row": np.concatenate([part.row_ids for part in parts])}
        index |= key_levels(join_keys([part.keys for part in parts]), index)
        X: list[Any] = [part.X for part in parts]
        return make_table(
            sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X),
            np.concatenate([part.Y for part in parts]),
            self._card.feature_names,
            self._card.label_names,
            index,
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
    def feature_values(self) -> Mapping[str, tuple[str, ...]]:
        """Declared values of the features that are categories, by name, in the order of their codes 0, 1, ..."""
        return self._card.feature_values

    @property
    def categorical_features(self) -> dict[int, int]:
        """Number of values of each feature that is a category, by the position of the feature."""
        return category_sizes(self._card.feature_names, self._card.feature_values)

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
    def key_names(self) -> tuple[str, ...]:
        """Names of the columns of keys that its rows have; none where they have no keys."""
        return key_names(self.experiences[0].keys)

    @property
    def order(self) -> Mask:
        """Tasks present in each experience: boolean (n_experiences, n_tasks), the ``order`` of the metrics."""
        present = np.zeros((len(self), self.n_tasks), dtype=bool)
        for row, experience in zip(present, self.experiences, strict=True):
            for task_ids in pieces(experience.task_ids):
                row[task_ids] = True
        return present


def _task_ids(part: Experience | EvaluationSet) -> Index:
    return part.task_ids if isinstance(part, Experience) else np.full(len(part), part.task_id)


def _part_frame(
    part: Experience | EvaluationSet, feature_names: Sequence[str], label_names: Sequence[str]
) -> pd.DataFrame:
    features = frames.as_names(feature_names, part.X, "x", part.X.shape[1])
    labels = frames.as_names(label_names, part.Y, "y", part.Y.shape[1])
    index = {"task": _task_ids(part), "row": part.row_ids}
    return make_table(part.X, part.Y, features, labels, index | key_levels(part.keys, index))


def _count_masked(part: Experience | EvaluationSet) -> dict[str, str]:
    counts = np.unique(np.atleast_2d(part.label_mask).sum(axis=1))
    return {"Labels that count": " to ".join(map(str, counts[[0, -1]] if len(counts) > 1 else counts))}


def _settle_labels(part: Experience | EvaluationSet) -> None:
    # Labels of uint8 are trusted: to read them all would read a memory-mapped stream from end to end.
    if np.asarray(part.Y).dtype != np.uint8:
        object.__setattr__(part, "Y", label_values.as_indicator(part.Y))


def _as_numbers(
    values: npt.ArrayLike | None, n_rows: int, what: str, rule: str = "", least: float = -np.inf
) -> npt.NDArray[np.float64] | None:
    """Return one finite number per row, at least `least`."""
    numbers = None if values is None else np.asarray(values, dtype=np.float64)
    if numbers is None or (numbers.shape == (n_rows,) and (np.isfinite(numbers) & (numbers >= least)).all()):
        return numbers
    got = "another" if numbers.shape == (n_rows,) else f"the shape {numbers.shape}"
    raise ValueError(f"{what} must hold a number {rule}for each row. Got {got}.")


def _require_finite(X: Features, names: tuple[str, ...], table: str, *, keeps_missing: bool) -> None:
    found = np.zeros(X.shape[1], dtype=bool)
    if sparse.issparse(X):
        found[X.indices[_wrong(X.data, keeps_missing)]] = True
    else:
        for piece in pieces(np.asarray(X)):
            found |= _wrong(piece, keeps_missing).any(axis=0)
    if found.any():
        column = int(np.argmax(found))
        rule, got = ("finite or NaN", "infinity") if keeps_missing else ("finite", "NaN or infinity")
        way_out = "; missing= of Dataset.from_frame and load_dataset reads missing values" * bool(
            np.isnan(X.data if sparse.issparse(X) else np.asarray(X)).any()
        )
        raise ValueError(f"{table}: X must be {rule}. Got {got} in column {column}, {names[column]!r}{way_out}.")


def _wrong(values: npt.NDArray[np.floating], keeps_missing: bool) -> Mask:
    return np.asarray(np.isinf(values) if keeps_missing else ~np.isfinite(values))


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
        _require_keys(part, stream.experiences[0])


def _require_keys(part: Experience | EvaluationSet, first: Experience) -> None:
    if part.keys is not None and not getattr(getattr(part.keys, "dtype", None), "names", None):
        rule = "keys of a part must be a structured array, as Dataset(..., keys=...) makes of other columns"
        raise TypeError(f"{rule}. Got {type(part.keys).__name__}.")
    names = key_names(first.keys)
    if key_names(part.keys) != names:
        rule = "Every part of a stream must have the same columns of keys, or none"
        raise ValueError(f"{rule}. Got {list(names)} and {list(key_names(part.keys))}.")
    if part.keys is not None and part.keys.shape != part.row_ids.shape:
        raise ValueError(f"A part must have a key for each of its {len(part)} rows. Got {part.keys.size}.")


def _widths(part: Experience | EvaluationSet) -> tuple[int, ...]:
    return part.X.shape[1], part.Y.shape[1], part.label_mask.shape[-1]
