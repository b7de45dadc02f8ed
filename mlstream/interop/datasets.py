"""Streams from the rows that the library `datasets` loads of a published folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mlstream.cards.description import hash_data
from mlstream.formats.parquet_stream import restore_rows
from mlstream.streams.card_model import StreamCard, load_card
from mlstream.streams.stream import Stream

if TYPE_CHECKING:
    import pyarrow as pa


def from_datasets(rows: Mapping[str, Any], card: StreamCard | str | os.PathLike[str]) -> Stream:
    """Make a stream of the rows that ``datasets.load_dataset(FOLDER)`` returns.

    Parameters
    ----------
    rows : mapping of str to datasets.Dataset
        All rows of the configuration ``default`` in their order: those to learn from are ``train``, those of the
        evaluation sets ``test``.
    card : StreamCard or path
        The card of the folder, or its file, ``stream.card.json``.

    Returns
    -------
    Stream
        The stream that was published, array by array and type by type.

    Raises
    ------
    ValueError
        If rows are missing or in another order, or the card is that of another folder.
    TypeError
        If `rows` holds no splits, or streams them.
    """
    if not isinstance(rows, Mapping) or not hasattr(rows.get("train"), "num_rows"):
        rule = "rows must be what datasets.load_dataset returns without `split` and `streaming`"
        raise TypeError(f"{rule}. Got {type(rows).__name__}.")
    card = card if isinstance(card, StreamCard) else load_card(card)
    stream = restore_rows(_to_arrow(rows, "train"), _to_arrow(rows, "test"), card)
    if hash_data(stream) != card.data_sha256:
        raise ValueError("rows must be all that were published, in their order. Got others, or another order.")
    return stream


def _to_arrow(rows: Mapping[str, Any], split: str) -> pa.Table:
    if split in rows:
        return rows[split].with_format("arrow")[:]
    # The library has no splits without rows.
    return rows["train"].with_format("arrow")[:0]
