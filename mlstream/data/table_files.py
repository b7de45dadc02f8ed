"""Tables in files of their own, read whole or some rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from scipy import sparse

from mlstream._support.content import FormatError, UnpackedFile, stem
from mlstream.cards.terms import stated_terms
from mlstream.formats.csv_tables import NotNumericError, find_words
from mlstream.formats.key_files import infer_keys, read_beside
from mlstream.formats.table_io import find_format, read_tables
from mlstream.streams.card_model import ReadingCard, StreamCard
from mlstream.streams.stream import Dataset
from mlstream.streams.tables.columns import BY_DEFAULT, Parted, has_complete_row, part
from mlstream.streams.tables.label_columns import Signs
from mlstream.streams.tables.labels import LabelColumns, PlainRule, choose_labels, choose_texts
from mlstream.streams.tables.table import Table, peek, regroup
from mlstream.streams.tables.text_columns import ChooseTexts, TextColumn

# Of formats whose columns have no types.
_TEXT_FORMATS = {"csv", "tsv", "arff"}


class Choices(NamedTuple):
    """Choice of which columns are labels, and of how the others become features."""

    rule: PlainRule = None
    reading: ReadingCard = BY_DEFAULT
    card: StreamCard | None = None
    """The card beside the file, if there is one."""


def load_table(path: Path, choices: Choices) -> Dataset:
    """Read a table from a file, packed or not; the result has the hash of the file.

    A FormatError is raised if the file breaks its format, or does not fit the choices.
    """
    if not choices.reading.keeps_words:
        with suppress(NotNumericError):
            return _load(path, choices)
    # What a word stands for is known only when all are.
    return _load(path, choices, _find_words(path, choices))


def iterate_table(path: Path, choices: Choices, chunk_size: int) -> Iterator[Dataset]:
    """Read a table from a file some rows at a time; as `load_table`, but without the hash.

    A word in a CSV file whose first rows hold numbers only is an error, unless `categories` is given.
    """
    words = _find_words(path, choices) if _has_words(path, choices) else None
    first, n_left_out, labels, signs = None, 0, list[int](), Signs()
    with UnpackedFile(path) as file:
        tables = _read(path, file, choices, words)
        for table in regroup(tables, chunk_size):
            labels = labels or _choose(table, choices).indices
            signs.extend(table, labels)
            if choices.reading.missing == "drop" and not has_complete_row(table, labels):
                n_left_out += len(table.lines)
                continue
            chunk = to_dataset([table], choices)
            first = first or chunk
            yield chunk if sparse.issparse(chunk.X) == sparse.issparse(first.X) else _convert(chunk)
    if first is None:
        got = f"{n_left_out} with missing values" if n_left_out else "a header only"
        raise FormatError(f"{path} must hold at least one row. Got {got}.")


def to_dataset(tables: Iterable[Table], choices: Choices) -> Dataset:
    """Concatenate tables of the same columns row-wise, and split them into features and labels.

    A FormatError is raised if there is no row, or the tables do not fit the choices.
    """
    (head, tables), (rule, reading, card) = peek(tables), choices
    places, parents = _choose(head, choices)
    parted = part(tables, places, reading, rule if isinstance(rule, tuple) else ())
    terms = stated_terms(card) if card else None
    if find_format(head.path, reading) in _TEXT_FORMATS:
        parted = _infer_keys(parted)
    # A card or an .xml file beside the table may be lost: names are enough to read the table alone.
    names = tuple(head.names[place] for place in places) if reading.classes else parted.label_names
    return Dataset(
        **parted._asdict(),
        name=stem(head.path),
        source=str(head.path),
        licence=terms.licence if terms else "",
        citation=terms.citation if terms else "",
        label_rule=rule if isinstance(rule, int) else names,
        label_parents=parents,
    )


def _infer_keys(parted: Parted) -> Parted:
    """Read keys, which are texts in files of text, as the types that they seem to have."""
    keys = parted.keys and {name: infer_keys(texts) for name, texts in parted.keys.items()}
    return parted._replace(keys=keys)


def _choose(table: Table, choices: Choices) -> LabelColumns:
    rule, reading, card = choices
    return choose_labels(table, None if find_format(table.path, reading) == "libsvm" else rule, card, reading.tags)


def _load(path: Path, choices: Choices, words: Mapping[str, TextColumn] | None = None) -> Dataset:
    with UnpackedFile(path) as file:
        dataset = to_dataset(_read(path, file, choices, words), choices)
    return replace(dataset, sha256=file.sha256)


def _read(
    path: Path, file: UnpackedFile, choices: Choices, words: Mapping[str, TextColumn] | None = None
) -> Iterator[Table]:
    texts = _text_chooser(path, choices)
    tables = read_tables(path, file, choices.reading, words=words, rule=choices.rule, choose_texts=texts)
    # Keys beside the file of a stream that has none are those of an older one.
    is_plain = find_format(path, choices.reading) == "arff" and (choices.card is None or choices.card.keys)
    return read_beside(path, tables) if is_plain else tables


def _find_words(path: Path, choices: Choices) -> Mapping[str, TextColumn] | None:
    if find_format(path, choices.reading) not in {"csv", "tsv"}:
        return None
    with UnpackedFile(path) as file:
        return find_words(file, path, choices.reading, _text_chooser(path, choices))


def _text_chooser(path: Path, choices: Choices) -> ChooseTexts:
    rule, reading, card = choices
    return partial(choose_texts, path=path, rule=rule, reading=reading, card=card)


def _has_words(path: Path, choices: Choices) -> bool:
    """Tell whether a CSV file may hold words, as its options or its first rows show."""
    reading = choices.reading
    if find_format(path, reading) not in {"csv", "tsv"}:
        return False
    if reading.categories is not None:
        return True
    try:
        with UnpackedFile(path) as file:
            tables = read_tables(path, file, reading)
            next(tables)
            next(tables, None)
    except NotNumericError:
        return True
    return False


def _convert(chunk: Dataset) -> Dataset:
    return replace(chunk, X=chunk.X.toarray() if sparse.issparse(chunk.X) else sparse.csr_array(chunk.X))
