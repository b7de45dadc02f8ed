"""The table that a stream was made from, found again by what its card states."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mlstream._support.content import PACKED, bare_path, hash_unpacked
from mlstream.data.datasets import list_datasets, load_dataset, load_registered
from mlstream.data.registry import describe_folder, local_folder
from mlstream.streams.card_model import DropCard, SourceCard, StreamCard
from mlstream.streams.keys import join_keys
from mlstream.streams.stream import Dataset, EvaluationSet, Experience, Stream, StreamParts
from mlstream.streams.tables.columns import BY_DEFAULT
from mlstream.streams.tables.labels import PlainRule


def find_table(source: SourceCard, table: str | os.PathLike[str] | None = None) -> Dataset:
    """Find the table that a stream was made from, and read it as it was read then.

    `table` is the file, where the table is not a registered one. Raises FileNotFoundError without such a file,
    ValueError if its hash differs from the card's, or the stream was made from no file.
    """
    if source.sha256 is None:
        raise ValueError(
            f"The source of a stream must be a data set or a file to be found again. Got {source.origin!r}."
        )
    if _is_registered(source):
        found = load_registered(source.origin, source.labels, source.reading or BY_DEFAULT)
        _require_hash(source, source.origin, found.sha256)
    else:
        path = _find_file(source, table)
        reading = source.reading.model_dump(exclude={"n_dropped"}, exclude_defaults=True) if source.reading else {}
        found = load_dataset(path, labels=_label_rule(source, path), **reading)
    return replace(
        found,
        # A table may have been given another name before the stream was made.
        name=source.name,
        source=source.origin,
        licence=source.licence,
        citation=source.citation,
        label_rule=found.label_rule if isinstance(source.labels, str) else _plain_rule(source),
        label_parents=found.label_parents if source.label_parents is None else source.label_parents,
    )


def require_own_table(source: SourceCard) -> None:
    """Raise a ValueError for a file given with a stream that was made from a registered table, or from no file."""
    rule = "table (--table) must be left out where a stream was not made from a file of the user's own"
    if source.sha256 is None:
        raise ValueError(f"{rule}. Got a card whose source is {source.origin!r}.")
    if _is_registered(source):
        raise ValueError(f"{rule}. Got a card of the data set {source.origin!r}, which is found by its name.")


def without_folders(card: StreamCard) -> StreamCard:
    """Take the folders off the names of the source's files, which older cards hold."""
    source = card.source
    if source.sha256 is None:
        return card
    labels = Path(source.labels).name if isinstance(source.labels, str) else source.labels
    changes = {"origin": Path(source.origin).name, "labels": labels}
    return card.model_copy(update={"source": source.model_copy(update=changes)})


def _is_registered(source: SourceCard) -> bool:
    return source.origin in {entry.name for entry in list_datasets()}


def _find_file(source: SourceCard, table: str | os.PathLike[str] | None) -> Path:
    if table is not None:
        path = Path(table)
        if not path.is_file():
            raise FileNotFoundError(f"{path} must be the file of the table. Got no file there.")
        _require_hash(source, path, hash_unpacked(path))
        return path
    hashes = {path: hash_unpacked(path) for path in _candidates(source)}
    right = next((path for path, got in hashes.items() if got == source.sha256), None)
    if right is not None:
        return right
    rule = (
        f"The table {Path(source.origin).name!r}, sha256 {source.sha256}, must be named by table= or --table, or lie "
        "in the working directory or the folder that MLSTREAM_DATA names"
    )
    if hashes:
        raise ValueError(f"{rule}. Got {', '.join(f'{path} with {got}' for path, got in hashes.items())}.")
    raise FileNotFoundError(f"{rule}. Got no such file, and {describe_folder()}.")


def _candidates(source: SourceCard) -> Iterator[Path]:
    """Find files of the name on the card, packed in any way; older cards hold a whole path."""
    if Path(source.origin).is_file():
        yield Path(source.origin)
    folder, name = local_folder(), bare_path(Path(source.origin)).name
    if folder is not None:
        names = {name + suffix for suffix in ("", *PACKED)}
        yield from (path for path in sorted(folder.rglob("*")) if path.name in names and path.is_file())


def _require_hash(source: SourceCard, where: str | Path, got: str) -> None:
    if got != source.sha256:
        raise ValueError(f"{where} must be the table that the stream was made from, sha256 {source.sha256}. Got {got}.")


def _label_rule(source: SourceCard, path: Path) -> PlainRule:
    rule = _plain_rule(source)
    # Older cards hold the path of MULAN's file, which may lie beside the table now.
    return str(path.with_name(Path(rule).name)) if isinstance(rule, str) and not Path(rule).is_file() else rule


def _plain_rule(source: SourceCard) -> PlainRule:
    return tuple(source.labels) if isinstance(source.labels, list) else source.labels


def without_keys(stream: Stream) -> Stream:
    """Leave out the keys of a stream, and say so on its card."""
    names = list(stream.key_names)
    if not names:
        return stream
    parts = StreamParts(stream.tasks, stream.experiences, stream.evaluation_sets).with_keys(None)
    drop = DropCard(what="keys", reason="may be personal data", count=len(names), names=names)
    return Stream(parts, stream.card.model_copy(update={"keys": [], "drops": [*stream.card.drops, drop]}))


def describe_dropped_keys(names: Sequence[str]) -> str:
    """Say in one line which keys were left out; nothing where there were none."""
    way_out = "keep_keys=True or --keep-keys publishes them"
    return f"Keys were left out, since they may be personal data: {', '.join(names)}; {way_out}." if names else ""


def have_same_keys(one: Stream, other: Stream) -> bool:
    """Return whether the rows of two streams of the same data have the same keys."""
    first, second = (join_keys([part.keys for part in _all_parts(stream)]) for stream in (one, other))
    if first is None or second is None:
        return first is second
    return one.key_names == other.key_names and all(np.array_equal(first[name], second[name]) for name in one.key_names)


def _all_parts(stream: Stream) -> tuple[Experience | EvaluationSet, ...]:
    return (*stream.experiences, *stream.evaluation_sets)
