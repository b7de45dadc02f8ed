"""ARFF as every reader takes it: labels first, as MEKA's ``-C n`` says, nominal {0,1}; then features."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream.streams.categories import require_codes
from mlstream.streams.label_values import filled
from mlstream.streams.stream import Features, Indicator

Codes: TypeAlias = npt.NDArray[np.uint8]
Words: TypeAlias = Mapping[int, Sequence[str]]
"""Of each column of categories: what is written for each code."""

UNKNOWN = "?"
NO_VALUES: Mapping[str, Sequence[str]] = MappingProxyType({})
_NO_WORDS: Words = MappingProxyType({})

# What is written at once: enough to be fast, few enough to be small.
_CELLS = 2**18
# Below this, nothing is gained by loading compiled loops.
SHORT_CELLS = 2**17
_PLAIN_NAME = re.compile(r"""[^\s{},%'"\\?@\x00-\x1f\x7f][^\s{},%'"\\\x00-\x1f\x7f]*""")
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"} | {character: f"\\{character}" for character in "'\"\\%"}
_SPECIAL = re.compile(r"""['"\\%\x00-\x1f\x7f]""")


def format_arff(
    X: Features,
    Y: Indicator,
    feature_names: Sequence[str],
    label_names: Sequence[str],
    *,
    title: str,
    values: Mapping[str, Sequence[str]] = NO_VALUES,
) -> Iterator[str]:
    """Write a table as the text of an ARFF file, piece by piece; a CSR matrix gives sparse rows.

    Features are numeric, and nominal where `values` declares the words of their codes. An unknown label is written as
    ``?``. MEKA's option ``-C n_labels`` is added to the title. Read as float64, and
    rounded to float32 if they were that, numbers are the same bits. Raises ValueError if X is not of float32 or
    float64, or holds NaN or infinity, or in a nominal column no code, or a label has the name of a feature.
    """
    _require_type(X)
    require_codes(X, feature_names, values, title)
    require_different(feature_names, label_names)
    # MEKA looks for its options behind the first colon.
    title = title.replace(":", " ")
    yield f"@relation {_quote(f'{title}: -C {len(label_names)}')}\n\n"
    yield from (f"@attribute {quote_name(name)} {{0,1}}\n" for name in label_names)
    quoted = {name: list(map(quote_name, words)) for name, words in values.items()}
    for name in feature_names:
        yield f"@attribute {quote_name(name)} " + (f"{{{','.join(quoted[name])}}}\n" if name in quoted else "numeric\n")
    yield "\n@data\n"
    yield from _format_rows(X, Y, {place: quoted[name] for place, name in enumerate(feature_names) if name in quoted})


def format_dense_rows(X: Features, Y: Indicator) -> Iterator[str]:
    """Write rows of a dense table, labels first, parted by commas; the cell of an unknown label is empty."""
    _require_type(X)
    # Nothing but unknown labels is written with this sign.
    yield from (piece.replace(UNKNOWN, "") for piece in _format_rows(X, Y))


def require_different(feature_names: Sequence[str], label_names: Sequence[str]) -> None:
    """Raise ValueError if a label has the name of a feature, because columns are found by name."""
    shared = set(label_names).intersection(feature_names)
    if shared:
        raise ValueError(f"Labels and features must have different names in a table. Got {min(shared)!r} twice.")


def _require_type(X: Features) -> None:
    if X.dtype not in (np.float32, np.float64):
        raise ValueError(f"X must be float32 or float64 to be written as text. Got {X.dtype}.")


def _format_rows(X: Features, Y: Indicator, words: Words = _NO_WORDS) -> Iterator[str]:
    n_rows = _CELLS * len(Y) // (X.size + Y.size + 1) + 1
    # Compiled loops write doubles only; all of X counts, for the rest will follow.
    is_compiled = X.dtype == np.float64 and X.size > SHORT_CELLS and not words
    write = _write_compiled if is_compiled else partial(_write, words=words)
    for start in range(0, len(Y), n_rows):
        yield write(_require_finite(X[start : start + n_rows]), _codes(Y[start : start + n_rows]))


def _codes(Y: Indicator) -> Codes:
    """Return labels as the distances of their signs from the sign 0."""
    return filled(Y, ord(UNKNOWN) - ord("0"))


def quote_name(name: str) -> str:
    r"""Write the name of a column, or a nominal value, in quotes if it needs them.

    >>> quote_name("Att1"), quote_name("it's 5 %")
    ('Att1', "'it\\'s 5 \\%'")
    """
    return name if _PLAIN_NAME.fullmatch(name) else _quote(name)


def _quote(text: str) -> str:
    return "'" + _SPECIAL.sub(lambda found: _ESCAPES.get(found.group(), f"\\u{ord(found.group()):04x}"), text) + "'"


def _require_finite(X: Features) -> Features:
    values = X.data if sparse.issparse(X) else np.asarray(X)
    if not np.isfinite(values).all():
        got = values[~np.isfinite(values)][0]
        way_out = (
            "; --missing mean or indicator replaces missing values, and only .npz holds them" if np.isnan(got) else ""
        )
        raise ValueError(f"X must be finite to be written as text. Got {got}{way_out}.")
    return X


def _write(X: Features, Y: Codes, words: Words) -> str:
    if sparse.issparse(X):
        return "".join(_sparse_rows(_without_duplicates(X), Y, words))
    return "".join(_dense_rows(np.asarray(X), Y, words))


def _write_compiled(X: Features, Y: Codes) -> str:
    from mlstream.formats._kernels.print import print_dense, print_sparse

    if not sparse.issparse(X):
        return print_dense(np.ascontiguousarray(X), np.ascontiguousarray(Y)).decode("ascii")
    X = _without_duplicates(X)
    return print_sparse(X.data, X.indices, X.indptr, np.ascontiguousarray(Y)).decode("ascii")


def _without_duplicates(X: sparse.csr_array) -> sparse.csr_array:
    X = X.copy()
    X.sum_duplicates()
    return X


def _dense_rows(X: npt.NDArray[np.floating], Y: Codes, words: Words) -> Iterator[str]:
    width, numbers = X.shape[1], _format_numbers(X.ravel())
    for column, values in words.items():
        numbers[column::width] = [values[code] for code in X[:, column].astype(np.int64).tolist()]
    for row, labels in enumerate((Y + ord("0")).tolist()):
        yield ",".join([*map(chr, labels), *numbers[row * width : (row + 1) * width]]) + "\n"


def _sparse_rows(X: sparse.csr_array, Y: Codes, words: Words) -> Iterator[str]:
    columns, numbers, starts = (X.indices + Y.shape[1]).tolist(), _format_numbers(X.data), X.indptr.tolist()
    for entry in np.flatnonzero(np.isin(X.indices, list(words))).tolist():
        numbers[entry] = words[int(X.indices[entry])][int(X.data[entry])]
    for labels, (start, stop) in zip(Y, pairwise(starts), strict=True):
        cells = [f"{label} {chr(ord('0') + labels[label])}" for label in np.flatnonzero(labels).tolist()]
        cells += map("{} {}".format, columns[start:stop], numbers[start:stop])
        # River cannot read {}, the row of zeros only.
        yield "{" + (",".join(cells) or "0 0") + "}\n"


def _format_numbers(values: npt.NDArray[np.floating]) -> list[str]:
    if values.dtype == np.float64:
        return list(map(repr, values.tolist()))
    # Nine digits stay far enough from the middle between two float32 that no reader rounds to the wrong one.
    return list(map("%.9g".__mod__, values.tolist()))
