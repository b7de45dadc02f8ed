"""The command that writes a stream in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlstream.cli.arguments import Force, StreamPath, open_stream, parse_file, require_output


def convert(
    stream: StreamPath,
    output: Annotated[
        Path,
        typer.Argument(
            parser=parse_file, help="File to write: .npz, .arff, .train.csv (or packed, .gz) or .train.parquet."
        ),
    ],
    force: Force = False,
) -> None:
    """Write a stream in another format."""
    from mlstream.cli import console
    from mlstream.formats import save

    _require_own_card(output, Path(stream))
    require_output(output, force)
    save(open_stream(stream), output)
    console.print_line(f"Wrote {output}")


def _require_own_card(output: Path, source: Path) -> None:
    """Refuse to replace the card of the source, without which that could no longer be read."""
    from mlstream.formats.stream_files import card_path

    card = card_path(source)
    if source.is_file() and {source.suffix, output.suffix}.isdisjoint({".npz"}) and card_path(output) == card:
        raise ValueError(
            f"The output must have another name than {source}: both would need {card.name}. Got {output} instead."
        )
