"""A console that passes no order of names and files on to the terminal; apart, since it imports Rich."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from mlstream.cli.errors import plain_text


class SafeConsole(Console):
    """A console that prints texts without control characters; those of its own colours and bars stay."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as the console of Rich does, from which all that is printed comes through here."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=plain_text(segment.text))
