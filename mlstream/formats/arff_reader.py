"""ARFF files of every dialect as tables."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mlstream.formats.arff_header import parse_header
from mlstream.formats.arff_rows import RowReader
from mlstream.formats.content import FormatError, at, clip, read_lines, show
from mlstream.formats.table import Cells, Column, Table

Row = tuple[int, str]


def parse_arff(content: bytes, path: Path) -> Table:
    """Read the content of an ARFF file.

    Dense and sparse rows, comments, blank lines, trailing commas, quotes and escapes, keywords in any case, UTF-8 and
    Latin-1 are read; columns are numeric or nominal. The width is the header's.

    Parameters
    ----------
    content : bytes
        The file's content, unpacked.
    path : Path
        The file, for errors.

    Returns
    -------
    Table
        Its cells are a CSR matrix if most rows are in sparse notation.

    Raises
    ------
    FormatError
        If anything is not as the format or the header has it; the message says the line.
    """
    lines = read_lines(content)
    header = parse_header(lines, path)
    body = enumerate(islice(lines, header.n_lines, None), header.n_lines + 1)
    rows = [(number, text) for number, line in body if (text := line.strip()) and text[0] != "%"]
    is_sparse = 2 * sum(text[0] == "{" for _, text in rows) > len(rows)
    cells = (_read_sparse if is_sparse else _read_dense)(rows, header.columns, path)
    numbers = np.fromiter((number for number, _ in rows), np.int64, len(rows))
    table = Table(path, header.columns, cells, numbers, header.relation)
    _require_finite(table)
    _require_declared(table)
    return table


def _read_dense(rows: Sequence[Row], columns: Sequence[Column], path: Path) -> npt.NDArray[np.float64]:
    reader, cells = RowReader(columns, path), array("d")
    defaults = array("d", [column.default for column in columns])
    for number, text in rows:
        if text[0] != "{":
            cells.extend(reader.dense(number, text))
            continue
        row = defaults[:]
        for index, value in zip(*reader.sparse(number, text), strict=True):
            row[index] = value
        cells.extend(row)
    return np.asarray(cells).reshape(len(rows), len(columns))


def _read_sparse(rows: Sequence[Row], columns: Sequence[Column], path: Path) -> sparse.csr_array:
    reader, values, indices, starts = RowReader(columns, path), array("d"), array("i"), [0]
    for number, text in rows:
        if text[0] == "{":
            row_indices, row = reader.sparse(number, text)
        else:
            row_indices, row = list(range(len(columns))), reader.dense(number, text)
        indices.extend(row_indices)
        values.extend(row)
        starts.append(len(values))
    parts = np.asarray(values), np.asarray(indices), np.asarray(starts)
    cells = sparse.csr_array(parts, shape=(len(rows), len(columns)))
    cells.sort_indices()
    return _add_defaults(cells, columns)


def _add_defaults(cells: sparse.csr_array, columns: Sequence[Column]) -> sparse.csr_array:
    # A sparse row leaves out the first value of a nominal column, which need not be 0.
    shifted = [index for index, column in enumerate(columns) if column.default != 0]
    if not shifted:
        return cells
    n_rows = cells.shape[0]
    rows = np.repeat(np.arange(n_rows), np.diff(cells.indptr))
    absent = [np.setdiff1d(np.arange(n_rows), rows[cells.indices == index]) for index in shifted]
    values = [np.full(len(places), columns[index].default) for places, index in zip(absent, shifted, strict=True)]
    places = np.concatenate(absent), np.repeat(shifted, [len(part) for part in absent])
    return sparse.csr_array(cells + sparse.csr_array((np.concatenate(values), places), shape=cells.shape))


def _require_finite(table: Table) -> None:
    _require(table, ~np.isfinite(_stored(table.cells)), "a finite number")


def _require_declared(table: Table) -> None:
    groups = dict[tuple[float, ...], list[int]]()
    for index, column in enumerate(table.columns):
        if column.numbers is not None:
            groups.setdefault(column.numbers, []).append(index)
    stored = _stored(table.cells)
    for numbers, group in groups.items():
        member = np.isin(np.arange(len(table.columns)), group)
        chosen = member[table.cells.indices] if sparse.issparse(table.cells) else (slice(None), member)
        wrong = np.zeros(stored.shape, dtype=bool)
        wrong[chosen] = ~np.isin(stored[chosen], numbers)
        _require(table, wrong, f"one of {{{clip(', '.join(f'{number:g}' for number in numbers))}}}")


def _stored(cells: Cells) -> npt.NDArray[np.float64]:
    return cells.data if sparse.issparse(cells) else np.asarray(cells)


def _require(table: Table, wrong: npt.NDArray[np.bool_], rule: str) -> None:
    positions = np.flatnonzero(wrong)
    if not len(positions):
        return
    row, column = _place(table.cells, int(positions[0]))
    name, got = table.columns[column].name, _stored(table.cells).ravel()[positions[0]]
    raise FormatError(f"{at(table.path, table.lines[row])}: column {show(name)} must be {rule}. Got {got:g}.")


def _place(cells: Cells, position: int) -> tuple[int, int]:
    if sparse.issparse(cells):
        return int(np.searchsorted(cells.indptr, position, side="right")) - 1, int(cells.indices[position])
    row, column = divmod(position, len(cells[0]))
    return row, column
