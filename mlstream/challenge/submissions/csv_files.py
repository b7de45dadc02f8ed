"""CSV submissions: plain files by arithmetic over all bytes at once, all others row by row."""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from mlstream._support.content import show
from mlstream._support.spreadsheets import unguard_text
from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.submissions.rows import (
    N_DIGITS,
    ROW_ID,
    SubmissionLayout,
    SubmittedRows,
    decode_ids,
)
from mlstream.challenge.truth import Array
from mlstream.streams.tables.table import to_number

_COMMA, _NEWLINE, _BLANK = b",\n "
_IN_NUMBERS = np.zeros(256, bool)
_IN_NUMBERS[np.frombuffer(b"0123456789.eE+- ", np.uint8)] = True
_ID = re.compile(f"[0-9a-f]{{{N_DIGITS}}}")


def read_csv(content: bytes, layout: SubmissionLayout, name: str) -> SubmittedRows:
    """Read an unpacked CSV file: a row of names, then rows of an id and probabilities.

    InvalidSubmission is raised if the columns are others, or a row is not an id and numbers; the message names the
    line.
    """
    content = content.removeprefix(codecs.BOM_UTF8)
    head, _, body = content.partition(b"\n")
    if b'"' not in head and _is_header(_decode(head, name).rstrip("\r").split(","), layout):
        rows = _read_plain(body, len(layout.label_names))
        if rows is not None:
            return rows
    return _read_carefully(content, layout, name)


def _read_plain(body: bytes, n_labels: int) -> SubmittedRows | None:
    """Read rows without quotes or other ornaments; None where there are any, or something is wrong."""
    if b"\r" in body:
        body = body.replace(b"\r\n", b"\n")
    text = np.frombuffer(body.rstrip(b"\n") + b"\n", np.uint8).copy()
    ends = np.flatnonzero(text == _NEWLINE)
    starts = np.concatenate([[0], ends[:-1] + 1])
    if (ends - starts).min() < N_DIGITS + 2:
        return None
    places = starts[:, None] + np.arange(N_DIGITS)
    keys, valid = decode_ids(text[places])
    if not valid.all():
        return None
    numbers = _read_numbers(text, places, starts, n_labels)
    return None if numbers is None else SubmittedRows(keys, numbers, np.arange(2, 2 + len(keys)))


def _read_numbers(text: Array, id_places: Array, starts: Array, n_labels: int) -> Array | None:
    """Read the cells of all rows; what is not a number between two commas makes it None."""
    is_break = (text == _COMMA) | (text == _NEWLINE)
    n_commas = np.add.reduceat(is_break, starts, dtype=np.int64) - 1
    if (
        (text == _BLANK).any()
        or (n_commas != n_labels).any()
        or (is_break[1:] & is_break[:-1]).any()
        or not is_break[starts + N_DIGITS].all()
    ):
        return None
    text[id_places] = _BLANK
    text[is_break] = _BLANK
    if not _IN_NUMBERS[text].all():
        return None
    with warnings.catch_warnings():
        # NumPy warns where it stops before the end.
        warnings.simplefilter("error")
        try:
            numbers = np.fromstring(text.tobytes(), sep=" ")
        except (DeprecationWarning, ValueError):
            return None
    # No cell is empty, so that each holds one number if there are as many as cells.
    return numbers.reshape(-1, n_labels) if len(numbers) == len(starts) * n_labels else None


def _read_carefully(content: bytes, layout: SubmissionLayout, name: str) -> SubmittedRows:
    rows = csv.reader(io.StringIO(_decode(content, name), newline=""), strict=True)
    numbered = _number(rows, name)
    _, header = next(numbered, (1, []))
    if not _is_header(header, layout):
        _refuse_header(header, layout, name)
    read = [(line, *_read_row(row, layout, f"{name}, line {line}")) for line, row in numbered]
    keys = np.array([key for _, key, _ in read], np.uint64)
    prob = np.array([cells for _, _, cells in read], np.float64).reshape(len(read), len(layout.label_names))
    return SubmittedRows(keys, prob, np.array([line for line, _, _ in read], np.int64))


def _number(rows: Iterator[list[str]], name: str) -> Iterator[tuple[int, list[str]]]:
    try:
        yield from ((rows.line_num, row) for row in rows if row)  # type: ignore[attr-defined]
    except csv.Error as error:
        line = rows.line_num  # type: ignore[attr-defined]
        raise InvalidSubmission(f"{name}, line {line}: a row must be CSV. Got: {error}.") from None


def _read_row(row: Sequence[str], layout: SubmissionLayout, where: str) -> tuple[int, list[float]]:
    if len(row) != len(layout.label_names) + 1:
        raise InvalidSubmission(f"{where}: a row must hold {len(layout.label_names) + 1} values. Got {len(row)}.")
    key = row[0].strip()
    if not _ID.fullmatch(key):
        raise InvalidSubmission(
            f"{where}: {ROW_ID} must be {N_DIGITS} hexadecimal digits in lower case. Got {show(row[0])} instead."
        )
    numbers = [number for number in map(to_number, row[1:]) if number is not None]
    if len(numbers) < len(row) - 1:
        label, cell = next(
            (label, cell) for label, cell in zip(layout.label_names, row[1:], strict=True) if to_number(cell) is None
        )
        raise InvalidSubmission(
            f"{where}: the probability of {show(label)} must be a number in [0, 1]. Got {show(cell)} instead."
        )
    return int(key, 16), numbers


def _is_header(header: Sequence[str], layout: SubmissionLayout) -> bool:
    # Names that a spreadsheet would take for formulas may have lost their guard, or not.
    expected = [ROW_ID, *layout.label_names]
    return list(header) == expected or list(map(unguard_text, header)) == expected


def _refuse_header(header: Sequence[str], layout: SubmissionLayout, name: str) -> None:
    expected = [ROW_ID, *layout.label_names]
    where = f"{name}, line 1: the columns must be {ROW_ID} and the {len(layout.label_names)} scored labels, in order."
    if len(header) != len(expected):
        raise InvalidSubmission(f"{where} Got {len(header)} columns.")
    place, got = next((place, got) for place, got in enumerate(header) if unguard_text(got) != expected[place])
    raise InvalidSubmission(f"{where} Got {show(got)} in place of {show(expected[place])}.")


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidSubmission(f"{name}, line {line}: text must be UTF-8. Got other bytes.") from None
