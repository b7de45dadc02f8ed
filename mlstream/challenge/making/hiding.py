"""Keyed names of rows, features and categories, by which hidden rows cannot be recognised."""

from __future__ import annotations

import hmac
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream.challenge.truth import Keys
from mlstream.streams.stream import Features, Index

_KEY_BYTES = 8
# A column of whole numbers with at most this many values is taken for categories.
MAX_CATEGORIES = 32


def keyed_digest(salt: bytes, *parts: str | int) -> bytes:
    """Digest a text under a key: HMAC-SHA256 (RFC 2104) of the parts, of which a number and its text differ."""
    return hmac.digest(salt, repr(parts).encode(), "sha256")


def key_rows(salt: bytes, row_ids: Index) -> Keys:
    """Compute the public key of each row: the first 64 bits of its keyed digest.

    `salt` is the key of the challenge; `row_ids` are positions in the table.
    """
    digests = b"".join(keyed_digest(salt, "row", row)[:_KEY_BYTES] for row in row_ids.tolist())
    return np.frombuffer(digests, dtype=">u8").astype(np.uint64)


@dataclass(frozen=True, eq=False)
class FeatureHiding:
    """How the features of a challenge are renamed, permuted and coded again."""

    order: Index  # Column of the stream that stands at each place of the bundle.
    # Of each categorical column of the stream: its values, ascending, and the code of each.
    codes: dict[int, tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]]

    @property
    def names(self) -> tuple[str, ...]:
        """Public names of the features, in the order of the bundle."""
        width = len(str(len(self.order)))
        return tuple(f"f{place + 1:0{width}}" for place in range(len(self.order)))

    @property
    def n_categories(self) -> tuple[int | None, ...]:
        """Number of categories of each feature of the bundle; None for one of numbers."""
        return tuple(len(self.codes[column][0]) if column in self.codes else None for column in self.order.tolist())

    def apply(self, X: Features) -> Features:
        """Return features as contestants see them."""
        hidden = X.copy()
        for column, (values, codes) in self.codes.items():
            hidden[:, column] = codes[np.searchsorted(values, np.asarray(X[:, column]))]
        return hidden[:, self.order]


def hide_features(
    salt: bytes, X: Sequence[Features], categorical: Sequence[int] | None, left_out: Collection[int] = ()
) -> FeatureHiding:
    """Draw how features are hidden, the same for all environments: the permutation, and new codes of categories.

    Codes are whole numbers from 0, in the order of keyed digests. If `categorical` is None, columns that hold whole
    numbers only, of 3 to 32 values, are categories; of two, a new code would be the same column or its complement.
    Sparse features are never coded again: zeros would become stored values. Columns that are `left_out` get no place.
    """
    n_features = X[0].shape[1]
    shown = [column for column in range(n_features) if column not in left_out]
    order = np.array(sorted(shown, key=lambda column: keyed_digest(salt, "feature", column)), dtype=np.int64)
    if sparse.issparse(X[0]):
        return FeatureHiding(order, {})
    codes = {}
    for column in shown if categorical is None else categorical:
        values = np.unique(np.concatenate([np.unique(np.asarray(part[:, column])) for part in X]))
        if categorical is not None or _is_categorical(values):
            codes[column] = values, _new_codes(salt, column, values)
    return FeatureHiding(order, codes)


def _is_categorical(values: npt.NDArray[np.floating]) -> bool:
    return 2 < len(values) <= MAX_CATEGORIES and bool((values == np.round(values)).all())


def _new_codes(salt: bytes, column: int, values: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    digests = [keyed_digest(salt, "category", column, float(value).hex()) for value in values]
    codes = np.empty(len(values), dtype=values.dtype)
    codes[sorted(range(len(values)), key=digests.__getitem__)] = np.arange(len(values))
    return codes
