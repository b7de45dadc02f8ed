"""Streams from the rows that the library `datasets` loads of a published folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mlstream.card_model import StreamCard, load_card
from mlstream.stream import Stream

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
    """
    from mlstream.formats.parquet_stream import restore_rows

    card = card if isinstance(card, StreamCard) else load_card(card)
    return restore_rows(_to_arrow(rows, "train"), _to_arrow(rows, "test"), card)


def _to_arrow(rows: Mapping[str, Any], split: str) -> pa.Table:
    if not isinstance(rows, Mapping):
        raise TypeError(f"rows must be what datasets.load_dataset returns without `split`. Got {type(rows).__name__}.")
    if split in rows:
        return rows[split].with_format("arrow")[:]
    # The library has no splits without rows.
    return rows["train"].with_format("arrow")[:0]
