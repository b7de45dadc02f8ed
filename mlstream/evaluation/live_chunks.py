"""Rows of a source that comes in any pieces, in the columns of the first of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from mlstream._support.content import show
from mlstream.publishing.named_streams import StreamLike
from mlstream.streams.frames import is_frame
from mlstream.streams.keys import Keys
from mlstream.streams.stream import Dataset, Features, Indicator, Stream

if TYPE_CHECKING:
    from typing_extensions import TypeIs

LiveSource: TypeAlias = Iterable[Dataset | tuple[Any, Any]]
"""Rows (x, y), chunks (X, Y) or tables, in any order."""


class Chunk(NamedTuple):
    """Rows in the columns of the first chunk."""

    X: Features
    Y: Indicator
    keys: Keys | None


def is_live(source: StreamLike | LiveSource) -> TypeIs[LiveSource]:
    """Return whether an object is a source of rows: something to iterate over, but no stream, name, or table."""
    if isinstance(source, Stream | str | PathLike | Mapping | np.ndarray) or sparse.issparse(source):
        return False
    return isinstance(source, Iterable) and not is_frame(source)


class LiveTables:
    """The tables of a source, one after the other; single rows are gathered, `chunk_size` at most.

    After each item of which no table comes yet, None does: whoever waits can look at the clock. Tables without rows are
    passed over, and so are those before the first label.
    """

    def __init__(self, source: LiveSource, chunk_size: int) -> None:
        self._source, self._chunk_size = source, chunk_size
        self._rows: list[tuple[np.ndarray, np.ndarray]] = []

    def __iter__(self) -> Iterator[Dataset | None]:
        for number, item in enumerate(self._source):
            for table in self._take(item, number):
                yield table if table.n_samples and table.Y.shape[1] else None
            yield None
        yield from self._gathered()

    def _take(self, item: object, number: int) -> Iterator[Dataset]:
        if isinstance(item, Dataset):
            yield from self._gathered()
            yield item
            return
        if not (isinstance(item, tuple | list) and len(item) == 2):
            rule = "Each item of a live source must be a row (x, y), a chunk (X, Y) or a Dataset"
            raise TypeError(f"{rule}. Got {type(item).__name__} as item {number}.")
        X, Y = item
        if np.ndim(X) != 1 or sparse.issparse(X) or is_frame(X):
            yield from self._gathered()
            yield Dataset(X, Y)
            return
        x, y = np.asarray(X), np.asarray(Y)
        if self._rows and (x.shape, y.shape) != tuple(part.shape for part in self._rows[0]):
            yield from self._gathered()
        self._rows.append((x, y))
        if len(self._rows) >= self._chunk_size:
            yield from self._gathered()

    def _gathered(self) -> Iterator[Dataset]:
        if self._rows:
            xs, ys = zip(*self._rows, strict=True)
            self._rows = []
            yield Dataset(np.stack(xs), np.stack(ys))


class Columns:
    """The columns of the first table, in which all later ones are taken.

    Later tables may hold them in another order, and new labels, which come last, where `grows`.
    """

    def __init__(self, first: Dataset, *, grows: bool) -> None:
        self._first, self._grows = first, grows
        self.label_names = first.label_names

    def take(self, table: Dataset) -> Chunk:
        """Return the rows of a table; a ValueError names columns that are missing or new, or categories that differ."""
        first = self._first
        X, Y = table.X, table.Y
        if table.feature_names != first.feature_names:
            _require_same("features", table.feature_names, first.feature_names, may_be_new=False)
            X = X[:, [table.feature_names.index(name) for name in first.feature_names]]
        if table.feature_values != first.feature_values:
            raise ValueError(
                "Chunks must declare the same values of categories, in one order. Got "
                f"{dict(table.feature_values)}, after {dict(first.feature_values)}."
            )
        if table.label_names != self.label_names:
            new = _require_same("labels", table.label_names, self.label_names, may_be_new=self._grows)
            self.label_names += new
            Y = Y[:, [table.label_names.index(name) for name in self.label_names]]
        return Chunk(_like(X, first.X), Y, table.keys)


def _require_same(what: str, names: tuple[str, ...], known: tuple[str, ...], *, may_be_new: bool) -> tuple[str, ...]:
    """Return the names that are new; a ValueError is raised if some are missing, or are new and must not be."""
    missing = [name for name in known if name not in names]
    new = tuple(name for name in names if name not in known)
    if missing or (new and not may_be_new):
        got = [f"{kind} {', '.join(map(show, some))}" for kind, some in (("no", missing), ("new", new)) if some]
        way_out = "; a learner made with on_new_labels='grow' takes in new labels" * (what == "labels" and bool(new))
        raise ValueError(
            f"The {what} of a source must stay those of its first chunk. Got {' and '.join(got)}{way_out}."
        )
    return new


def _like(X: Features, first: Features) -> Features:
    if sparse.issparse(X) == sparse.issparse(first):
        return X
    return X.toarray() if sparse.issparse(X) else sparse.csr_array(X)
