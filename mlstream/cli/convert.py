"""The command that writes a stream in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlstream.cli.arguments import Force, StreamPath, open_stream, require_output


def convert(
    stream: StreamPath,
    output: Annotated[
        Path, typer.Argument(help="File to write: .npz, .arff, .train.csv (or packed, .gz) or .train.parquet.")
    ],
    force: Force = False,
) -> None:
    """Write a stream in another format."""
    from mlstream.cli import console
    from mlstream.formats import save

    require_output(output, force)
    save(open_stream(stream), output)
    console.print_line(f"Wrote {output}")
