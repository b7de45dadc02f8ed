"""The command that shows a stream."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlstream.cli.arguments import StreamPath, open_stream, require_folder


def inspect(
    stream: StreamPath,
    full: Annotated[
        bool,
        typer.Option("--full", help="Also measure distances between tasks, and find duplicates and unlearnt labels."),
    ] = False,
    pictures: Annotated[Path | None, typer.Option(help="Folder to draw into: PNG and SVG, replaced if there.")] = None,
) -> None:
    """Show a stream: tasks, signatures, schedule, drops, origin."""
    from mlstream.cli import console

    if pictures is not None:
        require_folder(pictures, "--pictures")
    opened = open_stream(stream)
    console.show_card(opened.card)
    if not full and pictures is None:
        return
    from mlstream.diagnosis.diagnosis import diagnose

    diagnosis = diagnose(opened)
    if full:
        console.show_diagnosis(diagnosis)
    if pictures is not None:
        from mlstream.diagnosis.figures import draw_pictures

        console.print_line(f"Drew {', '.join(str(path) for path in draw_pictures(opened, diagnosis, pictures))}")
