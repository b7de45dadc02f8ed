"""Which columns of a table are labels."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from numbers import Integral
from pathlib import Path
from typing import NamedTuple, TypeAlias

from mlstream.card_model import StreamCard
from mlstream.formats.content import FormatError, bare_path, show
from mlstream.formats.mulan import read_labels
from mlstream.formats.table import Table

LabelRule: TypeAlias = int | Iterable[str] | str | os.PathLike[str] | None
PlainRule: TypeAlias = int | tuple[str, ...] | str | None

_MEKA = re.compile(r"(?<!\S)-C\s+(-?[0-9]{1,9})(?![\w.])")


class LabelColumns(NamedTuple):
    """The label columns of a table."""

    indices: list[int]
    parents: dict[str, str]


def normalise_rule(rule: LabelRule) -> PlainRule:
    """Give a label rule the form in which cards keep it.

    Parameters
    ----------
    rule : int, sequence of str, path or None
        What `load_dataset` takes.

    Returns
    -------
    int, tuple of str, str or None
        A number of columns, names, the path of an .xml file, or nothing.

    Raises
    ------
    ValueError
        If it is none of these.
    """
    if rule is None or isinstance(rule, Integral):
        return None if rule is None else int(rule)
    if isinstance(rule, str | os.PathLike):
        if os.fspath(rule).lower().endswith(".xml"):
            return os.fspath(rule)
    elif isinstance(rule, Iterable):
        return tuple(map(str, rule))
    raise ValueError(f"labels must be a number of columns, a list of names, or a MULAN .xml file. Got {rule!r}.")


def choose_labels(table: Table, rule: PlainRule, card: StreamCard | None = None) -> LabelColumns:
    """Tell labels from features.

    Parameters
    ----------
    table : Table
        The table.
    rule : int, tuple of str, str or None
        The first n, or the last n if negative; names; MULAN's .xml file; or None: what says it is, in this order, the
        card, ``-C n`` in the title, an .xml of the same name beside the file.
    card : StreamCard, optional
        The card of the file, if it has one.

    Returns
    -------
    LabelColumns
        Indices in the order of the file, or of the names given; and child -> parent of a hierarchy.

    Raises
    ------
    FormatError
        If the rule does not fit the table, or nothing says which columns are labels.
    """
    chosen = _find_rule(table, card) if rule is None else _apply(table, rule)
    if not 0 < len(chosen.indices) < len(table.columns):
        raise FormatError(
            f"{table.path}: labels must be some of the {len(table.columns)} columns, and features the others. "
            f"Got {len(chosen.indices)} labels."
        )
    return chosen


def _find_rule(table: Table, card: StreamCard | None) -> LabelColumns:
    if card is not None:
        return LabelColumns(_find_names(table, card.label_names), card.label_parents)
    options = _MEKA.search(table.relation.partition(":")[2])
    if options:
        return _apply(table, int(options.group(1)))
    xml = bare_path(table.path).with_suffix(".xml")
    if xml.is_file():
        return _apply(table, str(xml))
    raise FormatError(
        f"{table.path}: labels must be given as a number of columns, names, or a MULAN .xml file. "
        f"Got none, and neither a card, nor -C in the title, nor {xml.name} says it."
    )


def _apply(table: Table, rule: int | tuple[str, ...] | str) -> LabelColumns:
    if isinstance(rule, int):
        return LabelColumns(_count_columns(table, rule), {})
    if isinstance(rule, tuple):
        return LabelColumns(_find_names(table, rule), {})
    names, parents = read_labels(Path(rule))
    # MULAN numbers labels by their columns, whatever the order of its file.
    return LabelColumns(sorted(_find_names(table, names)), parents)


def _count_columns(table: Table, n_labels: int) -> list[int]:
    width = len(table.columns)
    if not 0 < abs(n_labels) < width:
        raise FormatError(f"{table.path}: the number of labels must be between 1 and {width - 1}. Got {n_labels}.")
    return list(range(n_labels) if n_labels > 0 else range(width + n_labels, width))


def _find_names(table: Table, names: Sequence[str]) -> list[int]:
    places = {name: index for index, name in enumerate(table.names)}
    unknown = [name for name in names if name not in places]
    if unknown or len(set(names)) < len(names):
        got = f"{show(unknown[0])}, which is no column" if unknown else "a name twice"
        raise FormatError(f"{table.path}: labels must be columns, each named once. Got {got}.")
    return [places[name] for name in names]
