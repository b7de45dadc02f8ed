"""What commands share: opening streams, and reading what was typed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mlstream.generators.visits import OrderName
    from mlstream.stream import Stream

StreamPath = Annotated[Path, typer.Argument(help="A stream: .npz, .arff, .arff.gz, or a published folder.")]
SourceName = Annotated[str, typer.Argument(help="A name that `mlstream datasets` lists, or the path of an ARFF file.")]
OutputFile = Annotated[Path, typer.Option("--output", "-o", help="File to write: .npz, .arff or .arff.gz.")]
Seed = Annotated[int, typer.Option(min=0, help="Source of everything random.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


def open_stream(path: Path) -> Stream:
    """Load a stream from a file or a published folder."""
    from mlstream.formats import load

    return load(path / "stream.npz" if path.is_dir() else path)


def require_absent(path: Path, force: bool) -> None:
    """Refuse to replace a file unless forced to."""
    if path.exists() and not force:
        raise FileExistsError(f"{path} must not exist yet; --force replaces it.")


def parse_labels(text: str | None) -> int | list[str] | str | None:
    """Read which columns are labels: a number, names, or a MULAN file."""
    if text is None or text.endswith(".xml"):
        return text
    if text.removeprefix("-").isdigit():
        return int(text)
    return text.split(",")


def parse_order(text: str | None) -> list[int] | OrderName | None:
    """Read the name of an order, or the task of each visit."""
    from mlstream.generators.visits import ORDERS

    named = next((order for order in ORDERS if order == text), None)
    return named if named or text is None else parse_integers(text, "--order")


def parse_seeds(text: str) -> list[int]:
    """Read seeds."""
    return parse_integers(text, "--seeds")


def parse_integers(text: str, option: str) -> list[int]:
    """Read whole numbers split by commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be whole numbers split by commas. Got {text!r} instead.") from None
