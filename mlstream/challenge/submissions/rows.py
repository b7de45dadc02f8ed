"""The rows of a submission: what must be there, and the way from rows in any order to aligned probabilities."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mlstream._support.content import first_repeated, show
from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.truth import Keys

Probabilities: TypeAlias = npt.NDArray[np.float64]

ROW_ID = "row_id"
N_DIGITS = 16
# What an unpacked file may take, beside its names: far more than any program writes for an id and for a number.
_ID_BYTES = 80
_CELL_BYTES = 40
_OTHER_BYTES = 2**20

# Of an array or a column, before its ids are read.
ID_TYPE = f"{ROW_ID} must hold texts of {N_DIGITS} digits, or numbers of type uint64"

_MAX_NAME = 100
_ID = re.compile(f"[0-9a-f]{{{N_DIGITS}}}")


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


def find_columns(
    names: Sequence[str],
    layout: SubmissionLayout,
    where: str,
    found: str = "",
    cleaners: Sequence[Callable[[str], str]] = (str,),
) -> list[int]:
    """Return the places of the id and of each label among columns that may come in any order.

    Names are compared after each of `cleaners`. InvalidSubmission is raised if the columns are others; `where` begins
    and `found` ends its message.
    """
    expected = [ROW_ID, *layout.label_names]
    for clean in cleaners:
        wanted, given = list(map(clean, expected)), list(map(clean, names))
        if sorted(given) == sorted(wanted) == sorted(set(wanted)):
            return [given.index(name) for name in wanted]
    known, there = set(wanted), set(given)
    odd = first_repeated(given) or next((name for name in given if name not in known), None)
    absent = next((f"no {show(name)}" for name in wanted if name not in there), f"{len(names)} columns")
    got = absent if odd is None else show(str(odd))
    rule = f"the columns must be {ROW_ID} and the {len(layout.label_names)} scored labels"
    raise InvalidSubmission(f"{where}: {rule}. Got {got}{found}.")


def decode_ids(ids: Sequence[str], codes: npt.NDArray[np.integer], at: Callable[[int], str]) -> Keys:
    """Return row ids as numbers: of each row the code of its id, or -1 for none; `at` names a row in errors.

    InvalidSubmission is raised if one is anything but hexadecimal digits in lower case.
    """
    valid = np.array([_ID.fullmatch(text) is not None for text in (*ids, "")])
    if not valid[codes].all():
        row = int(valid[codes].argmin())
        rule = f"{ROW_ID} must be {N_DIGITS} hexadecimal digits in lower case"
        raise InvalidSubmission(f"{at(row)}: {rule}. Got {show([*ids, ''][codes[row]])} instead.")
    keys = [int(text, 16) if is_id else 0 for text, is_id in zip(ids, valid, strict=False)]
    return np.array(keys, np.uint64).take(codes)


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
            f"{_at(rows, row, name)}: {ROW_ID} must be one of holdout.csv of this challenge. "
            f"Got {rows.keys[row]:016x} instead."
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
