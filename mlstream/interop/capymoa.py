"""Streams in the form of CapyMOA, whose learners predict one class a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from estimators.contract.lazy import needing
from mlstream.streams.stream import Stream


class Rows:
    """The rows of a stream, in its order, with one class each; rows are converted as they are read.

    With the base class of CapyMOA's streams, which cannot be imported without it, it is one of them.
    """

    def __init__(
        self, stream: Stream, label: str | None, new_schema: Callable[..., Any], new_row: Callable[..., Any]
    ) -> None:
        features, labels = stream.card.feature_names, stream.card.label_names
        target = _name_class(features, labels, label)
        self._stream, self._columns = stream, slice(None) if label is None else [labels.index(label)]
        n_unknown = sum(int(np.isnan(part.Y[:, self._columns]).any(axis=1).sum()) for part in stream)
        if n_unknown:
            raise ValueError(
                f"Every label must be known for CapyMOA, whose evaluations need the class of each row. Got "
                f"{n_unknown:,} rows with unknown labels in {stream.card.name!r}."
            )
        values = [[0], [1]] if label is not None else self._label_sets()
        self._classes = {tuple(value): code for code, value in enumerate(values)}
        names = ["".join(map(str, value)) for value in self._classes]
        self._new_row = new_row
        self._schema = new_schema([*features, target], target, {target: names}, stream.card.name)
        self.restart()

    def __len__(self) -> int:
        return self._stream.n_samples

    def __str__(self) -> str:
        return self._stream.card.name

    def has_more_instances(self) -> bool:
        """Return whether there are more rows."""
        return self._position < len(self)

    def next_instance(self) -> Any:
        """Return the next row."""
        x, y = next(self._rows)
        self._position += 1
        return self._new_row(self._schema, x, self._classes[tuple(y)])

    def get_schema(self) -> Any:
        """Return names of features and classes."""
        return self._schema

    def restart(self) -> None:
        """Begin with the first row again."""
        self._position, self._rows = 0, self._iterate()

    def _iterate(self) -> Iterator[tuple[npt.NDArray[np.float64], list[int]]]:
        for part in self._stream:
            for row, y in enumerate(part.Y[:, self._columns].astype(int).tolist()):
                x = part.X[row : row + 1]
                yield (x.toarray() if sparse.issparse(x) else np.asarray(x))[0].astype(np.float64), y

    def _label_sets(self) -> list[list[int]]:
        rows = chain.from_iterable(part.Y.astype(int).tolist() for part in self._stream)
        return [list(row) for row in dict.fromkeys(map(tuple, rows))]


def _name_class(features: Sequence[str], labels: Sequence[str], label: str | None) -> str:
    if label is not None and label not in labels:
        raise ValueError(f"label must be one of the labels {list(labels)}. Got {label!r} instead.")
    target = label or "labels"
    if target in features:
        raise ValueError(f"The class must have another name than the features. Got {target!r} for both instead.")
    return target


def to_capymoa(stream: Stream, label: str | None = None) -> Any:
    """Convert the rows to learn from to a stream of CapyMOA, for its learners and evaluations of one class a row.

    Parameters
    ----------
    stream : Stream
        The stream.
    label : str, optional
        Name of the label that is the class, 0 or 1. None: the class is the set of labels, written as the row of Y, such
        as 101.

    Returns
    -------
    capymoa.stream.Stream
        With the names of the features and of the label in its schema.

    Raises
    ------
    ImportError
        If CapyMOA is not installed.
    ValueError
        If there is no such label, if a feature has the name of the class, or if a label is unknown.
    """
    with needing("to_capymoa", ", and Java"):
        from capymoa import stream as capymoa  # type: ignore[import-not-found]
        from capymoa.core import LabeledInstance  # type: ignore[import-not-found]
    kind = type("StreamRows", (Rows, capymoa.Stream), {})
    return kind(stream, label, capymoa.Schema.from_custom, LabeledInstance.from_array)
