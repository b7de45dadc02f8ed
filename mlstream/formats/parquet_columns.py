"""Columns of a stream's Parquet files.

==================  =================  =================================================================================
column              type               contents
==================  =================  =================================================================================
``experience``      int32              number of the experience, from 0; null for held-out rows
``task``            string             name of the row's task
``row``             int64              index of the row in the table that the stream was made from
``mask``            int32              number of the row's label mask in ``rows.masks`` of the card; only where the mask
                                       of any experience goes by row
one per label       uint8              1 present, 0 absent, null unknown
one per feature     float32, float64   the value, null where it is missing
one per key         its own            whose the row is: text, whole number, float or time in UTC
==================  =================  =================================================================================

No two columns have one name: where a label is called ``task``, the task of a row is ``task_``, and so is a feature or
a key of that name. Rows of a sparse stream are lists instead of columns per label and feature: ``labels`` (numbers of
the labels present), ``unknown_labels`` (of those unknown, where any row has one), ``indices`` (of the features stored,
from 0) and ``values``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
import pyarrow as pa

from mlstream.cards.row_columns import feature_columns, has_masks, key_columns, role_columns
from mlstream.streams.card_model import RowsCard, StreamCard

# Of fields whose columns are neither labels nor features; readers of plain tables leave them out.
ROLE = b"mlstream"
# Where the library `datasets` reads types from, names of classes among them.
_HUB = b"huggingface"
_HUB_NAMES = {pa.float32(): "float32", pa.float64(): "float64"}


@dataclass(frozen=True, eq=False)
class RowColumns:
    """The columns of a stream's Parquet files."""

    tasks: Sequence[str]
    labels: Sequence[str]
    features: Sequence[str]
    dtype: np.dtype[np.floating]  # of the features: float32 or float64
    as_lists: bool  # rows are lists, rather than columns per label and feature
    has_unknown: bool  # a label of some row is unknown
    has_masks: bool  # the label mask of some experience goes by row
    key_types: Mapping[str, str] = field(default_factory=dict)  # of the columns of keys, by name

    @classmethod
    def of(cls, card: StreamCard, layout: RowsCard, *, as_lists: bool) -> Self:
        """Name the columns of a stream that has a card, and on it the layout of its rows."""
        return cls(
            tasks=[task.name for task in card.tasks],
            labels=card.label_names,
            features=card.feature_names,
            dtype=np.dtype(layout.dtype),
            as_lists=as_lists,
            has_unknown=bool(layout.has_unknown),
            has_masks=has_masks(layout),
            key_types=layout.key_types,
        )

    @cached_property
    def names(self) -> dict[str, str]:
        """Names of the columns that are neither labels nor features, by what they are."""
        return role_columns({*self._cells, *self.key_columns.values()}, has_masks=self.has_masks)

    @property
    def _cells(self) -> Sequence[str]:
        """Names of the columns of labels and features, or of the lists in their place."""
        return (*self._label_lists, "indices", "values") if self.as_lists else (*self.labels, *self.feature_columns)

    @property
    def _label_lists(self) -> Sequence[str]:
        return ("labels", "unknown_labels") if self.has_unknown else ("labels",)

    @cached_property
    def key_columns(self) -> dict[str, str]:
        """Names of the columns of keys by name of the key: its own, but for those that another column bears."""
        return key_columns(list(self.key_types), self._cells)

    @cached_property
    def feature_columns(self) -> list[str]:
        """Names of the columns of features: their own, but for those that a label bears."""
        return feature_columns(self.labels, self.features)

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns with their types; also in the words of `datasets`, which knows classes by name."""
        types = {"experience": pa.int32(), "task": pa.string(), "row": pa.int64(), "mask": pa.int32()}
        fields = [pa.field(name, types[role], metadata={ROLE: role}) for role, name in self.names.items()]
        value = pa.from_numpy_dtype(self.dtype)
        if self.as_lists:
            fields += [pa.field(name, list_of(pa.int64())) for name in self._label_lists]
            fields += [pa.field("indices", list_of(pa.int32())), pa.field("values", list_of(value))]
        else:
            fields += [pa.field(name, pa.uint8()) for name in self.labels]
            fields += [pa.field(name, value) for name in self.feature_columns]
        fields += [
            pa.field(column, _arrow_type(self.key_types[name]), metadata={ROLE: "key"})
            for name, column in self.key_columns.items()
        ]
        described = {field.name: self._describe_for_hubs(field.type) for field in fields}
        return pa.schema(fields, {_HUB: json.dumps({"info": {"features": described}})})

    def _describe_for_hubs(self, kind: pa.DataType) -> dict[str, object]:
        if kind == list_of(pa.int64()):
            return {"feature": {"names": list(self.labels), "_type": "ClassLabel"}, "_type": "Sequence"}
        if pa.types.is_list(kind):
            return {"feature": self._describe_for_hubs(kind.value_type), "_type": "Sequence"}
        return {"dtype": _HUB_NAMES.get(kind, str(kind)), "_type": "Value"}

    @property
    def n_dense_bytes(self) -> int:
        """Size of a row in memory, were it dense."""
        return len(self.labels) + len(self.features) * self.dtype.itemsize


def _arrow_type(kind: str) -> pa.DataType:
    """Return the type in Parquet of a type of keys."""
    return pa.string() if kind.startswith("U") else pa.from_numpy_dtype(np.dtype(kind))


def list_of(value: pa.DataType) -> pa.DataType:
    """Return the type of lists, with the name of their values that Parquet prescribes."""
    return pa.list_(pa.field("element", value))
