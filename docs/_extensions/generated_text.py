"""The directive for text that is made from the code whenever the docs are built, and so cannot differ from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import arena_tables
from command_reference import describe_commands
from docutils import nodes
from report_columns import describe_columns
from soak_totals import describe_soak
from sphinx.util.docutils import SphinxDirective

from mlstream.analysis.score_info import SCORE_HEADINGS
from mlstream.reporting.detection_tables import DETECTION_HEADINGS

TEXTS: dict[str, Callable[..., Iterable[str]]] = {
    "commands": describe_commands,
    "scores": lambda: describe_columns(SCORE_HEADINGS),
    "detection": lambda: describe_columns(DETECTION_HEADINGS),
    "soak": describe_soak,
    **arena_tables.TEXTS,
}


class GeneratedText(SphinxDirective):
    """Put one of the texts here, with its sections; further words are what it is about, such as a board."""

    required_arguments = 1
    optional_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Parse the text as a part of the page."""
        name, *about = self.arguments
        lines = TEXTS[name](*about)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Any) -> dict[str, bool]:
    """Add the directive ``.. generated:: TEXT [WORD ...]``."""
    app.add_directive("generated", GeneratedText)
    return {"parallel_read_safe": True}
