"""List the scores that a report has columns for, as terms of the glossary, from the code that makes the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mlstream.analysis.score_info import Heading

_DIRECTIONS = {"higher": "Higher is better.", "lower": "Lower is better.", "neither": "Neither direction is better."}


def describe_columns(headings: Mapping[str, Heading]) -> Iterator[str]:
    """Yield the lines of a glossary in reStructuredText, in the order of the report."""
    yield from (".. glossary::", "")
    for name, heading in headings.items():
        meaning = heading.meaning.replace("|", "\\|")
        yield from (f"   {heading.title}", f"      {meaning} {_DIRECTIONS[heading.better]} In files: ``{name}``.", "")
