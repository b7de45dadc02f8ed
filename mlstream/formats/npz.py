"""Streams as NPZ: one archive of plain arrays that `numpy.load` opens without pickle.

The members, all stored uncompressed and aligned so that they can be mapped into memory where they lie:

==========================  ===========  ============================================================================
key                         type         what
==========================  ===========  ============================================================================
``format_version``          int64        shape (1,): 1
``card``                    uint8        the card: JSON in UTF-8
``signatures``              bool         (n_tasks, n_labels): labels that can occur, by task
``masks``                   bool         (n_masks, n_labels): the distinct label masks
``learning_X``              float        (n_rows, n_features), if dense; else, as in CSR,
``learning_X_data``         float        the stored values,
``learning_X_indices``      int          their columns,
``learning_X_indptr``       int          and where each row begins
``learning_Y``              uint8        (n_rows, n_labels): 0 and 1; float32, with NaN, if a label is unknown
``learning_task_ids``       int64        (n_rows,): index of the row's task
``learning_row_ids``        int64        (n_rows,): index of the row in the table that the stream was made from
``learning_mask_ids``       int64        (n_rows,): index of the row's mask
``learning_part_mask_ids``  int64        (n_experiences,): index of the experience's mask; -1 where it goes by row
``learning_offsets``        int64        (n_experiences + 1,): rows at which experiences begin
``learning_keys_NAME``      any          (n_rows,): a column of keys, if rows have them; odd characters of its name as
                                         in web addresses
``evaluation_...``          the same     the evaluation sets, in the order of the tasks
==========================  ===========  ============================================================================

The same stream gives the same bytes. Dense rows are written part by part, so that a mapped stream larger than memory
can be written again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import numpy as np
from scipy import sparse

from mlstream._support.content import FormatError, show
from mlstream._support.files import atomic_path
from mlstream._support.mapped import plain, release
from mlstream.formats._zip import Array, read_arrays, write_arrays
from mlstream.formats.flat import FlatParts, FlatStream, flatten, restore
from mlstream.streams.card_model import parse_card
from mlstream.streams.keys import Keys, key_names, make_keys
from mlstream.streams.stream import Features, Stream
from mlstream.streams.tables.arrays import Stacked, make_csr, stack_rows

FORMAT_VERSION = 1

_MAX_SHOWN = 5

# Of each key: the kinds of number that it may hold, and its dimensions.
_STREAM = {"format_version": ("i", 1), "card": ("u", 1), "signatures": ("b", 2), "masks": ("b", 2)}
_DENSE = {"X": ("f", 2)}
_CSR = {"X_data": ("f", 1), "X_indices": ("i", 1), "X_indptr": ("i", 1)}
_ROWS = {
    "Y": ("uf", 2),
    "task_ids": ("i", 1),
    "row_ids": ("i", 1),
    "mask_ids": ("i", 1),
    "part_mask_ids": ("i", 1),
    "offsets": ("i", 1),
}
_KEYS = "_keys_"
# The arrays with an entry per row; others are small.
_LONG = {"Y", "task_ids", "row_ids", "mask_ids"}


def save_npz(stream: Stream, path: str | os.PathLike[str]) -> None:
    """Write a stream as NPZ, complete or not at all, replacing a file that exists.

    Raises ValueError if some X of the stream are dense and others sparse, or their types differ.
    """
    arrays = _to_arrays(flatten(stream, join=stack_rows))
    with atomic_path(path) as temporary:
        write_arrays(temporary, arrays)


def load_npz(path: str | os.PathLike[str], *, mmap: bool = False, check: bool | None = None) -> Stream:
    """Read a stream from NPZ: equal array by array and type by type to the one that was written.

    With `mmap`, X and Y stay in the file, read-only, until they are used. The file must not be written to meanwhile; to
    replace it is harmless. Keys are read, and labels where some are unknown, since each part holds them in the type
    that its own need. `check` looks at checksums and values, by default unless the file is mapped. A mapped file is
    read once for that, in constant memory; without it, the time is that of a small file, whatever the size, and the
    file should be one to be trusted. Raises FormatError if the file does not hold a stream of this version, or is not
    as it was written.
    """
    path = Path(path)
    check = not mmap if check is None else check
    arrays = read_arrays(path, mmap=mmap, check=check)
    if arrays.get("format_version", np.zeros(0)).tolist() != [FORMAT_VERSION]:
        got = arrays["format_version"].tolist() if "format_version" in arrays else "no format_version"
        raise FormatError(f"{path} must hold a stream in format version {FORMAT_VERSION}. Got {got}.")
    _require_keys(arrays, path)
    try:
        return restore(_from_arrays(arrays, check=check), check_values=check)
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from None


def _to_arrays(flat: FlatStream) -> dict[str, Array | Stacked]:
    card = np.frombuffer(flat.card.model_dump_json().encode(), np.uint8)
    arrays: dict[str, Array | Stacked] = {"format_version": np.array([FORMAT_VERSION]), "card": card}
    arrays |= {"signatures": flat.signatures, "masks": flat.masks}
    for half, rows in (("learning", flat.learning), ("evaluation", flat.evaluation)):
        if sparse.issparse(rows.X):
            arrays |= {f"{half}_X_{key}": getattr(rows.X, key) for key in ("data", "indices", "indptr")}
        else:
            arrays[f"{half}_X"] = rows.X
        arrays |= {f"{half}_{key}": getattr(rows, key) for key in _ROWS}
        if rows.keys is not None:
            arrays |= {f"{half}{_KEYS}{quote(name)}": rows.keys[name] for name in key_names(rows.keys)}
    return arrays


def _from_arrays(arrays: Mapping[str, Array], *, check: bool) -> FlatStream:
    card = parse_card(arrays["card"].tobytes(), "the card")
    learning, evaluation = (
        FlatParts(
            _to_features(arrays, half, len(card.feature_names), check=check),
            **{key: arrays[f"{half}_{key}"] for key in _LONG},
            **{key: plain(arrays[f"{half}_{key}"]) for key in _ROWS.keys() - _LONG},
            keys=_to_keys(arrays, half, card.keys),
        )
        for half in ("learning", "evaluation")
    )
    return FlatStream(plain(arrays["signatures"]), plain(arrays["masks"]), learning, evaluation, card)


def _to_keys(arrays: Mapping[str, Array], half: str, names: Sequence[str]) -> Keys | None:
    n_rows, none = len(arrays[f"{half}_row_ids"]), np.empty(0)
    columns = {name: arrays.get(f"{half}{_KEYS}{quote(name)}", none) for name in names}
    n_found = sum(key.startswith(f"{half}{_KEYS}") for key in arrays)
    if n_found != len(names) or any(len(values) != n_rows for values in columns.values()):
        raise ValueError(f"there must be keys {list(names)} of {n_rows} {half} rows, as the card says. Got others.")
    return make_keys(columns) if columns else None


def _to_features(arrays: Mapping[str, Array], half: str, n_features: int, *, check: bool) -> Features:
    if f"{half}_X" in arrays:
        return arrays[f"{half}_X"]
    data, indices, indptr = (arrays[f"{half}_{key}"] for key in _CSR)
    if not len(indptr) or indptr[0] != 0 or not indptr[-1] == len(indices) == len(data):
        raise ValueError(f"{half}_X_indptr must rise from 0 to the number of stored values, {len(data)}.")
    if check:
        _require_indices(indices, indptr, half, n_features)
        release(indices, indptr)
    dtype = np.promote_types(indices.dtype, indptr.dtype)
    return make_csr(data, indices.astype(dtype, copy=False), indptr.astype(dtype, copy=False), n_features)


def _require_indices(indices: Array, indptr: Array, half: str, n_features: int) -> None:
    if (np.diff(indptr) < 0).any():
        raise ValueError(f"{half}_X_indptr must rise from 0 to the number of stored values, {len(indices)}.")
    if len(indices) and not 0 <= indices.min() <= indices.max() < n_features:
        raise ValueError(f"{half}_X_indices must be between 0 and {n_features - 1}. Got others.")


def _require_keys(arrays: Mapping[str, Array], path: Path) -> None:
    expected = dict(_expected_keys("learning_X" in arrays))
    expected |= {key: ("UifM", 1) for key in arrays if key.startswith((f"learning{_KEYS}", f"evaluation{_KEYS}"))}
    missing, unknown = sorted(expected.keys() - arrays.keys()), sorted(arrays.keys() - expected.keys())
    if missing or unknown:
        strange = [*(f"no {key}" for key in missing), *(f"an unknown {show(key)}" for key in unknown)]
        got = ", ".join(strange[:_MAX_SHOWN])
        raise FormatError(f"{path} must hold the arrays of a stream. Got {got}.")
    for key, (kind, n_dimensions) in expected.items():
        if arrays[key].dtype.kind not in kind or arrays[key].ndim != n_dimensions:
            got = f"{arrays[key].ndim} dimensions of {arrays[key].dtype}"
            raise FormatError(f"{path}: {key} must have {n_dimensions} dimensions of kind {kind!r}. Got {got}.")


def _expected_keys(is_dense: bool) -> Iterator[tuple[str, tuple[str, int]]]:
    yield from _STREAM.items()
    for half in ("learning", "evaluation"):
        for key, expected in ((_DENSE if is_dense else _CSR) | _ROWS).items():
            yield f"{half}_{key}", expected
