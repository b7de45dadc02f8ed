"""CSV submissions, in any of the dialects of tables: ids as text, probabilities as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from mlstream._support.content import FormatError, show, unguard_text
from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.submissions.rows import (
    ROW_ID,
    Probabilities,
    SubmissionLayout,
    SubmittedRows,
    decode_ids,
    find_columns,
)
from mlstream.formats.csv_blocks import CsvBlock, Texts, iterate_blocks
from mlstream.formats.csv_dialects import SEPARATORS, CsvDialect, read_header
from mlstream.formats.lines import BLOCK_BYTES, Lines
from mlstream.streams.tables.table import to_number


def read_csv(content: bytes, layout: SubmissionLayout, name: str) -> SubmittedRows:
    """Read an unpacked CSV file: a row of names, then rows of an id and probabilities.

    InvalidSubmission is raised if the columns are others, or a row is not an id and numbers; the message names the
    line.
    """
    lines, separator, found = Lines(BytesIO(content), Path(name)), _find_separator(content, layout), ""
    try:
        header = read_header(lines, CsvDialect(separator))
        found = f"; cells are separated by {SEPARATORS[separator]}s"
        where = f"{name}, line {lines.n_read}"
        places = find_columns(header.names, layout, where, found, (str, lambda name: unguard_text(name.strip())))
        read = [_read_block(block, places, layout) for block in iterate_blocks(lines, header)]
    except FormatError as error:
        raise InvalidSubmission(f"{str(error).removesuffix('.')}{found}.") from None
    none = SubmittedRows(np.empty(0, np.uint64), np.empty((0, len(layout.label_names))), np.empty(0, np.int64))
    keys, prob, numbers, _ = zip(none, *read, strict=True)
    return SubmittedRows(np.concatenate(keys), np.concatenate(prob), np.concatenate(numbers))


def _find_separator(content: bytes, layout: SubmissionLayout) -> str:
    """Find what separates the names that must be there; a name may hold other separators."""
    first = next(Lines(BytesIO(content[:BLOCK_BYTES]), Path()).head(), "")
    expected = {name.strip() for name in (ROW_ID, *layout.label_names)}

    def count(separator: str) -> tuple[int, int]:
        cells = first.split(separator)
        return len(expected.intersection(cell.strip(' "') for cell in cells)), len(cells)

    return max(SEPARATORS, key=count)


def _read_block(block: CsvBlock, places: Sequence[int], layout: SubmissionLayout) -> SubmittedRows:
    block.require_closed()
    found = block.read(places, places[:1])
    codes, ids = cast(Texts, found[places[0]])
    # Spreadsheets write an empty line as separators.
    held = ~block.find_blank() if (codes < 0).any() else np.ones(len(codes), dtype=np.bool_)
    lines = block.lines[held]
    keys = decode_ids([text.strip() for text in ids], codes[held], lambda row: f"{block.path}, line {lines[row]}")
    columns = zip(layout.label_names, places[1:], strict=True)
    prob = [_read_numbers(block, label, found[place], held)[held] for label, place in columns]
    return SubmittedRows(keys, np.column_stack(prob), lines)


def _read_numbers(
    block: CsvBlock, label: str, cells: npt.NDArray[np.float64] | Texts, held: npt.NDArray[np.bool_]
) -> Probabilities:
    """Return the numbers of a column, of which the rows that are held must have one."""
    codes, texts = cells if isinstance(cells, Texts) else (np.full(len(cells), -1), [])
    texts = [*texts, ""]
    numbers = np.array(list(map(to_number, texts)), np.float64)[codes] if isinstance(cells, Texts) else cells
    wrong = np.flatnonzero(np.isnan(numbers) & held)
    if len(wrong):
        where, got = f"{block.path}, line {block.lines[wrong[0]]}", texts[codes[wrong[0]]]
        is_decimal = to_number(got.replace(",", ".", 1)) is not None
        way_out = "; write a decimal point instead of the comma" if is_decimal else ""
        rule = f"the probability of {show(label)} must be a number in [0, 1]"
        raise InvalidSubmission(f"{where}: {rule}. Got {show(got)} instead{way_out}.")
    return numbers
