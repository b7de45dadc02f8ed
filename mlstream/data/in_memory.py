"""Tables in memory: data frames, scikit-learn's Bunch and arrays, and whatever else a table can be had from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from mlstream._support.content import FormatError
from mlstream.data.datasets import load_dataset
from mlstream.streams.frames import column_names, is_frame, is_of_float32, is_sparse, join_columns, take_columns
from mlstream.streams.stream import Dataset
from mlstream.streams.tables.columns import make_reading, part
from mlstream.streams.tables.frame_tables import tabulate_frame, tabulate_sparse
from mlstream.streams.tables.labels import LabelRule, choose_labels, normalise_rule
from mlstream.streams.tables.table import Column, Table

TableLike: TypeAlias = Any
"""What `as_dataset` takes: a Dataset, a name, a path, a frame, a Bunch, or a pair (X, Y)."""


def as_dataset(source: TableLike, labels: LabelRule = None, **options: Any) -> Dataset:
    """Return the table that a user means.

    Parameters
    ----------
    source : Dataset, str, path, data frame, Bunch or tuple
        A Dataset, which is returned as it is; the name or the path of a table, for `load_dataset`; a data frame with
        `labels`, for `Dataset.from_frame`; a Bunch of scikit-learn with data and target; or a pair (X, Y) of arrays.
    labels : int, sequence of str, path or None
        The label columns of a file or of a frame; None for anything else, whose labels are known.
    **options
        Options of `load_dataset` for a file, of `Dataset.from_frame` for a frame or a Bunch of frames.

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
        return read_frame(source, labels, **options)
    is_bunch = isinstance(source, Mapping) and {"data", "target"} <= source.keys()
    is_pair = isinstance(source, tuple) and len(source) == 2
    if not (is_bunch or is_pair or isinstance(source, Dataset)):
        raise TypeError(
            "A table must be a Dataset, the name of a data set, the path of a file, a data frame with labels=, a Bunch "
            f"of data and target, or a pair (X, Y). Got {type(source).__name__} instead."
        )
    if labels is not None:
        raise ValueError(f"labels must be left out for a {type(source).__name__}, which has its own. Got {labels!r}.")
    if is_bunch and is_frame(source["data"]):
        return _read_bunch(source, **options)
    if options:
        raise ValueError(f"{', '.join(options)} must be left out: only files and frames are read with options.")
    return _take_arrays(source) if is_bunch else Dataset(*source) if is_pair else source


def read_frame(
    frame: Any, labels: LabelRule, *, name: str = "table", missing: str = "error", categories: str | None = None
) -> Dataset:
    """Read a data frame, as `Dataset.from_frame` does: its arguments and errors are the same."""
    if not is_frame(frame):
        raise TypeError(
            f"frame must be a data frame of pandas, polars or pyarrow. Got {type(frame).__name__} instead; "
            "Dataset(X, Y) takes arrays."
        )
    if labels is None:
        raise ValueError(
            "labels must name the label columns of a frame, as in Dataset.from_frame(frame, labels=[...]). Got None."
        )
    names, reading = column_names(frame), make_reading(missing, categories)
    head = Table(Path(name), tuple(map(Column, names)), np.empty((0, len(names))), np.empty(0, np.int64))
    columns, parents = choose_labels(head, normalise_rule(labels))
    if not len(frame):
        raise FormatError(f"{name} must hold at least one row. Got 0.")
    features = take_columns(frame, np.setdiff1d(np.arange(len(names)), columns).tolist())
    keeps_sparse = is_sparse(features)
    table = tabulate_sparse(frame, name) if keeps_sparse else tabulate_frame(frame, name, reading)
    X, Y, feature_names, read = part(table, columns, reading)
    kind = np.float32 if is_of_float32(features) else np.float64
    return Dataset(
        (sparse.csr_array(X) if keeps_sparse else X).astype(kind, copy=False),
        Y,
        feature_names,
        tuple(names[index] for index in columns),
        name,
        label_parents=parents,
        reading=read,
    )


def _read_bunch(bunch: Mapping[str, Any], **options: Any) -> Dataset:
    data, target = bunch["data"], bunch["target"]
    labels = column_names(target) if is_frame(target) else (str(target.name),)
    return read_frame(join_columns(data, target), labels, **options)


def _take_arrays(bunch: Mapping[str, Any]) -> Dataset:
    tables = {"feature_names": bunch["data"], "target_names": bunch["target"]}
    features, labels = (_fitting_names(bunch.get(what), table) for what, table in tables.items())
    return Dataset(bunch["data"], bunch["target"], features, labels)


def _fitting_names(names: Sequence[str] | None, table: Any) -> tuple[str, ...]:
    """Return the names of columns; none where they are those of something else, such as the classes of one target."""
    width = np.shape(table)[1] if np.ndim(table) == 2 else 0
    return () if names is None or len(names) != width else tuple(map(str, names))
