"""The files of a stream that lie beside each other: their names, and what the card says of them."""

from __future__ import annotations

from pathlib import Path

from mlstream._files import sha256_of
from mlstream.card_model import FileCard, StreamCard, load_card
from mlstream.formats.content import stem


def card_path(path: Path) -> Path:
    """Name the card beside an ARFF file: ``x.card.json`` for ``x.arff`` and ``x.arff.gz``."""
    return path.with_name(f"{stem(path)}.card.json")


def evaluation_path(path: Path) -> Path:
    """Name the file of held-out rows: ``x.evaluation.arff`` for ``x.arff``, packed like that."""
    return path.with_name(f"{stem(path)}.evaluation{path.name.removeprefix(stem(path))}")


def find_card(path: Path) -> StreamCard | None:
    """Read the card beside a file, if there is one."""
    card = card_path(path)
    return load_card(card) if card.is_file() else None


def describe_file(path: Path, name: str) -> FileCard:
    """Measure a file that is to be called `name`."""
    return FileCard(name=name, n_bytes=path.stat().st_size, sha256=sha256_of(path))
