"""The rows of a submission: what must be there, and the way from rows in any order to aligned probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.truth import Array, Keys

Probabilities: TypeAlias = npt.NDArray[np.float64]

ROW_ID = "row_id"
N_DIGITS = 16
# What an unpacked file may take, beside its names: far more than any program writes for an id and for a number.
_ID_BYTES = 80
_CELL_BYTES = 40
_OTHER_BYTES = 2**20

_MAX_NAME = 100
_NOT_A_DIGIT = 255
_DIGITS = np.full(256, _NOT_A_DIGIT, np.uint8)
_DIGITS[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)


@dataclass(frozen=True, eq=False)
class SubmissionLayout:
    """The rows and the columns that every submission to a challenge holds."""

    keys: Keys  # Row ids, ascending.
    label_names: Sequence[str]  # The scored labels, in order.
    max_bytes: int  # Size of a file, as it is sent.

    @property
    def max_unpacked_bytes(self) -> int:
        """Size of a file when it is unpacked."""
        names = sum(len(name.encode()) for name in self.label_names)
        return len(self.keys) * (_ID_BYTES + _CELL_BYTES * len(self.label_names)) + 4 * names + _OTHER_BYTES


class SubmittedRows(NamedTuple):
    """The content of a file, in its own order."""

    keys: Keys  # Row ids, (n_rows,).
    prob: Probabilities  # (n_rows, n_labels), not checked yet.
    lines: npt.NDArray[np.int64]  # Where each row stands.
    unit: str = "line"  # Counted by `lines`: lines of a text, or rows.


def align(rows: SubmittedRows, layout: SubmissionLayout, name: str) -> Probabilities:
    """Check the rows of a file and return their probabilities, (n_hidden, n_labels), in the order of `layout.keys`.

    InvalidSubmission is raised if an id is missing, unknown or there twice, or a number is not a probability.
    """
    order = np.argsort(rows.keys, kind="stable")
    if not np.array_equal(rows.keys[order], layout.keys):
        _refuse_ids(rows, order, layout, name)
    # NaN is neither.
    wrong = ~((rows.prob >= 0) & (rows.prob <= 1))
    if wrong.any():
        row, label = map(int, np.argwhere(wrong)[0])
        raise InvalidSubmission(
            f"{_at(rows, row, name)}: the probability of {layout.label_names[label]!r} must be in [0, 1]. "
            f"Got {rows.prob[row, label]} instead."
        )
    return np.ascontiguousarray(rows.prob[order])


def decode_ids(digits: Array) -> tuple[Keys, npt.NDArray[np.bool_]]:
    """Read row ids from their characters, (n_rows, 16), and return them as numbers, with whether each is valid.

    A valid id has hexadecimal digits in lower case only.
    """
    values = _DIGITS[digits]
    pairs = (values[:, ::2] << 4) | (values[:, 1::2] & 15)
    keys = np.ascontiguousarray(pairs).view(">u8").reshape(-1).astype(np.uint64)
    return keys, (values != _NOT_A_DIGIT).all(axis=1)


def clean_name(file_name: str) -> str:
    r"""Return the name of a file for errors and lists: without folders, printable, and short.

    >>> clean_name("../../etc/passwd"), clean_name("C:\\a.csv"), clean_name("")
    ('passwd', 'a.csv', 'submission')
    """
    last = file_name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(letter if letter.isprintable() else "?" for letter in last).strip()
    return plain[:_MAX_NAME] if plain.strip(".") else "submission"


def _refuse_ids(rows: SubmittedRows, order: npt.NDArray[np.intp], layout: SubmissionLayout, name: str) -> None:
    keys = rows.keys[order]
    places = np.searchsorted(layout.keys, keys)
    unknown = layout.keys[np.minimum(places, len(layout.keys) - 1)] != keys
    if unknown.any():
        row = int(order[unknown].min())
        raise InvalidSubmission(
            f"{_at(rows, row, name)}: {ROW_ID} must be one of the holdout. Got {rows.keys[row]:016x} instead."
        )
    twice = np.concatenate([[False], keys[1:] == keys[:-1]])
    if twice.any():
        row = int(order[twice].min())
        raise InvalidSubmission(
            f"{_at(rows, row, name)}: each {ROW_ID} must be there once. Got {rows.keys[row]:016x} a second time."
        )
    missing = np.setdiff1d(layout.keys, keys)
    raise InvalidSubmission(
        f"{name}, after its last {rows.unit}: all {len(layout.keys)} rows of the holdout must be there. "
        f"Got {len(missing)} missing, the first of which is {missing[0]:016x}."
    )


def _at(rows: SubmittedRows, row: int, name: str) -> str:
    return f"{name}, {rows.unit} {rows.lines[row]}"
