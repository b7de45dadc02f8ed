"""Removal of labels that never occur, features that never vary, and rows without labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from metrics.validation import require_choice
from mlstream.streams.card_model import DropCard
from mlstream.streams.label_sets import count_labels, has_label
from mlstream.streams.stream import Dataset, Features, Index, Mask

Keep = Literal["drop", "keep"]


class Cleaned(NamedTuple):
    """A table without what carries no information."""

    table: Dataset  # without its dropped columns; all its rows are there
    rows: Index  # the rows that are kept, in order
    drops: tuple[DropCard, ...]


def clean(dataset: Dataset, *, unlabelled: Keep = "drop", constant_features: Keep = "drop") -> Cleaned:
    """Leave out labels that never occur and, unless they are to be kept, rows without labels and constant features.

    A label occurs if it is known to be present in some row. A row with a label that is unknown is not without labels.
    Features are constant if they have one value only in the rows that are kept. The arrays are those of `dataset` where
    no column goes. Raises ValueError if no label, or no feature, is left, and warns of weights, which no stream keeps.
    """
    require_choice(unlabelled, "unlabelled", ("drop", "keep"))
    require_choice(constant_features, "constant_features", ("drop", "keep"))
    if dataset.sample_weight is not None:
        way_out = "table.sample_weight[experience.row_ids] has those of an experience"
        warnings.warn(
            f"{dataset.name}: streams do not keep sample_weight, the weights of rows; {way_out}.", stacklevel=3
        )
    labels: Mask = count_labels(dataset.Y) > 0
    labelled = has_label(dataset.Y if labels.all() else dataset.Y[:, labels])
    rows = np.flatnonzero(labelled) if unlabelled == "drop" else np.arange(dataset.n_samples)
    features = np.ones(dataset.X.shape[1], dtype=bool)
    if constant_features == "drop" and labels.any():
        features = _varies(dataset.X if len(rows) == dataset.n_samples else dataset.X[rows])
    _require_something(dataset, labels, features)
    drops = (
        _describe_columns("labels", "never occurs", dataset.label_names, labels),
        _describe_columns("features", "one value only", dataset.feature_names, features),
        DropCard(what="rows", reason="no label", count=dataset.n_samples - len(rows)),
    )
    return Cleaned(_take_columns(dataset, features, labels), rows, tuple(drop for drop in drops if drop.count))


def _varies(X: Features) -> Mask:
    least, greatest = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        least, greatest = least.toarray(), greatest.toarray()
    return np.asarray(least != greatest)


def _require_something(dataset: Dataset, labels: Mask, features: Mask) -> None:
    if not labels.any():
        raise ValueError(f"{dataset.name}: Y must hold a label that occurs. Got 0 ones in {labels.size} columns.")
    if not features.any():
        raise ValueError(f"{dataset.name}: X must hold a feature that varies. Got {features.size} constant columns.")


def _describe_columns(what: Literal["labels", "features"], reason: str, names: Sequence[str], kept: Mask) -> DropCard:
    dropped = list(compress(names, ~kept))
    return DropCard(what=what, reason=reason, count=len(dropped), names=dropped)


def _take_columns(dataset: Dataset, features: Mask, labels: Mask) -> Dataset:
    if features.all() and labels.all():
        return dataset
    names = tuple(compress(dataset.feature_names, features))
    return replace(
        dataset,
        X=dataset.X if features.all() else dataset.X[:, np.flatnonzero(features)],
        Y=dataset.Y if labels.all() else dataset.Y[:, labels],
        feature_names=names,
        label_names=tuple(compress(dataset.label_names, labels)),
        feature_values={name: dataset.feature_values[name] for name in names if name in dataset.feature_values},
    )
