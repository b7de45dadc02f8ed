"""JSON objects as rows of a live source, in the columns of the first of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mlstream._support.content import FormatError, show
from mlstream.data._event_cells import Block
from mlstream.streams.card_model import ReadingCard
from mlstream.streams.tables.table import Column, Table, to_number
from mlstream.streams.tables.text_columns import TextColumn, code_values, read_texts

_TRUTH = {"true": 1.0, "false": 0.0}


def code_words(values: Mapping[str, Sequence[str]]) -> dict[str, TextColumn]:
    """Return the columns of words, by name, which read the values that were declared."""
    return {name: code_values(Column(name, tuple(map(str, words)))) for name, words in values.items()}


class JsonRows:
    """Makes tables of blocks of JSON objects, all with the columns of the first block; those in `words` hold words."""

    def __init__(self, words: Mapping[str, TextColumn], reading: ReadingCard) -> None:
        self._words, self._reading = words, reading
        self._names: tuple[str, ...] = ()

    def to_table(self, block: Block) -> Table:
        """Return the rows of a block, NaN where an object lacks a name; a FormatError names the place of a new one."""
        kept = [name for name in self._first_columns(block) if name not in {*self._reading.ignore, *self._reading.keys}]
        cells = np.full((len(block.lines), len(kept)), np.nan)
        columns = [self._words.get(name, TextColumn(Column(name), _to_json_number)) for name in kept]
        for place, column in enumerate(columns):
            if column.column.name in block.cells:
                cells[:, place] = _read(block, column)
        keys = {name: _texts(block, name) for name in self._reading.keys}
        header = tuple(column.column for column in columns)
        return Table(block.path, header, cells, block.lines, unit=block.unit, keys=keys)

    def _first_columns(self, block: Block) -> Sequence[str]:
        names = self._names or tuple(block.cells)
        new = [name for name in block.cells if name not in names]
        if new:
            codes = block.cells[new[0]].codes  # type: ignore[union-attr]
            where = block.at(int(np.argmax(codes >= 0)))
            raise FormatError(f"{where}: columns must be among those of the first rows. Got {show(new[0])}.")
        self._names = names
        return names


def _read(block: Block, column: TextColumn) -> np.ndarray:
    codes, texts = block.cells[column.column.name]

    def fail(code: int, rule: str) -> FormatError:
        return block.fail(int(np.argmax(codes == code)), column.column.name, rule)

    return np.append(read_texts(texts, column, (), fail), np.nan)[codes]


def _to_json_number(text: str) -> float | None:
    return _TRUTH[text] if text in _TRUTH else to_number(text)


def _texts(block: Block, name: str) -> np.ndarray:
    if name not in block.cells:
        raise FormatError(f"keys must name columns of {block.path}. Got {name!r}, which is not one.")
    codes, texts = block.cells[name]
    return np.array([*texts, ""], dtype=object)[codes]
