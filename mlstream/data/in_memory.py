"""Tables in memory: data frames, scikit-learn's Bunch and arrays, and whatever else a table can be had from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mlstream.data.datasets import load_dataset
from mlstream.streams.frames import column_names, is_frame, join_columns
from mlstream.streams.stream import Dataset
from mlstream.streams.tables.labels import LabelRule

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
    if is_bunch and is_frame(source["data"]):
        target = source["target"]
        names = column_names(target) if is_frame(target) else (str(target.name),)
        return Dataset.from_frame(join_columns(source["data"], target), names, **options)
    if options:
        raise ValueError(f"{', '.join(options)} must be left out: only files and frames are read with options.")
    return _take_arrays(source) if is_bunch else Dataset(*source) if is_pair else source


def _take_arrays(bunch: Mapping[str, Any]) -> Dataset:
    tables = {"feature_names": bunch["data"], "target_names": bunch["target"]}
    features, labels = (_fitting_names(bunch.get(what), table) for what, table in tables.items())
    return Dataset(bunch["data"], bunch["target"], features, labels)


def _fitting_names(names: Sequence[str] | None, table: npt.ArrayLike) -> tuple[str, ...]:
    """Return the names of columns; none where they are those of something else, such as the classes of one target."""
    width = np.shape(table)[1] if np.ndim(table) == 2 else 0
    return () if names is None or len(names) != width else tuple(map(str, names))
