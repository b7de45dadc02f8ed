"""Tables in memory: data frames, scikit-learn's Bunch and arrays, and whatever else a table can be had from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt

from mlstream._support.reading import ReadingOptions
from mlstream.data.datasets import load_dataset
from mlstream.streams.frames import as_names, column_names, is_frame, join_columns
from mlstream.streams.stream import Dataset
from mlstream.streams.tables.frame_tables import read_columns
from mlstream.streams.tables.labels import LabelRule

TableLike: TypeAlias = Any
"""What `as_dataset` takes: a Dataset, a name, a path, a frame, a Bunch, or a pair (X, Y)."""


def as_dataset(source: TableLike, labels: LabelRule = None, **options: Unpack[ReadingOptions]) -> Dataset:
    """Return the table that a user means.

    Parameters
    ----------
    source : Dataset, str, path, data frame, Bunch or tuple
        A Dataset, which is returned as it is; the name or the path of a table, for `load_dataset`; a data frame with
        `labels`, for `Dataset.from_frame`; a Bunch of scikit-learn with data and target; or a pair (X, Y) of arrays.
    labels : int, sequence of str, path or None
        The label columns of a file or of a frame; None for anything else, whose labels are known.
    **options
        Options of `load_dataset` for a file, of `Dataset.from_frame` for anything else.

    Returns
    -------
    Dataset
        The table.

    Raises
    ------
    TypeError
        If `source` is something else.
    ValueError
        If the labels of a frame are not named, those of anything else are, or the table is refused.
    FileNotFoundError
        If there is no such file or name.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> as_dataset(make_multilabel_classification(n_samples=9)).X.shape
    (9, 20)
    >>> as_dataset("yeast").label_names[0]
    'Class1'
    """
    if isinstance(source, str | os.PathLike):
        return load_dataset(source, labels=labels, **options)
    if is_frame(source):
        return Dataset.from_frame(source, labels, **options)
    is_bunch = isinstance(source, Mapping) and {"data", "target"} <= source.keys()
    is_pair = isinstance(source, tuple) and len(source) == 2
    if not (is_bunch or is_pair or isinstance(source, Dataset)):
        raise TypeError(
            "A table must be a Dataset, the name of a data set, the path of a file, a data frame with labels=, a Bunch "
            f"of data and target, or a pair (X, Y). Got {type(source).__name__} instead."
        )
    if labels is not None:
        raise ValueError(f"labels must be left out for a {type(source).__name__}, which has its own. Got {labels!r}.")
    if not isinstance(source, Dataset):
        return _join(source if is_bunch else dict(zip(("data", "target"), source, strict=True)), options)
    if options:
        raise ValueError(f"{', '.join(options)} must be left out for a Dataset, which is read already.")
    return source


def _join(bunch: Mapping[str, Any], options: ReadingOptions) -> Dataset:
    """Read the features and labels of a Bunch, as columns of one table where they may hold words."""
    X, Y = bunch["data"], bunch["target"]
    if is_frame(X) and (is_frame(Y) or hasattr(Y, "name")):
        names = column_names(Y) if is_frame(Y) else (str(Y.name),)
        return Dataset.from_frame(join_columns(X, Y), names, **options)
    feature_names = _fitting_names(bunch.get("feature_names"), X)
    label_names = _fitting_names(bunch.get("target_names"), Y)
    # Of OpenML, whose labels are the words TRUE and FALSE.
    if _are_tables(X, Y) and (options or {"O", "U"} & {X.dtype.kind, Y.dtype.kind}):
        labels = as_names(label_names, Y, "y", Y.shape[1])
        names = (*as_names(feature_names, X, "x", X.shape[1]), *labels)
        return Dataset(**read_columns(names, [*X.T, *Y.T], labels, options)._asdict())
    if options:
        raise ValueError(f"{', '.join(options)} must be left out, unless X and Y are dense arrays of two dimensions.")
    return Dataset(X, Y, feature_names, label_names)


def _are_tables(*arrays: object) -> bool:
    """Tell whether all are dense tables with as many rows."""
    tables = [array for array in arrays if isinstance(array, np.ndarray) and array.ndim == 2]
    return len(tables) == len(arrays) and len(set(map(len, tables))) == 1


def _fitting_names(names: Sequence[str] | None, table: npt.ArrayLike) -> tuple[str, ...]:
    """Return the names of columns; none where they are those of something else, such as the classes of one target."""
    width = np.shape(table)[1] if np.ndim(table) == 2 else 0
    return () if names is None or len(names) != width else tuple(map(str, names))
