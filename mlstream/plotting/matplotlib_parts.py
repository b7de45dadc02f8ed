"""Pictures that are complete or absent, and the same bytes each time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlstream._files import atomic_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_picture(figure: Figure, path: Path) -> None:
    """Draw a figure into a file, replaced if it is there, in the format that its suffix says."""
    from matplotlib import rc_context

    suffix = path.suffix.removeprefix(".").lower()
    if suffix not in figure.canvas.get_supported_filetypes():
        raise ValueError(f"The name of a picture must end in .png, .svg or .pdf. Got {path.name!r}.")
    # Without a date and random names inside, the same figure gives the same file.
    with rc_context({"svg.hashsalt": "mlstream"}), atomic_path(path) as temporary:
        figure.savefig(temporary, format=suffix, dpi=150, metadata={"Date": None} if suffix == "svg" else None)
