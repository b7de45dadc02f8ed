"""The files of a stream that lie beside each other: their names, and what the card says of them."""

from __future__ import annotations

from pathlib import Path

from mlstream._support.content import FormatError, stem
from mlstream._support.files import require_plain, sha256_of
from mlstream.streams.card_model import FileCard, RowsCard, StreamCard, load_card

_TRAIN, _TEST = ".train", ".test"
_HINT = "load_dataset reads plain tables."


def card_path(path: Path) -> Path:
    """Name the card beside a file of rows: ``x.card.json`` for ``x.arff``, ``x.arff.gz`` and ``x.train.csv``."""
    return path.with_name(f"{stem(path).removesuffix(_TRAIN)}.card.json")


def evaluation_path(path: Path) -> Path:
    """Name the file of held-out rows, packed like the other: ``x.evaluation.arff`` for ``x.arff``.

    For ``x.train.csv`` it is ``x.test.csv``.
    """
    name, suffix = stem(path), path.name.removeprefix(stem(path))
    if name.endswith(_TRAIN):
        return path.with_name(f"{name.removesuffix(_TRAIN)}{_TEST}{suffix}")
    return path.with_name(f"{name}.evaluation{suffix}")


def find_card(path: Path) -> StreamCard | None:
    """Read the card beside a file, if there is one."""
    card = card_path(path)
    return load_card(card) if card.is_file() else None


def require_card(path: Path) -> StreamCard:
    """Read the card beside a file of rows, which says how they are laid out."""
    card = find_card(path)
    if card is None or card.rows is None:
        raise FileNotFoundError(
            f"{card_path(path)} must be beside {path.name}, to read a stream. "
            f"`mlstream generate {path} -o {stem(path)}.npz` makes a stream of a table."
        )
    return card


def require_layout(card: StreamCard) -> RowsCard:
    """Return how rows are laid out; a card that does not say so is a ValueError."""
    if card.rows is None:
        raise ValueError(f"The card of {card.name!r} must be the one beside the files of its rows. Got another.")
    return card.rows


def require_listed(path: Path, card: StreamCard) -> None:
    """Refuse a file that is not there, or is not the one that the card lists."""
    listed = {file.name: file.sha256 for file in card.files}
    require_plain(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} must be there, to read a stream. {_HINT}")
    if path.name not in listed or sha256_of(path) != listed[path.name]:
        raise FormatError(f"{path} must be the file that its card lists, unchanged. Got another. {_HINT}")


def describe_file(path: Path, name: str) -> FileCard:
    """Measure a file that is to be called `name`."""
    return FileCard(name=name, n_bytes=path.stat().st_size, sha256=sha256_of(path))
