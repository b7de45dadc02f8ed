"""Features that are categories: numbers that stand for words, 0 for the first, 1 for the second, and so on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy import sparse

from mlstream._support.files import did_you_mean
from mlstream._support.mapped import pieces
from mlstream.streams.frames import Features


def settle_values(values: Mapping[str, Sequence[str]], names: Sequence[str], table: str) -> dict[str, tuple[str, ...]]:
    """Check the declared values of features, and put them in the order of the features.

    Raises ValueError, which begins with `table`, if a name is not that of a feature, or values repeat or are not words.
    """
    known = set(names)
    for name, words in values.items():
        if name not in known:
            got = f"{name!r}{did_you_mean(name, list(names))}"
            raise ValueError(f"{table}: feature_values must name features. Got {got}")
        _require_words(words, f"{table}: the values of feature {name!r}")
    return {name: tuple(values[name]) for name in names if name in values}


def _require_words(words: Sequence[str], what: str) -> None:
    if isinstance(words, str) or not words or not all(isinstance(word, str) for word in words):
        raise ValueError(f"{what} must be a list of words, one at least. Got {words!r}.")
    if len(set(words)) < len(words):
        raise ValueError(f"{what} must differ. Got {list(words)!r}.")


def category_sizes(names: Sequence[str], values: Mapping[str, Sequence[str]]) -> dict[int, int]:
    """Return the position of each feature that is a category, and its number of values.

    >>> category_sizes(["bytes", "proto"], {"proto": ["tcp", "udp", "icmp"]})
    {1: 3}
    """
    return {place: len(values[name]) for place, name in enumerate(names) if name in values}


def describe_sizes(values: Mapping[str, Sequence[str]]) -> str:
    """Say how many features are categories, and of how many values; nothing if none is.

    >>> describe_sizes({"proto": ["tcp", "udp", "icmp"], "flag": ["S0", "SF"]})
    '2, of 2 to 3 values'
    """
    sizes = sorted({len(words) for words in values.values()})
    ends = dict.fromkeys(f"{size:,}" for size in (sizes[:1] + sizes[-1:]))
    return f"{len(values):,}, of {' to '.join(ends)} values" if values else ""


def require_codes(X: Features, names: Sequence[str], values: Mapping[str, Sequence[str]], table: str) -> None:
    """Raise ValueError, which begins with `table`, if a category holds anything but a code of its values, or NaN."""
    sizes = category_sizes(names, values)
    for row, place, code in _wrong_codes(X, sizes) if sizes else ():
        name = names[place]
        rule = f"must hold codes of its {sizes[place]} values, whole numbers from 0 to {sizes[place] - 1}"
        raise ValueError(f"{table}: feature {name!r} {rule}. Got {code:g} in row {row}, counted from 0.")


def _wrong_codes(X: Features, sizes: Mapping[int, int]) -> Iterator[tuple[int, int, float]]:
    """Yield the row, the column and the value of cells that hold no code."""
    columns, limits, start = list(sizes), np.array(list(sizes.values())), 0
    for piece in (X,) if sparse.issparse(X) else pieces(np.asarray(X)):
        found = sparse.coo_array(piece[:, columns])
        wrong = ~((found.data >= 0) & (found.data < limits[found.col]) & (found.data == np.floor(found.data)))
        for entry in np.flatnonzero(wrong & ~np.isnan(found.data)):
            yield start + int(found.row[entry]), columns[found.col[entry]], float(found.data[entry])
        start += piece.shape[0]
